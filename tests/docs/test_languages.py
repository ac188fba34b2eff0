"""The French pages: each says what its English page says, with the same numbers, formulas and figures."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars
import pytest
from matplotlib.image import imread

from scripts import french_figures

DOCS = Path(__file__).parents[2] / "docs"
PAIRS = {"index.md": "index.md", "reponse_aleatoire.md": "theory_randomised_response.md", "cours.md": "lecture_kit.md"}
"""Each page of docs/fr, and the English page that it translates."""

CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d*[.,]?\d+")
NO_BREAK = "\u00a0\u202f"


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def sections(text: str) -> list[str]:
    return re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]


def numbers(text: str) -> Counter[str]:
    """Every number, however its decimals and thousands are written."""
    plain = re.sub(rf"(?<=\d)[ {NO_BREAK}](?=\d{{3}}\b)", "", text)
    found = (number.replace(",", ".") for number in NUMBER.findall(plain))
    return Counter("0" + number if number.startswith(".") else number for number in found)


def code_free(text: str) -> str:
    return CODE.sub(" ", text)


def test_every_french_page_has_its_english_page() -> None:
    assert {page.name for page in (DOCS / "fr").glob("*.md")} == set(PAIRS)


@pytest.mark.parametrize(("french", "english"), PAIRS.items())
def test_both_languages_give_the_same_numbers_section_by_section(french: str, english: str) -> None:
    ours, theirs = sections(read(f"fr/{french}")), sections(read(english))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert numbers(one) == numbers(other), one.splitlines()[0]


@pytest.mark.parametrize(("french", "english"), PAIRS.items())
def test_both_languages_have_the_same_formulas_and_figures(french: str, english: str) -> None:
    ours, theirs = read(f"fr/{french}"), read(english)
    for block in (r"^```math\n(.*?)^```", r"^```sh\n(bruit .*?)^```"):
        found = [re.findall(block, text, re.DOTALL | re.MULTILINE) for text in (ours, theirs)]
        assert [re.sub("#.*", "", each) for each in found[0]] == [re.sub("#.*", "", each) for each in found[1]]
    pictures = [[Path(name).name for name in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)] for text in (ours, theirs)]
    assert pictures[0] == pictures[1]


def test_the_figures_with_french_words_are_those_of_the_book_s_tables(tmp_path: Path) -> None:
    french_figures.main(tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in (DOCS / "fr").glob("*.png"))
    for name in drawn:
        ours, theirs = (imread(folder / name)[..., :3] for folder in (DOCS / "fr", tmp_path))
        assert ours.shape == theirs.shape, "python scripts/french_figures.py"
        assert np.abs(ours - theirs).mean() < 0.002, "python scripts/french_figures.py"


@pytest.mark.parametrize("french", PAIRS)
def test_french_is_set_as_french_is(french: str) -> None:
    prose = code_free(read(f"fr/{french}"))
    assert re.findall(r"\w+'[a-zéèêàâî]\w*", prose) == []  # a straight apostrophe
    assert re.findall(r"\w+ [;:!?»]", prose) == []  # a space at which a line may break
    assert re.findall(r"«[^\u00a0]", prose) == []
    assert re.findall(r"\d+\.\d+", prose) == []  # a decimal point


def test_the_experiments_told_are_those_of_the_book() -> None:
    table = polars.read_csv(DOCS / "results/krr-marital/marital.csv")
    told = re.findall(
        r"^\| ([A-Z][\w-]+) \| ([\d ]+) \| (\S+) \| (\S+) \((\S+) to (\S+)\) \| (\S+) \| (\S+) \|$",
        read("theory_randomised_response.md"),
        re.MULTILINE,
    )
    assert len(told) == len(table) == 7
    for row, shown in zip(table.iter_rows(named=True), told, strict=True):
        assert (row["status"], row["people"]) == (shown[0], int(shown[1].replace(" ", "")))
        shares = [f"{row[name]:.4f}" for name in ("true_share", "estimate", "low", "high")]
        spread = [f"{row[name]:.5f}" for name in ("deviation", "deviation_in_theory")]
        assert [f"0{number}" for number in shown[2:]] == shares + spread


@pytest.mark.parametrize("page", ["theory_randomised_response.md", "answers.md"])
def test_the_learning_told_is_that_of_the_book(page: str) -> None:
    figures = json.loads(read("results/krr-learning/findings.json"))["figures"]
    lines = re.findall(r"^\| (\S+) \([\d., ]+\) \| (\.\d.*\.\d+) \|$", read(page), re.MULTILINE)
    assert [epsilon for epsilon, _ in lines] == ["0.5", "1", "5"]
    ways = ("forest", "naive_bayes", "logistic", "tree", "on_device", "two_questions")
    for epsilon, told in lines:
        shown = [float(number) for number in told.split(" | ")]
        assert shown == [round(figures[f"{way}_at_{epsilon}"], 3) for way in ways[: len(shown)]]
