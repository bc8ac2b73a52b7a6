//! Analyses a text for comparison.
//!
//! Words become their stems, numbers with units one quantity ("0.9 t" is "900 kg"), the speaker their key, and every
//! word keeps its role ("over spaces", "Mina's"). Two analysed texts are compared word by word, never by a score.

use std::collections::HashSet;

use loci_types::ContentHash;

use crate::learn::extract::SpeakerIdentity;
use crate::learn::extract::claim::{Claim, claims};
use crate::learn::language::sentence::sentences;
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form, language_of};
use crate::recall::plan::time::words::among;

/// A parsed text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnalysedText {
    /// Its sentences.
    pub(super) sentences: Vec<Vec<TextItem>>,
    /// The form of each sentence, beside its words.
    pub(super) senses: Vec<SentenceForm>,
    /// What it states, where that is sure.
    pub(crate) claims: Vec<Claim>,
    /// It says that something has changed, has ended or was wrong.
    pub(super) changes: bool,
    /// It says that something is set to a value: "goes up to", "was lowered".
    pub(super) sets: bool,
    /// What it answers.
    context: Vec<TextItem>,
    /// It can be read: there is a table for its language, and a word that only this has.
    pub(super) tabled: bool,
}

/// Short words that languages without a table have too.
const SHARED: &str = "in is was an as me so of no on at to de en la do al van met un una";
/// Words by which something is only attempted.
const TRIES: &str = "try tries tried trying attempted versuche versucht versuchte intento intenté intentó essaie essayé пытаюсь пытался пыталась";

/// The form of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SentenceForm {
    /// Wished, planned, said by someone, asked, past.
    mood: u64,
    /// Signs that change the meaning: the minus of a number, the plus of a blood group, `<`, `#`.
    signs: Vec<char>,
    /// Signs that say something themselves.
    pictures: Vec<char>,
}

impl SentenceForm {
    fn of(text: &str, asks: bool, words: &[Word]) -> Self {
        const MOOD: u64 = form::PLANS | form::SAYS | form::UNREAL | form::PAST | form::CONDITION;
        let mood = words.iter().fold(0, |mood, word| mood | word.form & MOOD);
        let tries = words.iter().any(|word| among(TRIES, &word.text));
        let mood = mood | if asks { form::ASKS } else { 0 } | if tries { form::DID } else { 0 };
        let mut sense = Self { mood, ..Self::default() };
        let around: Vec<char> = text.chars().collect();
        for (place, c) in around.iter().copied().enumerate() {
            let before = place.checked_sub(1).map(|before| around[before]);
            let after = around.get(place + 1).copied();
            let number = before.is_none_or(char::is_whitespace) && after.is_some_and(|c| c.is_ascii_digit());
            let grade = before.is_some_and(char::is_alphanumeric) && after.is_none_or(|c| !c.is_alphanumeric());
            match c {
                '+' | '#' | '<' | '>' | '≠' | '±' | '~' => sense.signs.push(c),
                '-' | '−' if number || grade => sense.signs.push('-'),
                '!' if after == Some('=') => sense.signs.push('≠'),
                _ if c > '\u{2190}' && !c.is_alphanumeric() && !"。！？、，：；「」『』（）　".contains(c) => {
                    sense.pictures.push(c)
                }
                _ => {}
            }
        }
        sense.signs.sort_unstable();
        sense
    }

    /// Whether a sentence of this form adds nothing to one of the form `known`.
    pub(super) fn is_within(&self, known: &SentenceForm) -> bool {
        self.mood == known.mood
            && self.signs == known.signs
            && self.pictures.iter().all(|picture| known.pictures.contains(picture))
    }
}

/// A word as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextItem {
    /// The stem, the quantity, or the speaker's key.
    pub(super) key: String,
    /// The preposition before it, or `'s` for an owner.
    pub(super) role: Option<String>,
    pub(super) sort: ItemKind,
    pub(super) capital: bool,
    pub(super) form: u64,
    /// No other word stands between it and the next item.
    pub(super) touches_next: bool,
    /// An English verb in the past: "lived".
    pub(super) past: bool,
    /// "Is", or a colon, stands between it and the next item.
    pub(super) is_next: bool,
}

/// What a word does in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// It has content of its own.
    Content,
    /// A number or a code.
    Value,
    /// It narrows when or how far something holds.
    Limit,
    /// It denies.
    Negation,
}

impl AnalysedText {
    /// Reads a text, said in this voice; `context` is what it answers, which says nothing of its own.
    pub fn of(text: &str, context: Option<&str>, voice: &SpeakerIdentity) -> Self {
        let language = language_of(text);
        let mut reading = Self::default();
        let mut known = false;
        for sentence in sentences(text) {
            let words = words(sentence.text, language);
            let conditional = words.iter().any(|word| word.is(form::CONDITION));
            // "Finished" and "left" report an event; they do not show whether anything has changed.
            let changes =
                |word: &Word| word.is(form::CHANGE | form::CORRECTION) || word.is(form::ENDS) && !word.is(form::DID);
            reading.changes |= !conditional && words.iter().any(changes);
            reading.sets |= words.iter().any(|word| word.is(form::SETS));
            let claims = claims(&words, language, voice);
            reading.changes |= claims.iter().any(|claim| claim.changes);
            reading.claims.extend(claims);
            known |=
                words.iter().any(|word| word.form != 0 && word.text.chars().count() > 1 && !among(SHARED, &word.text));
            reading.senses.push(SentenceForm::of(sentence.text, sentence.asks, &words));
            reading.sentences.push(items(&words, language, voice));
        }
        // A text in Latin script is read as English unless more speaks for another.
        reading.tabled = language.is_some() && known;
        reading.context = context.map(|context| items(&words(context, language), language, voice)).unwrap_or_default();
        reading
    }

    /// Whether it is one statement, and not a note of several.
    pub(crate) fn is_single(&self) -> bool {
        self.sentences.len() == 1
    }

    /// The claim by which memories about the same are found: the first that has one value at a time.
    pub(crate) fn claim(&self) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.single).or(self.claims.first())
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &TextItem> {
        self.sentences.iter().flatten()
    }

    /// Its words with content, as a set.
    pub(super) fn content(&self) -> HashSet<&str> {
        let spoken = self.items().chain(&self.context);
        let tells =
            |item: &&TextItem| item.sort == ItemKind::Content && item.form & (form::PRONOUN | form::SECOND) == 0;
        spoken.filter(tells).map(|item| item.key.as_str()).collect()
    }

    /// Who speaks of themselves.
    pub(super) fn speaker(&self) -> Option<&str> {
        let first = self.items().find(|item| item.form & (form::FIRST | form::MINE) != 0);
        first.map(|item| item.key.as_str())
    }

    /// Whom and what it names.
    pub(super) fn names(&self) -> HashSet<&str> {
        let named = |item: &&TextItem| item.capital && item.sort == ItemKind::Content && item.form == 0;
        self.items().filter(named).map(|item| item.key.as_str()).collect()
    }

    /// Whether all its words with content and all its values stand in the other text.
    pub(super) fn is_within(&self, other: &AnalysedText) -> bool {
        let tells = |item: &&TextItem| matches!(item.sort, ItemKind::Content | ItemKind::Value);
        let theirs: HashSet<&str> = other.items().filter(tells).map(|item| item.key.as_str()).collect();
        self.items().filter(tells).all(|item| theirs.contains(item.key.as_str()))
    }

    /// It says that something was wrong.
    pub(super) fn corrects(&self) -> bool {
        self.items().any(|item| item.form & form::CORRECTION != 0)
    }

    pub(super) fn is_negated(&self) -> bool {
        self.items().any(|item| item.sort == ItemKind::Negation)
    }
}

/// The items of a sentence.
fn items(words: &[Word], language: Option<&Language>, voice: &SpeakerIdentity) -> Vec<TextItem> {
    let fold = |word: &str| language.map_or_else(|| word.to_owned(), |language| language.folded(word));
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark || word.mark("€$£%:=")).collect();
    let mut found: Vec<TextItem> = Vec::new();
    let mut role: Option<String> = None;
    let mut place = 0;
    while place < spoken.len() {
        let word = spoken[place];
        place += 1;
        if let Some(last) = found.last_mut().filter(|_| word.is(form::COPULA) || word.mark(":=")) {
            last.is_next = true;
        }
        let owner = word.text.ends_with("'s");
        // "7 May", and not "may".
        let month = word.text == "may" && word.capital && !found.is_empty();
        let sort = match () {
            () if month => ItemKind::Content,
            // "By the way".
            () if word.is(form::FILLER) => continue,
            () if word.is(form::FIRST | form::MINE) => ItemKind::Content,
            () if word.is(form::NEGATION) => ItemKind::Negation,
            () if word.is(form::LIMIT) => ItemKind::Limit,
            () if word.is(form::ROLE) => {
                break_touch(&mut found);
                // "Off at night": one that governs nothing is a word of its own.
                found.extend(role.replace(word.text.clone()).map(particle));
                continue;
            }
            // "Not a ketch but a sloop": what follows holds instead.
            () if word.is(form::INSTEAD) && found.iter().any(|item| item.sort == ItemKind::Negation) => ItemKind::Limit,
            () if word.mark(":=") => {
                break_touch(&mut found);
                continue;
            }
            () if word.is(form::EMPTY | form::COPULA | form::AND | form::NOW | form::TITLE) => {
                break_touch(&mut found);
                continue;
            }
            () if matches!(word.shape, Shape::Number | Shape::Code) => ItemKind::Value,
            () => ItemKind::Content,
        };
        let mut key = match () {
            () if word.is(form::FIRST | form::MINE) => voice.key.clone(),
            () if voice.is_owner(word.bare()) => "user".to_owned(),
            () => fold(word.bare()),
        };
        let mut sort = sort;
        if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
            sort = ItemKind::Value;
        }
        if sort == ItemKind::Value || is_month(&key) || word.mark("€$£") {
            let next = |ahead: usize| spoken.get(place + ahead).map(|next| fold(&next.text));
            let (value, used) = value(key, next);
            (key, sort, place) = (value, if used > 0 { ItemKind::Value } else { sort }, place + used);
        }
        // "At Bramble Labs": a name of two words plays one part.
        let name = found
            .last()
            .filter(|last| last.capital && last.touches_next && word.capital && last.role.as_deref() != Some("'s"));
        let role = match name.and_then(|name| name.role.clone()) {
            _ if owner || word.is(form::MINE) => Some("'s".to_owned()),
            Some(part) if role.is_none() => Some(part),
            _ => role.take(),
        };
        found.push(TextItem {
            key,
            role,
            sort,
            capital: word.capital,
            form: word.form,
            touches_next: true,
            past: word.is(form::LIFE | form::MANY) && word.text.len() > 3 && word.text.ends_with("ed"),
            is_next: false,
        });
    }
    break_touch(&mut found);
    found.extend(role.map(particle));
    bounded(found)
}

/// A preposition that governs nothing: it must stand in both texts.
fn particle(text: String) -> TextItem {
    TextItem {
        key: text,
        role: None,
        sort: ItemKind::Limit,
        capital: false,
        form: 0,
        touches_next: false,
        past: false,
        is_next: false,
    }
}

fn break_touch(found: &mut [TextItem]) {
    if let Some(last) = found.last_mut() {
        last.touches_next = false;
    }
}

/// "May weigh 900 kg at most" and "max. weight 900 kg" set the same bound.
fn bounded(mut items: Vec<TextItem>) -> Vec<TextItem> {
    if items.iter().any(|item| item.key == "max") {
        items.retain(|item| item.sort != ItemKind::Limit || !matches!(item.key.as_str(), "may" | "must" | "should"));
    }
    items
}

/// The value that begins with this word, and how many of the next words belong to it.
fn value(first: String, next: impl Fn(usize) -> Option<String>) -> (String, usize) {
    let Some(second) = next(0) else { return (amount(first), 0) };
    if let Some(date) = date(&first, &second) {
        let year = next(1).filter(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()));
        return year.map_or((date.clone(), 1), |year| (format!("{year}-{date}"), 2));
    }
    let first = amount(first);
    // "5 kg", "$5".
    match quantity(&first, &second).or_else(|| quantity(&amount(second), &first)) {
        Some(quantity) => (quantity, 1),
        None => (first, 0),
    }
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

fn is_month(key: &str) -> bool {
    key.len() == 3 && MONTHS.contains(&key)
}

/// A day with its month, in either order, as `10-12`.
fn date(first: &str, second: &str) -> Option<String> {
    let month = |word: &str| MONTHS.iter().position(|month| *month == word).map(|place| place + 1);
    let day =
        |word: &str| word.trim_end_matches(char::is_alphabetic).parse().ok().filter(|day| (1..=31_u8).contains(day));
    let (day, month) = match (month(first), month(second)) {
        (Some(month), None) => (day(second)?, month),
        (None, Some(month)) => (day(first)?, month),
        _ => return None,
    };
    Some(format!("{month:02}-{day:02}"))
}

/// A number as it is compared: "2.5k" is "2500", "1st" is "1", "8:30" is "08:30".
fn amount(number: String) -> String {
    let plain = |digits: &str| digits.parse::<f64>().ok();
    let times = |digits: &str, factor: f64| plain(digits).map(|value| format!("{}", value * factor));
    let ordinal =
        ["st", "nd", "rd", "th"].iter().find_map(|end| number.strip_suffix(end)).filter(|rest| plain(rest).is_some());
    match () {
        () if number.len() == 4 && number.as_bytes()[1] == b':' => format!("0{number}"),
        () if ordinal.is_some() => ordinal.unwrap_or_default().to_owned(),
        () => number.strip_suffix('k').and_then(|digits| times(digits, 1e3)).unwrap_or(number),
    }
}

/// A number with its unit in the smallest unit of its sort, or an hour of the day as `14:00`.
fn quantity(number: &str, unit: &str) -> Option<String> {
    const UNITS: [(&str, f64, &str); 23] = [
        ("km", 1e6, "mm"),
        ("m", 1e3, "mm"),
        ("cm", 10.0, "mm"),
        ("mm", 1.0, "mm"),
        ("t", 1e9, "mg"),
        ("kg", 1e6, "mg"),
        ("g", 1e3, "mg"),
        ("mg", 1.0, "mg"),
        ("l", 1e3, "ml"),
        ("ml", 1.0, "ml"),
        ("км", 1e6, "mm"),
        ("м", 1e3, "mm"),
        ("см", 10.0, "mm"),
        ("кг", 1e6, "mg"),
        ("г", 1e3, "mg"),
        ("т", 1e9, "mg"),
        ("h", 3600.0, "s"),
        ("min", 60.0, "s"),
        ("s", 1.0, "s"),
        ("eur", 1.0, "eur"),
        ("usd", 1.0, "usd"),
        ("gbp", 1.0, "gbp"),
        ("rub", 1.0, "rub"),
    ];
    if let "am" | "pm" = unit {
        let (hour, minute) = number.split_once(':').unwrap_or((number, "00"));
        let hour: u8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
        return Some(format!("{:02}:{minute}", hour % 12 + if unit == "pm" { 12 } else { 0 }));
    }
    // "1.500 kg" is one thing in Berlin and another in Boston.
    if number.split_once('.').is_some_and(|(_, rest)| rest.len() == 3) {
        return None;
    }
    let (_, factor, base) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    let value: f64 = number.replace(',', ".").parse().ok()?;
    Some(format!("{}{base}", (value * factor * 1e3).round() / 1e3))
}

/// The key under which statements about the same attribute of the same subject are found.
pub fn claim_key(claim: &Claim) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(claim.subject.as_bytes());
    hasher.update(&[0x1f]);
    hasher.update(claim.attribute.as_bytes());
    ContentHash(*hasher.finalize().as_bytes())
}
