//! String literals with a space that are not messages, and why.

use crate::literals::Literal;

/// Files and folders (which end with `/`) whose literals are data or formats.
const FILES: &[&str] = &[
    // Tools for development.
    "loci-bench/",
    "loci-testkit/",
    // Words of languages, patterns and example sentences.
    "loci-engine/src/access/redact/number.rs",
    "loci-engine/src/access/redact/secret.rs",
    "loci-engine/src/learn/extract/",
    "loci-engine/src/learn/language/",
    "loci-engine/src/learn/llm/same_fact.rs",
    "loci-engine/src/prompt/pack/laws.rs",
    "loci-engine/src/recall/plan/complexity.rs",
    "loci-engine/src/recall/plan/intent.rs",
    "loci-engine/src/recall/plan/intent/",
    "loci-engine/src/recall/plan/time/",
    "loci-engine/src/recall/readable.rs",
    "loci-engine/src/write/importance.rs",
    "loci-engine/src/write/kinds.rs",
    "loci-engine/src/write/reconcile/analysis.rs",
    "loci-engine/src/write/reconcile/compare.rs",
    "loci-engine/src/write/reconcile/setting.rs",
    "loci-store/src/text/stop.rs",
];

/// Calls and attributes whose literals nobody reads: they compare, or they are for programmers.
const CALLS: &[&str] = &[
    "expect",
    "panic!",
    "unreachable!",
    "assert!",
    "assert_eq!",
    "debug_assert!",
    "Regex::new",
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "split",
    "split_once",
    "rsplit_once",
    "find",
    "replace",
    "matches!",
    "concat!",
    "include_str!",
];

/// Attributes whose literals are for the compiler, or examples.
const ATTRIBUTES: &[&str] = &["expect", "allow", "cfg", "cfg_attr", "serde", "doc", "deprecated"];

/// Words that only SQL writes in capitals.
const SQL: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "ALTER",
    "DROP",
    "FROM",
    "WHERE",
    "AND",
    "OR",
    "ORDER",
    "JOIN",
    "PRAGMA",
    "BEGIN",
    "SET",
    "VALUES",
    "LIMIT",
    "NOT",
    "IN",
    "GRANT",
    "REVOKE",
    "LISTEN",
    "VACUUM",
    "ATTACH",
    "SAVEPOINT",
    "RELEASE",
    "ROLLBACK",
    "COMMIT",
    "CONFLICT",
    "REINDEX",
    "EXISTS",
    "CASE",
    "WITH",
    "UNION",
    "TABLE",
    "COLLATE",
    "INTO",
    "NULL",
    "ANALYZE",
    "EXPLAIN",
    "LOCK",
    "UNIQUE",
    "USING",
    "CAST",
    "LATERAL",
];

/// Beginnings of literals that are no messages: keys of stored notes and jobs, magic numbers and headers.
const BEGINNINGS: &[(&str, &[&str])] = &[
    ("loci-engine/src/access/idempotency.rs", &["answer {}"]),
    ("loci-engine/src/engine.rs", &["embed {id}"]),
    ("loci-engine/src/learn/consolidate.rs", &["learned refused", "learned missed", "learned {}"]),
    ("loci-engine/src/learn/llm/quota.rs", &["llm tokens"]),
    ("loci-engine/src/learn/session.rs", &["consolidate {}"]),
    ("loci-engine/src/lifecycle/maintenance/duplicates.rs", &["pair {}"]),
    ("loci-engine/src/lifecycle/summary.rs", &["summary tokens saved", "summarised {session}"]),
    ("loci-engine/src/read/webhook.rs", &["webhook {id}"]),
    ("loci-engine/src/working/flush.rs", &["working {"]),
    ("loci-engine/src/write/contradict.rs", &["settled {older}"]),
    ("loci-engine/src/write/reconcile/write.rs", &["told {thread}", "distil {head}"]),
    // What parts of the model's files must be, for comparison, and the tests of the reader.
    ("loci-models/src/local/folder.rs", &["Bert(", "Table {"]),
    ("loci-models/src/local/npz.rs", &["PK ", "93NUMPY", "floats: ", "bytes: ", "one: ", "absent: "]),
    ("loci-models/src/http/call.rs", &["Bearer {}"]),
    ("loci-server/src/console/mod.rs", &["default-src", "text/", "public, max-age"]),
    ("loci-server/src/docs.rs", &["default-src", "text/html"]),
    ("loci-server/src/health.rs", &["application/openmetrics-text"]),
    ("loci-server/src/v1/admin/backups.rs", &["attachment; "]),
    ("loci-server/src/v1/life.rs", &["</v1/memories"]),
    ("loci-store/src/sqlite/split.rs", &["DETACH"]),
    ("loci-store/src/postgres/pg_connection.rs", &["ISOLATION LEVEL"]),
    ("loci-store/src/sql/dialect.rs", &["INDEXED BY"]),
];

/// Parts of literals that show SQL in lower case, or a script of Redis. They are exempt in loci-store only.
const STATEMENTS: &[&str] = &[
    "= ?",
    "::",
    "&& ?",
    "> ?",
    " = 'e",
    "!= '",
    "json_each(",
    "json(?",
    "coalesce(",
    "substr(",
    "own_tenant(",
    "redis.call",
];

pub(crate) fn is_exempt(path: &str, literal: &Literal) -> bool {
    let text = literal.text.trim();
    let last = |open: &str| open.rsplit([':', '.']).next().unwrap_or(open).to_owned();
    let attribute = literal.around.iter().position(|open| open == "#");
    let name = attribute.and_then(|place| literal.around.get(place + 1)).map_or("", String::as_str);
    FILES.iter().any(|file| path.starts_with(file))
        || BEGINNINGS.iter().any(|(file, starts)| path == *file && starts.iter().any(|start| text.starts_with(start)))
        || path.starts_with("loci-store/") && (STATEMENTS.iter().any(|part| text.contains(part)) || is_columns(text))
        || text
            .split(|character: char| !character.is_alphanumeric() && character != '_')
            .any(|word| SQL.contains(&word))
        || literal.around.iter().any(|open| CALLS.contains(&open.as_str()) || CALLS.contains(&last(open).as_str()))
        || ATTRIBUTES.contains(&name)
        || attribute.is_some()
            && (literal.before.ends_with("example =")
                || literal.before.ends_with("reason =")
                || literal.around.iter().any(|open| open == "json!"))
}

/// Whether a text is a list of columns, such as `m.id, m.version` or `scope, name`.
fn is_columns(text: &str) -> bool {
    let list = text.trim_end_matches(',');
    let name = |name: &str| {
        let name = name.trim().trim_end_matches(" DESC").trim_matches(['{', '}']);
        !name.is_empty() && name.chars().all(|character| character.is_ascii_lowercase() || "_.".contains(character))
    };
    (list.contains(',') || text.ends_with("DESC")) && list.split(',').all(name)
}
