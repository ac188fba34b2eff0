"""The stops of the tour in a reader's language: titles, sentences and tables, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bruit.apps.languages import COMMAS, Language, format_number, in_language, read_words
from bruit.apps.tour import tour
from bruit.apps.tour.tour import Tour

SOURCE: Final = Path(__file__).parent / "words.toml"


@dataclass(frozen=True)
class Words:
    """The tour's words in one language."""

    language: Language

    def __call__(self, name: str, /, **values: object) -> str:
        """The text `stop.name` with values in its places."""
        node: Any = in_language(read_words(SOURCE), self.language, str)
        for step in name.split("."):
            node = node[step]
        return str(node).format(**values)

    @property
    def commas(self) -> bool:
        """Whether a comma stands before the decimals, in figures too."""
        return self.language in COMMAS

    def number(self, value: float, spec: str = "g") -> str:
        """A number as the language writes it."""
        return format_number(value, spec, self.language)

    def share(self, value: float) -> str:
        """A share as a percentage with one decimal."""
        return self.number(value, ".1%")


@dataclass(frozen=True)
class Stop:
    """A stop: its title, sentences before its table, the table with its head first, sentences and a quote after it."""

    title: str
    told: str
    table: Sequence[Sequence[str]] = ()
    guarantee: str = ""
    after: str = ""
    quote: Sequence[str] = ()


def survey(seen: Tour, words: Words) -> Stop:
    """Randomised answers to a delicate question, and the truth estimated from them."""
    found = seen.survey
    shares = {name: words.share(getattr(found, name)) for name in ("received", "estimate", "low", "high", "truth")}
    lies = words.number(found.lies, ".0%")
    told = words("survey.written", people=found.people, lies=lies, **shares)
    return Stop(words("survey.title"), told, guarantee=found.guarantee)


def beliefs(seen: Tour, words: Words) -> Stop:
    """How far a report may move what somebody believes."""
    rows = [
        (
            words.number(row["prior"], ".0%"),
            words("beliefs.between", low=words.share(row["low"]), high=words.share(row["high"])),
        )
        for row in seen.beliefs
    ]
    title = words("beliefs.title", epsilon=words.number(tour.EPSILON))
    return Stop(title, words("beliefs.told"), [(words("beliefs.before"), words("beliefs.after")), *rows])


def gives(seen: Tour, words: Words) -> Stop:
    """How many people the raw table singles out."""
    found = seen.gives
    told = words(
        "gives.told",
        rows=found.rows,
        uniques=found.uniques,
        columns=", ".join(words(f"gives.columns.{name}") for name in found.columns),
        certain=found.certain,
        linked=words.number(found.linked, ".0%"),
    )
    return Stop(words("gives.title"), told)


def deciles(seen: Tour, words: Words) -> Stop:
    """Deciles paid from a book, and what the book answers to a further question."""
    found = seen.deciles
    rows = [
        (f"{10 * number} %", f"{value:.0f}", f"{truth:.0f}")
        for number, (value, truth) in enumerate(zip(found.value, found.truth, strict=True), 1)
    ]
    return Stop(
        words("deciles.title"),
        words("deciles.told", people=found.people),
        [(words("deciles.decile"), words("deciles.released"), words("deciles.exact")), *rows],
        guarantee=found.guarantee,
        after=words(
            "deciles.refusal", held=words.number(found.spent + found.remaining), left=words.number(found.remaining)
        ),
        quote=(found.refusal,),
    )


def model(seen: Tour, words: Words) -> Stop:
    """What a private model reaches at each ε."""
    found = seen.model
    rows = [
        (words.number(epsilon), f"{words.number(score, '.3f')} ± {words.number(spread, '.3f')}")
        for epsilon, score, spread in zip(found.epsilons, found.scores, found.spreads, strict=True)
    ]
    exact = (words("model.exact"), words.number(found.exact, ".3f"))
    return Stop(
        words("model.title"),
        words("model.told", guess=words.number(0.5), repeats=found.repeats),
        [(words("model.epsilon"), words("model.area")), *rows, exact],
        guarantee=found.guarantee,
    )


def audits(seen: Tour, words: Words) -> Stop:
    """The verdicts of audits, with one of a protocol that cheats."""
    cheat = {**seen.caught, "name": words("audits.cheat", name=seen.caught["name"])}
    rows = [
        (
            row["name"],
            words(f"audits.relations.{row['neighbours']}"),
            f"ε {words.number(row['claimed'])}",
            words.number(row["lower_bound"], ".3f"),
            words(f"audits.verdicts.{row['verdict']}"),
        )
        for row in (*seen.audits, cheat)
    ]
    head = tuple(words(f"audits.{name}") for name in ("name", "neighbours", "claimed", "bound", "verdict"))
    return Stop(words("audits.title"), words("audits.told"), [head, *rows])


def word(seen: Tour, words: Words) -> Stop:
    """A sentence garbled by the channel and mended by a code."""
    found = seen.word
    told = words(
        "word.told",
        letters=tour.LETTERS,
        epsilon=words.number(found.epsilon),
        capacity=words.number(found.capacity, ".2f"),
        wrong=found.wrong,
        sent=found.sent,
        checks=tour.CHECKS,
    )
    return Stop(words("word.title"), told, quote=(found.received, found.read))


STOPS: Final[Mapping[str, Any]] = {
    "survey": survey,
    "beliefs": beliefs,
    "gives": gives,
    "deciles": deciles,
    "model": model,
    "audits": audits,
    "word": word,
}


def stops(seen: Tour, words: Words) -> dict[str, Stop]:
    """Every stop by its name, in the order of the tour."""
    return {name: stop(seen, words) for name, stop in STOPS.items()}
