//! Reads a large JSON file entry by entry.
//!
//! The file is a list, an object with a list, or one object per line. Only one entry is held at a time. An unreadable
//! line is reported and the next one is read; a list cannot be continued after an error.

use std::fmt;
use std::io::{BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Maximum length of a line, in bytes: far above that of any entry.
const MAX_LINE_BYTES: usize = 16 << 20;

/// The names under which systems put the list of entries.
const LISTS: [&str; 4] = ["results", "memories", "items", "conversations"];

/// Takes an entry with its place, or why it is none; false: nothing more is wanted.
type EntrySink<'a> = dyn FnMut(String, Result<Value, String>) -> bool + 'a;

/// Gives every entry to `take`; how many there were, or why the rest cannot be read.
pub(crate) fn each(input: &mut dyn BufRead, take: &mut EntrySink<'_>) -> Result<u64, String> {
    let first = first_character(input)?;
    if first != Some(b'{') {
        return if first.is_none() { Ok(0) } else { document(input, take) };
    }
    let mut line = Vec::new();
    let mut bounded = input.take(MAX_LINE_BYTES as u64);
    bounded.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
    match serde_json::from_slice::<Map<String, Value>>(&line) {
        Ok(object) if LISTS.iter().all(|name| !object.get(*name).is_some_and(Value::is_array)) => {
            if !take("line 1".to_owned(), Ok(Value::Object(object))) {
                return Ok(1);
            }
            lines(input, take)
        }
        _ => document(&mut line.as_slice().chain(input), take),
    }
}

/// The first character that is neither white space nor a byte order mark. What is before it is skipped.
fn first_character(input: &mut dyn BufRead) -> Result<Option<u8>, String> {
    loop {
        let bytes = input.fill_buf().map_err(|error| error.to_string())?;
        let Some(byte) = bytes.first().copied() else { return Ok(None) };
        if !byte.is_ascii_whitespace() && !matches!(byte, 0xEF | 0xBB | 0xBF) {
            return Ok(Some(byte));
        }
        input.consume(1);
    }
}

/// The lines after the first.
fn lines(input: &mut dyn BufRead, take: &mut EntrySink<'_>) -> Result<u64, String> {
    let (mut number, mut count) = (1_u64, 1_u64);
    loop {
        number += 1;
        let mut line = Vec::new();
        let read =
            input.take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(count);
        }
        let value = if line.len() > MAX_LINE_BYTES {
            skip_line(input)?;
            Err(format!("the line has more than {MAX_LINE_BYTES} bytes"))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            serde_json::from_slice(&line).map_err(|error| plain(&error))
        };
        count += 1;
        if !take(format!("line {number}"), value) {
            return Ok(count);
        }
    }
}

fn skip_line(input: &mut dyn BufRead) -> Result<(), String> {
    loop {
        let bytes = input.fill_buf().map_err(|error| error.to_string())?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// What went wrong, without a place that is counted from somewhere else.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

/// One value after the other, each a list, an object with a list, or an entry.
fn document(input: &mut dyn Read, take: &mut EntrySink<'_>) -> Result<u64, String> {
    let mut walk = EntryVisitor { take, count: 0, over: false };
    let mut reader = serde_json::Deserializer::from_reader(std::io::BufReader::new(input));
    loop {
        if let Err(error) = (&mut walk).deserialize(&mut reader) {
            return if walk.over { Ok(walk.count) } else { Err(error.to_string()) };
        }
        if walk.over || reader.end().is_ok() {
            return Ok(walk.count);
        }
    }
}

/// Where the entries go.
struct EntryVisitor<'a, 'b> {
    take: &'a mut EntrySink<'b>,
    count: u64,
    over: bool,
}

impl EntryVisitor<'_, '_> {
    fn entry(&mut self, value: Value) -> bool {
        self.count += 1;
        let going = (self.take)(format!("entry {}", self.count), Ok(value));
        self.over = !going;
        going
    }
}

impl<'de> DeserializeSeed<'de> for &mut EntryVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut EntryVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries, or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            if !self.entry(value) {
                // The rest must still be read over, or the reader complains of it.
                while list.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut fields = Map::new();
        let mut listed = false;
        while let Some(name) = object.next_key::<String>()? {
            if LISTS.contains(&name.as_str()) {
                listed = true;
                object.next_value_seed(InnerList(&mut *self))?;
            } else {
                fields.insert(name, object.next_value()?);
            }
        }
        if !listed {
            self.entry(Value::Object(fields));
        }
        Ok(())
    }
}

/// A list within the object at the top.
struct InnerList<'a, 'b, 'c>(&'a mut EntryVisitor<'b, 'c>);

impl<'de> DeserializeSeed<'de> for InnerList<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for InnerList<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        Visitor::visit_seq(self.0, list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], most: usize) -> (Vec<String>, Result<u64, String>) {
        let mut found = Vec::new();
        let outcome = each(&mut std::io::BufReader::with_capacity(7, text), &mut |place, value| {
            found.push(format!("{place}: {}", value.map_or_else(|_| "odd".to_owned(), |value| value.to_string())));
            found.len() < most
        });
        (found, outcome)
    }

    #[test]
    fn entries_come_one_by_one_from_every_shape() {
        let check = |text: &str, expect: &[&str]| {
            let (found, outcome) = read(text.as_bytes(), usize::MAX);
            assert_eq!(found, expect, "{text}");
            assert_eq!(outcome, Ok(expect.len() as u64), "{text}");
        };
        check("", &[]);
        check(" \u{feff}\n ", &[]);
        check("[]", &[]);
        check("\u{feff}[1, {\"a\":2}]", &["entry 1: 1", "entry 2: {\"a\":2}"]);
        check("{\"results\":[1,2],\"more\":3}", &["entry 1: 1", "entry 2: 2"]);
        check("{\n \"count\": 1,\n \"items\": [ 7 ]\n}", &["entry 1: 7"]);
        check("{\n \"a\": 1\n}\n{\n \"a\": 2\n}", &["entry 1: {\"a\":1}", "entry 2: {\"a\":2}"]);
        check(
            "{\"a\":1}\n\n{\"a\":2}\nnonsense\n{\"a\":3}",
            &["line 1: {\"a\":1}", "line 3: {\"a\":2}", "line 4: odd", "line 5: {\"a\":3}"],
        );
    }

    #[test]
    fn what_is_cut_short_gives_what_stands_before() {
        for (text, expect) in [("[1,2", 2), ("[1,{\"a\":", 1), ("[1 2]", 1), ("nonsense", 0), ("{\"results\":[1,", 1)] {
            let (found, outcome) = read(text.as_bytes(), usize::MAX);
            assert_eq!(found.len(), expect, "{text}");
            assert!(outcome.is_err(), "{text}");
        }
    }

    #[test]
    fn a_reader_that_stops_gets_no_more_items() {
        for text in ["[1,2,3]", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}", "{\"results\":[1,2,3]}"] {
            assert_eq!(read(text.as_bytes(), 2).0.len(), 2, "{text}");
        }
    }
}
