//! Finds turns that say outright that what was said before brought them about: "That's why the build failed."
//!
//! Pure. Only a connective at the beginning of a turn counts; anything weaker ("so", "then") does not state a cause.

/// The connectives, in lower case, by language: English, German, French, Spanish, Russian.
const CONNECTIVES: &[&str] = &[
    "that's why",
    "that is why",
    "this is why",
    "which is why",
    "because of that",
    "because of this",
    "as a result",
    "for that reason",
    "for this reason",
    "therefore",
    "consequently",
    "deshalb",
    "darum",
    "deswegen",
    "aus diesem grund",
    "c'est pourquoi",
    "à cause de ça",
    "por eso",
    "por esa razón",
    "поэтому",
    "вот почему",
    "именно поэтому",
    "из-за этого",
    "по этой причине",
    "в результате",
];

/// Words that may stand before a connective.
const OPENERS: &[&str] = &["and", "so", "yes", "und", "et", "y", "и", "да"];

/// The connective with which a turn begins, if it points back to the turn before.
pub(crate) fn points_back(text: &str) -> Option<&'static str> {
    let folded = text.to_lowercase().replace('’', "'");
    let mut rest = folded.trim_start();
    for opener in OPENERS {
        if let Some(after) = rest.strip_prefix(opener)
            && after.starts_with([' ', ','])
        {
            rest = after.trim_start_matches([' ', ',']);
            break;
        }
    }
    // "As a result of the storm" names its cause itself.
    let whole = |connective: &&&str| {
        let Some(after) = rest.strip_prefix(**connective) else { return false };
        let word = after.trim_start();
        let ends = after.is_empty() || after.starts_with(|c: char| !c.is_alphanumeric() && c != '\'');
        ends && !word.starts_with("of ") && word.chars().filter(|c| c.is_alphanumeric()).count() > 2
    };
    CONNECTIVES.iter().find(whole).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S1.29.
    #[test]
    fn a_connective_at_the_beginning_points_back() {
        for (text, expect) in [
            ("That's why the nightly build failed.", Some("that's why")),
            ("And that’s why I can't run the marathon.", Some("that's why")),
            ("As a result we lost two days.", Some("as a result")),
            ("Поэтому мы переехали.", Some("поэтому")),
            ("So, because of that the deploy was late", Some("because of that")),
            ("As a result of the storm the ferry stayed.", None),
            ("That's why?", None),
            ("I know that's why you called.", None),
            ("So we went home.", None),
            ("Therefore.", None),
            ("", None),
        ] {
            assert_eq!(points_back(text), expect, "{text}");
        }
    }
}
