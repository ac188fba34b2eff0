"""Recipes: many questions of a table in one charge and one pass, with all files that are written."""

from bruit.apps.steward.recipe.reading import Recipe, read_recipe
from bruit.apps.steward.recipe.releasing import Opened, Published, open_recipe, release_recipe
from bruit.apps.steward.recipe.writing import check_outputs, to_json, write_outputs

__all__ = [
    "Opened",
    "Published",
    "Recipe",
    "check_outputs",
    "open_recipe",
    "read_recipe",
    "release_recipe",
    "to_json",
    "write_outputs",
]
