"""An item of a LangGraph store as a memory of Loci, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from langgraph.store.base import GetOp, Item, PutOp, SearchItem, get_text_at_path

from .._model import parse_time

# Characters of the text that is searched; the value itself is kept whole.
_CONTENT = 8000
# Every item bears one tag for each part of its path, from the root on, and one for its key. They are hashes, because a tag
# has a limited length and labels do not.
_PATH, _KEY = "langgraph-path", "langgraph-key"


def path_tag(namespace: Sequence[str]) -> str:
    """The tag of all items in a namespace and below it."""
    return _tag(_PATH, list(namespace))


def key_tag(namespace: Sequence[str], key: str) -> str:
    """The tag of one item."""
    return _tag(_KEY, [*namespace, key])


def place_tag(memory: Mapping[str, Any]) -> str:
    """The tag of the item that a memory is."""
    return str(next(tag for tag in memory["tags"] if tag.startswith(_KEY)))


def _tag(kind: str, labels: list[str]) -> str:
    digest = hashlib.sha256(json.dumps(labels).encode()).hexdigest()
    return f"{kind}:{digest[:24]}"


def changes_of_item(op: PutOp, fields: Sequence[str], now: datetime) -> dict[str, Any]:
    """The fields of a memory that change when an item is stored again."""
    value = dict(op.value or {})
    indexed = op.index is not False
    return {
        "content": text_of(value, op.index or fields if indexed else fields, op.key),
        "metadata": {
            "value": value,
            "indexed": indexed,
            "ttlMinutes": op.ttl,
            "updatedAt": now.isoformat(),
        },
        "expiresAt": expiry(op.ttl, now),
        # What has no end is exempt from every clean-up.
        "pinned": op.ttl is None,
    }


def memory_of_item(op: PutOp, fields: Sequence[str], now: datetime) -> dict[str, Any]:
    """The fields of a new memory. It is stored as it is: not compared with others, and neither merged nor aged."""
    changes = changes_of_item(op, fields, now)
    paths = [path_tag(op.namespace[:length]) for length in range(len(op.namespace) + 1)]
    return {
        **changes,
        "metadata": {"namespace": list(op.namespace), "key": op.key, **changes["metadata"]},
        "tags": [*paths, key_tag(op.namespace, op.key)],
        "source": {"type": "manual", "reference": key_tag(op.namespace, op.key)},
        "kind": "fact",
        "asIs": True,
        "decayRate": 0,
    }


def expiry(ttl: float | None, now: datetime) -> str | None:
    """When an item with this TTL, in minutes, expires."""
    return None if ttl is None else (now + timedelta(minutes=ttl)).isoformat()


def item_of(memory: Mapping[str, Any], op: GetOp) -> Item:
    """The item of a memory that was asked for."""
    return Item(**{**_parts(memory), "namespace": op.namespace, "key": op.key})


def search_item_of(memory: Mapping[str, Any], score: float | None) -> SearchItem:
    """The same as a result of a search."""
    return SearchItem(**_parts(memory), score=score)


def _parts(memory: Mapping[str, Any]) -> dict[str, Any]:
    metadata = memory["metadata"]
    return {
        "namespace": tuple(metadata["namespace"]),
        "key": metadata["key"],
        "value": metadata["value"],
        "created_at": parse_time(memory["createdAt"]),
        "updated_at": parse_time(metadata["updatedAt"]),
    }


def text_of(value: Mapping[str, Any], fields: Sequence[str], key: str) -> str:
    """The text by which an item is searched: its fields, or for `$` all of it, as lines."""
    lines: list[str] = []
    for path in fields:
        lines.extend(_lines(value) if path == "$" else get_text_at_path(value, path))
    text = "\n".join(lines).strip()
    # A memory has a text, even if nothing of the item is searched.
    return text[:_CONTENT] or key.strip() or "-"


def _lines(value: Mapping[str, Any]) -> list[str]:
    texts = [(name, part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)) for name, part in value.items()]
    # The name of the only field, such as `text`, says nothing.
    return [texts[0][1]] if len(texts) == 1 else [f"{name}: {text}" for name, text in texts]


def matches(value: Any, wanted: Any) -> bool:
    """Whether a value meets a condition: an equal value, `{"$gt": 1}` and the like, or conditions for its fields."""
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compare(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, Mapping) and all(matches(value.get(name), part) for name, part in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same and all(matches(part, other) for part, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return matches(value, operand)
    if operator == "$ne":
        return not matches(value, operand)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"unknown operator {operator!r}: expected $eq, $ne, $gt, $gte, $lt or $lte")
    pair = _comparable(value, operand)
    if pair is None:
        return False
    left, right = pair
    return bool({"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator])


def _comparable(value: Any, operand: Any) -> tuple[Any, Any] | None:
    """Both as numbers, or else as texts; None if they have no order."""
    try:
        return float(value), float(operand)
    except (TypeError, ValueError):
        return (value, operand) if isinstance(value, str) and isinstance(operand, str) else None


def utc_now() -> datetime:
    """The time now."""
    return datetime.now(timezone.utc)
