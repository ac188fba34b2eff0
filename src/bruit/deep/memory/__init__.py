"""Forecasts and measurements of the memory that a training takes."""

from bruit.deep.memory.allocator import CachingAllocator
from bruit.deep.memory.forecast import Forecast, forecast, largest_batch
from bruit.deep.memory.measurement import measure
from bruit.deep.memory.stages import STAGES, Stage

__all__ = ["STAGES", "CachingAllocator", "Forecast", "Stage", "forecast", "largest_batch", "measure"]
