"""A change that the event stream reports."""

from __future__ import annotations

from dataclasses import dataclass

from .models import LedgerItem


@dataclass(frozen=True, kw_only=True)
class ChangeEvent:
    """A change that the event stream reports."""

    id: str
    """The place after this event. Give it as `after` to continue there later."""
    event: str
    """What happened, for example `ADD`, `UPDATE` or `SUPERSEDE`."""
    data: LedgerItem
    """The entry of the ledger."""
