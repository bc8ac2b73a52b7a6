//! Tables of function words for each supported language.
//!
//! A file lists the closed-class words of one language (pronouns, negations, conditions, openers …) and a few fixed
//! phrases; none of them is about a topic. The rules that use them are the same for all languages. A language without
//! a table has no forms: its sentences are kept only on explicit request.

pub(crate) mod sentence;
pub(crate) mod word;

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Names the forms that a word can have: a bit each, and the name by which the files of words call it.
macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The forms that a word can have, as bits.
        pub(crate) mod form {
            #[expect(clippy::upper_case_acronyms, reason = "only counts the forms")]
            #[repr(u64)]
            enum FormIndex { $($name),+ }
            $($(#[$doc])* pub(crate) const $name: u64 = 1 << FormIndex::$name as u64;)+

            /// The form with this name, in lower case.
            pub(super) fn named(name: &str) -> Option<u64> {
                [$((stringify!($name), $name)),+].into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, form)| form)
            }
        }
    };
}

forms! {
    /// A word without content: an article, a particle, an intensifier.
    EMPTY,
    /// Links a subject with what it is.
    COPULA,
    /// Says which part something plays: a preposition, mostly.
    ROLE,
    /// Denies.
    NEGATION,
    /// Narrows when or how far something holds: if, until, only, might, was.
    LIMIT,
    /// The speaker, alone or with others.
    FIRST,
    /// What is the speaker's.
    MINE,
    /// The one who is spoken to.
    SECOND,
    /// Stands for something that was named before.
    PRONOUN,
    /// Opens a question.
    ASKS,
    /// A verb that opens a question when it comes first.
    AUXILIARY,
    /// Says that something is not so, or not yet: would, imagine, maybe.
    UNREAL,
    /// A verb that asks the listener for something, when it comes first.
    ORDER,
    /// Says that something holds each time: always, never, usually.
    LASTING,
    /// May be left away at the beginning of a sentence.
    OPENER,
    /// Says nothing at all: um, btw.
    FILLER,
    /// Greets, thanks or says goodbye.
    GREETING,
    /// Reacts to what was said.
    REACTION,
    /// Says that something was a joke.
    JOKE,
    /// Says that something has changed.
    CHANGE,
    /// Says that something said before was wrong.
    CORRECTION,
    /// A verb or noun of what people tell about themselves: live, work, own, love, born.
    LIFE,
    /// Someone or some animal that one has: a mother, a boss, a dog.
    RELATION,
    /// A predicate or noun of which someone can have several at once.
    MANY,
    /// A noun of which there is one at a time: a name, a deadline, a password.
    SINGLE,
    /// Something that happens at a time, and may happen again.
    EVENT,
    /// Joins clauses.
    AND,
    /// Opens a clause that gives a reason or a detail.
    BECAUSE,
    /// Says yes.
    CONFIRMS,
    /// Says what someone else said or thinks.
    SAYS,
    /// Health, diet and what must not be forgotten.
    VITAL,
    /// A liking or a wish.
    LIKES,
    /// A decision or a plan.
    PLANS,
    /// A time that moves with the speaker: now, these days, currently.
    NOW,
    /// A verb that changes a value: raised, moved, postponed.
    SETS,
    /// Precedes the new value after such a verb: to.
    TO,
    /// Has: the verb before a count.
    HAS,
    /// A form of the past.
    PAST,
    /// Ends something: stopped, quit.
    ENDS,
    /// Opens the value that holds instead, after a negation: but, sondern.
    INSTEAD,
    /// A title before a name.
    TITLE,
    /// Says since when.
    SINCE,
    /// Says little: thing, stuff, something.
    VAGUE,
    /// The past of a verb of what people do.
    DID,
    /// Says under which condition something holds.
    CONDITION,
    /// How the listener should speak or write.
    STYLE,
    /// A feeling or a value, of which nothing follows: joy, support, journey.
    FEELING,
    /// Something that is shown instead of stated: a photo, here is.
    SHOWS,
    /// Asks the listener for something: can, could, please, mind.
    INVITES,
    /// Help that is wanted at the moment: having trouble, not sure how.
    HELP,
    /// A time: yesterday, last, ago, week.
    TIME,
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
    /// How many of something it has.
    Count,
    /// What a thing is.
    Is,
}

impl Attribute {
    const ALL: [Attribute; 15] = [
        Attribute::Home,
        Attribute::Address,
        Attribute::Employer,
        Attribute::Name,
        Attribute::Born,
        Attribute::Birthday,
        Attribute::Allergy,
        Attribute::Language,
        Attribute::Pronouns,
        Attribute::Cost,
        Attribute::Weight,
        Attribute::Hours,
        Attribute::Port,
        Attribute::Count,
        Attribute::Is,
    ];

    /// Whether it describes things and not persons.
    pub(crate) fn is_of_things(self) -> bool {
        use Attribute::{Cost, Count, Hours, Is, Port, Weight};
        matches!(self, Is | Cost | Weight | Hours | Port | Count)
    }

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
            Attribute::Count => "count",
            Attribute::Is => "is",
        }
    }
}

/// The words of one language.
pub(crate) struct Language {
    /// Its code, as in ISO 639-1.
    pub(crate) code: &'static str,
    stemmer: Stemmer,
    forms: Table<u64>,
    /// Words that mean the same where texts are compared: all become the first of their group.
    same: Table<&'static str>,
    /// What contractions stand for.
    contractions: Table<&'static str>,
    /// How someone asks for something to be remembered; the longest first. What follows is kept.
    pub(crate) requests: Vec<Phrase>,
    /// How someone asks to be reminded. The whole sentence is kept.
    pub(crate) reminders: Vec<Phrase>,
    phrases: Phrases<u64>,
    claims: Phrases<Attribute>,
    nouns: Table<Attribute>,
}

/// How someone asks for something: `remember that`, `write _ down`, `~ making a note that`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// Its words up to the gap.
    pub(crate) words: Vec<&'static str>,
    /// Its words behind the gap.
    pub(crate) rest: Vec<&'static str>,
    /// It asks for something only behind words that ask: "could you …".
    pub(crate) infinitive: bool,
}

impl Phrase {
    fn read(text: &'static str) -> Self {
        let plain = text.trim().trim_start_matches('~');
        let (words, rest) = plain.split_once('_').unwrap_or((plain, ""));
        let split = |text: &'static str| text.split_whitespace().collect();
        Self { words: split(words), rest: split(rest), infinitive: text.trim().starts_with('~') }
    }
}

/// Words are looked up all the time, and nobody chooses them to collide.
type Table<T> = HashMap<&'static str, T, foldhash::fast::RandomState>;
type Phrases<T> = Table<Vec<(T, Vec<&'static str>)>>;

static LANGUAGES: LazyLock<[Language; 5]> = LazyLock::new(|| {
    [
        Language::read("en", Algorithm::English, include_str!("english.words")).0,
        Language::read("de", Algorithm::German, include_str!("german.words")).0,
        Language::read("es", Algorithm::Spanish, include_str!("spanish.words")).0,
        Language::read("fr", Algorithm::French, include_str!("french.words")).0,
        Language::read("ru", Algorithm::Russian, include_str!("russian.words")).0,
    ]
});

impl Language {
    /// Reads a file of words, and returns the lines that say nothing known; a test sees that there are none.
    ///
    /// A line begins with what it gives: `FORM[+FORM] words`, `phrase FORM a b|c d`, `claim ATTRIBUTE a b|c d`, `noun ATTRIBUTE
    /// words`, `same a b|c d`, `contraction a=b c|…`, `request a b|a _ b|~ a b`, `reminder a b|…`: `_`
    /// stands for a gap, `~` for a form that must be asked for. `#` begins a comment.
    fn read(code: &'static str, stemmer: Algorithm, file: &'static str) -> (Self, Vec<&'static str>) {
        let mut language = Self {
            code,
            stemmer: Stemmer::create(stemmer),
            forms: Table::default(),
            same: Table::default(),
            contractions: Table::default(),
            requests: Vec::new(),
            reminders: Vec::new(),
            phrases: Table::default(),
            claims: Table::default(),
            nouns: Table::default(),
        };
        let lines = file.lines().filter(|line| !line.starts_with('#'));
        let unknown = lines.filter(|line| language.take(line).is_none()).collect();
        for phrases in [&mut language.requests, &mut language.reminders] {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.words.len() + phrase.rest.len()));
        }
        (language, unknown)
    }

    fn take(&mut self, line: &'static str) -> Option<()> {
        let (head, rest) = line.split_once(' ')?;
        let split = |text: &'static str| text.split('|').map(|phrase| phrase.split_whitespace().collect::<Vec<_>>());
        match head {
            "same" => {
                for group in split(rest) {
                    self.same.extend(group.iter().skip(1).map(|word| (*word, group[0])));
                }
            }
            "contraction" => self.contractions.extend(rest.split('|').filter_map(|row| row.split_once('='))),
            "request" => self.requests.extend(rest.split('|').map(Phrase::read)),
            "reminder" => self.reminders.extend(rest.split('|').map(Phrase::read)),
            "phrase" => {
                let (name, rest) = rest.split_once(' ')?;
                let form = form::named(name)?;
                split(rest).for_each(|words| self.phrases.entry(words[0]).or_default().push((form, words)));
            }
            "claim" | "noun" => {
                let (name, rest) = rest.split_once(' ')?;
                let attribute = Attribute::ALL.into_iter().find(|attribute| attribute.name() == name)?;
                match head {
                    "noun" => self.nouns.extend(rest.split_whitespace().map(|word| (word, attribute))),
                    _ => {
                        split(rest).for_each(|words| self.claims.entry(words[0]).or_default().push((attribute, words)))
                    }
                }
            }
            forms => {
                let form = forms.split('+').map(form::named).sum::<Option<u64>>()?;
                for word in rest.split_whitespace() {
                    *self.forms.entry(word).or_default() |= form;
                }
            }
        }
        Some(())
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
        self.same.get(word).is_some_and(|same| same.bytes().all(|byte| byte.is_ascii_digit()))
            && !matches!(word, "one" | "first" | "second" | "uno" | "eins")
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

/// Detects the language of a text by its script and by the share of its words that a table contains. `None` if no
/// table fits.
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
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let mut known = [0_usize; LATIN];
    for weights in words.filter_map(|word| WEIGHTS.get(word)) {
        known.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += usize::from(*weight));
    }
    // English comes first: if nothing distinguishes the languages, text in Latin script is read as English.
    let best = (0..LATIN).rev().max_by_key(|place| known[*place])?;
    Some(&languages[best])
}

/// Number of languages in Latin script; they come first.
const LATIN: usize = 4;

/// What a word says for each language in Latin script: a closed-class word most, any other that its table knows something.
static WEIGHTS: LazyLock<Table<[u8; LATIN]>> = LazyLock::new(|| {
    let mut weights = Table::<[u8; LATIN]>::default();
    for (place, language) in LANGUAGES[..LATIN].iter().enumerate() {
        for word in language.contractions.keys() {
            weights.entry(*word).or_default()[place] = 2;
        }
        for (word, form) in &language.forms {
            weights.entry(*word).or_default()[place] = 1 + u8::from(form & COMMON != 0);
        }
    }
    weights
});

/// A name as it is compared: in lower case, and in Russian by its stem, because names are inflected.
pub(crate) fn name_key(name: &str) -> String {
    let russian = &LANGUAGES[4];
    let lower = name.to_lowercase().replace('ё', "е");
    if !lower.contains(|c: char| ('а'..='я').contains(&c)) {
        return lower;
    }
    lower.split(' ').map(|word| russian.stemmer.stem(word).into_owned()).collect::<Vec<_>>().join(" ")
}

/// The forms that identify a language: words that every text of it has.
const COMMON: u64 = form::EMPTY | form::COPULA | form::ROLE | form::NEGATION | form::FIRST | form::MINE | form::PRONOUN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_recognised_by_its_function_words() {
        for (text, expect) in [
            ("I live in Porto with my sister", Some("en")),
            ("v 12. no proxy.", Some("en")),
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
    fn every_line_of_the_files_is_understood() {
        for (code, file) in [
            ("en", include_str!("english.words")),
            ("de", include_str!("german.words")),
            ("es", include_str!("spanish.words")),
            ("fr", include_str!("french.words")),
            ("ru", include_str!("russian.words")),
        ] {
            assert_eq!(Language::read(code, Algorithm::English, file).1, Vec::<&str>::new(), "{code}");
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
