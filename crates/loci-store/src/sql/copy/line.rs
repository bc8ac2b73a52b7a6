//! When are two rows the same, whichever database they lie in?
//!
//! A row is read as plain values and written down in bytes that do not depend on the database; rows are
//! the same if their bytes are. What a database cannot keep is left out on both sides: a vector that
//! points nowhere is zero, and where one side keeps vectors in half precision, both are compared so.

use super::table::Sort;
use crate::sql::{self, Floats, Row, Value};

/// A row, with the bytes that name it and the bytes of all of it.
#[derive(Debug, Clone)]
pub(in crate::sql) struct Line {
    pub(in crate::sql) values: Vec<Value>,
    pub(in crate::sql) key: Vec<u8>,
    pub(in crate::sql) bytes: Vec<u8>,
    named: usize,
}

impl Line {
    /// Reads a row of these columns, of which the first ones name it.
    pub(in crate::sql) fn read(
        row: &dyn Row,
        columns: &[(&'static str, Sort)],
        named: usize,
        halves: bool,
    ) -> sql::Result<Self> {
        let values: Vec<Value> =
            columns.iter().enumerate().map(|(place, (_, sort))| read(row, place, *sort)).collect::<sql::Result<_>>()?;
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        values.iter().take(named).for_each(|value| write(value, halves, &mut key));
        values.iter().for_each(|value| write(value, halves, &mut bytes));
        Ok(Self { values, key, bytes, named })
    }

    /// A row of these values, of which the first ones name it.
    pub(in crate::sql) fn made(values: Vec<Value>, named: usize) -> Self {
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        values.iter().take(named).for_each(|value| write(value, false, &mut key));
        values.iter().for_each(|value| write(value, false, &mut bytes));
        Self { values, key, bytes, named }
    }

    /// What names it, for people.
    pub(in crate::sql) fn name(&self) -> String {
        self.values.iter().take(self.named).map(shown).collect::<Vec<_>>().join(" ")
    }
}

fn read(row: &dyn Row, place: usize, sort: Sort) -> sql::Result<Value> {
    Ok(match sort {
        Sort::Number => row.get::<_, Option<i64>>(place)?.into(),
        Sort::Real => row.get::<_, Option<f64>>(place)?.into(),
        Sort::Text => row.get::<_, Option<String>>(place)?.into(),
        Sort::Bytes => row.get::<_, Option<Vec<u8>>>(place)?.into(),
        Sort::Vector => Value::Floats(row.get::<_, Floats>(place)?.0),
    })
}

/// Each value with its sort and its length, so that no two rows have the same bytes.
fn write(value: &Value, halves: bool, out: &mut Vec<u8>) {
    let mut put = |sort: u8, bytes: &[u8]| {
        out.push(sort);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Null => put(0, &[]),
        // In the order of the numbers: rows are ordered by these bytes.
        Value::Integer(number) => put(1, &(number.cast_unsigned() ^ (1 << 63)).to_be_bytes()),
        Value::Real(number) => put(2, &number.to_bits().to_le_bytes()),
        Value::Text(text) => put(3, text.as_bytes()),
        Value::Blob(bytes) => put(4, bytes),
        Value::Floats(values) => put(5, &vector(values, halves)),
        // No column holds a list.
        Value::Integers(_) | Value::Texts(_) | Value::Ids(_) | Value::Vectors(_) => {
            put(6, format!("{value:?}").as_bytes())
        }
    }
}

fn vector(values: &[f32], halves: bool) -> Vec<u8> {
    if values.iter().any(|value| !value.is_finite()) {
        return vec![0; 4 * values.len()];
    }
    if !halves {
        return values.iter().flat_map(|value| value.to_le_bytes()).collect();
    }
    let halves = pgvector::HalfVector::from_f32_slice(values);
    halves.as_slice().iter().flat_map(|half| half.to_f32().to_le_bytes()).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => data_encoding::HEXLOWER.encode(bytes),
        other => format!("{other:?}"),
    }
}

/// The first row that is not on both sides alike: its name, and what is wrong with it.
pub(in crate::sql) fn difference(mut from: Vec<Line>, mut to: Vec<Line>) -> Option<(String, &'static str)> {
    from.sort_by(|one, other| one.key.cmp(&other.key));
    to.sort_by(|one, other| one.key.cmp(&other.key));
    let mut theirs = from.iter().peekable();
    for ours in &to {
        match theirs.next_if(|line| line.key <= ours.key) {
            None => return Some((ours.name(), "is in the target and not in the source")),
            Some(line) if line.key != ours.key => return Some((line.name(), "is missing in the target")),
            Some(line) if line.bytes != ours.bytes => return Some((line.name(), "is not the same in the target")),
            Some(_) => {}
        }
    }
    theirs.next().map(|line| (line.name(), "is missing in the target"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: i64, text: &str) -> Line {
        let values = vec![Value::Integer(number), Value::Text(text.to_owned())];
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        write(&values[0], false, &mut key);
        values.iter().for_each(|value| write(value, false, &mut bytes));
        Line { values, key, bytes, named: 1 }
    }

    #[test]
    fn the_first_difference_is_named() {
        let lines = |given: &[(i64, &str)]| given.iter().map(|(number, text)| line(*number, text)).collect();
        for (from, to, told) in [
            (&[][..], &[][..], None),
            (&[(1, "a"), (2, "b")], &[(2, "b"), (1, "a")], None),
            (&[(1, "a"), (2, "b")], &[(1, "a"), (2, "c")], Some("2 is not the same in the target")),
            (&[(1, "a"), (2, "b")], &[(2, "b")], Some("1 is missing in the target")),
            (&[(1, "a"), (2, "b")], &[(1, "a")], Some("2 is missing in the target")),
            (&[(2, "b")], &[(1, "a"), (2, "b")], Some("1 is in the target and not in the source")),
            (&[(1, "a")], &[(1, "a"), (2, "b")], Some("2 is in the target and not in the source")),
        ] {
            let found = difference(lines(from), lines(to)).map(|(name, problem)| format!("{name} {problem}"));
            assert_eq!(found.as_deref(), told, "{from:?} {to:?}");
        }
    }

    #[test]
    fn vectors_are_compared_as_both_sides_can_keep_them() {
        let bytes = |values: &[f32], halves| vector(values, halves);
        assert_eq!(bytes(&[f32::NAN, 1.0], false), bytes(&[0.0, 0.0], false));
        assert_ne!(bytes(&[0.1], false), bytes(&[0.100_001], false));
        assert_eq!(bytes(&[0.1], true), bytes(&[0.100_001], true));
    }
}
