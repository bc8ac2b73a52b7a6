"""The objects of the HTTP API. Generated from docs/openapi.json by scripts/generate.py; do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from ._model import Model

AccessPolicy = Literal["private", "restricted", "shared", "organization", "public"]
"""Which callers within the scope of a memory may see it."""

Answered = Literal["yes", "unsure", "no"]
"""Whether the results answer a query."""

Durability = Literal["durable", "batched"]
"""How durable an acknowledged write is."""

EntityType = Literal["person", "project", "organization", "place", "concept", "tool"]
"""The type of an entity."""

Format = Literal["markdown", "bullets", "messages", "json"]
"""The shape of what is packed."""

HealthStatus = Literal["healthy", "degraded", "unhealthy"]
"""The condition of a part, or of the whole."""

Layer = Literal["agent", "user", "session", "project", "team", "org", "company", "pool"]
"""The layer of a memory, from the most specific to the least."""

Outcome = Literal["ADD", "NONE", "UPDATE", "MERGE", "SUPERSEDE", "DELETE", "RESTORE", "ERASE"]
"""What a write did, in the words of the ledger's events. Earlier versions wrote the names in lower case."""

Relation = Literal["temporal", "causal", "entity", "derived_from", "supersedes", "related_to", "may_contradict"]
"""The relation that a link expresses."""

State = Literal["active", "decayed", "archived", "soft_deleted", "proposed"]
"""The state of a memory in its life cycle."""

Strategy = Literal["hybrid", "semantic", "lexical", "recency", "importance", "rrf"]
"""Which lanes are searched, and how the results are ordered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchEntry(Model):
    """The result of one memory of a batch."""

    degraded: list[str]
    """Parts of the work that could not be done now, for example `vector`."""

    index: int
    """The position in the batch, from 0."""

    redacted: list[str]
    """The names of the patterns that were masked before anything was stored."""

    durability: Durability | None = None
    """How durable the write is; absent if it failed."""

    embedding_generated: bool | None = None
    """Whether a vector was computed for a new memory; absent if it failed."""

    embedding_regenerated: bool | None = None
    """Whether a new vector was computed because the text changed; absent if it failed."""

    error: Problem | None = None
    """Why it failed; absent if it succeeded."""

    event: Outcome | None = None
    """What the write did; absent if it failed."""

    id: str | None = None
    """The id of the memory; absent if it failed."""

    version: int | None = None
    """The version of the memory; absent if it failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult(Model):
    """The results of a batch."""

    data: list[BatchEntry]
    """The result of each memory, in order. Without `continue_on_error`, the first failure is the last result."""

    failed: int
    """The number of memories that failed."""

    succeeded: int
    """The number of memories that were added or known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budgets(Model):
    """How the tokens of a window are divided."""

    input: int
    """For the input, and for the conversation before it."""

    memory: int
    """For memory."""

    output: int
    """For the answer."""

    system: int
    """For the system prompt."""

    tools: int
    """For the descriptions of tools."""

    total: int
    """All of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClueWeight(Model):
    """A feature with its weight."""

    clue: str
    """The name of the clue."""

    value: float
    """The value of the clue."""

    weight: float
    """The weight of the clue."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComponentHealth(Model):
    """The condition of a component."""

    latency_ms: float
    """Time that it took to answer, in milliseconds."""

    status: HealthStatus
    """Whether it works."""

    message: str | None = None
    """What is wrong. Absent if nothing is."""

    name: str | None = None
    """The product, for example `sqlite`. Absent while it does not answer."""

    version: str | None = None
    """The version of the product."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidationReport(Model):
    """The result of a consolidation."""

    added: int
    """Number of new memories."""

    candidates: int
    """Number of sentences that were selected."""

    entities: int
    """Number of entities that are new or have new names."""

    linked: int
    """Number of memories that were linked because they may contradict each other."""

    proposed: int
    """Number of sentences that wait for consent."""

    skipped: int
    """Number of sentences that add nothing to known memories."""

    superseded: int
    """Number of replaced memories."""

    turns: int
    """Number of turns that were read."""

    missed: list[str] | None = None
    """Requests to remember something for which no content was found."""

    refused: dict[str, int] | None = None
    """Number of refused statements of a language model, by reason."""

    waits_until: datetime | None = None
    """Until when the remaining turns wait, because the daily cap is reached."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextTokens(Model):
    """The tokens of each part of a context."""

    history: int
    """Of the conversation, with the summary of its older part."""

    input: int
    """Of the input."""

    memory: int
    """Of memory."""

    system: int
    """Of the system prompt."""

    tools: int
    """Of the tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity(Model):
    """A thing that memories mention: a person, a project, an organization, a place, a concept or a tool."""

    aliases: list[str]
    """Other names of the same entity."""

    attributes: dict[str, Any]
    """Further attributes, by name."""

    canonical_name: str
    """The canonical name."""

    created_at: datetime
    """When it was first mentioned. Called `first_seen` in exports of format 1."""

    entity_type: EntityType
    """The type."""

    id: str
    """The id of the entity."""

    mention_count: int
    """The number of counted mentions."""

    updated_at: datetime
    """When it last changed. Called `last_updated` in exports of format 1."""

    summary: str | None = None
    """A profile of a few sentences."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityProfile(Model):
    """What is known of an entity."""

    entity: Entity
    """The entity."""

    memories: list[StoredMemory]
    """What memories say of it, newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation(Model):
    """Why a memory was found and ranked as it was:

    * `evidence` = Σ `weight · value` over the clues + `kind` + `lift`;
    * `relevance` = `confidence · exp((evidence − best) / 3)`, or what a reranker said;
    * `sum` = `wₛ·relevance + closeness · (wᵣ·recency + wᵤ·utility)`;
    * `score` = `sum + (1 − sum) · closeness · (layer + relation)`.
    """

    best: float
    """The evidence of the best candidate."""

    closeness: float
    """Closeness to the most relevant memory, 0..1.

    Recency, utility, layer and relation are multiplied by it: they order memories of similar relevance and do not lift a
    clearly less relevant one.
    """

    clues: list[ClueWeight]
    """The clues with their weights; only those with a value."""

    confidence: float
    """The probability that the best results answer the query at all, 0 to 1."""

    evidence: float
    """The weighted sum of the clues, plus `kind` and `lift`."""

    kind: float
    """The addition for its kind and state."""

    lanes: list[LaneRank]
    """The lanes that found it. Empty if it is a neighbour of their hits."""

    layer: float
    """The bonus of its layer."""

    recency: float
    """Recency, 0..1."""

    relation: float
    """The bonus of its strongest relation."""

    relevance: float
    """Relevance to the question, 0..1."""

    utility: float
    """Utility, 0..1."""

    weights: Weights
    """The weights of relevance, recency and utility."""

    lift: float | None = None
    """The addition that ranks it above an older memory with the same statement, or in place of a turn it was learned from."""

    overrides: list[str] | None = None
    """Memories with the same statement that this one replaced in the results."""

    passage: str | None = None
    """The part of a long note that was found."""

    related: list[RelatedMemory] | None = None
    """Memories that are linked to it."""

    reranked: float | None = None
    """The score of the reranker, 0 to 1, which replaces the evidence."""

    similarity: float | None = None
    """Its cosine to the query, `max(0, cosine)`. Absent if the vector lane did not find it."""

    sources: list[str] | None = None
    """Turns that it was learned from and that were found as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact(Model):
    """A fact: a triple of one scope."""

    confidence: float
    """Confidence in the fact, 0 to 1."""

    created_at: datetime
    """When it was first stated."""

    fact_type: str
    """The type of the fact, for example `preference`, `uses` or `located_at`."""

    id: str
    """The id, a hash of scope, type, subject, predicate and object."""

    identifiers: Identifiers
    """The identifiers of its scope."""

    layer: Layer
    """The layer of its scope."""

    metadata: dict[str, Any]
    """Further metadata, by name."""

    object: str
    """The object, for example `v16`."""

    predicate: str
    """The predicate, for example `has_version`."""

    sources: list[str]
    """The memories that it was learned from and that the reader may see."""

    subject: str
    """The subject, for example `Database`."""

    updated_at: datetime
    """When it last changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactWrite(Model):
    """The answer to a write."""

    data: Fact | None
    """The resource after the write; null if the caller may not see it or asked for `return=minimal`."""

    degraded: list[str]
    """Parts of the work that could not be done now, for example `vector`."""

    event: Outcome
    """What the write did."""

    id: str
    """The id of the resource."""

    redacted: list[str]
    """The names of the patterns that were masked before anything was stored."""

    version: int | None
    """The version of the resource after the write; null if it has none."""

    durability: Durability | None = None
    """Memories only: how durable the write is."""

    embedding_generated: bool | None = None
    """Memories only: whether a vector was computed for a new memory."""

    embedding_regenerated: bool | None = None
    """Memories only: whether a new vector was computed because the text changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Health(Model):
    """Readiness, with each component. Without the credential of an admin, a component has only its status and latency."""

    components: ReadinessComponents
    """The components."""

    latency_ms: float
    """Time that all components took to answer, in milliseconds."""

    status: HealthStatus
    """`unhealthy` if the store fails, `degraded` if another component does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identifiers(Model):
    """The identifiers that a caller gave, or that a record carries."""

    agent_id: str | None = None
    """The agent, by its URL-safe slug."""

    company_id: str | None = None
    """The company."""

    org_id: str | None = None
    """The organization."""

    pool_id: str | None = None
    """The pool, by its URL-safe slug."""

    project_id: str | None = None
    """The project or repository."""

    session_id: str | None = None
    """The session, a conversation."""

    team_id: str | None = None
    """The team."""

    user_id: str | None = None
    """The user."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestedTurns(Model):
    """The results of turns that were ingested."""

    data: list[TurnWrites]
    """One entry for each turn, in the order of the request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgePointer(Model):
    """The knowledge item that a memory mirrors."""

    content_hash: str
    """The hash of the item when it was last read."""

    source_id: str
    """The id of the item."""

    source_type: str
    """The type of the item: `adr`, `policy`, `pattern` or `spec`."""

    synced_at: datetime
    """When the item was last read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaneRank(Model):
    """The rank of a memory in one lane."""

    lane: str
    """The lane."""

    rank: int
    """The rank, from 1."""

    score: float
    """The score on the lane's own scale."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningStats(Model):
    """How learning goes."""

    llm_tokens_today: int
    """Tokens that the language model has read and written today."""

    missed: int
    """Requests to remember something for which nothing was found to keep."""

    refused: int
    """Statements that a language model wrote and that were refused."""

    statements: int
    """Memories that were learned from sessions."""

    summaries: int
    """Summaries of long conversations that are kept."""

    tokens_saved: int
    """Tokens that these summaries have saved."""

    first_pass_rate: float | None = None
    """The share of learned statements that kept the writing rules. Absent if nothing was learned yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry(Model):
    """One entry of the ledger."""

    created_at: datetime
    """When the change was made. Earlier versions wrote it as `at`."""

    event: str
    """The event, in capitals, for example `ADD`."""

    reason: str
    """The reason for the change."""

    sequence: int
    """The sequence number within the space."""

    space: str
    """The space that the entry belongs to."""

    actor: str | None = None
    """The actor that made the change."""

    memory_id: str | None = None
    """The memory that changed, if the entry is about one."""

    new: Any = None
    """The new values, or references to what was made."""

    node: str | None = None
    """The part of Loci that made the change."""

    old: Any = None
    """The previous values, as far as undo needs them."""

    request_id: str | None = None
    """The id of the request that caused it."""

    thread_id: str | None = None
    """The conversation in which it was made."""

    version: int | None = None
    """The version of the memory after the change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerItem(Model):
    """An entry of the ledger with its place."""

    created_at: datetime
    """When."""

    cursor: str
    """The place after the entry, for `after` of a later request."""

    event: str
    """What, in capitals as history shows it."""

    reason: str
    """Why."""

    sequence: int
    """Its number within the space."""

    space: str
    """The space in which it happened."""

    actor: str | None = None
    """Who."""

    category: str | None = None
    """The memory's category now."""

    changed: list[str] | None = None
    """The names of the fields that changed."""

    content: str | None = None
    """What the memory says now, unless it is forgotten or only proposed."""

    kind: str | None = None
    """The memory's kind now."""

    layer: Layer | None = None
    """The memory's layer."""

    memory_id: str | None = None
    """About which memory."""

    node: str | None = None
    """Which part of Loci."""

    request_id: str | None = None
    """The actor who requested the change."""

    state: State | None = None
    """Where the memory stands now."""

    thread_id: str | None = None
    """In which conversation."""

    version: int | None = None
    """The version after it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFilter(Model):
    """Conditions that a memory must meet. A condition that is absent holds for every memory; a list holds if one of its values does.

    As query parameters, lists are separated by commas, and `userId`, `agentId` and `sessionId` are named
    `filter.userId`, `filter.agentId` and `filter.sessionId`, because their plain names are identifiers.
    """

    access_policy: list[AccessPolicy] | None = None
    """Any of these access policies."""

    actor_id: list[str] | None = None
    """Any of these speakers or writers."""

    agent_id: list[str] | None = None
    """Any of these agents among the identifiers of the memory."""

    as_of: datetime | date | str | None = None
    """Selects what held at this instant or day instead of what holds now."""

    category: list[str] | None = None
    """Any of these categories."""

    confidence_max: float | None = None
    """The greatest confidence."""

    confidence_min: float | None = None
    """The least confidence."""

    created_after: datetime | date | str | None = None
    """It was added at this instant or day, or later."""

    created_before: datetime | date | str | None = None
    """It was added before this instant or day."""

    event_after: datetime | date | str | None = None
    """It happened at this instant or day, or later. Memories without `event_time` do not match."""

    event_before: datetime | date | str | None = None
    """It happened before this instant or day. Memories without `event_time` do not match."""

    has_knowledge_pointer: bool | None = None
    """Whether it mirrors a knowledge item."""

    id: list[str] | None = None
    """Any of these ids."""

    importance_max: float | None = None
    """The greatest importance."""

    importance_min: float | None = None
    """The least importance."""

    kind: list[str] | None = None
    """Any of these kinds."""

    layer: list[Layer] | None = None
    """Any of these layers."""

    metadata: dict[str, Any] | None = None
    """Metadata fields that have exactly these values. As a query parameter, a JSON object."""

    pinned: bool | None = None
    """Whether it is pinned."""

    role: list[str] | None = None
    """Any of these roles of the speaker."""

    run_id: list[str] | None = None
    """Any of these agent runs."""

    session_id: list[str] | None = None
    """Any of these sessions among the identifiers of the memory."""

    source_role: list[str] | None = None
    """Any of these roles of the source."""

    source_type: list[str] | None = None
    """Any of these types of the source, for example `conversation`."""

    state: list[State] | None = None
    """Any of these states. Default: `active` and `decayed`."""

    superseded: bool | None = None
    """Whether superseded, expired and not yet valid memories are included."""

    tags: list[str] | None = None
    """At least one of these tags."""

    thread_id: list[str] | None = None
    """Any of these conversations."""

    updated_after: datetime | date | str | None = None
    """It was last changed at this instant or day, or later."""

    updated_before: datetime | date | str | None = None
    """It was last changed before this instant or day."""

    user_id: list[str] | None = None
    """Any of these users among the identifiers of the memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryWrite(Model):
    """The answer to a write."""

    data: StoredMemory | None
    """The resource after the write; null if the caller may not see it or asked for `return=minimal`."""

    degraded: list[str]
    """Parts of the work that could not be done now, for example `vector`."""

    event: Outcome
    """What the write did."""

    id: str
    """The id of the resource."""

    redacted: list[str]
    """The names of the patterns that were masked before anything was stored."""

    version: int | None
    """The version of the resource after the write; null if it has none."""

    durability: Durability | None = None
    """Memories only: how durable the write is."""

    embedding_generated: bool | None = None
    """Memories only: whether a vector was computed for a new memory."""

    embedding_regenerated: bool | None = None
    """Memories only: whether a new vector was computed because the text changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message(Model):
    """One message of a conversation."""

    content: str
    """What it says."""

    role: str
    """The role of the author: `system`, `user`, `assistant`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMemory(Model):
    """A memory to add."""

    content: str
    """The text."""

    access_policy: AccessPolicy | None = None

    actor_id: str | None = None
    """The person or agent that said or wrote it."""

    as_is: bool | None = None
    """Whether it is added without comparing it with known memories: it neither repeats nor replaces any."""

    category: str | None = None
    """A label from the categories configuration."""

    confidence: float | None = None
    """The confidence, 0 to 1. Default: 1."""

    decay_rate: float | None = None
    """How fast the confidence decays, 0 to 1. Default: by its kind."""

    durability: Durability | None = None

    embedding: list[float] | None = None
    """Its vector by the embedding model of this server, which is then not computed.

    Default: computed. It is ignored if something in the text was masked.
    """

    embedding_model: str | None = None
    """The name of the model that made `embedding`. It must be the model of this server. Default: not checked."""

    event_time: datetime | date | str | None = None
    """When it happened: an instant, or a day."""

    expires_at: datetime | date | str | None = None
    """The instant, or day, from which it is not returned any more and may be removed. Default: never."""

    identifiers: Identifiers | None = None
    """The scope of the request.

    Identifiers that are left out are taken from the credential where it has only one value. A request that names no scope is
    refused.
    """

    importance: float | None = None
    """The importance, 0 to 1. Default: estimated from the text."""

    kind: str | None = None
    """The kind. Default: chosen by the text."""

    knowledge_pointer: KnowledgePointer | None = None

    layer: Layer | None = None

    metadata: dict[str, Any] | None = None
    """Further fields, by name."""

    pinned: bool | None = None
    """Whether it is kept whatever its age. Default: false."""

    relevance: float | None = None
    """The relevance from which it begins to decay, 0 to 1. Default: 1."""

    role: str | None = None
    """The role of the speaker: `user`, `assistant`, `tool` or `system`."""

    run_id: str | None = None
    """The agent run that wrote it."""

    said_at: datetime | date | str | None = None
    """When it was said or written: an instant, or a day. Default: now."""

    source: Source | None = None

    tags: list[str] | None = None
    """Labels that the caller chooses."""

    thread_id: str | None = None
    """The conversation that it belongs to."""

    valid_from: datetime | date | str | None = None
    """The first instant, or day, at which it holds. Default: no limit."""

    valid_until: datetime | date | str | None = None
    """The first instant, or day, at which it no longer holds. Default: no limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewerStatement(Model):
    """A memory that was said later and may contradict another."""

    id: str
    """Its id."""

    said_at: datetime
    """When it was said."""

    text: str
    """Its rendered text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedText(Model):
    """Memories packed as text."""

    cited: list[str]
    """The memories in the text, in its order."""

    left_out: list[str]
    """The memories that did not fit, best first. If a summary was asked for, the text ends with one of them."""

    shortened: list[str]
    """The cited memories that were shortened."""

    text: str
    """The text."""

    tokens: int
    """Number of tokens of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem(Model):
    """What went wrong."""

    code: str
    """The public code, such as `MEMORY_NOT_FOUND`."""

    detail: str
    """What went wrong, as a sentence."""

    details: dict[str, Any]
    """Further data by name, such as the field or the limit."""

    operation: str
    """The operation that failed."""

    retryable: bool
    """Whether the same call may succeed later."""

    status: int
    """The HTTP status."""

    title: str
    """The reason phrase of the status."""

    type: str
    """Always `about:blank`; `code` identifies the failure."""

    hint: str | None = None
    """What to do about it."""

    instance: str | None = None
    """The id of the request, as in the header `X-Request-ID` and in the server's log."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadinessComponents(Model):
    """The components of the server."""

    store: ComponentHealth
    """The store."""

    vectors: VectorHealth
    """The embedding model and the vector index."""

    tier: ComponentHealth | None = None
    """What several servers share. Absent if this server is alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallAnswer(Model):
    """What recall found.

    The command line prints the same object, so that callers meet the same names everywhere.
    """

    answered: Answered
    """Whether what is known answers the question. If `no`, there are no results, unless `threshold` is 0."""

    confidence: float
    """How likely the first results answer the question, 0 to 1."""

    data: list[RecallResult]
    """The memories that were found, the best first."""

    degraded: list[str]
    """Parts that could not be used: `vector`, `rerank`."""

    intent: str
    """What the question asks for: `why`, `when`, `who`, `what` or `general`."""

    next_cursor: str | None
    """The cursor of the next page; null on the last page, and with `pack` or `window`."""

    pack: RecallPack | None = None
    """The text within the budget, if `pack` was given."""

    window: RecallWindow | None = None
    """The filled window, if `window` was given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallPack(Model):
    """The memories as one text."""

    budget_tokens: int
    """Maximum number of tokens that it could have."""

    cited: list[str]
    """The memories in the text."""

    left_out: list[str]
    """The memories that did not fit, the best first."""

    revision: int
    """The revision of the memory now, for `after_revision` of the next question."""

    shortened: list[str]
    """The cited memories that were shortened."""

    text: str
    """The text, ready for a prompt."""

    tokens: int
    """Number of tokens of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallResult(Model):
    """A memory that was found."""

    memory: RecalledMemory
    """The memory."""

    score: float
    """The score by which the results are ordered."""

    explain: Explanation | None = None
    """How the score is made up, if `explain` was given."""

    newer: NewerStatement | None = None
    """What was said later and may contradict the memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallWindow(Model):
    """A model's window, filled."""

    budgets: Budgets
    """How the window was divided."""

    memory: PackedText
    """The memories in the window."""

    messages: list[Message]
    """System prompt, memories, summary of older messages, newer messages, question."""

    older_turns: int
    """Number of older messages that were left out or summarized."""

    revision: int
    """The revision of the memory now, for `after_revision` of the next question."""

    tokens: ContextTokens
    """Number of tokens of each part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledMemory(Model):
    """A memory. Only `id` is always there: `fields` chooses which of the others are returned."""

    id: str
    """The id, a UUIDv7: ids sort by time of creation."""

    access_count: int | None = None
    """The number of times that recall returned it."""

    access_policy: AccessPolicy | None = None
    """Which callers within the scope may see it."""

    actor_id: str | None = None
    """The person or agent that said or wrote it."""

    category: str | None = None
    """A label from the categories configuration."""

    confidence: float | None = None
    """Confidence that it is true, 0 to 1."""

    content: str | None = None
    """The text."""

    content_hash: str | None = None
    """The hash of the normalised text."""

    created_at: datetime | None = None
    """When it was created, here or in the system that it was imported from."""

    decay_rate: float | None = None
    """Rate at which confidence decays with time since the last access. 0: no decay."""

    event_time: datetime | None = None
    """When the event happened."""

    expires_at: datetime | None = None
    """When it expires. Recall does not return expired memories."""

    identifiers: Identifiers | None = None
    """The identifiers of its scope and of its origin."""

    importance: float | None = None
    """Importance, 0 to 1."""

    imported_at: datetime | None = None
    """When it was imported into this store. Ageing starts from this time."""

    kind: str | None = None
    """The kind."""

    knowledge_pointer: KnowledgePointer | None = None
    """The knowledge item that it mirrors."""

    last_accessed_at: datetime | None = None
    """When recall last returned it."""

    layer: Layer | None = None
    """The layer of its scope."""

    metadata: dict[str, Any] | None = None
    """Further fields, by name."""

    pinned: bool | None = None
    """A pinned memory is exempt from ageing, expiry clean-up and automatic replacement."""

    purge_at: datetime | None = None
    """When a soft-deleted memory is removed for good, or a proposal lapses."""

    relevance: float | None = None
    """Relevance, 0 to 1, which decays daily if the configuration sets a rate."""

    role: str | None = None
    """The role of the speaker: `user`, `assistant`, `tool` or `system`."""

    run_id: str | None = None
    """The agent run that wrote it."""

    said_at: datetime | None = None
    """When it was said or written, if that is known and differs from `created_at`."""

    source: Source | None = None
    """How it was acquired."""

    state: State | None = None
    """The state in its life cycle."""

    superseded_by_id: str | None = None
    """The newer memory that superseded this one."""

    supersedes_id: str | None = None
    """The older memory that this one supersedes."""

    tags: list[str] | None = None
    """Labels that the caller chooses."""

    thread_id: str | None = None
    """The conversation that it belongs to."""

    tokens: int | None = None
    """The number of tokens of the text."""

    updated_at: datetime | None = None
    """When it last changed in the store."""

    valid_from: datetime | None = None
    """Start of validity: since when the statement is true."""

    valid_until: datetime | None = None
    """End of validity. Absent: the statement is still true."""

    version: int | None = None
    """The version, used as an optimistic lock. It grows by one with every change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RelatedMemory(Model):
    """A memory that is linked to a result."""

    content: str
    """Its text."""

    id: str
    """Its id."""

    relation: Relation
    """The relation."""

    strength: float
    """The strength of the link, 0 to 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRecord(Model):
    """A conversation of one scope."""

    consolidated_at: datetime | None
    """When it was last learned from."""

    consolidated_through: str | None

    created_at: datetime
    """When the first turn arrived."""

    ended_at: datetime | None
    """When it ended. Null: it is open."""

    pending: bool
    """Whether it has turns that were not learned from."""

    scope: str
    """The scope that it belongs to."""

    session_id: str
    """The id: the session id of its turns, or their thread id if they have no session id."""

    thread_id: str
    """The thread that it belongs to."""

    updated_at: datetime
    """When the latest turn arrived."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionWrite(Model):
    """The answer to a write."""

    data: SessionRecord | None
    """The resource after the write; null if the caller may not see it or asked for `return=minimal`."""

    degraded: list[str]
    """Parts of the work that could not be done now, for example `vector`."""

    event: Outcome
    """What the write did."""

    id: str
    """The id of the resource."""

    redacted: list[str]
    """The names of the patterns that were masked before anything was stored."""

    version: int | None
    """The version of the resource after the write; null if it has none."""

    durability: Durability | None = None
    """Memories only: how durable the write is."""

    embedding_generated: bool | None = None
    """Memories only: whether a vector was computed for a new memory."""

    embedding_regenerated: bool | None = None
    """Memories only: whether a new vector was computed because the text changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source(Model):
    """How a memory was acquired."""

    type: str
    """The type: `conversation, tool_result, reflection, distillation, knowledge_sync, manual, import, …`"""

    reference: str | None = None
    """A reference to the origin, such as a message id or a tool call id."""

    role: str | None = None
    """The role of the person or program that it came from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics(Model):
    """Counts of what the caller may see."""

    by_kind: dict[str, int]
    """Memories by kind."""

    by_layer: dict[str, int]
    """Memories by layer."""

    by_state: dict[str, int]
    """Memories by state."""

    bytes: int
    """Bytes on disk; 0 unless the caller may read the whole tenant."""

    content_bytes: int
    """Bytes of the texts of the visible memories."""

    edges: dict[str, int]
    """Edges by relation."""

    entities: int
    """Number of entities that a visible memory mentions. United ones count once."""

    jobs: dict[str, int]
    """Jobs by state; empty unless the caller may read the whole tenant."""

    ledger: int
    """Number of ledger entries about visible memories; all of them if the caller may read the whole tenant."""

    maintained: dict[str, datetime]
    """When each step of maintenance was last done, by its name."""

    memories: int
    """Number of memories in any state."""

    orphans: int
    """Number of active or decayed memories without a link and without a mention of an entity."""

    spaces: int
    """Number of spaces."""

    vectors: dict[str, int]
    """Vectors by model."""

    without_vector: int
    """Number of active or decayed memories without a vector."""

    learned: LearningStats | None = None
    """What was learned from sessions; only for callers who see the whole tenant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMemory(Model):
    """One memory with all its fields."""

    access_count: int
    """The number of times that recall returned it."""

    access_policy: AccessPolicy
    """Which callers within the scope may see it."""

    confidence: float
    """Confidence that it is true, 0 to 1."""

    content: str
    """The text."""

    content_hash: str
    """The hash of the normalised text."""

    created_at: datetime
    """When it was created, here or in the system that it was imported from."""

    decay_rate: float
    """Rate at which confidence decays with time since the last access. 0: no decay."""

    id: str
    """The id, a UUIDv7: ids sort by time of creation."""

    identifiers: Identifiers
    """The identifiers of its scope and of its origin."""

    importance: float
    """Importance, 0 to 1."""

    kind: str
    """The kind."""

    layer: Layer
    """The layer of its scope."""

    metadata: dict[str, Any]
    """Further fields, by name."""

    pinned: bool
    """A pinned memory is exempt from ageing, expiry clean-up and automatic replacement."""

    relevance: float
    """Relevance, 0 to 1, which decays daily if the configuration sets a rate."""

    state: State
    """The state in its life cycle."""

    tags: list[str]
    """Labels that the caller chooses."""

    tokens: int
    """The number of tokens of the text."""

    updated_at: datetime
    """When it last changed in the store."""

    version: int
    """The version, used as an optimistic lock. It grows by one with every change."""

    actor_id: str | None = None
    """The person or agent that said or wrote it."""

    category: str | None = None
    """A label from the categories configuration."""

    event_time: datetime | None = None
    """When the event happened."""

    expires_at: datetime | None = None
    """When it expires. Recall does not return expired memories."""

    imported_at: datetime | None = None
    """When it was imported into this store. Ageing starts from this time."""

    knowledge_pointer: KnowledgePointer | None = None
    """The knowledge item that it mirrors."""

    last_accessed_at: datetime | None = None
    """When recall last returned it."""

    purge_at: datetime | None = None
    """When a soft-deleted memory is removed for good, or a proposal lapses."""

    role: str | None = None
    """The role of the speaker: `user`, `assistant`, `tool` or `system`."""

    run_id: str | None = None
    """The agent run that wrote it."""

    said_at: datetime | None = None
    """When it was said or written, if that is known and differs from `created_at`."""

    source: Source | None = None
    """How it was acquired."""

    superseded_by_id: str | None = None
    """The newer memory that superseded this one."""

    supersedes_id: str | None = None
    """The older memory that this one supersedes."""

    thread_id: str | None = None
    """The conversation that it belongs to."""

    valid_from: datetime | None = None
    """Start of validity: since when the statement is true."""

    valid_until: datetime | None = None
    """End of validity. Absent: the statement is still true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn(Model):
    """One turn of a conversation."""

    actor_id: str | None = None
    """The person or agent that said it."""

    content: str | None = None
    """The text."""

    event_time: datetime | date | str | None = None
    """When it was said: an instant, or a day."""

    layer: Layer | None = None

    metadata: dict[str, Any] | None = None
    """Further fields, by name."""

    reference: str | None = None
    """The id of the message."""

    role: Literal["user", "assistant", "tool", "system", "human", "ai", "agent", "function", "developer"] | None = None
    """The role: `user`, `assistant`, `tool` or `system`."""

    thread_id: str | None = None
    """The thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnWrites(Model):
    """The result of one turn."""

    index: int
    """The position of the turn in the request, from 0."""

    writes: list[MemoryWrite]
    """The write of each memory that was made of the turn. A turn that is too long for one memory has several."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorHealth(Model):
    """The condition of the embedding model and of the vector index."""

    status: HealthStatus
    """Whether memories are found by vectors."""

    dimensions: int | None = None
    """The number of dimensions of its vectors. Absent until they are known."""

    index: VectorIndexHealth | None = None
    """The index outside the store. Absent if there is none, or while it does not answer."""

    message: str | None = None
    """What is wrong. Absent if nothing is."""

    model: str | None = None
    """The embedding model. Absent if there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorIndexHealth(Model):
    """The condition of an index outside the store."""

    behind: int
    """Number of ledger entries that it has not applied yet."""

    name: str
    """The product, for example `qdrant`."""

    version: str | None = None
    """The version of the product. Absent while it does not answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights(Model):
    """The weights of the score; they sum to 1."""

    recency: float
    """Of recency."""

    similarity: float
    """Of relevance."""

    utility: float
    """Of utility."""
