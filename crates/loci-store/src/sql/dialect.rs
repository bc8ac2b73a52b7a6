//! In what do the two databases differ?
//!
//! Statements are written in SQLite's words and kept to what both understand. What is left is put
//! into PostgreSQL's by a few replacements of text, and where a whole phrase differs the dialect is
//! asked for it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// A table `j` of numbers with one column `value`, from one [`super::Value::Integers`].
    pub(crate) fn integers(self) -> &'static str {
        match self {
            Dialect::Sqlite => "json_each(?) j",
            Dialect::Postgres => "unnest(?::bigint[]) j(value)",
        }
    }

    /// A table `j` of ids with one column `value`, from one [`super::Value::Ids`].
    pub(crate) fn ids(self) -> &'static str {
        match self {
            Dialect::Sqlite => "(SELECT unhex(value) AS value FROM json_each(?)) j",
            Dialect::Postgres => "unnest(?::uuid[]) j(value)",
        }
    }

    /// The texts of one [`super::Value::Texts`], to be behind `IN`.
    pub(crate) fn texts(self) -> &'static str {
        match self {
            Dialect::Sqlite => "(SELECT value FROM json_each(?))",
            Dialect::Postgres => "(SELECT unnest(?::text[]))",
        }
    }

    /// That a field of a memory's metadata has a value: its name and its JSON follow.
    pub(crate) fn metadata(self) -> &'static str {
        match self {
            // Compared as JSON text: `->` gives the canonical form of the field.
            Dialect::Sqlite => "(m.metadata -> ('$.' || json_quote(?))) = json(?)",
            Dialect::Postgres => "(m.metadata -> ?::text)::text = (?::json)::text",
        }
    }

    /// Puts a vector into its row: the memory, the model, the vector and the token states follow.
    pub(crate) fn put_vector(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "INSERT INTO vectors (memory, model, vector, token_states) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector, \
                 token_states = excluded.token_states"
            }
            Dialect::Postgres => {
                "INSERT INTO vectors (memory, model, vector, token_states, scope) \
                 SELECT ?1, ?2, ?3::vector, ?4, scope FROM memories WHERE row = ?1 \
                 ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector, \
                 token_states = excluded.token_states"
            }
        }
    }

    /// What follows a question for rows that are to be changed, and that others may be changing too.
    pub(crate) fn skip_locked(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
        }
    }
}

/// The statement in PostgreSQL's words. There are few statements, and each is translated once.
pub(crate) fn for_postgres(sql: &str) -> Arc<str> {
    static KNOWN: LazyLock<RwLock<HashMap<String, Arc<str>>>> = LazyLock::new(RwLock::default);
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(sql) {
        return known.clone();
    }
    let made: Arc<str> = translate(sql).into();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    // Conditions are built of parts; should they ever be many, they are translated again.
    if known.len() >= 10_000 {
        known.clear();
    }
    known.insert(sql.to_owned(), made.clone());
    made
}

fn translate(sql: &str) -> String {
    let sql = without_hints(sql);
    let sql = sql.replace("CROSS JOIN", "JOIN");
    // Every key in PostgreSQL begins with the tenant and the space.
    let sql = sql.replace("ON CONFLICT (", "ON CONFLICT (tenant, space, ");
    numbered(&sql)
}

/// Leaves out which index is to be used.
fn without_hints(sql: &str) -> Cow<'_, str> {
    const HINT: &str = "INDEXED BY ";
    if !sql.contains(HINT) {
        return sql.into();
    }
    let mut parts = sql.split(HINT);
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        made.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_'));
    }
    made.into()
}

/// `?` and `?3` as `$1` and `$3`; quoted text is left alone.
fn numbered(sql: &str) -> String {
    let mut made = String::with_capacity(sql.len() + 16);
    let (mut next, mut quoted) = (1, false);
    let mut letters = sql.chars().peekable();
    while let Some(letter) = letters.next() {
        quoted ^= letter == '\'';
        if letter != '?' || quoted {
            made.push(letter);
            continue;
        }
        made.push('$');
        if !letters.peek().is_some_and(char::is_ascii_digit) {
            made.push_str(&next.to_string());
            next += 1;
            continue;
        }
        let mut number = 0;
        while let Some(digit) = letters.peek().and_then(|digit| digit.to_digit(10)) {
            number = number * 10 + digit;
            letters.next();
        }
        made.push_str(&number.to_string());
        // As in SQLite, one without a number takes the next after the greatest so far.
        next = next.max(number + 1);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_put_into_the_words_of_postgres() {
        for (sqlite, postgres) in [
            ("SELECT 1 WHERE a = ? AND b = ?", "SELECT 1 WHERE a = $1 AND b = $2"),
            ("SELECT ?2, ?1, ?2", "SELECT $2, $1, $2"),
            ("SELECT ?1, ?3, ?", "SELECT $1, $3, $4"),
            ("SELECT '?' || ?", "SELECT '?' || $1"),
            ("FROM memories m INDEXED BY memories_by_unless WHERE a", "FROM memories m  WHERE a"),
            ("FROM a CROSS JOIN b ON b.x = a.x", "FROM a JOIN b ON b.x = a.x"),
            ("ON CONFLICT (id) DO NOTHING", "ON CONFLICT (tenant, space, id) DO NOTHING"),
        ] {
            assert_eq!(translate(sqlite), postgres);
        }
    }
}
