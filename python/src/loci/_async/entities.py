"""The people, projects and things that memories mention."""

from __future__ import annotations

from .._scope import fields_of, segment
from ..models import Entity, EntityProfile
from .caller import AsyncCaller
from .pages import AsyncPages


class AsyncEntities:
    """The entities of a scope: `memory.entities`."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(self, *, page_size: int | None = None) -> AsyncPages[Entity]:
        """Lists entities."""
        return self._caller.pages(Entity, "/v1/entities", fields_of({"limit": page_size}))

    async def get(self, entity: str) -> EntityProfile:
        """Reads an entity and what memories say of it. `entity` is an id, a name or an alias."""
        return await self._caller.get(EntityProfile, f"/v1/entities/{segment('entity', entity)}")
