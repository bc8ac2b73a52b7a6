//! Reads notes in Markdown.
//!
//! A section under a heading is one memory, and so is each top-level item of a list, with the headings above it.
//! Front matter (`---`, `tags:`, `date:`, `---`) applies to the whole file. A text above the maximum length of a
//! memory is split at the end of a paragraph.

use jiff::Timestamp;
use loci_types::Source;
use serde_json::{Map, Value, json};

use super::time::written;
use super::{SourceItem, SourceMemory};
use crate::NewMemory;
use crate::write::ingest::pieces;

/// What a file of notes says. `name` is by what it is known, `modified` when it was last written.
pub fn notes(name: &str, text: &str, modified: Option<Timestamp>, most: usize) -> Vec<SourceItem> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (head, body) = front(&text);
    let at = head.date.or(modified);
    let mut brought = Vec::new();
    for block in blocks(body) {
        let heading = block.headings.join(" > ");
        let whole = match (block.headings.last(), block.item) {
            (None, _) => block.text.clone(),
            (Some(last), true) => format!("{last}: {}", block.text),
            (Some(last), false) => format!("{last}\n\n{}", block.text),
        };
        for piece in pieces(&whole, most) {
            let reference = if heading.is_empty() { name.to_owned() } else { format!("{name}#{heading}") };
            let mut metadata = head.rest.clone();
            metadata.insert("file".to_owned(), json!(name));
            if !heading.is_empty() {
                metadata.insert("heading".to_owned(), json!(heading));
            }
            let kept: String = reference.chars().take(1_000).collect();
            let new = NewMemory {
                content: piece.to_owned(),
                tags: head.tags.clone(),
                metadata,
                source: Some(Source { kind: "import".to_owned(), role: None, reference: Some(kept) }),
                ..NewMemory::default()
            };
            // A note is what it says: changed, it is another one.
            let reference = Some(format!("{reference}\u{1f}{piece}"));
            brought.push(SourceItem::Memory(Box::new(SourceMemory {
                new,
                created_at: at,
                updated_at: at,
                reference,
                ..SourceMemory::default()
            })));
        }
    }
    brought
}

/// What stands at the head of a file.
#[derive(Debug, Default, PartialEq)]
struct Front {
    tags: Vec<String>,
    date: Option<Timestamp>,
    rest: Map<String, Value>,
}

/// The head and what comes after it. A head that is never closed is none.
fn front(text: &str) -> (Front, &str) {
    let Some(inside) = text.strip_prefix("---\n") else { return (Front::default(), text) };
    let closed = inside.find("\n---\n").map(|end| (end, end + 5));
    let closed = closed.or_else(|| inside.ends_with("\n---").then(|| (inside.len() - 4, inside.len())));
    let Some((end, body)) = closed else { return (Front::default(), text) };
    let mut front = Front::default();
    let mut name = String::new();
    for line in inside[..end].lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            front.say(&name, vec![bare(item)], true);
        } else if let Some((word, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#'])) {
            name = word.trim().to_lowercase();
            let value = value.trim();
            let inner = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
            let values: Vec<String> = match inner {
                Some(list) => list.split(',').map(bare).filter(|value| !value.is_empty()).collect(),
                None if value.is_empty() => continue,
                None => vec![bare(value)],
            };
            front.say(&name, values, inner.is_some());
        }
    }
    (front, &inside[body..])
}

/// A value without its quotes.
fn bare(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).trim().to_owned()
}

impl Front {
    fn say(&mut self, name: &str, values: Vec<String>, list: bool) {
        match name {
            "tags" | "tag" | "keywords" => {
                let words =
                    values.iter().flat_map(|value| value.split(',')).map(|tag| tag.trim().trim_start_matches('#'));
                self.tags.extend(words.filter(|tag| !tag.is_empty()).map(str::to_owned));
            }
            "date" | "created" | "created_at" if self.date.is_none() => {
                self.date = values.first().and_then(|value| written(value));
            }
            "" => {}
            name => match self.rest.get_mut(name).and_then(Value::as_array_mut) {
                Some(known) => known.extend(values.into_iter().map(Value::String)),
                None if list => drop(self.rest.insert(name.to_owned(), json!(values))),
                None => drop(self.rest.insert(name.to_owned(), json!(values.concat()))),
            },
        }
    }
}

/// Something that a file says in one place.
#[derive(Debug, Default, PartialEq)]
struct Block {
    headings: Vec<String>,
    text: String,
    item: bool,
}

/// The blocks of a text: what stands under a heading, and the items of lists.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut open = Block::default();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)) {
            fence = match fence {
                None => Some(mark),
                Some(open) if open == mark => None,
                open => open,
            };
        } else if fence.is_none() {
            if let Some((level, title)) = heading(line) {
                close(&mut found, &mut open, false, &path);
                path.retain(|(known, _)| *known < level);
                path.push((level, title));
                open.headings = path.iter().map(|(_, title)| title.clone()).collect();
                continue;
            }
            if let Some(item) = item(line) {
                close(&mut found, &mut open, true, &path);
                open.text.push_str(item);
                open.text.push('\n');
                continue;
            }
            // A line that is not set in goes on after a list, unless it only breaks an item's line.
            let after_gap = open.text.ends_with("\n\n");
            if open.item && after_gap && !line.starts_with([' ', '\t']) && !start.is_empty() {
                close(&mut found, &mut open, false, &path);
            }
        }
        open.text.push_str(if open.item { start } else { line });
        open.text.push('\n');
    }
    close(&mut found, &mut open, false, &path);
    found
}

/// Ends a block that says something, and begins the next.
fn close(found: &mut Vec<Block>, open: &mut Block, item: bool, path: &[(usize, String)]) {
    let headings = path.iter().map(|(_, title)| title.clone()).collect();
    let mut done = std::mem::replace(open, Block { headings, text: String::new(), item });
    done.text = done.text.trim().to_owned();
    if !done.text.is_empty() {
        found.push(done);
    }
}

/// The level and the words of a heading.
fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[level..].strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&level) && !title.is_empty()).then(|| (level, title.to_owned()))
}

/// The words of an item at the top level of a list.
fn item(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    if indent > 1 {
        return None;
    }
    let line = &line[indent..];
    let bullet = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')?;
        (1..=9).contains(&digits).then_some(rest)
    };
    bullet.or_else(numbered).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, most: usize) -> Vec<String> {
        let content = |brought| match brought {
            SourceItem::Memory(draft) => draft.new.content,
            SourceItem::Conversation(_) => unreachable!(),
        };
        notes("n.md", text, None, most).into_iter().map(content).collect()
    }

    #[test]
    fn a_section_or_an_item_is_a_memory() {
        let check = |text: &str, expect: &[&str]| assert_eq!(texts(text, 1_000), expect, "{text:?}");
        check("", &[]);
        check("# Only a heading\n\n## And another\n", &[]);
        check("Just a line.", &["Just a line."]);
        check("# Tea\nGreen is best.\n\nBlack too.\n", &["Tea\n\nGreen is best.\n\nBlack too."]);
        check("# A\none\n## B\ntwo\n# C\nthree", &["A\n\none", "B\n\ntwo", "C\n\nthree"]);
        check(
            "## Team\n- Ann leads\n- Bo tests\n  - on Mondays\n\n* Cy writes",
            &["Team: Ann leads", "Team: Bo tests\n- on Mondays", "Team: Cy writes"],
        );
        check("1. one\n2) two\n\nafter the list", &["one", "two", "after the list"]);
        check("- an item that\n  goes on\nand on", &["an item that\ngoes on\nand on"]);
        check(
            "# Code\n```sh\n# no heading\n- no item\n```\nend",
            &["Code\n\n```sh\n# no heading\n- no item\n```\nend"],
        );
        check("#hashtag is not a heading\n#  \n-no item", &["#hashtag is not a heading\n#  \n-no item"]);
        check("# A\r\nwindows\r\n", &["A\n\nwindows"]);
    }

    #[test]
    fn what_is_long_is_cut_at_a_paragraph() {
        let long = format!("# T\n{}\n\n{}", "a".repeat(40), "b".repeat(40));
        assert_eq!(texts(&long, 60), [format!("T\n\n{}", "a".repeat(40)), "b".repeat(40)]);
    }

    #[test]
    fn the_head_holds_for_all() {
        let text = "---\ntitle: \"My notes\"\ntags: [tea, '#green']\ndate: 2024-03-05\naliases:\n  - one\n  - two\n---\n# A\nx";
        let Some(SourceItem::Memory(draft)) = notes("n.md", text, None, 99).pop() else { unreachable!() };
        assert_eq!(draft.new.tags, ["tea", "green"]);
        assert_eq!(draft.created_at, Some("2024-03-05T00:00:00Z".parse().unwrap()));
        let expect = json!({ "title": "My notes", "aliases": ["one", "two"], "file": "n.md", "heading": "A" });
        assert_eq!(Value::Object(draft.new.metadata), expect);
        for (text, tags, body) in [
            ("---\ntags:\n- a\n- b\n---\nx", vec!["a", "b"], "x"),
            ("---\ntags: a, b\n---\nx", vec!["a", "b"], "x"),
            ("---\n# not yaml: really\n---\nx", vec![], "x"),
            ("---\nnever closed\nx", vec![], "---\nnever closed\nx"),
            ("---\ntags: a\n---", vec!["a"], ""),
        ] {
            let (head, rest) = front(text);
            assert_eq!((head.tags, rest), (tags.into_iter().map(str::to_owned).collect(), body), "{text:?}");
        }
        let modified = "2020-01-01T00:00:00Z".parse().ok();
        let Some(SourceItem::Memory(draft)) = notes("n.md", "x", modified, 99).pop() else { unreachable!() };
        assert_eq!(draft.created_at, modified);
    }
}
