# Generated from _async/ by scripts/generate.py; do not edit.
"""Facts as subject, predicate and object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._scope import fields_of, segment
from ..models import Fact, FactWrite, Layer
from .caller import Caller
from .pages import Pages


class Facts:
    """The facts of a scope: `memory.facts`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def state(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        fact_type: str | None = None,
        confidence: float | None = None,
        layer: Layer | None = None,
        metadata: Mapping[str, Any] | None = None,
        sources: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> FactWrite:
        """States a fact, for example `("Database", "version", "v16")`.

        One that is known already stays one: the greater confidence is kept, metadata and sources are added. `sources` are the
        ids of the memories that it was learned from.
        """
        fields = fields_of(
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "fact_type": fact_type,
                "confidence": confidence,
                "layer": layer,
                "metadata": metadata,
                "sources": sources,
            }
        )
        return self._caller.write(FactWrite, "POST", "/v1/facts", fields, idempotency_key)

    def list(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        fact_type: str | None = None,
        include_past: bool | None = None,
        page_size: int | None = None,
    ) -> Pages[Fact]:
        """Lists facts, for example of one subject. `include_past` adds those that hold no longer."""
        fields = fields_of(
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "fact_type": fact_type,
                "include_past": include_past,
                "limit": page_size,
            }
        )
        return self._caller.pages(Fact, "/v1/facts", fields)

    def get(self, id: str) -> Fact:
        """Reads a fact."""
        return self._caller.get(Fact, f"/v1/facts/{segment('id', id)}")

    def retract(self, id: str, *, reason: str | None = None, idempotency_key: str | None = None) -> None:
        """Retracts a fact: it holds no longer."""
        path = f"/v1/facts/{segment('id', id)}"
        self._caller.delete(path, fields_of({"reason": reason}), {}, idempotency_key)
