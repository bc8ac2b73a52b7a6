//! Where does another statement begin in a Russian sentence?

use super::super::word::Word;
use super::forms::{self, past_of, third_of, third_of_we};

/// Words that begin a statement of their own behind a comma.
const STARTS: &[&str] = &[
    "я",
    "мы",
    "мой",
    "моя",
    "мое",
    "мои",
    "наш",
    "наша",
    "наше",
    "наши",
    "у",
    "мне",
    "меня",
    "он",
    "она",
    "они",
    "это",
    "вот",
    "так",
    "зато",
    "хотя",
    "хоть",
    "поэтому",
    "правда",
    "представляешь",
    "прикинь",
    "блин",
    "короче",
    "ну",
    "да",
    "кстати",
];

/// Words between commas that say nothing of their own.
const BETWEEN: &[&str] = &[
    "кстати",
    "конечно",
    "например",
    "кажется",
    "видимо",
    "естественно",
    "разумеется",
    "слава богу",
    "к счастью",
    "между прочим",
    "если что",
    "как известно",
];

/// The sentence without the words that stand between two commas for their tone alone.
pub(super) fn plain(mut words: Vec<Word>) -> Vec<Word> {
    let mut place = 0;
    while place < words.len() {
        let inside = |length: usize| {
            let phrase: Vec<&str> = words
                .get(place + 1..place + 1 + length)
                .unwrap_or_default()
                .iter()
                .map(|word| word.lower.as_str())
                .collect();
            words.get(place + 1 + length).is_some_and(|word| word.is(","))
                && BETWEEN.contains(&phrase.join(" ").as_str())
        };
        match (1..=2).find(|length| words[place].is(",") && inside(*length)) {
            Some(length) => drop(words.drain(place..place + length + 2)),
            None => place += 1,
        }
    }
    words
}

/// Cuts a sentence where another statement begins.
pub(super) fn parts(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut parts: Vec<Vec<Word>> = vec![Vec::new()];
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        let skip = match () {
            () if word.is(",") && words.get(place + 1).is_some_and(|next| next.any(&["а", "но", "и"])) => 2,
            () if word.any(&[",", ";", "и", "но", "а"]) => 1,
            () => 0,
        };
        let long = parts.last().is_some_and(|part| part.len() > 1);
        if skip > 0 && long && begins(&words[place + skip..], word, parts.last().is_some_and(|part| states(part))) {
            parts.push(Vec::new());
            place += skip;
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.push(word.clone());
        }
        place += 1;
    }
    parts
}

/// Whether a statement begins here, behind the word that joins it to the one before.
fn begins(rest: &[Word], joint: &Word, complete: bool) -> bool {
    let Some(first) = rest.first() else { return false };
    let acts = |word: &Word| third_of(&word.lower).is_some() || third_of_we(&word.lower).is_some();
    let starts = STARTS.contains(&first.lower.as_str()) && !(joint.is("и") && first.any(&["у", "так", "да"]));
    // Up to the next joint someone does something, and it is not told of what was named before.
    let own =
        complete && rest.iter().take(6).take_while(|word| word.speaks() && !word.any(&["и", "но", "а"])).any(acts);
    let named = forms::is_relation(&first.lower) && rest.iter().take(5).any(|word| forms::is_third(&word.lower));
    starts
        || joint.is(";")
        || acts(first)
        || own
        || named && !joint.is("и")
        || joint.is("и") && past_of(&first.lower).is_some()
}

/// Whether someone does something in a part.
fn states(part: &[Word]) -> bool {
    part.iter().any(|word| {
        let lower = word.lower.as_str();
        third_of(lower).is_some() || third_of_we(lower).is_some() || past_of(lower).is_some() || forms::is_third(lower)
    })
}

/// Whether a part says what the one before it said who does.
pub(super) fn lacks_subject(part: &[Word]) -> bool {
    let first = part.iter().find(|word| !word.any(&["не", "больше", "еще", "также", "теперь", "уже"]));
    first.is_some_and(|word| third_of(&word.lower).is_some() || third_of_we(&word.lower).is_some())
}

/// How much of the words behind a verb belongs to its statement: up to a remark behind a comma.
pub(super) fn stated(words: &[Word]) -> usize {
    let mut end = 0;
    for (number, segment) in words.split(|word| word.is(",")).enumerate() {
        let first = segment.first().map_or("", |word| word.lower.as_str());
        let goes_on = past_of(first).is_some()
            || matches!(first, "а" | "но" | "потому" | "чтобы" | "особенно" | "кроме" | "включая")
            || first.starts_with("котор")
            || segment.len() <= 2 && segment.iter().all(|word| !remark(&word.lower));
        if number > 0 && !goes_on {
            break;
        }
        end += segment.len() + usize::from(number > 0);
    }
    end.min(words.len())
}

fn remark(lower: &str) -> bool {
    STARTS.contains(&lower)
        || forms::is_pronoun(lower)
        || lower.ends_with("ла")
        || lower.ends_with("ал")
        || lower.ends_with("ется")
        || lower.ends_with("лось")
}
