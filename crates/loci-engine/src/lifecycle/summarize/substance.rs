//! What a sentence holds that a summary must not lose: decisions, corrections, preferences and facts with numbers or names.
//!
//! Pure, and by form alone: no word about a topic counts.

use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{form, language_of};
use crate::write::kinds::choose_kind;

/// A sentence with at most this many words of content, and no number or name, is filler: "Stay dry.", "Sounds good!"
const FILLER_WORDS: usize = 2;

/// What a sentence is worth beside its rank, or `None` for filler. The rank of the most central sentence is 1.
pub(super) fn substance(sentence: &str) -> Option<f32> {
    let said = without_speaker(sentence);
    let words = words(said, language_of(said));
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let telling = spoken.iter().filter(|word| word.tells()).count();
    let number = spoken.iter().any(|word| matches!(word.shape, Shape::Number | Shape::Code) || word.counts);
    let named = |word: &&Word| word.capital && word.form == 0 && word.text.chars().count() > 1;
    let name = spoken.iter().skip(1).any(named);
    let own = spoken.iter().any(|word| word.is(form::FIRST | form::MINE));
    if telling == 0 || telling <= FILLER_WORDS && !(number || name || own) {
        return None;
    }
    let asks = said.trim_end().ends_with(['?', '？', '؟']);
    let kind = match choose_kind(said) {
        _ if asks => -0.3,
        ("decision" | "correction", _) => 0.5,
        ("preference", _) => 0.4,
        _ => 0.0,
    };
    let sign = |present: bool, worth: f32| if present { worth } else { 0.0 };
    Some(kind + sign(number && !asks, 0.3) + sign(name && !asks, 0.1) + sign(own && !asks, 0.1))
}

/// A turn without the name of who said it: "Ana: we decided …".
fn without_speaker(sentence: &str) -> &str {
    match sentence.split_once(": ") {
        Some((speaker, said)) if !speaker.contains(char::is_whitespace) && !said.is_empty() => said,
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::substance;

    // Coverage: S4.12.
    #[test]
    fn filler_is_separated_from_what_must_be_kept() {
        for filler in ["Ha.", "OK.", "user: OK.", "Stay dry.", "Sounds good!", "Thanks!", "Good morning!"] {
            assert_eq!(substance(filler), None, "{filler}");
        }
        let plain = substance("The weather was grey and windy over the harbour.").unwrap();
        for (more, less) in [
            ("We decided to use Postgres because we know it.", plain),
            ("ana: I prefer tabs to spaces in Go files.", plain),
            ("The budget is 4,200 euros.", plain),
            ("I was wrong about port 8080; the port is 4000.", plain),
            ("The weather was grey and windy over the harbour.", substance("Was the weather windy today?").unwrap()),
        ] {
            assert!(substance(more).unwrap() > less, "{more}");
        }
    }
}
