//! The values of statement parameters and of result columns.
//!
//! There are few types, those of SQLite and lists. Each backend converts them to and from the types of its driver.

use jiff::Timestamp;
use loci_types::{EdgeId, EntityId, FactId, MemoryId};
use uuid::Uuid;

use super::{Row, SqlError, SqlResult};

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
    // A number beyond `i64::MAX` does not occur.
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
    EdgeId => |id| id.as_bytes().into(),
    EntityId => |id| id.as_bytes().into(),
    FactId => |id| id.as_bytes().into(),
    MemoryId => |id| id.as_bytes().into(),
    &EntityId => |id| id.as_bytes().into(),
    &MemoryId => |id| id.as_bytes().into(),
    // Times are stored in microseconds.
    Timestamp => |time| Value::Integer(time.as_microsecond()),
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

/// A column of a row: its number or its name.
pub(crate) trait ColumnRef {
    /// Its number.
    fn number(self, row: &dyn Row) -> SqlResult<usize>;
}

impl ColumnRef for usize {
    fn number(self, _: &dyn Row) -> SqlResult<usize> {
        Ok(self)
    }
}

impl ColumnRef for &str {
    fn number(self, row: &dyn Row) -> SqlResult<usize> {
        row.column(self)
    }
}

/// A value of a row, as the driver returns it.
#[derive(Debug)]
pub(crate) enum ValueRef<'r> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'r str),
    Blob(&'r [u8]),
    Floats(Vec<f32>),
}

impl ValueRef<'_> {
    fn wrong<T>(&self, wanted: &str) -> SqlResult<T> {
        let found = match self {
            ValueRef::Null => "null",
            ValueRef::Integer(_) => "an integer",
            ValueRef::Real(_) => "a real number",
            ValueRef::Text(_) => "text",
            ValueRef::Blob(_) => "bytes",
            ValueRef::Floats(_) => "a vector",
        };
        Err(SqlError::unreadable(format!("the column holds {found}, not {wanted}")))
    }
}

/// A type that can be read from a column.
pub(crate) trait Get: Sized {
    /// Reads a value.
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self>;
}

impl<T: Get> Get for Option<T> {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl Get for i64 {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Integer(number) => Ok(number),
            other => other.wrong("an integer"),
        }
    }
}

impl Get for bool {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        Ok(i64::from_value(value)? != 0)
    }
}

macro_rules! counts {
    ($($number:ty),*) => { $(impl Get for $number {
        fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
            i64::from_value(value)?.try_into().map_err(SqlError::unreadable)
        }
    })* };
}
counts!(u32, u64, usize);

impl Get for f64 {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Real(number) => Ok(number),
            ValueRef::Integer(number) => Ok(number as f64),
            other => other.wrong("a real number"),
        }
    }
}

impl Get for String {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Text(text) => Ok(text.to_owned()),
            other => other.wrong("text"),
        }
    }
}

impl Get for Vec<u8> {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
            other => other.wrong("bytes"),
        }
    }
}

macro_rules! ids {
    ($($id:ident),*) => { $(impl Get for $id {
        fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
            <[u8; 16]>::from_value(value).map(|bytes| Self(Uuid::from_bytes(bytes)))
        }
    })* };
}
ids!(EdgeId, EntityId, FactId, MemoryId);

/// A value outside the range of timestamps is reported as damage.
impl Get for Timestamp {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        Timestamp::from_microsecond(i64::from_value(value)?).map_err(SqlError::unreadable)
    }
}

impl<const N: usize> Get for [u8; N] {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => bytes
                .try_into()
                .map_err(|_| SqlError::unreadable(format!("the column holds {} bytes, not {N}", bytes.len()))),
            other => other.wrong("bytes"),
        }
    }
}

/// A vector read from a column.
pub(crate) struct Floats(pub(crate) Vec<f32>);

impl Get for Floats {
    fn from_value(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Floats(values) => Ok(Self(values)),
            ValueRef::Blob(bytes) => Ok(Self(vector_values(bytes))),
            other => other.wrong("a vector"),
        }
    }
}

/// The bytes of a vector as SQLite stores it: little-endian `f32`.
pub(crate) fn vector_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The vector that [`vector_bytes`] wrote.
pub(crate) fn vector_values(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}
