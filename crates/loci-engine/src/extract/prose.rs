//! Which sentences of a turn were said, and not pasted?
//!
//! Fenced code, quoted lines, logs and lines of a program are left out. A line ends a sentence; so
//! does a full stop, even before a small letter, because people type in a hurry.

/// A sentence that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    /// It ends in a question mark.
    pub(crate) asks: bool,
    /// Its number in a numbered list.
    pub(crate) step: Option<u32>,
}

/// The sentences of a turn, in order.
pub(crate) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.trim_start().starts_with('>') || is_code(line) {
            continue;
        }
        let (step, line) = listed(line.trim_start());
        split(line, step, &mut found);
    }
    found
}

/// The number and the rest of a line in a list.
fn listed(line: &str) -> (Option<u32>, &str) {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–']) {
        return (None, rest.trim_start());
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0
        && digits < 3
        && let Some(rest) = line[digits..].strip_prefix(['.', ')'])
        && rest.starts_with(' ')
    {
        return (line[..digits].parse().ok(), rest.trim_start());
    }
    (None, line)
}

fn split<'a>(line: &'a str, step: Option<u32>, found: &mut Vec<Sentence<'a>>) {
    let mut start = 0;
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut characters = line.char_indices().peekable();
    while let Some((place, c)) = characters.next() {
        let end = place + c.len_utf8();
        match c {
            '(' | '«' | '“' => depth += 1,
            ')' | '»' | '”' => depth = depth.saturating_sub(1),
            '"' => quoted = !quoted,
            _ => {}
        }
        let closes = characters.peek().is_none_or(|(_, next)| next.is_whitespace() || matches!(next, '"' | ')'));
        let ends = match c {
            '!' | '?' | '…' => closes,
            '.' => closes && !abbreviated(&line[start..place]),
            _ => false,
        };
        // A bracket that is never closed must not swallow the rest.
        if ends && (depth == 0 || !line[end..].contains([')', '»', '”'])) && (!quoted || !line[end..].contains('"'))
        {
            push(&line[start..end], step, found);
            start = end;
        }
    }
    push(&line[start..], step, found);
}

fn push<'a>(text: &'a str, step: Option<u32>, found: &mut Vec<Sentence<'a>>) {
    let text = text.trim();
    if text.contains(char::is_alphanumeric) {
        let asks = text.trim_end_matches(['"', ')', '!', ' ', '”', '»']).ends_with('?');
        found.push(Sentence { text, asks, step });
    }
}

/// Whether the full stop after this belongs to its last word.
fn abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    initial
        || [
            "Mr", "Mrs", "Ms", "Dr", "St", "Prof", "vs", "e.g", "i.e", "etc", "No", "approx", "Jan", "Feb", "Mar",
            "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "г", "ул", "т.е", "т.д", "т.к", "им",
        ]
        .contains(&word)
}

/// How a line of a program, a diff or a trace begins.
const CODE_STARTS: &[&str] = &[
    "//",
    "/*",
    "#include",
    "#!",
    "import ",
    "export ",
    "def ",
    "fn ",
    "pub ",
    "const ",
    "var ",
    "class ",
    "return ",
    "@@",
    "+++",
    "---",
    "$ ",
    "Traceback",
    "File \"",
    "Caused by:",
    "panicked at",
    "thread '",
    "SELECT ",
    "INSERT ",
    "UPDATE ",
    "</",
    "<div",
    "<p",
    "<?",
];

/// Whether a line was pasted from a program or its output.
fn is_code(line: &str) -> bool {
    let text = line.trim_start();
    if text.ends_with([';', '{', '}']) && text.contains(['(', '=', '{', '}', ':']) || text == "}" {
        return true;
    }
    if CODE_STARTS.iter().any(|start| text.starts_with(start)) && !text.ends_with('.') {
        return !text.starts_with("class ") && !text.starts_with("import ") && !text.starts_with("return ")
            || text.contains(['(', '{', '"', ':', ';', '.']);
    }
    if text.starts_with("at ") && text.contains('(') && text.contains(':') {
        return true;
    }
    let level = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE", "FATAL"].iter().any(|level| text.contains(level));
    let stamped = text.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit());
    if level && (stamped || text.starts_with(['[', 'E', 'W', 'I', 'D', 'F']) && text.contains([':', ']', '='])) {
        return true;
    }
    let indented = line.len() - text.len() >= 4 || line.starts_with('\t');
    let signs = text.chars().filter(|c| "{}();=<>|&[]$\\".contains(*c)).count();
    let letters = text.chars().count().max(1);
    signs * 100 / letters >= if indented { 6 } else { 15 } && signs > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_are_cut_as_people_type() {
        for (text, expect) in [
            ("i live in porto. i work at acme", vec!["i live in porto.", "i work at acme"]),
            ("Dr. Lee is my doctor. Nice!", vec!["Dr. Lee is my doctor.", "Nice!"]),
            ("We use v2.3.1 now... ok", vec!["We use v2.3.1 now...", "ok"]),
            ("He said \"I live here. Yes.\" ok", vec!["He said \"I live here. Yes.\" ok"]),
            ("one\ntwo", vec!["one", "two"]),
            ("the deadline is Mar. 1", vec!["the deadline is Mar. 1"]),
            ("", vec![]),
        ] {
            assert_eq!(texts(text), expect);
        }
        let steps: Vec<_> = sentences("1. Run it\n2) Stop it").into_iter().map(|s| (s.step, s.text)).collect();
        assert_eq!(steps, [(Some(1), "Run it"), (Some(2), "Stop it")]);
    }

    #[test]
    fn what_was_pasted_is_left_out() {
        for text in [
            "```\nI live in Porto\n```",
            "> I live in Porto",
            "let name = \"I live in Porto\";",
            "2026-06-01T10:00:00 ERROR I live in Porto",
            "    at porto.live(Main.java:12)",
            "if (x == y) { return z; }",
        ] {
            assert_eq!(texts(text), Vec::<&str>::new(), "{text}");
        }
    }
}
