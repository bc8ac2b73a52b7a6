//! Settings: whether a text of a more specific layer sets otherwise what a text of a more general layer sets.
//!
//! "Use spaces for indentation" and "Indent with tabs" set the same: how to indent. Neither is wrong, so neither replaces the
//! other when it is written; where both are seen, the one of the more specific layer holds. Pure and strict: both texts
//! must be single statements that name a means for the same topic, and the specific one must not be limited to a case that the
//! general one does not name.

use std::collections::HashSet;

use super::analysis::{AnalysedText, ItemKind, TextItem};
use super::compare::find;
use super::replaces;
use crate::learn::language::{Language, form, language_of};
use crate::recall::plan::time::words::among;

/// Verbs that say no more than that something is used or wanted, by language.
const USES: [(&str, &str); 5] = [
    ("en", "use uses using used prefer prefers preferred adopt adopts choose chose pick run runs go stick"),
    ("de", "nutze nutzt nutzen benutze benutzt benutzen verwende verwendet verwenden bevorzuge bevorzugt bevorzugen"),
    ("es", "usar usa usan usamos usad utiliza utilizar utilizamos prefiere preferimos"),
    ("fr", "utiliser utilise utilisons utilisez préférer préfère préférons employer emploie employez"),
    ("ru", "использовать использует используем используйте используют предпочитать предпочитаем предпочитайте"),
];
/// Words that add nothing to a setting: how it is done, and to whom it applies by the layer that it is in.
const PLAIN: [(&str, &str); 5] = [
    (
        "en",
        "done made set written formatted required standard convention policy rule style code file files source project \
         repo repository codebase team company organisation organization everywhere everyone please must should shall",
    ),
    ("de", "gemacht geschrieben standard regel code datei dateien projekt repository team firma bitte"),
    ("es", "hecho escrito estándar regla código archivo archivos proyecto repositorio equipo empresa"),
    ("fr", "fait écrit standard règle code fichier fichiers projet dépôt équipe entreprise"),
    ("ru", "стандарт правило код коде файл файлы проект проекте репозиторий команда компания"),
];
/// Prepositions before a means, in all languages.
const BY: &str = "with in by via through on as mit per auf über con en avec par с через на в";
/// Prepositions before what is not chosen.
const NOT_CHOSEN: &str = "over than against statt anstatt вместо";
/// Words that limit a statement to a case.
const CASES: &str = "if when whenever unless until only except while during before after wenn falls nur cuando si solo quand \
    seulement если когда только";
/// What a statement says of events, people and tastes does not set anything.
const NO_SETTING: u64 = form::EVENT
    | form::DID
    | form::PAST
    | form::LIFE
    | form::LIKES
    | form::RELATION
    | form::UNREAL
    | form::CONDITION
    | form::VITAL
    | form::FEELING
    | form::MANY
    | form::ASKS;
/// Maximum number of words of a chosen value.
const MAX_VALUE_WORDS: usize = 3;

/// Whether a text states a known fact with another value, such as another port.
pub(crate) fn restates(one: &AnalysedText, other: &AnalysedText) -> bool {
    replaces(one, other).is_some()
}

/// Whether a text sets otherwise what a text of a more general layer sets.
pub(crate) fn sets_otherwise(specific: (&AnalysedText, &str), general: (&AnalysedText, &str)) -> bool {
    if restates(specific.0, general.0) {
        return true;
    }
    let (Some(own), Some(other)) = (Setting::of(specific.0, specific.1), Setting::of(general.0, general.1)) else {
        return false;
    };
    own.differs_from(&other)
}

/// What a statement sets, and how.
struct Setting<'a> {
    /// Its words with content, without those that add nothing.
    words: Vec<&'a TextItem>,
    /// Which of them name the means.
    means: Vec<bool>,
    denied: bool,
    limited: bool,
}

impl<'a> Setting<'a> {
    /// Reads a text as a setting. `None` if it is none.
    fn of(reading: &'a AnalysedText, text: &str) -> Option<Self> {
        let language = language_of(text)?;
        let items = reading.sentences.first().filter(|_| reading.is_single() && reading.tabled)?;
        let (uses, plain) = (folded(&USES, language), folded(&PLAIN, language));
        let mut setting = Self { words: Vec::new(), means: Vec::new(), denied: false, limited: false };
        // Behind a colon or a verb of use stands the means, up to the next preposition.
        let (mut names_means, mut rejects) = (false, false);
        let colon = text.contains(':');
        for (place, item) in items.iter().enumerate() {
            if item.role.is_some() {
                names_means = item.role.as_deref().is_some_and(|role| among(BY, role));
                rejects = item.role.as_deref().is_some_and(|role| among(NOT_CHOSEN, role));
            }
            match item.sort {
                // "Tabs, not spaces" names what is not chosen; "never use tabs" denies.
                ItemKind::Negation if !setting.words.is_empty() => rejects = true,
                ItemKind::Negation => setting.denied = true,
                ItemKind::Limit if item.key == "instead" => rejects = true,
                ItemKind::Limit => setting.limited |= among(CASES, &item.key),
                ItemKind::Content | ItemKind::Value => {
                    let used = uses.contains(&item.key);
                    let first = item.form & (form::FIRST | form::MINE | form::LASTING | form::SECOND) != 0;
                    if used {
                        (names_means, rejects) = (true, false);
                    } else if rejects {
                        rejects = item.touches_next;
                    } else if !first && !plain.contains(&item.key) {
                        if item.form & NO_SETTING != 0 && item.sort == ItemKind::Content {
                            return None;
                        }
                        setting.words.push(item);
                        setting.means.push(names_means);
                    }
                    names_means |= colon && place == 0 && item.is_next;
                }
            }
        }
        (!setting.words.is_empty()).then_some(setting)
    }

    fn differs_from(&self, general: &Self) -> bool {
        let own = self.apart_from(general);
        let other = general.apart_from(self);
        if own.len() == self.words.len() || self.limited && !general.limited {
            return false;
        }
        if self.denied != general.denied {
            return own.is_empty() && other.is_empty();
        }
        let all_means = |setting: &Self, apart: &[usize]| apart.iter().all(|place| setting.means[*place]);
        // The general text may be about fewer cases; the specific one then holds for these too.
        let values: Vec<usize> = other.iter().copied().filter(|place| general.means[*place]).collect();
        let sized = |values: &[usize]| (1..=MAX_VALUE_WORDS).contains(&values.len());
        sized(&own) && sized(&values) && all_means(self, &own) && self.names_same_sort(general, &own, &values)
    }

    /// The words that the other text does not have.
    fn apart_from(&self, other: &Self) -> Vec<usize> {
        (0..self.words.len()).filter(|place| find(&other.words, self.words[*place]).is_none()).collect()
    }

    /// "On Mondays" and "on staging" are not two values of one setting.
    fn names_same_sort(&self, general: &Self, own: &[usize], values: &[usize]) -> bool {
        let day = |item: &TextItem| among("mon tue wed thu fri sat sun", &item.key);
        let days = |setting: &Self, places: &[usize]| places.iter().any(|place| day(setting.words[*place]));
        let preposition = |setting: &Self, places: &[usize]| {
            places.iter().find_map(|place| setting.words[*place].role.clone()).unwrap_or_default()
        };
        let (one, two) = (preposition(self, own), preposition(general, values));
        // A place or a time does not name a means: both must be named by the same preposition.
        let placed = |role: &str| among("in on auf en в на", role);
        days(self, own) == days(general, values) && (one == two || !placed(&one) && !placed(&two))
    }
}

/// The words of a language in a table, as they are compared.
fn folded(table: &[(&str, &str)], language: &Language) -> HashSet<String> {
    let words = table.iter().find(|(code, _)| *code == language.code).map_or("", |(_, words)| *words);
    words.split_whitespace().map(|word| language.folded(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::extract::SpeakerIdentity;

    fn overrides(specific: &str, general: &str) -> bool {
        let read = |text: &str| AnalysedText::of(text, None, &SpeakerIdentity::of(None, Some("ana")));
        sets_otherwise((&read(specific), specific), (&read(general), general))
    }

    // Coverage: S2.9.
    #[test]
    fn another_means_for_the_same_is_another_setting() {
        for (one, other) in [
            ("Use tabs for indentation", "Use spaces for indentation"),
            ("Indent with tabs", "Use spaces for indentation"),
            ("Indent with tabs", "Indent code with four spaces"),
            ("This project uses tabs for indentation", "We use spaces for indentation"),
            ("Indentation is done with tabs", "Indentation is done with spaces"),
            ("Always use tabs for indentation", "Use 2 spaces for indentation"),
            ("Prefer tabs for indentation", "Prefer spaces over tabs for indentation"),
            ("Use tabs, not spaces, for indentation", "Use spaces for indentation"),
            ("Commit messages must be written in English", "Commit messages are written in German"),
            ("Use Vitest for the tests", "Tests run with Jest"),
            ("Do not use tabs for indentation", "Use tabs for indentation"),
            ("Verwende Tabs für die Einrückung", "Verwende Leerzeichen für die Einrückung"),
            ("Используйте табы для отступов", "Используйте пробелы для отступов"),
        ] {
            assert!(overrides(one, other), "{one} | {other}");
            assert!(overrides(other, one), "{other} | {one}");
        }
        // What is set for all cases holds for fewer too; not the other way round.
        let (all, python) = ("Use tabs for indentation", "Use spaces for Python indentation");
        assert!(overrides(all, python) && !overrides(python, all));
    }

    // Coverage: S2.9.
    #[test]
    fn other_topics_and_other_cases_are_no_other_setting() {
        for (one, other) in [
            ("Use Redis for caching", "Use PostgreSQL for billing"),
            ("Use Redis for caching", "Use Redis for sessions"),
            ("Deploy on Mondays", "Deploy on staging"),
            ("Tests are slow", "Use Vitest for the tests"),
            ("Tests need Docker", "Use Vitest for the tests"),
            ("Ana likes tea", "Ana likes coffee"),
            ("Ana plays tennis", "Ana plays chess"),
            ("The server room is in Graz", "The office is in Graz"),
            ("Use tabs for indentation", "Use tabs for indentation in Makefiles"),
            ("Use tabs for indentation if the file is a Makefile", "Use spaces for indentation"),
            ("We moved to Vitest for the tests in May", "Tests ran with Jest in April"),
            ("Indentation matters little to ana", "Use tabs for indentation"),
            ("Why do we use tabs for indentation?", "Use spaces for indentation"),
            ("Use tabs for indentation. Keep lines short.", "Use spaces for indentation"),
        ] {
            assert!(!overrides(one, other), "{one} | {other}");
        }
    }
}
