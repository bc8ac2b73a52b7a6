"""Generates `src/loci/models.py` from docs/openapi.json, and `src/loci/_sync/` from `src/loci/_async/`.

    python scripts/generate.py [--check]

With `--check` nothing is written, and the program fails if a file is out of date.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
SOURCE = PACKAGE / "src" / "loci"
OPENAPI = PACKAGE.parent / "docs" / "openapi.json"
WIDTH = 128

# The schemas of what the client takes and returns; those that they refer to come with them.
ROOTS = [
    "BatchResult",
    "ConsolidationReport",
    "Entity",
    "EntityProfile",
    "Fact",
    "FactWrite",
    "Format",
    "IngestedTurns",
    "LedgerEntry",
    "LedgerItem",
    "Memory",
    "MemoryFilter",
    "MemoryWrite",
    "NewMemoryRequest",
    "Problem",
    "Readiness",
    "RecallAnswer",
    "Session",
    "SessionWrite",
    "Statistics",
    "Strategy",
    "Turn",
]
# Names that the package uses for something else, and names without the word for their place in HTTP.
RENAMED = {"Memory": "StoredMemory", "NewMemoryRequest": "NewMemory", "Readiness": "Health", "Session": "SessionRecord"}
# The scope of a request is that of the client.
LEFT_OUT = {"NewMemoryRequest": {"everyone"}}
# Objects that are sent, so that every field but these may be left out.
SENT = {"MemoryFilter": set(), "NewMemoryRequest": {"content"}, "Turn": set()}

HEAD = '''"""The objects of the HTTP API. Generated from docs/openapi.json by scripts/generate.py; do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from ._model import Model
'''


def snake_case(name: str) -> str:
    """The name of a field in Python."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def class_name(schema: str) -> str:
    """The name of a class or alias."""
    return RENAMED.get(schema, schema)


def collect(value: Any, schemas: dict[str, Any], names: set[str]) -> None:
    """Collects the names of the schemas that a value refers to, also through other schemas."""
    if isinstance(value, list):
        for part in value:
            collect(part, schemas, names)
    if isinstance(value, dict):
        name = str(value.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in names:
            names.add(name)
            collect(schemas[name], schemas, names)
        for part in value.values():
            collect(part, schemas, names)


def type_of(schema: dict[str, Any], schemas: dict[str, Any], *, sent: bool) -> str:
    """The type of a value, without `| None`."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        target = schemas[name]
        return class_name(name) if target.get("type") == "object" or "enum" in target else type_of(target, schemas, sent=sent)
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            [part] = [part for part in schema[choice] if part.get("type") != "null"]
            return type_of(part, schemas, sent=sent)
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        [kind] = [one for one in kind if one != "null"]
    if kind == "string":
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'] if value is not None)}]"
        if schema.get("format") == "date-time":
            return "datetime | date | str" if sent else "datetime"
        return "str"
    if kind == "array":
        return f"list[{type_of(schema['items'], schemas, sent=sent)}]"
    if kind == "object":
        values = schema.get("additionalProperties") or {}
        return f"dict[str, {type_of(values, schemas, sent=sent)}]"
    return {"integer": "int", "number": "float", "boolean": "bool", "any": "Any"}[kind]


def sentence(text: str) -> str:
    """A description on one line, with the names of fields as Python has them."""
    text = " ".join(text.split()).replace("\\", "\\\\")
    return re.sub(r"`[a-z]+[A-Z]\w*`", lambda match: snake_case(match[0]), text)


def docstring(text: str, indent: str) -> str:
    """A docstring within the width of a line."""
    summary, _, rest = text.partition("\n\n")
    if rest:
        lines = [f"{indent}{line}".rstrip() for line in rest.splitlines()]
        return f'{indent}"""{sentence(summary)}\n\n' + "\n".join(lines) + f'\n{indent}"""\n'
    text = sentence(text)
    if len(indent) + len(text) + 6 <= WIDTH:
        return f'{indent}"""{text}"""\n'
    first, rest = text, ""
    if ". " in text:
        first, rest = text.split(". ", 1)
        first += "."
    if not rest or len(indent) + len(first) + 3 > WIDTH:
        lines = textwrap.wrap(text, WIDTH - len(indent) - 3)
        return f'{indent}"""{lines[0]}\n' + "".join(f"{indent}{line}\n" for line in lines[1:]) + f'{indent}"""\n'
    lines = textwrap.wrap(rest, WIDTH - len(indent))
    return f'{indent}"""{first}\n\n' + "".join(f"{indent}{line}\n" for line in lines) + f'{indent}"""\n'


def class_text(name: str, schemas: dict[str, Any]) -> str:
    """The class of an object."""
    schema, sent = schemas[name], name in SENT
    required = SENT[name] if sent else set(schema.get("required", []))
    description = schema.get("description", class_name(name))
    if name == "NewMemoryRequest":
        description = "A memory to add."
    text = f"@dataclass(frozen=True, kw_only=True, slots=True)\nclass {class_name(name)}(Model):\n"
    text += docstring(description, "    ")
    properties = {key: part for key, part in schema.get("properties", {}).items() if key not in LEFT_OUT.get(name, set())}
    for key, part in sorted(properties.items(), key=lambda pair: pair[0] not in required):
        kind = type_of(part, schemas, sent=sent)
        nullable = key not in required or "null" in str(part.get("type")) or {"type": "null"} in part.get("oneOf", [])
        if nullable and kind != "Any":
            kind += " | None"
        default = "" if key in required else " = None"
        text += f"\n    {snake_case(key)}: {kind}{default}\n"
        if "description" in part:
            text += docstring(part["description"], "    ")
    return text


def models() -> str:
    """The text of models.py."""
    schemas = json.loads(OPENAPI.read_text())["components"]["schemas"]
    names: set[str] = set(ROOTS)
    for root in ROOTS:
        collect(schemas[root], schemas, names)
    text = HEAD
    for name in sorted(names, key=class_name):
        if "enum" in schemas[name]:
            text += f"\n{class_name(name)} = {type_of(schemas[name], schemas, sent=False)}\n"
            text += docstring(schemas[name]["description"], "")
    for name in sorted(names, key=class_name):
        if schemas[name].get("type") == "object":
            text += f"\n\n{class_text(name, schemas)}"
    return text


# What an asynchronous text becomes in the synchronous one, in this order.
WORDS = [
    (r"\basync with\b", "with"),
    (r"\basync for\b", "for"),
    (r"\basync def\b", "def"),
    (r"\bawait ", ""),
    (r"\b_async\b", "_sync"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b__a(enter|exit|iter|next)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baread\b", "read"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\bAwaitable, ", ""),
    (r"\bAwaitable\[(.+?)\]\]", r"\1]"),
]


def synchronous(text: str) -> str:
    """The synchronous form of an asynchronous module."""
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    head, docstring_end, rest = text.partition('"""\n')
    return f"# Generated from _async/ by scripts/generate.py; do not edit.\n{head}{docstring_end}{rest}"


def outputs() -> dict[Path, str]:
    """The generated files and their texts."""
    files = {SOURCE / "models.py": models()}
    for path in sorted((SOURCE / "_async").glob("*.py")):
        # The two runtimes are what differs between the two worlds, so each is written by hand.
        if path.name != "runtime.py":
            files[SOURCE / "_sync" / path.name] = synchronous(path.read_text())
    return files


def main() -> int:
    """Writes the files, or checks them."""
    stale = []
    for path, text in outputs().items():
        if path.exists() and path.read_text() == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(str(path.relative_to(PACKAGE)))
        else:
            path.write_text(text)
    if stale:
        print(
            f"out of date: {', '.join(stale)}; run `python scripts/generate.py` in python/ and commit the result",
            file=sys.stderr,
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
