"""What is generated is up to date, and reads JSON as it should."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, timezone

import pytest
from server import PACKAGE

from loci import MemoryFilter, NewMemory, Turn
from loci._model import camel_case, parse_time
from loci.models import RecallAnswer, RecalledMemory


def test_generated_files_are_up_to_date() -> None:
    result = subprocess.run([sys.executable, PACKAGE / "scripts/generate.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_names_and_times_are_translated_and_what_is_not_given_is_left_out() -> None:
    new = NewMemory(content="x", as_is=True, event_time=date(2024, 5, 1), metadata={"in_place": {"a_b": 1}})
    assert new.to_json() == {"content": "x", "asIs": True, "eventTime": "2024-05-01", "metadata": {"in_place": {"a_b": 1}}}
    filter = MemoryFilter(created_after=datetime(2024, 5, 1, 12, tzinfo=timezone.utc), tags=["a"], pinned=False)
    assert filter.to_json() == {"createdAfter": "2024-05-01T12:00:00+00:00", "tags": ["a"], "pinned": False}
    naive = Turn(content="x", event_time=datetime(2024, 5, 1, 12)).to_json()["eventTime"]
    assert datetime.fromisoformat(naive) == datetime(2024, 5, 1, 12).astimezone()
    assert camel_case("event_time") == "eventTime" == camel_case("eventTime")


def test_fields_that_are_absent_or_unknown_do_no_harm() -> None:
    answer = RecallAnswer.from_json(
        {
            "data": [{"memory": {"id": "1", "ofTheFuture": 1}, "score": 0.5}],
            "nextCursor": None,
            "answered": "yes",
            "confidence": 1,
            "intent": "what",
            "degraded": [],
            "ofTheFuture": {},
        }
    )
    assert answer.data[0].memory == RecalledMemory(id="1")
    assert answer.data[0].explain is None
    with pytest.raises(TypeError, match="answered"):
        RecallAnswer.from_json({"data": []})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=timezone.utc)),
        ("2026-01-02T03:04:05.5+02:00", datetime(2026, 1, 2, 1, 4, 5, 500000, tzinfo=timezone.utc)),
        ("9999-12-30T22:00:00Z", datetime(9999, 12, 30, 22, tzinfo=timezone.utc)),
        ("-000044-03-15T00:00:00Z", datetime.min.replace(tzinfo=timezone.utc)),
    ],
)
def test_times_are_parsed(text: str, wanted: datetime) -> None:
    assert parse_time(text) == wanted
