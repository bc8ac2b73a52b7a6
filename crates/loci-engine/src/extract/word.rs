//! Which words does a sentence consist of?
//!
//! Each sentence is cut once; every rule walks the same words. Contractions are written out
//! ("I'm" is "I", "am"; "dont" is "do", "not"), so that rules know one spelling of each verb. Code
//! and quotations are one word each, so that no rule reads what is inside.

use std::ops::Range;

/// A word, a number or a mark, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// As it is printed.
    pub(crate) text: String,
    /// As it is compared: lower case, straight apostrophes, "е" for "ё".
    pub(crate) lower: String,
    /// The bytes of the sentence it stands for.
    pub(crate) at: Range<usize>,
    pub(crate) shape: Shape,
    /// No space stood before it.
    pub(crate) glued: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Word,
    Number,
    /// A path, an address, something between backticks.
    Code,
    Quote,
    Mark,
}

impl Word {
    fn new(text: &str, at: Range<usize>, shape: Shape, glued: bool) -> Self {
        let lower = text.chars().flat_map(char::to_lowercase).map(straight).collect();
        Self { text: text.to_owned(), lower, at, shape, glued }
    }

    /// Another word in the place of this one.
    pub(crate) fn instead(&self, text: &str) -> Self {
        Self::new(text, self.at.clone(), Shape::Word, self.glued)
    }

    pub(crate) fn is(&self, lower: &str) -> bool {
        self.lower == lower
    }

    pub(crate) fn any(&self, lowers: &[&str]) -> bool {
        lowers.contains(&self.lower.as_str())
    }

    /// Begins with a capital letter.
    pub(crate) fn capital(&self) -> bool {
        self.shape == Shape::Word && self.text.starts_with(char::is_uppercase)
    }

    /// Says whose something is: "Marta's".
    pub(crate) fn owner(&self) -> bool {
        self.shape == Shape::Word && self.lower.ends_with("'s") && self.lower.len() > 2
    }

    /// Carries sense of its own, unlike a mark.
    pub(crate) fn speaks(&self) -> bool {
        self.shape != Shape::Mark
    }

    /// Has a digit in it: a number, a version, an identifier.
    pub(crate) fn digits(&self) -> bool {
        self.text.contains(|c: char| c.is_ascii_digit())
    }
}

/// Words that are often misspelt, as they are meant.
const SLIPS: &[(&str, &str)] = &[
    ("becuase", "because"),
    ("becasue", "because"),
    ("beacuse", "because"),
    ("becouse", "because"),
    ("cuz", "because"),
    ("tommorow", "tomorrow"),
    ("wich", "which"),
];

fn straight(c: char) -> char {
    match c {
        '’' | 'ʼ' | '`' => '\'',
        'ё' => 'е',
        _ => c,
    }
}

/// The words of a sentence.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut place = 0;
    let mut glued = false;
    while let Some(c) = text[place..].chars().next() {
        let (length, shape) = match c {
            _ if c.is_whitespace() => {
                place += c.len_utf8();
                glued = false;
                continue;
            }
            '`' => enclosed(&text[place..], '`').map_or((1, Shape::Mark), |length| (length, Shape::Code)),
            '"' => enclosed(&text[place..], '"').map_or((1, Shape::Mark), |length| (length, Shape::Quote)),
            '“' => enclosed(&text[place..], '”').map_or((c.len_utf8(), Shape::Mark), |length| (length, Shape::Quote)),
            '«' => enclosed(&text[place..], '»').map_or((c.len_utf8(), Shape::Mark), |length| (length, Shape::Quote)),
            _ if starts_word(c, &text[place + c.len_utf8()..]) => chunk(&text[place..]),
            _ => (c.len_utf8(), Shape::Mark),
        };
        let title = matches!(&text[place..place + length], "Dr" | "Mr" | "Mrs" | "Ms" | "Prof");
        let length = length + usize::from(title && text[place + length..].starts_with(". "));
        let piece = &text[place..place + length];
        // Emoji and other signs say nothing that could be kept.
        if shape != Shape::Mark || is_mark(c) {
            let meant = SLIPS.iter().find(|(slip, _)| *slip == piece).map_or(piece, |(_, meant)| meant);
            words.push(Word::new(meant, place..place + length, shape, glued && !words.is_empty()));
        }
        place += length;
        glued = true;
    }
    written_out(words)
}

/// The length of a text up to the sign that closes it.
fn enclosed(text: &str, close: char) -> Option<usize> {
    let open = text.chars().next().map_or(0, char::len_utf8);
    text[open..].find(close).map(|length| open + length + close.len_utf8())
}

fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '—' | '–' | '…' | '“' | '”' | '«' | '»' | '’' | '№')
}

fn starts_word(c: char, rest: &str) -> bool {
    let next = rest.chars().next();
    c.is_alphanumeric()
        || (matches!(c, '@' | '#' | '/' | '~' | '_' | '.') && next.is_some_and(|n| n.is_alphanumeric() || n == '/'))
        || (matches!(c, '$' | '€' | '£' | '+') && next.is_some_and(|n| n.is_ascii_digit()))
        || (c == '-' && rest.starts_with(|n: char| n == '-' || n.is_ascii_digit()))
}

/// Reads a word, a number or a piece of code; its length and what it is.
fn chunk(text: &str) -> (usize, Shape) {
    let mut end = 0;
    let mut before = ' ';
    let mut coded = text.starts_with(['/', '@', '#', '~', '.', '_']);
    let address = text.starts_with("http://") || text.starts_with("https://");
    for (place, c) in text.char_indices() {
        let next = text[place + c.len_utf8()..].chars().next().unwrap_or(' ');
        let inside = match c {
            _ if c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c) => true,
            _ if place == 0 => true,
            '\'' | '’' | 'ʼ' => before.is_alphabetic() && next.is_alphabetic(),
            '-' | '.' | '&' => (before.is_alphanumeric() && next.is_alphanumeric()) || (coded && c == '-'),
            '_' | '@' | '\\' | '=' | '/' | '~' | '#' | '?' if address => true,
            '_' | '@' | '\\' | '=' => next.is_alphanumeric() || next == '_',
            '/' => next.is_alphanumeric() || next == '/' || before.is_alphanumeric() && coded,
            ':' => next.is_alphanumeric() || next == '/' || next == ':' || before == ':',
            ',' => before.is_ascii_digit() && next.is_ascii_digit(),
            '+' | '#' => before.is_alphanumeric() || before == '+',
            '%' | '€' | '$' | '°' => before.is_ascii_digit(),
            _ => false,
        };
        if !inside {
            break;
        }
        coded |= matches!(c, '_' | '@' | '\\' | '=' | '/') || (c == ':' && !before.is_ascii_digit());
        end = place + c.len_utf8();
        before = c;
    }
    let piece = &text[..end];
    let starts_digit =
        piece.trim_start_matches(['$', '€', '£', '+', '-', '#']).starts_with(|c: char| c.is_ascii_digit());
    let plain = piece.chars().all(|c| !c.is_alphabetic());
    let shape = match () {
        () if starts_digit && plain => Shape::Number,
        () if coded => Shape::Code,
        () => Shape::Word,
    };
    (end, shape)
}

/// What a contraction is short for; also as people type it in a hurry.
const CONTRACTIONS: &[(&str, &str, &str)] = &[
    ("im", "I", "am"),
    ("ive", "I", "have"),
    ("dont", "do", "not"),
    ("doesnt", "does", "not"),
    ("didnt", "did", "not"),
    ("cant", "can", "not"),
    ("cannot", "can", "not"),
    ("wont", "will", "not"),
    ("won't", "will", "not"),
    ("can't", "can", "not"),
    ("shan't", "shall", "not"),
    ("ain't", "is", "not"),
    ("isnt", "is", "not"),
    ("arent", "are", "not"),
    ("wasnt", "was", "not"),
    ("havent", "have", "not"),
    ("hasnt", "has", "not"),
    ("wouldnt", "would", "not"),
    ("couldnt", "could", "not"),
    ("shouldnt", "should", "not"),
    ("lets", "let", "us"),
    ("let's", "let", "us"),
    ("thats", "that", "is"),
    ("whats", "what", "is"),
    ("theres", "there", "is"),
    ("hes", "he", "is"),
    ("shes", "she", "is"),
    ("youre", "you", "are"),
    ("theyre", "they", "are"),
    ("weve", "we", "have"),
    ("gonna", "going", "to"),
    ("wanna", "want", "to"),
    ("gotta", "have", "to"),
    ("gimme", "give", "me"),
];

/// Words after which "'s" is short for "is".
const IS_BEFORE: &[&str] = &[
    "it",
    "he",
    "she",
    "that",
    "this",
    "there",
    "here",
    "what",
    "who",
    "where",
    "when",
    "how",
    "why",
    "everything",
    "everyone",
    "name",
];

/// Words before which "'s" is short for "is": "Marta's a nurse".
const IS_AFTER: &[&str] = &[
    "a",
    "an",
    "the",
    "not",
    "now",
    "also",
    "from",
    "in",
    "at",
    "on",
    "our",
    "my",
    "allergic",
    "vegan",
    "vegetarian",
    "called",
    "named",
    "based",
    "working",
    "living",
    "moving",
    "married",
    "pregnant",
    "running",
    "using",
    "going",
    "currently",
    "always",
    "still",
];

fn written_out(words: Vec<Word>) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::with_capacity(words.len() + 4);
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        let next = rest.peek().map_or("", |next| next.lower.as_str());
        match two(&word, next) {
            Some((first, second)) => {
                let second = if second == "is" && next == "been" { "has" } else { second };
                out.push(word.instead(&first));
                let mut second = word.instead(second);
                second.glued = false;
                out.push(second);
            }
            None => out.push(word),
        }
    }
    out
}

/// The two words that a contraction is short for.
fn two(word: &Word, next: &str) -> Option<(String, &'static str)> {
    if word.shape != Shape::Word {
        return None;
    }
    let lower = word.lower.as_str();
    // "ID" and "IM" in capitals are names of things.
    let typed = !(word.text.len() <= 3 && word.text.chars().all(char::is_uppercase));
    if let Some((_, first, second)) = CONTRACTIONS.iter().find(|(short, ..)| *short == lower && typed) {
        let keep = word.capital();
        return Some((if keep { capitalised(first) } else { (*first).to_owned() }, second));
    }
    let apostrophe = lower.find('\'')?;
    let head: String = word.text.chars().take(lower[..apostrophe].chars().count()).collect();
    let second = match &lower[apostrophe + 1..] {
        "m" => "am",
        "re" => "are",
        "ve" => "have",
        "ll" => "will",
        "d" => "would",
        "t" if head.ends_with(['n', 'N']) && head.len() > 1 => {
            return Some((head[..head.len() - 1].to_owned(), "not"));
        }
        "s" if IS_BEFORE.contains(&&lower[..apostrophe]) || IS_AFTER.contains(&next) => "is",
        _ => return None,
    };
    Some((head, second))
}

/// The text with its first letter as a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The words as a text again.
pub(crate) fn join(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        let spaced = !word.glued && !text.is_empty();
        if spaced && !(word.is("not") && text.ends_with("can")) {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_are_written_out_and_code_stays_whole() {
        for (text, expect) in [
            ("I'm fine, dont worry", "I am fine , do not worry"),
            ("We’ve moved; can't wait", "We have moved ; can not wait"),
            ("Marta's a nurse, Marta's job", "Marta is a nurse , Marta's job"),
            ("She's been away", "She has been away"),
            ("see src/main.rs and `let x = 1`", "see src/main.rs and `let x = 1`"),
            ("v2.3.1, C++ and 1,000 at 10:30.", "v2.3.1 , C++ and 1,000 at 10:30 ."),
            ("He said \"I live here\" ok", "He said \"I live here\" ok"),
            ("mail ana@example.org #12 $5", "mail ana@example.org #12 $5"),
            ("https://a.example/b?c=1, yes", "https://a.example/b?c=1 , yes"),
            ("Я ещё тут — да", "Я ещё тут — да"),
        ] {
            let texts: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
            assert_eq!(texts.join(" "), expect);
        }
    }

    #[test]
    fn words_become_text_again() {
        for text in ["Ana lives in Porto, Portugal (since 2020).", "well-known: 3/4 of it", "a \"b c\" d"] {
            assert_eq!(join(&words(text)), text);
        }
        assert_eq!(join(&words("she can't go")), "she cannot go");
    }
}
