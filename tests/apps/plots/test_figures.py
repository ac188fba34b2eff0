"""Figures are written whole, look alike, and ask for their extra by its name."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bruit.apps import plots
from bruit.errors import MissingExtra

SERIES = [
    plots.Series("measured", [1, 2, 4], [0.5, 0.2, 0.1], [0.4, 0.1, 0.05], [0.6, 0.3, 0.2]),
    plots.Series("theory", [1, 2, 4], [0.5, 0.25, 0.125], dashed=True),
]


def test_the_same_curves_give_the_same_picture(tmp_path: Path) -> None:
    paths = [tmp_path / "a" / "one.png", tmp_path / "two.png"]
    for path in paths:
        assert plots.curves(path, SERIES, title="Error", x="ε", y="error", x_scale="log", y_scale="log") == path
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(b"\x89PNG")


def drawn(path: Path, **how: Any) -> NDArray[np.float64]:
    from matplotlib.image import imread

    one = plots.Series("one", [1, 2, 4], [0.5, 0.1, 0.5], **how)
    return imread(plots.curves(path, [one], title="", x="x", y="y"))[..., :3]


def test_points_of_no_one_curve_are_not_joined(tmp_path: Path) -> None:
    joined, alone = drawn(tmp_path / "joined.png"), drawn(tmp_path / "alone.png", joined=False)
    ink = [((picture * 255).round() == [0, 114, 178]).all(axis=-1).sum() for picture in (joined, alone)]
    assert 0 < ink[1] < ink[0] / 3


def test_the_interval_of_a_dashed_line_is_a_band(tmp_path: Path) -> None:
    line = drawn(tmp_path / "line.png", dashed=True)
    band = drawn(tmp_path / "band.png", dashed=True, low=[0.3, 0.05, 0.3], high=[0.7, 0.15, 0.7])
    pale = [(np.abs(picture * 255 - [204, 227, 240]).max(axis=-1) < 3).sum() for picture in (line, band)]
    assert pale[1] > 20 * max(pale[0], 100)


def test_bars_are_drawn_at_their_values_with_their_intervals(tmp_path: Path) -> None:
    from matplotlib.image import imread

    groups = [plots.Bars("truth", [1.0, 0.0]), plots.Bars("estimate", [0.9, 0.1], [0.8, 0.0], [1.0, 0.2])]
    plots.bars(tmp_path / "bars.png", ["yes", "no"], groups, title="Survey", y="share")
    picture = (imread(tmp_path / "bars.png")[..., :3] * 255).round().astype(int)
    blue, orange = ((np.abs(picture - colour).sum(axis=-1) < 9).sum() for colour in ([0, 114, 178], [213, 94, 0]))
    assert 0.9 < orange / blue < 1.1, "1.0 against 0.9 + 0.1, each with its square in the legend"


def test_french_numbers_have_commas_on_both_axes_and_all_kinds_of_ticks() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([0.02, 0.5, 3], [0.25, 0.5, 1.0])
    axes.set_xscale("log")
    plots.label_plainly(axes.xaxis)
    plots.write_commas(axes)
    figure.canvas.draw()
    written = [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert {"0,1", "1", "0,4", "1,0"} <= set(written)
    assert not [text for text in written if "." in text]


def test_nothing_is_written_when_drawing_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), plots.save_figure(tmp_path / "bad.png"):
        raise ZeroDivisionError
    assert not (tmp_path / "bad.png").exists()


def test_without_matplotlib_the_pip_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bruit\[plot\]'"):
        plots.curves(tmp_path / "a.png", SERIES, title="", x="", y="")
