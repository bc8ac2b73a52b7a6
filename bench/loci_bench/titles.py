"""What are the peers called, and how is each used?

In the order of the tables; Loci comes first. The names on the left are the modules in `peers/`.
"""

TITLES = {
    "loci_drive": "Loci in process",
    "loci_http": "Loci over HTTP",
    "sqlite_vec": "sqlite-vec + FTS5 by hand",
    "pgvector": "PostgreSQL + pgvector by hand",
    "lance": "LanceDB",
    "chroma": "Chroma",
    "langgraph": "LangGraph SqliteStore",
    "mem0": "mem0 raw",
    "mcp_memory": "MCP memory server",
}

LOCI = ("loci_drive", "loci_http")

# The largest store that all peers are asked about, and who goes on beyond it: the others would take hours.
FOR_ALL = 100_000
GO_ON = ("loci_drive", "sqlite_vec")

HOW = {
    "loci_drive": "the engine as a library, `loci bench drive`; hybrid is the path of recall without explanations, token states and conversations",
    "loci_http": "`loci serve` on loopback with a key, whose limit of 200 requests a second is lifted "
    "(`server.requests_per_second = 0`). HTTP takes no vectors: adds and changes are without any, questions are "
    "asked once before they count, so that their vectors are cached. Python's client is part of its times",
    "sqlite_vec": "WAL, a sync at every commit, partitioned by user; lists of 50 fused by rank",
    "pgvector": "a sync at every commit; exact within the user; `ts_rank` by the logarithm of the length, which of six ways did "
    "best for it on the very questions scored below; lists of 50 fused by rank in SQL",
    "lance": "vectors searched exactly, index of words and of users; its own hybrid, fused by rank. Never syncs",
    "chroma": "PersistentClient with given embeddings, filter by metadata",
    "langgraph": "a namespace for each user, its own index of vectors; defaults of its documentation",
    "mem0": "`infer=False`, its embedded Qdrant, no language model; no bulk insert. Always with a vector",
    "mcp_memory": "one JSON file over standard input and output; no vectors, no users: its search is for the question as a substring. "
    "Never syncs",
}
