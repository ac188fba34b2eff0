"""Forecasts and measurements of the memory that a training takes."""

from bruit.deep.memory.allocator import CachingAllocator
from bruit.deep.memory.forecasts import Device, Forecast, forecast, largest_batch
from bruit.deep.memory.measurement import measure
from bruit.deep.memory.stages import STAGES, Stage

__all__ = ["STAGES", "CachingAllocator", "Device", "Forecast", "Stage", "forecast", "largest_batch", "measure"]
