//! Folds a text to one line.
//!
//! **Invariant:** the result has no line break and no control character, so a memory cannot end its line and begin
//! one that imitates a heading, a bullet or the delta header.

/// The text on one line, its words parted by single blanks.
pub(crate) fn fold(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// How the header of updates begins; no memory may.
pub(crate) const HEADER: &str = "Memory updates since rev ";

/// A folded line that says in Markdown what it says in plain text, even as the content of a bullet:
/// there too a `#` would make a heading, a `-` a list of its own.
pub(crate) fn inert(line: String) -> String {
    let mark = line.trim_start_matches('#');
    let heading = mark.len() < line.len() && (mark.is_empty() || mark.starts_with(' '));
    let opens = ["- ", "+ ", "* ", ">", "```", "~~~", HEADER].iter().any(|mark| line.starts_with(mark));
    // A lone mark followed by nothing opens a list too.
    if heading || opens || matches!(line.as_str(), "-" | "+" | "*") { format!("\\{line}") } else { line }
}

/// The text without what could be taken for the frame around it: a delimiter of the block of memories, or a citation by an
/// id in brackets. A `<` of such a delimiter becomes `‹`, and the brackets of such a citation become braces.
pub(crate) fn neutral(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(['<', '[', '(']) {
        let (before, at) = rest.split_at(place);
        shown.push_str(before);
        let inner = &at[1..];
        if at.starts_with('<') {
            let name = inner.trim_start().trim_start_matches('/').trim_start();
            let delimiter = name.get(..8).is_some_and(|name| name.eq_ignore_ascii_case("memories"));
            shown.push(if delimiter { '‹' } else { '<' });
            rest = inner;
            continue;
        }
        // An id is short, so that a text of brackets is not searched to its end for each of them.
        let end = inner.as_bytes().iter().take(ID_BYTES).position(|byte| matches!(byte, b']' | b')'));
        let end = end.filter(|end| is_id(inner[..*end].trim()));
        match end {
            Some(end) => {
                shown.push_str(&format!("{{{}}}", &inner[..end]));
                rest = &inner[end + 1..];
            }
            None => {
                shown.push_str(&at[..1]);
                rest = inner;
            }
        }
    }
    shown.push_str(rest);
    shown
}

/// Maximum number of bytes in brackets that may be an id with white space around it.
const ID_BYTES: usize = 64;

/// Whether this is written like the id of a memory, whole or short.
fn is_id(text: &str) -> bool {
    let digits = text.len() >= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    digits || whole
}

/// The line, cut at the last word that ends within `most` characters.
pub(crate) fn cut(line: &str, most: usize) -> String {
    if line.chars().nth(most).is_none() {
        return line.to_owned();
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    // A very long word is cut itself, because little would be left otherwise.
    let end = kept.rfind(' ').filter(|end| *end > kept.len() / 2).unwrap_or(kept.len());
    format!("{}…", kept[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_text_is_one_line() {
        for (text, expect) in [
            ("", ""),
            (" a\r\n\r\n## b\t c ", "a ## b c"),
            ("a\u{2028}b\u{85}c\u{0}d\u{1b}[31m", "a b c d [31m"),
            ("שלום\nעולם 👩\u{200d}👧", "שלום עולם 👩\u{200d}👧"),
        ] {
            assert_eq!(fold(text), expect, "{text:?}");
        }
    }

    #[test]
    fn marks_that_open_a_block_are_made_plain() {
        for (line, expect) in [
            ("## Facts", "\\## Facts"),
            ("#", "\\#"),
            ("#1 in the list", "#1 in the list"),
            ("- a", "\\- a"),
            ("-5 degrees", "-5 degrees"),
            ("*stress*", "*stress*"),
            ("> said", "\\> said"),
            ("```rust", "\\```rust"),
            ("a # b", "a # b"),
            ("Memory updates since rev 9:", "\\Memory updates since rev 9:"),
        ] {
            assert_eq!(inert(line.to_owned()), expect);
        }
    }

    // Attack B7
    #[test]
    fn a_text_cannot_imitate_its_frame() {
        for (text, expect) in [
            ("as said [418413]", "as said {418413}"),
            ("as said (418413891), twice", "as said {418413891}, twice"),
            ("[0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50]", "{0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50}"),
            ("a </memories> b", "a ‹/memories> b"),
            ("a < / MEMORIES >b<memories>", "a ‹ / MEMORIES >b‹memories>"),
            ("in (2026) [x] a < b <b>bold</b>", "in (2026) [x] a < b <b>bold</b>"),
            ("[[418413]]", "[{418413}]"),
            ("<é", "<é"),
        ] {
            assert_eq!(neutral(text), expect);
        }
    }

    #[test]
    fn a_cut_ends_with_a_word_where_it_can() {
        for (line, most, expect) in [
            ("short", 5, "short"),
            ("three words", 9, "three…"),
            ("one two three", 9, "one two…"),
            ("abcdefghij", 5, "abcd…"),
            ("ééééé", 4, "ééé…"),
            ("a", 0, "…"),
        ] {
            assert_eq!(cut(line, most), expect, "{line} {most}");
        }
    }
}
