//! Which words of a language show the form of a sentence?
//!
//! Nothing here knows what a sentence is about. A table names the closed-class words of one language (pronouns,
//! negations, conditions, openers …) and a few fixed phrases; the rules that use them are the same for all languages.
//! A language without a table has no forms: its sentences are kept only where someone asks for it outright.

mod english;
mod french;
mod german;
mod russian;
mod spanish;

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// The forms that a word can have, as bits.
pub(crate) mod form {
    /// A word without content: an article, a particle, an intensifier.
    pub(crate) const EMPTY: u64 = 1;
    /// Links a subject with what it is.
    pub(crate) const COPULA: u64 = 1 << 1;
    /// Says which part something plays: a preposition, mostly.
    pub(crate) const ROLE: u64 = 1 << 2;
    /// Denies.
    pub(crate) const NEGATION: u64 = 1 << 3;
    /// Narrows when or how far something holds: if, until, only, might, was.
    pub(crate) const LIMIT: u64 = 1 << 4;
    /// The speaker, alone or with others.
    pub(crate) const FIRST: u64 = 1 << 5;
    /// What is the speaker's.
    pub(crate) const MINE: u64 = 1 << 6;
    /// The one who is spoken to.
    pub(crate) const SECOND: u64 = 1 << 7;
    /// Stands for something that was named before.
    pub(crate) const PRONOUN: u64 = 1 << 8;
    /// Opens a question.
    pub(crate) const ASKS: u64 = 1 << 9;
    /// A verb that opens a question when it comes first.
    pub(crate) const AUXILIARY: u64 = 1 << 10;
    /// Says that something is not so, or not yet: would, imagine, maybe.
    pub(crate) const UNREAL: u64 = 1 << 11;
    /// A verb that asks the listener for something, when it comes first.
    pub(crate) const ORDER: u64 = 1 << 12;
    /// Says that something holds each time: always, never, usually.
    pub(crate) const LASTING: u64 = 1 << 13;
    /// May be left away at the beginning of a sentence.
    pub(crate) const OPENER: u64 = 1 << 14;
    /// Greets, thanks or says goodbye.
    pub(crate) const GREETING: u64 = 1 << 15;
    /// Reacts to what was said.
    pub(crate) const REACTION: u64 = 1 << 16;
    /// Says that something was a joke.
    pub(crate) const JOKE: u64 = 1 << 17;
    /// Says that something has changed.
    pub(crate) const CHANGE: u64 = 1 << 18;
    /// Says that something said before was wrong.
    pub(crate) const CORRECTION: u64 = 1 << 19;
    /// A verb or noun of what people tell about themselves: live, work, own, love, born.
    pub(crate) const LIFE: u64 = 1 << 20;
    /// Someone or some animal that one has: a mother, a boss, a dog.
    pub(crate) const RELATION: u64 = 1 << 21;
    /// A predicate or noun of which someone can have several at once.
    pub(crate) const MANY: u64 = 1 << 22;
    /// A noun of which there is one at a time: a name, a deadline, a password.
    pub(crate) const SINGLE: u64 = 1 << 23;
    /// Something that happens at a time, and may happen again.
    pub(crate) const EVENT: u64 = 1 << 24;
    /// Joins clauses.
    pub(crate) const AND: u64 = 1 << 25;
    /// Opens a clause that gives a reason or a detail.
    pub(crate) const BECAUSE: u64 = 1 << 26;
    /// Says yes.
    pub(crate) const CONFIRMS: u64 = 1 << 27;
    /// Says what someone else said or thinks.
    pub(crate) const SAYS: u64 = 1 << 28;
    /// Health, diet and what must not be forgotten.
    pub(crate) const VITAL: u64 = 1 << 29;
    /// A liking or a wish.
    pub(crate) const LIKES: u64 = 1 << 30;
    /// A decision or a plan.
    pub(crate) const PLANS: u64 = 1 << 31;
    /// A time that moves with the speaker: now, these days, currently.
    pub(crate) const NOW: u64 = 1 << 32;
    /// A verb that changes a value: raised, moved, postponed.
    pub(crate) const SETS: u64 = 1 << 33;
    /// Precedes the new value after such a verb: to.
    pub(crate) const TO: u64 = 1 << 34;
    /// Has: the verb before a count.
    pub(crate) const HAS: u64 = 1 << 35;
    /// A form of the past.
    pub(crate) const PAST: u64 = 1 << 36;
    /// Ends something: stopped, quit.
    pub(crate) const ENDS: u64 = 1 << 37;
    /// Opens the value that holds instead, after a negation: but, sondern.
    pub(crate) const INSTEAD: u64 = 1 << 38;
    /// A title before a name.
    pub(crate) const TITLE: u64 = 1 << 39;
    /// Says since when.
    pub(crate) const SINCE: u64 = 1 << 40;
    /// Says little: thing, stuff, something.
    pub(crate) const VAGUE: u64 = 1 << 41;
    /// The past of a verb of what people do.
    pub(crate) const DID: u64 = 1 << 42;
    /// Says under which condition something holds.
    pub(crate) const CONDITION: u64 = 1 << 43;
    /// How the listener should speak or write.
    pub(crate) const STYLE: u64 = 1 << 44;
    /// A feeling or a value, of which nothing follows: joy, support, journey.
    pub(crate) const FEELING: u64 = 1 << 45;
    /// Something that is shown and not told: a photo, here is.
    pub(crate) const SHOWS: u64 = 1 << 46;
    /// Help that is wanted at the moment: having trouble, not sure how.
    pub(crate) const HELP: u64 = 1 << 48;
    /// A time: yesterday, last, ago, week.
    pub(crate) const TIME: u64 = 1 << 47;
}

/// What a fixed phrase says of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Attribute {
    /// Where someone lives.
    Home,
    /// At which address.
    Address,
    /// For whom someone works.
    Employer,
    /// What someone or something is called.
    Name,
    /// When someone was born.
    Born,
    /// When someone's birthday is.
    Birthday,
    /// What someone cannot take.
    Allergy,
    /// Which language someone speaks.
    Language,
    /// By which pronouns someone goes.
    Pronouns,
    /// What something costs.
    Cost,
    /// What someone or something weighs.
    Weight,
    /// When something opens, starts, ends or runs.
    Hours,
    /// On which port something listens.
    Port,
    /// What a thing is.
    Is,
}

impl Attribute {
    /// Its name, in triples and reasons.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Attribute::Home => "home",
            Attribute::Address => "address",
            Attribute::Employer => "employer",
            Attribute::Name => "name",
            Attribute::Born => "born",
            Attribute::Birthday => "birthday",
            Attribute::Allergy => "allergy",
            Attribute::Language => "language",
            Attribute::Pronouns => "pronouns",
            Attribute::Cost => "cost",
            Attribute::Weight => "weight",
            Attribute::Hours => "hours",
            Attribute::Port => "port",
            Attribute::Is => "is",
        }
    }
}

/// The words of one language. Words stand between spaces, phrases and groups between bars.
pub(crate) struct Table {
    /// Its code, as in ISO 639-1.
    pub(crate) code: &'static str,
    stemmer: Algorithm,
    /// Words by their forms.
    forms: &'static [(u64, &'static str)],
    /// Groups of words that mean the same where texts are compared: all become the first of their group.
    same: &'static str,
    /// What contractions stand for: `don't=do not`.
    contractions: &'static str,
    /// How someone asks for something to be remembered. What follows is kept.
    requests: &'static str,
    /// How someone asks to be reminded. The whole sentence is kept.
    reminders: &'static str,
    /// Phrases with a form.
    phrases: &'static [(u64, &'static str)],
    /// Phrases that state something of the subject before them.
    claims: &'static [(Attribute, &'static str)],
    /// Nouns that name an attribute of their owner: "my address is …" says where I live.
    nouns: &'static [(Attribute, &'static str)],
}

/// A table made ready for looking up.
pub(crate) struct Language {
    pub(crate) code: &'static str,
    stemmer: Stemmer,
    forms: HashMap<&'static str, u64>,
    same: HashMap<&'static str, &'static str>,
    contractions: HashMap<&'static str, &'static str>,
    pub(crate) requests: Vec<Vec<&'static str>>,
    pub(crate) reminders: Vec<Vec<&'static str>>,
    phrases: Phrases<u64>,
    claims: Phrases<Attribute>,
    nouns: HashMap<&'static str, Attribute>,
}

static LANGUAGES: LazyLock<[Language; 5]> = LazyLock::new(|| {
    [&english::TABLE, &german::TABLE, &spanish::TABLE, &french::TABLE, &russian::TABLE].map(Language::new)
});

impl Language {
    fn new(table: &Table) -> Self {
        let mut forms: HashMap<&'static str, u64> = HashMap::new();
        for (form, words) in table.forms {
            for word in words.split_whitespace() {
                *forms.entry(word).or_default() |= form;
            }
        }
        let mut same = HashMap::new();
        for row in table.same.split('|') {
            let mut words = row.split_whitespace();
            let Some(first) = words.next() else { continue };
            same.extend(words.map(|word| (word, first)));
        }
        let split = |phrases: &'static str| {
            let mut split: Vec<Vec<&'static str>> =
                phrases.split('|').map(|phrase| phrase.split_whitespace().collect()).collect();
            split.sort_by_key(|words| std::cmp::Reverse(words.len()));
            split
        };
        Self {
            code: table.code,
            stemmer: Stemmer::create(table.stemmer),
            forms,
            same,
            contractions: table.contractions.split('|').filter_map(|row| row.trim().split_once('=')).collect(),
            requests: split(table.requests),
            reminders: split(table.reminders),
            phrases: by_first_word(table.phrases),
            claims: by_first_word(table.claims),
            nouns: table.nouns.iter().flat_map(|(of, row)| row.split_whitespace().map(|word| (word, *of))).collect(),
        }
    }

    /// The forms of a word in lower case.
    pub(crate) fn form(&self, word: &str) -> u64 {
        self.forms.get(word).copied().unwrap_or(0)
    }

    /// What a contraction stands for.
    pub(crate) fn expanded(&self, word: &str) -> Option<&'static str> {
        self.contractions.get(word).copied()
    }

    /// A word as it is compared: by its stem, or by the word that means the same.
    pub(crate) fn folded(&self, word: &str) -> String {
        if let Some(same) = self.same.get(word) {
            return (*same).to_owned();
        }
        if word.chars().any(|c| c.is_ascii_digit()) {
            return word.to_owned();
        }
        let stem = self.stemmer.stem(word).into_owned();
        self.same.get(stem.as_str()).map_or(stem, |same| (*same).to_owned())
    }

    /// Whether a word is a number in letters.
    pub(crate) fn is_number(&self, word: &str) -> bool {
        self.same.get(word).is_some_and(|same| same.bytes().all(|byte| byte.is_ascii_digit())) && !matches!(word, "one" | "first" | "second" | "uno" | "eins")
    }

    /// The phrases that begin at a place: the form of each, and how many words it has.
    pub(crate) fn phrases<'a>(&'a self, words: &'a [&str]) -> impl Iterator<Item = (u64, usize)> + 'a {
        let found = words.first().and_then(|first| self.phrases.get(first));
        let fitting = found.into_iter().flatten().filter(|(_, phrase)| words.starts_with(phrase));
        fitting.map(|(form, phrase)| (*form, phrase.len()))
    }

    /// The attribute that a noun names.
    pub(crate) fn noun(&self, word: &str) -> Option<Attribute> {
        self.nouns.get(word).copied()
    }

    /// The phrase that begins at a place and states something of what stands before it.
    pub(crate) fn claim(&self, words: &[&str]) -> Option<(Attribute, usize)> {
        let fitting = self.claims.get(words.first()?)?.iter().filter(|(_, phrase)| words.starts_with(phrase));
        fitting.max_by_key(|(_, phrase)| phrase.len()).map(|(attribute, phrase)| (*attribute, phrase.len()))
    }
}

type Phrases<T> = HashMap<&'static str, Vec<(T, Vec<&'static str>)>>;

fn by_first_word<T: Copy>(phrases: &[(T, &'static str)]) -> Phrases<T> {
    let mut found: Phrases<T> = HashMap::new();
    for (meaning, row) in phrases {
        for phrase in row.split('|') {
            let words: Vec<&'static str> = phrase.split_whitespace().collect();
            if let Some(first) = words.first() {
                found.entry(*first).or_default().push((*meaning, words));
            }
        }
    }
    found
}

/// The language of a text, by its script and by how many of its words a table knows; none: no table fits.
pub(crate) fn language_of(text: &str) -> Option<&'static Language> {
    let languages = &*LANGUAGES;
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut latin, mut cyrillic, mut all) = (0_usize, 0_usize, 0_usize);
    for c in letters {
        all += 1;
        latin += usize::from(c < '\u{250}');
        cyrillic += usize::from(('\u{400}'..'\u{500}').contains(&c));
    }
    if 2 * cyrillic > all {
        return languages.last();
    }
    if 2 * latin <= all {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words = || lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let known = |language: &Language| {
        // A word that is a table's own letters ("ß", "ñ") or closed-class words counts; others say nothing.
        words().filter(|word| language.form(word) & COMMON != 0 || language.expanded(word).is_some()).count()
    };
    // English comes first: where nothing can be told, text in Latin script is read as English.
    let mut best = (&languages[0], known(&languages[0]));
    for language in &languages[1..4] {
        let count = known(language);
        if count > best.1 {
            best = (language, count);
        }
    }
    Some(best.0)
}

/// A name as it is compared: in lower case, and in Russian by its stem, because names are inflected.
pub(crate) fn name_key(name: &str) -> String {
    let russian = &LANGUAGES[4];
    let lower = name.to_lowercase().replace('ё', "е");
    if !lower.contains(|c: char| ('а'..='я').contains(&c)) {
        return lower;
    }
    lower.split(' ').map(|word| russian.stemmer.stem(word).into_owned()).collect::<Vec<_>>().join(" ")
}

/// The forms by which a language is told: words that every text of it has.
const COMMON: u64 = form::EMPTY | form::COPULA | form::ROLE | form::NEGATION | form::FIRST | form::MINE | form::PRONOUN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_its_small_words() {
        for (text, expect) in [
            ("I live in Porto with my sister", Some("en")),
            ("pg 16. no diesel.", Some("en")),
            ("Ich wohne in Berlin und arbeite bei Siemens", Some("de")),
            ("Vivo en Sevilla con mi hermana", Some("es")),
            ("J'habite à Lyon avec ma sœur", Some("fr")),
            ("Я живу в Казани", Some("ru")),
            ("我住在北京", None),
            ("أعيش في عمّان", None),
        ] {
            assert_eq!(language_of(text).map(|language| language.code), expect, "{text}");
        }
    }

    #[test]
    fn words_are_compared_by_stem_and_by_meaning() {
        let english = &LANGUAGES[0];
        for (a, b) in [("nodes", "node"), ("kilometres", "km"), ("mondays", "mon"), ("twelve", "12")] {
            assert_eq!(english.folded(a), english.folded(b), "{a} {b}");
        }
        assert_ne!(english.folded("left"), english.folded("right"));
    }
}
