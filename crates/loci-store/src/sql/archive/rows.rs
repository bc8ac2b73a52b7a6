//! How do rows lie in a frame?
//!
//! The name of their table, how many they are, and each value with its sort and its length, as rows are
//! compared when a store is copied.

use crate::sql::Value;
use crate::sql::copy::line::Line;

/// A frame is ended once it has so many bytes.
pub(super) const FULL: usize = 4 << 20;

/// Rows of one table, on their way into a frame.
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: u32,
    count_at: usize,
}

impl Packed {
    pub(super) fn new(table: &str) -> Self {
        let mut bytes = vec![table.len() as u8];
        bytes.extend_from_slice(table.as_bytes());
        let count_at = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        Self { bytes, rows: 0, count_at }
    }

    pub(super) fn push(&mut self, line: &Line) {
        self.bytes.extend_from_slice(&line.bytes);
        self.rows += 1;
        self.bytes[self.count_at..self.count_at + 4].copy_from_slice(&self.rows.to_le_bytes());
    }
}

/// The name of the table and its rows, with so many values each as `columns` says; none if the bytes make no
/// sense.
pub(super) fn unpack(bytes: &[u8], columns: impl Fn(&str) -> Option<usize>) -> Option<(&str, Vec<Vec<Value>>)> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let name = std::str::from_utf8(name).ok()?;
    let (count, mut rest) = rest.split_at_checked(4)?;
    let (count, columns) = (u32::from_le_bytes(count.try_into().ok()?), columns(name)?);
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut row = Vec::with_capacity(columns);
        for _ in 0..columns {
            let (value, after) = value(rest)?;
            row.push(value);
            rest = after;
        }
        rows.push(row);
    }
    rest.is_empty().then_some((name, rows))
}

fn value(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (sort, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (own, rest) = rest.split_at_checked(length)?;
    let value = match sort {
        0 => Value::Null,
        1 => Value::Integer((u64::from_be_bytes(own.try_into().ok()?) ^ (1 << 63)).cast_signed()),
        2 => Value::Real(f64::from_bits(u64::from_le_bytes(own.try_into().ok()?))),
        3 => Value::Text(String::from_utf8(own.to_vec()).ok()?),
        4 => Value::Blob(own.to_vec()),
        5 => {
            let (floats, left) = own.as_chunks::<4>();
            left.is_empty().then_some(())?;
            Value::Floats(floats.iter().map(|four| f32::from_le_bytes(*four)).collect())
        }
        _ => return None,
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut packed = Packed::new("memories");
        packed.push(&Line::made(values.clone(), 1));
        packed.push(&Line::made(values.clone(), 1));
        let columns = |name: &str| (name == "memories").then_some(7);
        assert_eq!(unpack(&packed.bytes, columns), Some(("memories", vec![values.clone(), values])));
        for cut in 0..packed.bytes.len() {
            assert_eq!(unpack(&packed.bytes[..cut], columns), None, "cut at {cut}");
        }
        assert_eq!(unpack(&packed.bytes, |_| Some(6)), None);
        assert_eq!(unpack(&packed.bytes, |_| None), None);
    }
}
