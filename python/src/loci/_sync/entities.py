# Generated from _async/ by scripts/generate.py; do not edit.
"""The people, projects and things that memories mention."""

from __future__ import annotations

from .._scope import fields_of, segment
from ..models import Entity, EntityProfile
from .caller import Caller
from .pages import Pages


class Entities:
    """The entities of a scope: `memory.entities`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(self, *, page_size: int | None = None) -> Pages[Entity]:
        """Lists entities."""
        return self._caller.pages(Entity, "/v1/entities", fields_of({"limit": page_size}))

    def get(self, entity: str) -> EntityProfile:
        """Reads an entity and what memories say of it. `entity` is an id, a name or an alias."""
        return self._caller.get(EntityProfile, f"/v1/entities/{segment('entity', entity)}")
