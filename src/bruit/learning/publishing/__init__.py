"""What is published of a fitted model: its card, and a file without ledger, seed or rows."""

from bruit.learning.publishing.archive import load, save
from bruit.learning.publishing.card import Figure, ModelCard
from bruit.learning.publishing.onnx_graph import to_onnx

__all__ = ["Figure", "ModelCard", "load", "save", "to_onnx"]
