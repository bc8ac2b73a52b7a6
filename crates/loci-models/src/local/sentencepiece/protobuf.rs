//! A minimal protobuf reader for the file of a SentencePiece model.
//!
//! It returns the fields of one message in order, without a schema.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// An integer.
    Number(u64),
    /// A string, bytes or a nested message.
    Bytes(&'a [u8]),
    /// A float or another value of four bytes.
    Four([u8; 4]),
    /// A value of eight bytes. Loci reads no field of this type.
    Eight,
}

/// Iterates over the fields of a message with their numbers. At the first damaged field it yields `None` and ends.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Option<(u64, Field<'_>)>> {
    let mut rest = Some(message);
    std::iter::from_fn(move || {
        let mut bytes = rest.filter(|bytes| !bytes.is_empty())?;
        let field = next(&mut bytes);
        rest = field.is_some().then_some(bytes);
        Some(field)
    })
}

fn next<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let tag = varint(bytes)?;
    let field = match tag & 7 {
        0 => Field::Number(varint(bytes)?),
        1 => take(bytes, 8).map(|_| Field::Eight)?,
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Field::Bytes(take(bytes, length)?)
        }
        5 => Field::Four(*take(bytes, 4)?.first_chunk()?),
        _ => return None,
    };
    Some((tag >> 3, field))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Reads a varint: an integer of at most 64 bits, seven bits per byte, the lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn write_varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    pub(in super::super) fn number(field: u64, number: u64) -> Vec<u8> {
        [write_varint(field << 3), write_varint(number)].concat()
    }

    pub(in super::super) fn bytes(field: u64, bytes: &[u8]) -> Vec<u8> {
        [write_varint(field << 3 | 2), write_varint(bytes.len() as u64), bytes.to_vec()].concat()
    }

    pub(in super::super) fn float(field: u64, number: f32) -> Vec<u8> {
        [write_varint(field << 3 | 5), number.to_le_bytes().to_vec()].concat()
    }

    #[test]
    fn fields_are_read_in_order() {
        let eight = [vec![0x29], vec![7; 8]].concat();
        let message = [number(1, 300), bytes(2, b"text"), float(300, 1.5), eight, number(4, u64::MAX)].concat();
        let found: Vec<_> = fields(&message).map(Option::unwrap).collect();
        let four = Field::Four(1.5_f32.to_le_bytes());
        let expected = [
            (1, Field::Number(300)),
            (2, Field::Bytes(b"text")),
            (300, four),
            (5, Field::Eight),
            (4, Field::Number(u64::MAX)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_damaged_field_ends_the_message() {
        for damaged in [&[0x08][..], &[0x0a, 5, 1], &[0x0d, 1, 2], &[0x09, 1], &[0x0b], &[0xff; 20], &[0x08, 0x80]] {
            assert_eq!(fields(damaged).collect::<Vec<_>>(), [None], "{damaged:?}");
        }
    }
}
