//! Redaction: masks or refuses secrets and personal numbers before a text is stored.
//!
//! Pure. Secrets, card and account numbers, addresses and configured patterns are found in text from outside, and are
//! masked or refused before anything else reads the text. **Invariant:** masking is idempotent; a second pass changes
//! nothing. No error message repeats what was found.

mod contact;
mod fields;
mod number;
mod secret;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use loci_types::{Error, ErrorKind};
use regex::Regex;
use serde::{Deserialize, Serialize};

pub(crate) use self::fields::Pass;

/// What is masked and what is refused, by the names of patterns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redaction {
    /// Sorts of text that are replaced by their name: `secret, card, iban, email, phone` or one of
    /// the patterns below.
    pub mask: Vec<String>,
    /// Sorts of text that make a write fail.
    pub refuse: Vec<String>,
    /// Patterns beside the built-in ones.
    pub patterns: Vec<RedactionPattern>,
}

impl Default for Redaction {
    fn default() -> Self {
        Self { mask: vec!["secret".to_owned(), "card".to_owned()], refuse: Vec::new(), patterns: Vec::new() }
    }
}

/// A pattern beside the built-in ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedactionPattern {
    /// What it is called; a match becomes this name in square brackets.
    pub name: String,
    /// The regular expression; all of a match is masked.
    pub regex: String,
}

impl Redaction {
    /// Refuses what cannot work, by its name.
    pub fn validate(&self) -> Result<(), Error> {
        for pattern in &self.patterns {
            pattern.compile()?;
            if !self.mask.iter().chain(&self.refuse).any(|name| *name == pattern.name) {
                let message = format!("the pattern `{}` is neither masked nor refused", pattern.name);
                return Err(wrong("redaction.patterns", message).hint("name it in redaction.mask or redaction.refuse"));
            }
        }
        for (field, names) in [("redaction.mask", &self.mask), ("redaction.refuse", &self.refuse)] {
            if let Some(name) = names.iter().find(|name| !self.names().any(|known| known == name.as_str())) {
                let known: Vec<&str> = self.names().collect();
                return Err(wrong(field, format!("unknown redaction pattern `{name}`"))
                    .hint(format!("use one of {}", known.join(", "))));
            }
        }
        Ok(())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.patterns.iter().map(|pattern| pattern.name.as_str());
        BUILT_IN.iter().map(|(name, _)| *name).chain(own)
    }
}

impl RedactionPattern {
    fn compile(&self) -> Result<Regex, Error> {
        let field = "redaction.patterns";
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(plain) {
            let message = format!("`{}` is not a valid pattern name", self.name);
            return Err(wrong(field, message).hint("use 1 to 64 small letters, digits, `-` or `_`"));
        }
        let regex = Regex::new(&self.regex).map_err(|error| {
            wrong(field, format!("the pattern `{}` is not a valid regular expression: {error}", self.name))
        })?;
        if regex.is_match("") {
            return Err(wrong(field, format!("the pattern `{}` matches the empty string", self.name))
                .hint("write it so that it needs at least one character"));
        }
        Ok(regex)
    }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

type FindFn = fn(&str) -> Vec<Range<usize>>;

/// The sorts that are known without configuration. Where two overlap the earlier names them.
const BUILT_IN: [(&str, FindFn); 5] = [
    ("secret", secret::find),
    ("card", number::cards),
    ("iban", number::ibans),
    ("email", contact::emails),
    ("phone", contact::phones),
];

/// One sort of text that is not kept.
struct Detector {
    name: String,
    finder: Finder,
    refused: bool,
}

enum Finder {
    BuiltIn(FindFn),
    Custom(Regex),
}

impl Detector {
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        match &self.finder {
            Finder::BuiltIn(find) => find(text),
            Finder::Custom(regex) => {
                regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty()).collect()
            }
        }
    }
}

/// Finds and masks what must not be kept.
pub(crate) struct Redactor {
    sorts: Vec<Detector>,
    /// Finds what was masked before.
    marks: Regex,
}

/// Which sorts are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetectorFilter {
    Masked,
    Refused,
    All,
}

/// A place in a text, and the name of what stands there.
struct Match<'a> {
    range: Range<usize>,
    name: &'a str,
}

impl Redactor {
    /// A redactor by these rules.
    pub(crate) fn new(rules: &Redaction) -> Result<Self, Error> {
        rules.validate()?;
        let active = |name: &str| rules.mask.iter().chain(&rules.refuse).any(|named| named == name);
        let refused = |name: &str| rules.refuse.iter().any(|named| named == name);
        let mut sorts: Vec<Detector> = BUILT_IN
            .iter()
            .filter(|(name, _)| active(name))
            .map(|(name, find)| Detector {
                name: (*name).to_owned(),
                finder: Finder::BuiltIn(*find),
                refused: refused(name),
            })
            .collect();
        for pattern in &rules.patterns {
            let finder = Finder::Custom(pattern.compile()?);
            sorts.push(Detector { name: pattern.name.clone(), finder, refused: refused(&pattern.name) });
        }
        let names: Vec<&str> = rules.names().collect();
        let marks = Regex::new(&format!(r"\[(?:{})\]", names.join("|")))
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        Ok(Self { sorts, marks })
    }

    /// The name of the first sort in the text that makes a write fail.
    fn refused(&self, text: &str) -> Option<&str> {
        self.spots(text, DetectorFilter::Refused).first().map(|spot| spot.name)
    }

    /// The text with every match replaced by its name, and these names. `None` if there was no match.
    ///
    /// Masking may reveal another match beside it, so the text is searched until there is none.
    /// Terminates because every round leaves less text outside of masks.
    fn masked(&self, text: &str, which: DetectorFilter) -> Option<(String, BTreeSet<String>)> {
        let mut now: Option<String> = None;
        let mut names = BTreeSet::new();
        loop {
            let text = now.as_deref().unwrap_or(text);
            let spots = self.spots(text, which);
            if spots.is_empty() {
                return now.map(|masked| (masked, names));
            }
            let mut masked = String::with_capacity(text.len());
            let mut end = 0;
            for spot in spots {
                masked.push_str(&text[end..spot.range.start]);
                masked.push_str(&mark(spot.name));
                end = spot.range.end;
                names.insert(spot.name.to_owned());
            }
            masked.push_str(&text[end..]);
            now = Some(masked);
        }
    }

    /// Where something stands that is not to be kept, in order and apart from each other.
    fn spots(&self, text: &str, which: DetectorFilter) -> Vec<Match<'_>> {
        let wanted = |sort: &&Detector| match which {
            DetectorFilter::Masked => !sort.refused,
            DetectorFilter::Refused => sort.refused,
            DetectorFilter::All => true,
        };
        let mut found: Vec<(Range<usize>, usize, &str)> = Vec::new();
        for (place, sort) in self.sorts.iter().enumerate().filter(|(_, sort)| wanted(sort)) {
            found.extend(sort.find(text).into_iter().map(|range| (range, place, sort.name.as_str())));
        }
        if found.is_empty() {
            return Vec::new();
        }
        let marks: Vec<Range<usize>> = self.marks.find_iter(text).map(|mark| mark.range()).collect();
        let mut spots: Vec<(Range<usize>, usize, &str)> =
            found.into_iter().filter_map(|(range, place, name)| Some((beyond(range, &marks)?, place, name))).collect();
        spots.sort_by_key(|(range, place, _)| (range.start, *place, std::cmp::Reverse(range.end)));
        let mut apart: Vec<Match<'_>> = Vec::new();
        for (range, _, name) in spots {
            match apart.last_mut().filter(|last| range.start < last.range.end) {
                Some(last) => last.range.end = last.range.end.max(range.end),
                None => apart.push(Match { range, name }),
            }
        }
        apart
    }

    fn looks_for_secrets(&self) -> Option<&Detector> {
        self.sorts.iter().find(|sort| matches!(sort.finder, Finder::BuiltIn(_)) && sort.name == "secret")
    }
}

/// What stands in the place of a match.
fn mark(name: &str) -> String {
    format!("[{name}]")
}

/// The range, and with it the whole of any mark that it cuts; none if it holds nothing but marks.
fn beyond(range: Range<usize>, marks: &[Range<usize>]) -> Option<Range<usize>> {
    let touched = || marks.iter().filter(|mark| mark.start < range.end && range.start < mark.end);
    let inside: usize = touched().map(|mark| mark.end.min(range.end) - mark.start.max(range.start)).sum();
    if inside == range.len() {
        return None;
    }
    let start = touched().map(|mark| mark.start).min().unwrap_or(range.start);
    let end = touched().map(|mark| mark.end).max().unwrap_or(range.end);
    Some(start.min(range.start)..end.max(range.end))
}
