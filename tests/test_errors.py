"""The tree in the docstring of `errors.py` is the tree of its classes."""

import inspect
import re

from bruit import errors


def drawn() -> list[tuple[str, str, str]]:
    """(class, parent, parent among Python's own errors) for each line of the drawing."""
    above: list[str] = []
    found = []
    for branch, name, builtin in re.findall(r"^([│├└─ ]*)(\w+)(?: \((\w+)\))?(?=\s{2,}|$)", errors.__doc__ or "", re.M):
        depth = len(branch) // 4
        if branch or name == "BruitError":
            above[depth:] = [name]
            found.append((name, above[depth - 1] if depth else "", builtin))
    return found


def written() -> list[tuple[str, str, str]]:
    """The same of the classes, in the order of the file."""
    found = []
    for name, error in vars(errors).items():
        if inspect.isclass(error) and error.__module__ == errors.__name__:
            ours = [parent.__name__ for parent in error.__bases__ if parent.__module__ == errors.__name__]
            others = [parent.__name__ for parent in error.__bases__ if parent.__module__ == "builtins"]
            found.append((name, "".join(ours), "".join(other for other in others if other != "Exception")))
    return found


def test_the_drawn_tree_is_the_tree() -> None:
    assert drawn() == written()


def test_every_error_says_what_it_is() -> None:
    undocumented = [name for name, *_ in written() if not getattr(errors, name).__doc__]
    assert undocumented == []


def test_a_missing_budget_names_the_ways_out_that_exist() -> None:
    for exact in (False, True):
        message = str(errors.BudgetMissing("learning.DecisionTree", exact=exact))
        assert message.startswith("learning.DecisionTree needs a budget")
        assert "ledger.budget(epsilon=" in message
        assert ("bruit.WITHOUT_PRIVACY" in message) is exact


def test_a_missing_extra_prints_the_line_that_installs_it() -> None:
    assert "pip install 'bruit[learn]'" in str(errors.MissingExtra("BoostedTrees", "learn"))
