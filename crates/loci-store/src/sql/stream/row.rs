//! The encoding of a row, which does not depend on the database.
//!
//! Backups hold rows in this encoding, and two rows are equal if their encodings are. Differences that a database
//! cannot store are removed on both sides: a vector with a value that is not finite becomes zero, and if one side
//! stores vectors in half precision, both are compared in half precision.

use super::table::{ColumnType, TableSpec};
use crate::sql::{self, Floats, Row, Value};

/// A frame of rows is written once it has this many bytes.
pub(super) const FRAME_BYTES: usize = 4 << 20;

/// A row of a table with its encoding.
#[derive(Debug, Clone)]
pub(super) struct TableRow {
    pub(super) values: Vec<Value>,
    pub(super) bytes: Vec<u8>,
    /// Number of values in the key.
    key: usize,
    /// Number of bytes of the encoded key.
    key_bytes: usize,
}

impl TableRow {
    /// Reads a row. If `half` is set, vectors are encoded in half precision.
    pub(super) fn read(row: &dyn Row, table: &TableSpec, half: bool) -> sql::SqlResult<Self> {
        let columns = table.columns.iter().enumerate();
        let values = columns.map(|(place, (_, kind))| read(row, place, *kind)).collect::<sql::SqlResult<_>>()?;
        Ok(Self::new(values, table.key, half))
    }

    /// A row of these values, of which the first `key` are its key.
    pub(super) fn new(values: Vec<Value>, key: usize, half: bool) -> Self {
        let mut bytes = Vec::new();
        values.iter().take(key).for_each(|value| encode(value, half, &mut bytes));
        let key_bytes = bytes.len();
        values.iter().skip(key).for_each(|value| encode(value, half, &mut bytes));
        Self { values, bytes, key, key_bytes }
    }

    /// The encoded key. Rows are ordered by it.
    pub(super) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_bytes]
    }

    /// The key, for error messages.
    fn name(&self) -> String {
        self.values.iter().take(self.key).map(display).collect::<Vec<_>>().join(" ")
    }
}

fn read(row: &dyn Row, place: usize, kind: ColumnType) -> sql::SqlResult<Value> {
    Ok(match kind {
        ColumnType::Integer => row.get::<_, Option<i64>>(place)?.into(),
        ColumnType::Real => row.get::<_, Option<f64>>(place)?.into(),
        ColumnType::Text => row.get::<_, Option<String>>(place)?.into(),
        ColumnType::Bytes => row.get::<_, Option<Vec<u8>>>(place)?.into(),
        ColumnType::Vector => Value::Floats(row.get::<_, Floats>(place)?.0),
    })
}

/// Writes a value with its type and its length, so that different rows have different encodings.
fn encode(value: &Value, half: bool, out: &mut Vec<u8>) {
    let mut put = |kind: u8, bytes: &[u8]| {
        out.push(kind);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Null => put(0, &[]),
        // Big endian with the sign bit flipped, so that the bytes have the order of the integers.
        Value::Integer(number) => put(1, &(number.cast_unsigned() ^ (1 << 63)).to_be_bytes()),
        Value::Real(number) => put(2, &number.to_bits().to_le_bytes()),
        Value::Text(text) => put(3, text.as_bytes()),
        Value::Blob(bytes) => put(4, bytes),
        Value::Floats(values) => put(5, &encode_vector(values, half)),
        // No column holds a list.
        Value::Integers(_) | Value::Texts(_) | Value::Ids(_) | Value::Vectors(_) => {
            put(6, format!("{value:?}").as_bytes())
        }
    }
}

fn encode_vector(values: &[f32], half: bool) -> Vec<u8> {
    if values.iter().any(|value| !value.is_finite()) {
        return vec![0; 4 * values.len()];
    }
    if !half {
        return sql::vector_bytes(values);
    }
    let halves = pgvector::HalfVector::from_f32_slice(values);
    halves.as_slice().iter().flat_map(|half| half.to_f32().to_le_bytes()).collect()
}

/// Reads the first value of these bytes and returns the bytes after it.
fn decode(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (own, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let value = match kind {
        0 => Value::Null,
        1 => Value::Integer((u64::from_be_bytes(own.try_into().ok()?) ^ (1 << 63)).cast_signed()),
        2 => Value::Real(f64::from_bits(u64::from_le_bytes(own.try_into().ok()?))),
        3 => Value::Text(String::from_utf8(own.to_vec()).ok()?),
        4 => Value::Blob(own.to_vec()),
        5 if own.len() % 4 == 0 => Value::Floats(sql::vector_values(own)),
        _ => return None,
    };
    Some((value, rest))
}

/// Packs rows of a table into frames: the name of the table, the number of rows, and the rows.
pub(super) fn pack<E>(
    table: &TableSpec,
    rows: &[TableRow],
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut rows = rows.iter().peekable();
    while rows.peek().is_some() {
        let mut frame = vec![table.name.len() as u8];
        frame.extend_from_slice(table.name.as_bytes());
        let (head, mut count) = (frame.len(), 0_u32);
        frame.extend_from_slice(&[0; 4]);
        while let Some(row) = rows.next_if(|_| frame.len() < FRAME_BYTES) {
            frame.extend_from_slice(&row.bytes);
            count += 1;
        }
        frame[head..head + 4].copy_from_slice(&count.to_le_bytes());
        put(&frame)?;
    }
    Ok(())
}

/// The table and the rows of a frame; none if the bytes are not valid. `find` finds a table by its name.
pub(super) fn unpack(
    bytes: &[u8],
    find: impl Fn(&str) -> Option<&'static TableSpec>,
) -> Option<(&'static TableSpec, Vec<Vec<Value>>)> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let table = find(std::str::from_utf8(name).ok()?)?;
    let (count, mut rest) = rest.split_first_chunk()?;
    let mut rows = Vec::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let mut row = Vec::with_capacity(table.columns.len());
        for _ in table.columns {
            let (value, after) = decode(rest)?;
            row.push(value);
            rest = after;
        }
        rows.push(row);
    }
    rest.is_empty().then_some((table, rows))
}

fn display(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => data_encoding::HEXLOWER.encode(bytes),
        other => format!("{other:?}"),
    }
}

/// Sorts both sides by their keys and returns the first row that differs: its key and the difference.
pub(super) fn difference(source: &mut [TableRow], target: &mut [TableRow]) -> Option<(String, &'static str)> {
    source.sort_by(|one, other| one.key().cmp(other.key()));
    target.sort_by(|one, other| one.key().cmp(other.key()));
    let mut rows = source.iter().peekable();
    for found in &*target {
        match rows.next_if(|row| row.key() <= found.key()) {
            None => return Some((found.name(), "is in the target and not in the source")),
            Some(row) if row.key() != found.key() => return Some((row.name(), "is missing in the target")),
            Some(row) if row.bytes != found.bytes => return Some((row.name(), "is not the same in the target")),
            Some(_) => {}
        }
    }
    rows.next().map(|row| (row.name(), "is missing in the target"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::stream::table::columns;

    static SAMPLE: TableSpec =
        TableSpec::plain("sample", "a", 1, columns! { Integer a b c, Real d, Text e, Bytes f, Vector g });

    #[test]
    fn the_first_difference_is_named() {
        let rows = |given: &[(i64, &str)]| -> Vec<TableRow> {
            let row = |(number, text): &(i64, &str)| TableRow::new(crate::sql::params![*number, *text], 1, false);
            given.iter().map(row).collect()
        };
        for (from, to, expected) in [
            (&[][..], &[][..], None),
            (&[(1, "a"), (2, "b")], &[(2, "b"), (1, "a")], None),
            (&[(1, "a"), (2, "b")], &[(1, "a"), (2, "c")], Some("2 is not the same in the target")),
            (&[(1, "a"), (2, "b")], &[(2, "b")], Some("1 is missing in the target")),
            (&[(1, "a"), (2, "b")], &[(1, "a")], Some("2 is missing in the target")),
            (&[(2, "b")], &[(1, "a"), (2, "b")], Some("1 is in the target and not in the source")),
            (&[(1, "a")], &[(1, "a"), (2, "b")], Some("2 is in the target and not in the source")),
        ] {
            let found = difference(&mut rows(from), &mut rows(to)).map(|(name, problem)| format!("{name} {problem}"));
            assert_eq!(found.as_deref(), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn vectors_are_compared_as_both_sides_can_store_them() {
        assert_eq!(encode_vector(&[f32::NAN, 1.0], false), encode_vector(&[0.0, 0.0], false));
        assert_ne!(encode_vector(&[0.1], false), encode_vector(&[0.100_001], false));
        assert_eq!(encode_vector(&[0.1], true), encode_vector(&[0.100_001], true));
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let values = vec![
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Integer(-7),
            Value::Real(-0.5),
            Value::Text("naïve \u{1f} text".into()),
            Value::Blob(vec![0, 255]),
            Value::Floats(vec![0.25, -1.0]),
        ];
        let (row, mut frames) = (TableRow::new(values.clone(), 1, false), Vec::new());
        let packed: Result<(), ()> = pack(&SAMPLE, &[row.clone(), row], |frame| {
            frames.push(frame.to_vec());
            Ok(())
        });
        assert_eq!((packed, frames.len()), (Ok(()), 1));
        let unpacked = |bytes| unpack(bytes, |name| (name == "sample").then_some(&SAMPLE)).map(|(_, rows)| rows);
        assert_eq!(unpacked(&frames[0]), Some(vec![values.clone(), values]));
        for cut in 0..frames[0].len() {
            assert_eq!(unpacked(&frames[0][..cut]), None, "cut at {cut}");
        }
        assert!(unpack(&frames[0], |_| Some(&super::super::catalogue::SPACES)).is_none());
        assert!(unpack(&frames[0], |_| None).is_none());
    }
}
