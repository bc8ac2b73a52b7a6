"""Long-term memory for AI agents.

    from loci import Memory

    memory = Memory()
    memory.remember("I am allergic to peanuts")
    print(memory.recall("what am I allergic to?").data[0].memory.content)

`Memory` and `AsyncMemory` are the same client, without and with `asyncio`. `loci.langgraph`, `loci.langchain`,
`loci.llama_index` and `loci.openai_agents` are adapters for those frameworks.
"""

from importlib.metadata import PackageNotFoundError, version

from ._async.client import AsyncMemory
from ._async.pages import AsyncPages
from ._async.session import AsyncSession
from ._context import Context
from ._event import ChangeEvent
from ._page import Page
from ._retry import Retry
from ._sync.client import Memory
from ._sync.pages import Pages
from ._sync.session import Session
from .errors import (
    ERROR_CLASSES,
    AuthenticationError,
    ConflictError,
    EmbeddedServerError,
    InvalidRequestError,
    LociError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerConnectionError,
    ServerError,
    ServerTimeoutError,
)
from .models import MemoryFilter, NewMemory, Turn

try:
    __version__ = version("loci-memory")
except PackageNotFoundError:
    # The sources are used without being installed.
    __version__ = "0"

__all__ = [
    "ERROR_CLASSES",
    "AsyncMemory",
    "AsyncPages",
    "AsyncSession",
    "AuthenticationError",
    "ChangeEvent",
    "ConflictError",
    "Context",
    "EmbeddedServerError",
    "InvalidRequestError",
    "LociError",
    "Memory",
    "MemoryFilter",
    "NewMemory",
    "NotFoundError",
    "Page",
    "Pages",
    "PermissionDeniedError",
    "RateLimitError",
    "Retry",
    "ServerConnectionError",
    "ServerError",
    "ServerTimeoutError",
    "Session",
    "Turn",
    "__version__",
]
