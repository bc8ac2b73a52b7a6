//! Splits a turn into sentences.
//!
//! Fenced code, quoted lines, logs and lines of a program are left out. A line break ends a sentence; so does a full
//! stop, even before a small letter. Items of a list refer to the heading above them.

/// A sentence that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    /// Its words, as they were written.
    pub(crate) text: &'a str,
    /// It ends in a question mark.
    pub(crate) asks: bool,
    /// Its number in a numbered list.
    pub(crate) step: Option<u32>,
    /// It is an item of a list; which list of the turn, counted from 1.
    pub(crate) list: Option<usize>,
    /// The line above its list, without the colon.
    pub(crate) heading: Option<&'a str>,
}

/// The sentences of a turn, in order.
pub(crate) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut fenced = false;
    let (mut list, mut inside, mut heading) = (0, false, None);
    for line in text.lines().flat_map(steps) {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.trim_start().starts_with('>') || is_code(line) {
            continue;
        }
        let (item, step, line) = listed(line.trim_start());
        if item && !inside {
            list += 1;
        }
        inside = item;
        if !item {
            heading = line
                .strip_suffix([':', '：'])
                .map(|line| line.trim_matches(['#', '*', ' ']))
                .filter(|line| !line.is_empty());
        }
        let place = Sentence { text: line, asks: false, step, list: item.then_some(list), heading: None };
        split(Sentence { heading: if item { heading } else { None }, ..place }, &mut found);
    }
    found
}

/// Cuts a line before each step of a list that is numbered within it: "How to deploy: 1. Run make. 2. Tag it." The list begins
/// at the start of the line or behind a colon, and its numbers count from 1.
fn steps(line: &str) -> Vec<&str> {
    let opens = |at: usize| line[..at].trim_end().is_empty() || line[..at].trim_end().ends_with([':', '：']);
    let marker = |number: usize, from: usize| {
        [format!("{number}. "), format!("{number}) ")].into_iter().find_map(|mark| {
            let starts = line[from..].match_indices(&mark).map(|(place, _)| from + place);
            let mut starts = starts.filter(|at| *at == 0 || line[..*at].ends_with(char::is_whitespace));
            starts.find(|at| number > 1 || opens(*at))
        })
    };
    let mut cuts = Vec::new();
    while let Some(at) = marker(cuts.len() + 1, cuts.last().map_or(0, |last| last + 1)) {
        cuts.push(at);
    }
    if cuts.len() < 2 {
        return vec![line];
    }
    let ends = cuts.iter().skip(1).copied().chain([line.len()]);
    let parts = std::iter::once((0, cuts[0])).chain(cuts.iter().copied().zip(ends));
    parts.map(|(start, end)| line[start..end].trim()).filter(|part| !part.is_empty()).collect()
}

/// Whether a line is an item of a list, its number, and the rest of it.
fn listed(line: &str) -> (bool, Option<u32>, &str) {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–']) {
        return (rest.starts_with(' '), None, rest.trim_start());
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0
        && digits < 3
        && let Some(rest) = line[digits..].strip_prefix(['.', ')'])
        && rest.starts_with(' ')
    {
        return (true, line[..digits].parse().ok(), rest.trim_start());
    }
    (false, None, line)
}

/// Cuts a line into sentences.
fn split<'a>(place: Sentence<'a>, found: &mut Vec<Sentence<'a>>) {
    let line = place.text;
    let mut start = 0;
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut characters = line.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let end = at + c.len_utf8();
        match c {
            '(' | '«' | '“' => depth += 1,
            ')' | '»' | '”' => depth = depth.saturating_sub(1),
            '"' => quoted = !quoted,
            _ => {}
        }
        let closes = characters.peek().is_none_or(|(_, next)| next.is_whitespace() || matches!(next, '"' | ')' | '»'));
        let ends = match c {
            '。' | '！' | '？' | '؟' => true,
            '!' | '?' | '…' => closes,
            '.' => closes && !abbreviated(&line[start..at]),
            _ => false,
        };
        // A bracket or quotation mark that is never closed must not swallow the rest.
        let outside = (depth == 0 || !line[end..].contains([')', '»', '”'])) && (!quoted || !line[end..].contains('"'));
        if ends && outside {
            push(Sentence { text: &line[start..end], ..place }, found);
            start = end;
        }
    }
    push(Sentence { text: &line[start..], ..place }, found);
}

fn push<'a>(sentence: Sentence<'a>, found: &mut Vec<Sentence<'a>>) {
    let text = sentence.text.trim();
    if text.contains(char::is_alphanumeric) {
        let asks = text.trim_end_matches(['"', ')', '!', ' ', '”', '»']).ends_with(['?', '？', '؟']);
        found.push(Sentence { text, asks, ..sentence });
    }
}

/// Whether the full stop after this belongs to its last word.
fn abbreviated(before: &str) -> bool {
    const SHORT: &str = "Mr Mrs Ms Dr St Prof Dott Sr Sra Hr Fr v vs e.g i.e etc No approx Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec \
        Max max Min min ca bzw z.B d.h u.a г ул т.е т.д т.к им";
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    // "am 13. Juni": a number before a full stop is an ordinal where a word follows in German; a date in any case.
    let ordinal =
        (1..=2).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit()) && before.len() > word.len();
    initial || ordinal || SHORT.split_whitespace().any(|short| short == word)
}

/// How a line of a program, a diff or a trace begins.
const CODE_STARTS: &str = "//|/*|#include|#!|import |export |def |fn |pub |const |var |class |return |@@|+++|---|$ |Traceback|File \"|Caused by:|\
    panicked at|thread '|SELECT |INSERT |UPDATE |</|<div|<p|<?";

/// Whether a line was pasted from a program or its output.
fn is_code(line: &str) -> bool {
    let text = line.trim_start();
    if text.ends_with([';', '{', '}']) && text.contains(['(', '=', '{', '}']) || text == "}" {
        return true;
    }
    if CODE_STARTS.split('|').any(|start| text.starts_with(start)) && !text.ends_with('.') {
        return !["class ", "import ", "return "].iter().any(|word| text.starts_with(word))
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
            ("Wir fahren am 13. Juni nach Pirna", vec!["Wir fahren am 13. Juni nach Pirna"]),
            ("我不吃辣。我住在北京", vec!["我不吃辣。", "我住在北京"]),
            ("", vec![]),
        ] {
            assert_eq!(texts(text), expect);
        }
    }

    #[test]
    fn items_of_a_list_know_their_number_and_heading() {
        let found = sentences("Deploy:\n1. Run it\n2) Stop it\n\n- alone");
        let found: Vec<_> = found.iter().map(|one| (one.text, one.step, one.list, one.heading)).collect();
        let expect = [
            ("Deploy:", None, None, None),
            ("Run it", Some(1), Some(1), Some("Deploy")),
            ("Stop it", Some(2), Some(1), Some("Deploy")),
            ("alone", None, Some(2), None),
        ];
        assert_eq!(found, expect);
    }

    // Coverage: S3-12.1.
    #[test]
    fn steps_within_a_line_are_items() {
        for (text, expect) in [
            (
                "How to deploy: 1. Run make. 2. Tag it.",
                vec![(None, "How to deploy:"), (Some(1), "Run make."), (Some(2), "Tag it.")],
            ),
            ("1) Run make 2) Tag it 3) Push", vec![(Some(1), "Run make"), (Some(2), "Tag it"), (Some(3), "Push")]),
            ("Wir fahren am 1. Mai und am 2. Juni", vec![(None, "Wir fahren am 1. Mai und am 2. Juni")]),
            ("Prices: 1. class 90, 3. class 40", vec![(None, "Prices: 1. class 90, 3. class 40")]),
        ] {
            let found: Vec<_> = sentences(text).iter().map(|one| (one.step, one.text)).collect();
            assert_eq!(found, expect, "{text}");
        }
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
