"""The base of the generated models: JSON of the HTTP API to objects and back.

The API uses camelCase and RFC 3339; the models use snake_case and `datetime`. Fields that a newer server adds are ignored.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound="Model")

_FRACTION = re.compile(r"\.(\d+)")


@functools.cache
def camel_case(name: str) -> str:
    """The name of a field in JSON."""
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


class Model:
    """An object of the HTTP API."""

    __slots__ = ()

    @classmethod
    def from_json(cls: type[T], data: Mapping[str, Any]) -> T:
        """Makes the object of parsed JSON."""
        values = {}
        for name, key, convert in _fields(cls):
            if key in data:
                value = data[key]
                values[name] = value if value is None or convert is None else convert(value)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """The JSON of the object. Fields that are None are left out."""
        pairs = ((key, getattr(self, name)) for name, key, _ in _fields(type(self)))
        return {key: to_wire(value) for key, value in pairs if value is not None}


def to_wire(value: Any) -> Any:
    """The value as JSON can hold it: models as objects, times as RFC 3339."""
    if isinstance(value, Model):
        return value.to_json()
    if isinstance(value, datetime.datetime):
        # A time without a zone is local time.
        return (value if value.tzinfo is not None else value.astimezone()).isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: to_wire(part) for key, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [to_wire(part) for part in value]
    return value


def parse_time(text: str) -> datetime.datetime:
    """Parses RFC 3339. Digits below microseconds are cut off; a year before 1 becomes the earliest `datetime`."""
    if text.startswith("-"):
        return datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)
    text = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text.replace("Z", "+00:00"))
    return datetime.datetime.fromisoformat(text)


_FIELDS: dict[type[Model], list[tuple[str, str, Callable[[Any], Any] | None]]] = {}


def _fields(cls: type[Model]) -> list[tuple[str, str, Callable[[Any], Any] | None]]:
    """Name, JSON name and converter of each field."""
    if cls not in _FIELDS:
        _FIELDS[cls] = _read_fields(cls)
    return _FIELDS[cls]


def _read_fields(cls: type[Model]) -> list[tuple[str, str, Callable[[Any], Any] | None]]:
    names = vars(sys.modules[cls.__module__])
    hints = typing.get_type_hints(cls, globalns=dict(names))
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    return [(field.name, camel_case(field.name), _converter(hints[field.name])) for field in fields]


def _convert_list(convert: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    return [convert(value) for value in values]


def _convert_dict(convert: Callable[[Any], Any], values: dict[str, Any]) -> dict[str, Any]:
    return {key: convert(value) for key, value in values.items()}


def _converter(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a value of this type out of JSON; None if JSON has it already."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        # A choice of several types is only sent, never read.
        choices = [argument for argument in arguments if argument is not type(None)]
        return _converter(choices[0]) if len(choices) == 1 else None
    if origin is list:
        convert = _converter(arguments[0])
        return None if convert is None else functools.partial(_convert_list, convert)
    if origin is dict:
        convert = _converter(arguments[1])
        return None if convert is None else functools.partial(_convert_dict, convert)
    if hint is datetime.datetime:
        return parse_time
    if isinstance(hint, type) and issubclass(hint, Model):
        return hint.from_json
    return None
