"""Memories as a text for a prompt."""

from __future__ import annotations

from dataclasses import dataclass

from .models import Answered


@dataclass(frozen=True, kw_only=True)
class Context:
    """Memories as a text for a prompt, and whether they are likely to answer the query."""

    text: str
    """The text, ready for a prompt."""
    tokens: int
    """Number of tokens of the text."""
    budget_tokens: int
    """Maximum number of tokens that it could have."""
    cited: list[str]
    """The ids of the memories in the text."""
    left_out: list[str]
    """The ids of the memories that did not fit, the best first."""
    shortened: list[str]
    """The ids of the cited memories that were shortened."""
    revision: int
    """The revision of the memory now, for `after_revision` of the next question."""
    answered: Answered
    """Whether what is known answers the query."""
    degraded: list[str]
    """Parts that could not be used, for example `vector`."""

    def __str__(self) -> str:
        return self.text
