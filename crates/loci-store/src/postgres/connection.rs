//! The store's SQL on a PostgreSQL connection.
//!
//! Values are converted to the type that the statement asks for: sixteen bytes become a `uuid`, a number a `boolean`,
//! text a
//! `json`, floats a `vector`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use super::{PgConnection, words};
use crate::sql::{Connection, Dialect, Row, SqlError, SqlResult, Value, ValueRef, params};

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// The SQL dialect of PostgreSQL.
static DIALECT: Dialect = Dialect {
    integers: "unnest(?::bigint[]) j(value)",
    ids: "unnest(?::uuid[]) j(value)",
    last_block: "substr(uuid_send(m.id), 11, 6)",
    texts: "(SELECT unnest(?::text[]))",
    metadata: "(m.metadata -> ?::text)::text = (?::json)::text",
    put_vector: "INSERT INTO vectors (memory, model, vector, token_states, scope) \
                 SELECT ?1, ?2, ?3::vector, ?4, scope FROM memories WHERE row = ?1 \
                 ON CONFLICT (tenant, space, memory, model) DO UPDATE SET vector = excluded.vector, \
                 token_states = excluded.token_states",
    put_vector_by_name: "INSERT INTO vectors (memory, model, vector, token_states, scope) \
                         SELECT m.row, o.model, ?3::vector, ?4, m.scope FROM memories m, models o \
                         WHERE m.row = ?1 AND o.name = ?2 AND o.dimensions = ?5 \
                         ON CONFLICT (tenant, space, memory, model) DO UPDATE SET vector = excluded.vector, \
                         token_states = excluded.token_states",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    ordered_join: "JOIN",
    byte_order: " COLLATE \"C\"",
    key_prefix: "tenant, space, ",
    terms_table: "documents",
    now: "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
    lists_are_values: true,
    lateral: true,
    index_hints: false,
};

impl Connection for PgConnection {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn run(&self, sql: &str, values: &[Value]) -> SqlResult<usize> {
        self.execute(&numbered(sql), values)
    }

    fn run_later(&self, sql: &str, values: Vec<Value>) -> SqlResult<()> {
        self.hold(numbered(sql), values);
        Ok(())
    }

    fn without_timeout(&self) -> SqlResult<()> {
        PgConnection::without_timeout(self)
    }

    fn visit(&self, sql: &str, values: &[Value], each: &mut dyn FnMut(&dyn Row) -> SqlResult<bool>) -> SqlResult<()> {
        for row in &self.query(&numbered(sql), values)? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }

    fn put_terms(&self, row: i64, scope: i64, terms: &[String], _: Option<i64>) -> SqlResult<()> {
        words::put_words(self, row, scope, terms)
    }

    fn clear_terms(&self, row: i64) -> SqlResult<()> {
        words::clear_words(self, row)
    }

    fn last_number(&self, table: &str, column: &str) -> SqlResult<i64> {
        let sql = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(?1::text, ?2::text)::regclass), 0)";
        (self as &dyn Connection).query_row(sql, params![table, column], |row| row.get(0))
    }

    fn set_last_number(&self, table: &str, column: &str, number: i64) -> SqlResult<()> {
        let sql = "SELECT setval(pg_get_serial_sequence(?1::text, ?2::text)::regclass, ?3::bigint)";
        (self as &dyn Connection).query_row(sql, params![table, column, number], |_| Ok(()))
    }

    fn analyse(&self, tables: &[&str]) -> SqlResult<()> {
        let connection: &dyn Connection = self;
        tables.iter().try_for_each(|name| connection.query_row("SELECT look_over(?1)", params![*name], |_| Ok(())))
    }

    fn keeps_half_vectors(&self) -> SqlResult<bool> {
        let sql = "SELECT t.typname = 'halfvec' FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
                   WHERE a.attrelid = 'vectors'::regclass AND a.attname = 'vector'";
        (self as &dyn Connection).query_row(sql, [], |row| row.get(0))
    }
}

impl Row for tokio_postgres::Row {
    fn value(&self, column: usize) -> SqlResult<ValueRef<'_>> {
        let raw: Option<Raw<'_>> = self.try_get(column)?;
        raw.map_or(Ok(ValueRef::Null), Raw::value).map_err(SqlError::Unreadable)
    }

    fn column(&self, name: &str) -> SqlResult<usize> {
        let place = self.columns().iter().position(|column| column.name() == name);
        place.ok_or_else(|| SqlError::unreadable(format!("the result has no column {name}")))
    }
}

/// A value as PostgreSQL sent it.
struct Raw<'r> {
    sort: Type,
    bytes: &'r [u8],
}

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(sort: &Type, bytes: &'r [u8]) -> SqlResult<Self, BoxedError> {
        Ok(Self { sort: sort.clone(), bytes })
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<'r> Raw<'r> {
    fn value(self) -> SqlResult<ValueRef<'r>, BoxedError> {
        let Self { sort, bytes } = self;
        Ok(match sort {
            Type::INT8 => ValueRef::Integer(i64::from_sql(&sort, bytes)?),
            Type::INT4 => ValueRef::Integer(i32::from_sql(&sort, bytes)?.into()),
            Type::BOOL => ValueRef::Integer(bool::from_sql(&sort, bytes)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(&sort, bytes)?),
            Type::TEXT | Type::JSON => ValueRef::Text(std::str::from_utf8(bytes)?),
            Type::BYTEA | Type::UUID => ValueRef::Blob(bytes),
            _ if sort.name() == "vector" => ValueRef::Floats(pgvector::Vector::from_sql(&sort, bytes)?.into()),
            _ if sort.name() == "halfvec" => {
                let halves = pgvector::HalfVector::from_sql(&sort, bytes)?;
                ValueRef::Floats(halves.as_slice().iter().map(|half| half.to_f32()).collect())
            }
            _ => return Err(format!("a column of type {sort} cannot be read").into()),
        })
    }
}

impl ToSql for Value {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> SqlResult<IsNull, BoxedError> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(value) if *wanted == Type::BOOL => (*value != 0).to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::INT4 => i32::try_from(*value)?.to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::FLOAT8 => (*value as f64).to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::INT8 => value.to_sql(wanted, out),
            Value::Real(value) if *wanted == Type::FLOAT8 => value.to_sql(wanted, out),
            Value::Text(value) if *wanted == Type::JSONB => {
                // The version of the binary format of jsonb.
                out.extend_from_slice(&[1]);
                value.to_sql(&Type::TEXT, out)
            }
            Value::Text(value) if [Type::JSON, Type::TEXT].contains(wanted) => value.to_sql(&Type::TEXT, out),
            Value::Blob(value) if *wanted == Type::BYTEA => value.to_sql(wanted, out),
            // The binary format of a uuid is its sixteen bytes.
            Value::Blob(value) if *wanted == Type::UUID && value.len() == 16 => value.to_sql(&Type::BYTEA, out),
            Value::Integers(values) if *wanted == Type::INT8_ARRAY => values.to_sql(wanted, out),
            Value::Texts(values) if *wanted == Type::TEXT_ARRAY => values.to_sql(wanted, out),
            Value::Ids(values) if *wanted == Type::UUID_ARRAY => {
                values.iter().map(Value::from).collect::<Vec<_>>().to_sql(wanted, out)
            }
            Value::Floats(values) if wanted.name() == "vector" => {
                // pgvector refuses values that are not finite. Such a vector has no direction and becomes zero.
                let finite = values.iter().all(|value| value.is_finite());
                let values = if finite { values.clone() } else { vec![0.0; values.len()] };
                pgvector::Vector::from(values).to_sql(wanted, out)
            }
            Value::Vectors(values) if wanted.name() == "_vector" => {
                values.iter().cloned().map(Value::Floats).collect::<Vec<_>>().to_sql(wanted, out)
            }
            // The message leaves out the value, which may be personal data.
            _ => Err(format!("a value of another type is given where {wanted} is expected").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// The statement with PostgreSQL's parameters, `$1` for `?1`. Results are cached, because there are few statements.
fn numbered(sql: &str) -> Arc<str> {
    static KNOWN: LazyLock<RwLock<HashMap<String, Arc<str>>>> = LazyLock::new(RwLock::default);
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(sql) {
        return known.clone();
    }
    let made: Arc<str> = number_parameters(sql).into();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    // Conditions are composed of parts, so the number of statements is not bounded by itself.
    if known.len() >= 10_000 {
        known.clear();
    }
    known.insert(sql.to_owned(), made.clone());
    made
}

/// Writes `?` and `?3` as `$1` and `$3`, except in quoted text. As in SQLite, a parameter without a number takes the
/// next one after the greatest so far.
fn number_parameters(sql: &str) -> String {
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
        next = next.max(number + 1);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        for (sqlite, postgres) in [
            ("SELECT 1 WHERE a = ? AND b = ?", "SELECT 1 WHERE a = $1 AND b = $2"),
            ("SELECT ?2, ?1, ?2", "SELECT $2, $1, $2"),
            ("SELECT ?1, ?3, ?", "SELECT $1, $3, $4"),
            ("SELECT '?' || ?", "SELECT '?' || $1"),
        ] {
            assert_eq!(number_parameters(sqlite), postgres);
        }
    }
}
