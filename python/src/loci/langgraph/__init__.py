"""LangGraph on Loci: `LociSaver` keeps the checkpoints of graphs, `LociStore` their long-term memory."""

from ._saver import LociSaver
from ._store import LociStore

__all__ = ["LociSaver", "LociStore"]
