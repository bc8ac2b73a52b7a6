"""LangGraph on Loci: `LociSaver` keeps the checkpoints of graphs, `LociStore` their long-term memory."""

from ._saver import LociSaver

__all__ = ["LociSaver"]
