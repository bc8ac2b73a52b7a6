"""Whose memory a request is about, and the other parts of a request that every operation has."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from ._model import camel_case, to_wire


class Unset:
    """The type of `UNSET`, which stands for an argument that was not given where None has a meaning of its own."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()

IDENTIFIERS: Final = ("user", "agent", "session", "project", "team", "org", "company", "pool")
"""The arguments that name a scope, as the flags of the command line do."""


@dataclass(frozen=True)
class Scope:
    """The identifiers of a client."""

    identifiers: Mapping[str, str] = field(default_factory=dict)
    """The identifiers by their names in JSON, for example `userId`."""
    everyone: bool = False
    """Whether calls are about everyone's data instead of one scope."""

    def overlay(self, changes: Mapping[str, str | Unset | None], everyone: bool | Unset = UNSET) -> Scope:
        """This scope with other identifiers. None removes one, UNSET leaves it."""
        identifiers: dict[str, str | None] = dict(self.identifiers)
        for name, value in changes.items():
            if name not in IDENTIFIERS:
                raise ValueError(f"unknown identifier {name!r}: expected one of {', '.join(IDENTIFIERS)}")
            if isinstance(value, Unset):
                continue
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be a text, not {value!r}")
            identifiers[f"{name}Id"] = value
        kept = {name: value for name, value in identifiers.items() if value is not None}
        return Scope(kept, self.everyone if isinstance(everyone, Unset) else everyone)

    def with_defaults(self, defaults: Mapping[str, str]) -> dict[str, str]:
        """The identifiers of a request.

        The defaults are used if no scope is named. An agent or a session alone names none: it is that of the default user.
        """
        named = any(name not in ("agentId", "sessionId") for name in self.identifiers)
        return dict(self.identifiers) if named or self.everyone else {**defaults, **self.identifiers}


def fields_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request: those arguments that were given, by their names in JSON. None is not given."""
    return {camel_case(name): to_wire(value) for name, value in arguments.items() if value is not None}


def changes_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same, where None removes a value and UNSET leaves it."""
    return {camel_case(name): to_wire(value) for name, value in arguments.items() if not isinstance(value, Unset)}


def object_of(given: Any) -> dict[str, Any]:
    """A model as JSON, or a mapping with the names of its fields in either casing."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {camel_case(name): to_wire(value) for name, value in given.items()}
    converted: dict[str, Any] = to_wire(given)
    return converted


def segment(name: str, value: str) -> str:
    """A part of a path. What would lead to another path is refused."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ValueError(f"{name} must be a name, not {value!r}")
    return quote(value, safe="")


def idempotency(key: str | None) -> dict[str, str]:
    """The header by which the server recognises a repetition of a write."""
    return {"Idempotency-Key": key or uuid.uuid4().hex}
