//! What goes into a statement, and what comes out of a row?
//!
//! Few sorts of values, as SQLite has them. PostgreSQL is told each in the type that the statement
//! asks for: sixteen bytes become a `uuid`, a number a `boolean`, text a `json`, floats a `vector`.

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use super::{Error, Result};

type Wrong = Box<dyn std::error::Error + Send + Sync>;

/// A value for a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
    /// A list of numbers, for [`super::dialect::Dialect::integers`].
    Integers(Vec<i64>),
    /// A list of texts, for [`super::dialect::Dialect::texts`].
    Texts(Vec<String>),
    /// A list of ids, for [`super::dialect::Dialect::ids`].
    Ids(Vec<[u8; 16]>),
    /// A vector.
    Floats(Vec<f32>),
    /// Several vectors, for PostgreSQL.
    Vectors(Vec<Vec<f32>>),
}

/// Values for a statement, in order.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::sql::Value::from($value)),*] };
}
pub(crate) use params;

/// The values of a list, in order.
pub(crate) fn params_from_iter<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Vec<Value> {
    values.into_iter().map(Into::into).collect()
}

macro_rules! from {
    ($($given:ty => |$value:ident| $made:expr),* $(,)?) => {
        $(impl From<$given> for Value { fn from($value: $given) -> Self { $made } })*
    };
}

from! {
    i64 => |value| Value::Integer(value),
    &i64 => |value| Value::Integer(*value),
    bool => |value| Value::Integer(value.into()),
    u32 => |value| Value::Integer(value.into()),
    // What a database cannot count to does not occur.
    u64 => |value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)),
    usize => |value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)),
    f64 => |value| Value::Real(value),
    &f64 => |value| Value::Real(*value),
    String => |value| Value::Text(value),
    &String => |value| Value::Text(value.clone()),
    &&String => |value| Value::Text((*value).clone()),
    &str => |value| Value::Text(value.to_owned()),
    Vec<u8> => |value| Value::Blob(value),
    &Vec<u8> => |value| Value::Blob(value.clone()),
    [u8; 16] => |value| Value::Blob(value.to_vec()),
    &[u8; 16] => |value| Value::Blob(value.to_vec()),
    [u8; 32] => |value| Value::Blob(value.to_vec()),
    &Value => |value| value.clone(),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<'o> From<&'o Option<String>> for Value {
    fn from(value: &'o Option<String>) -> Self {
        value.as_ref().into()
    }
}

impl<'o> From<&'o Option<Vec<u8>>> for Value {
    fn from(value: &'o Option<Vec<u8>>) -> Self {
        value.as_ref().into()
    }
}

/// JSON text. Our own values always have one.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, Value as Owned, ValueRef};
        let hex = |id: &[u8; 16]| data_encoding::HEXLOWER.encode(id);
        Ok(match self {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Integer(value) => ToSqlOutput::Borrowed(ValueRef::Integer(*value)),
            Value::Real(value) => ToSqlOutput::Borrowed(ValueRef::Real(*value)),
            Value::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Value::Blob(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Value::Integers(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
            Value::Texts(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
            Value::Ids(values) => ToSqlOutput::Owned(Owned::Text(json(&values.iter().map(hex).collect::<Vec<_>>()))),
            Value::Floats(values) => ToSqlOutput::Owned(Owned::Blob(vector_bytes(values))),
            Value::Vectors(values) => ToSqlOutput::Owned(Owned::Text(json(values))),
        })
    }
}

impl ToSql for Value {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Wrong> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(value) if *wanted == Type::BOOL => (*value != 0).to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::INT4 => i32::try_from(*value)?.to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::FLOAT8 => (*value as f64).to_sql(wanted, out),
            Value::Integer(value) if *wanted == Type::INT8 => value.to_sql(wanted, out),
            Value::Real(value) if *wanted == Type::FLOAT8 => value.to_sql(wanted, out),
            Value::Text(value) if *wanted == Type::JSONB => {
                // The number of its binary format.
                out.extend_from_slice(&[1]);
                value.to_sql(&Type::TEXT, out)
            }
            Value::Text(value) if [Type::JSON, Type::TEXT].contains(wanted) => value.to_sql(&Type::TEXT, out),
            Value::Blob(value) if *wanted == Type::BYTEA => value.to_sql(wanted, out),
            // In its binary form an id is its sixteen bytes.
            Value::Blob(value) if *wanted == Type::UUID && value.len() == 16 => value.to_sql(&Type::BYTEA, out),
            Value::Integers(values) if *wanted == Type::INT8_ARRAY => values.to_sql(wanted, out),
            Value::Texts(values) if *wanted == Type::TEXT_ARRAY => values.to_sql(wanted, out),
            Value::Ids(values) if *wanted == Type::UUID_ARRAY => {
                values.iter().map(Value::from).collect::<Vec<_>>().to_sql(wanted, out)
            }
            Value::Floats(values) if wanted.name() == "vector" => {
                // pgvector takes no vector with something in it that is no number. Such a one points nowhere.
                let points = values.iter().all(|value| value.is_finite());
                let values = if points { values.clone() } else { vec![0.0; values.len()] };
                pgvector::Vector::from(values).to_sql(wanted, out)
            }
            Value::Vectors(values) if wanted.name() == "_vector" => {
                values.iter().cloned().map(Value::Floats).collect::<Vec<_>>().to_sql(wanted, out)
            }
            // What it holds may be someone's words, and is not told.
            _ => Err(format!("something else is given where {wanted} is wanted").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// The place of a column: its number or its name.
pub(crate) trait Place: rusqlite::RowIndex + tokio_postgres::row::RowIndex + std::fmt::Display {}
impl<P: rusqlite::RowIndex + tokio_postgres::row::RowIndex + std::fmt::Display> Place for P {}

/// What can be read from a column.
pub(crate) trait Get: rusqlite::types::FromSql {
    /// Reads what PostgreSQL sent; none: it is null.
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong>;

    /// Reads a column of a row.
    fn from_postgres(row: &tokio_postgres::Row, place: impl Place) -> Result<Self> {
        let raw: Option<Raw<'_>> = row.try_get(place)?;
        Self::from_raw(raw).map_err(Error::Unreadable)
    }
}

/// A value as PostgreSQL sent it.
pub(crate) struct Raw<'r> {
    sort: Type,
    bytes: &'r [u8],
}

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(sort: &Type, bytes: &'r [u8]) -> Result<Self, Wrong> {
        Ok(Self { sort: sort.clone(), bytes })
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Raw<'_> {
    fn wrong<T>(&self, wanted: &str) -> Result<T, Wrong> {
        Err(format!("{} is there where {wanted} is wanted", self.sort).into())
    }
}

/// What is there; null is not.
fn there<'r>(raw: Option<Raw<'r>>) -> Result<Raw<'r>, Wrong> {
    raw.ok_or_else(|| "nothing is there where something is wanted".into())
}

impl<T: Get> Get for Option<T> {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        raw.map(|raw| T::from_raw(Some(raw))).transpose()
    }
}

impl Get for i64 {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let raw = there(raw)?;
        match raw.sort {
            Type::INT8 => i64::from_sql(&raw.sort, raw.bytes),
            Type::INT4 => i32::from_sql(&raw.sort, raw.bytes).map(i64::from),
            Type::BOOL => bool::from_sql(&raw.sort, raw.bytes).map(i64::from),
            _ => raw.wrong("a number"),
        }
    }
}

impl Get for bool {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        Ok(i64::from_raw(raw)? != 0)
    }
}

macro_rules! counts {
    ($($number:ty),*) => { $(impl Get for $number {
        fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
            Ok(i64::from_raw(raw)?.try_into()?)
        }
    })* };
}
counts!(u32, u64, usize);

impl Get for f64 {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let raw = there(raw)?;
        match raw.sort {
            Type::FLOAT8 => f64::from_sql(&raw.sort, raw.bytes),
            _ => raw.wrong("a real number"),
        }
    }
}

impl Get for String {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let raw = there(raw)?;
        match raw.sort {
            Type::TEXT | Type::JSON => Ok(std::str::from_utf8(raw.bytes)?.to_owned()),
            _ => raw.wrong("text"),
        }
    }
}

impl Get for Vec<u8> {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let raw = there(raw)?;
        match raw.sort {
            Type::BYTEA | Type::UUID => Ok(raw.bytes.to_vec()),
            _ => raw.wrong("bytes"),
        }
    }
}

impl<const N: usize> Get for [u8; N] {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let bytes = Vec::<u8>::from_raw(raw)?;
        bytes.try_into().map_err(|bytes: Vec<u8>| format!("{} bytes are there, not {N}", bytes.len()).into())
    }
}

/// A vector as it lies in its column.
pub(crate) struct Floats(pub(crate) Vec<f32>);

impl rusqlite::types::FromSql for Floats {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        Ok(Self(vector_values(value.as_blob()?)))
    }
}

impl Get for Floats {
    fn from_raw(raw: Option<Raw<'_>>) -> Result<Self, Wrong> {
        let raw = there(raw)?;
        match raw.sort.name() {
            "vector" => Ok(Self(pgvector::Vector::from_sql(&raw.sort, raw.bytes)?.into())),
            "halfvec" => {
                let halves = pgvector::HalfVector::from_sql(&raw.sort, raw.bytes)?;
                Ok(Self(halves.as_slice().iter().map(|half| half.to_f32()).collect()))
            }
            _ => raw.wrong("a vector"),
        }
    }
}

/// The vector as it lies in a file.
pub(crate) fn vector_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The vector read back from a file.
pub(crate) fn vector_values(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}
