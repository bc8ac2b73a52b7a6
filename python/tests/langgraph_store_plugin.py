"""A plugin of pytest that gives LangGraph's own tests of its store a `LociStore` in the place of `InMemoryStore`."""

from __future__ import annotations

import itertools
import os
from typing import Any

import langgraph.store.memory

from loci import Memory
from loci.langgraph import LociStore

_users = itertools.count(1)


class StoreUnderTest(LociStore):
    """A store without items."""

    def __init__(self, **options: Any) -> None:
        memory = Memory(url=os.environ["LOCI_TEST_URL"], user=f"langgraph-{next(_users)}")
        super().__init__(memory, **options)
        # What the tests look at.
        self.index_config = options.get("index")


langgraph.store.memory.InMemoryStore = StoreUnderTest  # type: ignore[assignment,misc]
