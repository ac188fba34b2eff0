"""Loaders of public data sets."""

from bruit.apps.data.catalogue import CATALOGUE, DataSet
from bruit.apps.data.census import adult
from bruit.apps.data.files import PublicFile, find, place
from bruit.apps.data.invented_people import people
from bruit.apps.data.magazine import fair

__all__ = ["CATALOGUE", "DataSet", "PublicFile", "adult", "fair", "find", "people", "place"]
