"""A fitted model in one file, written and read without pickle: a ZIP archive of JSON and NumPy arrays.

    card.json, card.md    the model card, for programs and for people
    model.json            the class, its parameters and what was fitted                       [state.py]
    arrays/0.npy ...      the numbers, one array a dtype, in the order that model.json names

The budget, the seed and a Student's public records are left out: a file holds no book, no address of a store, nothing
from which the noise could be drawn again, and no rows.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bruit.errors import BadFile, InvalidArgument
from bruit.learning.publishing.card import ModelCard, make_card
from bruit.learning.publishing.state import Arrays, Packing, require_no_records, unpack

if TYPE_CHECKING:
    from bruit.core.release import Release
    from bruit.learning.estimator.fitted_model import FittedModel

FORMAT = 1
"""The version of the layout; a reader refuses a later one."""

LONGEST = 1 << 31
"""The most bytes that a member may unfold to: a forged archive fills no memory."""


def save(model: FittedModel, path: str | Path, *, intended_use: str = "", figures: Sequence[Release[Any]] = ()) -> Path:
    """Writes a fitted model with its card and returns the path; refuses state that cannot be stored without code."""
    check_is_fitted(model)
    require_no_records(model)
    if not Path(path).parent.is_dir():
        raise InvalidArgument(f"there is no folder {Path(path).parent} to write {Path(path).name} to")
    packing = Packing()
    kept = {**vars(model), "guarantee_": model.guarantee_}
    state = packing.pack({name: part for name, part in kept.items() if name not in model._stays_behind})
    card = make_card(model, intended_use=intended_use, figures=figures)
    arrays = packing.arrays
    described = {"format": FORMAT, "class": type(model).__name__, "arrays": list(arrays), "state": state}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("card.json", json.dumps(card.to_json(), ensure_ascii=False, indent=1))
        archive.writestr("card.md", card.text)
        archive.writestr("model.json", json.dumps(described, ensure_ascii=False))
        for number, array in enumerate(arrays.values()):
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            archive.writestr(f"arrays/{number}.npy", held.getvalue())
    return Path(path)


def load(path: str | Path) -> Any:
    """The fitted model written by `save`, ready to predict; its budget is None, so it cannot be fitted again.

    Nothing in the file is run, and no book or store is looked for. `card_` is the model card.
    """
    from bruit.learning.estimator.fitted_model import FittedModel

    with _reading(path) as archive:
        described = json.loads(_member(archive, "model.json"))
        if described["format"] > FORMAT:
            raise BadFile(
                f"{path} has the layout {described['format']}, this version reads up to {FORMAT}: update bruit"
            )
        arrays: Arrays = {
            name: np.load(io.BytesIO(_member(archive, f"arrays/{number}.npy")), allow_pickle=False)
            for number, name in enumerate(described["arrays"])
        }
        card = ModelCard.from_json(json.loads(_member(archive, "card.json")))
        kind = FittedModel.kinds.get(described["class"])
        if kind is None:
            raise BadFile(f"{path} holds a {described['class']!r}, which is no estimator of bruit.learning")
        state = unpack(described["state"], arrays)
    model = kind()
    model.__dict__.update({**state, "card_": card})
    return model


@contextmanager
def _reading(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """The open archive; whatever is wrong with its layout becomes one error."""
    if not isinstance(path, str | Path) or not Path(path).is_file():
        raise InvalidArgument(f"there is no file {path}; give the path that model.save(...) returned")
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, KeyError, IndexError, TypeError, ValueError, AttributeError, EOFError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise BadFile(f"{path} is no model that bruit.learning saved, or is damaged: {error}") from error


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > LONGEST:
        raise BadFile(f"{name} unfolds to more than {LONGEST} bytes; no model is that large")
    return archive.read(name)
