//! Shortens a long text by selecting sentences.
//!
//! Pure and extractive: whole sentences are selected and no word is added. **Invariant:** the result never has more
//! tokens than allowed.

use std::collections::{BinaryHeap, HashMap};

use super::line::fold;
use super::tokens::count_tokens;

/// Minimum number of tokens of a shortened text.
const MIN_TOKENS: usize = 8;
/// What stands where sentences were left out.
const GAP: &str = " … ";
/// What the first sentence is worth above others like it; it mostly says what the rest is about.
const OPENING: f64 = 1.5;
/// What the last is worth: it often concludes.
const CLOSING: f64 = 1.2;
/// Long sentences carry more words, and cost more. With 1 only the density would count, and
/// short ones would win; with 0 only the sum.
const THRIFT: f64 = 0.7;

/// The text in at most `tokens` tokens, or nothing if that cannot be said.
///
/// Neighbouring sentences stay neighbours; ` … ` stands between others. When no whole sentence
/// fits, the weightiest is cut after a word and ends with ` …`.
pub fn shorten(text: &str, tokens: usize) -> Option<String> {
    whole_sentences(text, tokens).or_else(|| {
        if tokens < MIN_TOKENS {
            return None;
        }
        let sentences = ScoredSentence::all(text);
        let weights = weights(&sentences);
        let weightiest = sentences.iter().max_by(|a, b| a.worth(&weights).total_cmp(&b.worth(&weights)))?;
        cut(&weightiest.text, tokens)
    })
}

/// The same, but nothing if no whole sentence fits.
pub fn whole_sentences(text: &str, tokens: usize) -> Option<String> {
    let whole = fold(text);
    if !whole.is_empty() && count_tokens(&whole) <= tokens {
        return Some(whole);
    }
    if tokens < MIN_TOKENS {
        return None;
    }
    let sentences: Vec<ScoredSentence> = ScoredSentence::all(text);
    let mut chosen = choose(&sentences, tokens);
    // The sum of the parts is close to the whole; the whole decides.
    while !chosen.is_empty() {
        let short = join(&sentences, &chosen);
        if count_tokens(&short) <= tokens {
            return Some(short);
        }
        chosen.pop();
    }
    None
}

struct ScoredSentence {
    text: String,
    /// Its content words, each once, in an order of their own so that sums come out the same.
    words: Vec<String>,
    /// What its place in the text is worth.
    place: f64,
}

impl ScoredSentence {
    fn all(text: &str) -> Vec<Self> {
        let parts: Vec<&str> = split(text);
        let last = parts.len().saturating_sub(1);
        let place = |n| match n {
            0 => OPENING,
            n if n == last => CLOSING,
            _ => 1.0,
        };
        let sentence = |(n, part)| ScoredSentence { text: fold(part), words: content_words(part), place: place(n) };
        parts.into_iter().enumerate().map(sentence).collect()
    }

    /// The weight of its words.
    fn worth(&self, weights: &HashMap<&str, f64>) -> f64 {
        self.place * self.words.iter().filter_map(|word| weights.get(word.as_str())).sum::<f64>()
    }
}

/// A word weighs more when the text keeps coming back to it.
fn weights(sentences: &[ScoredSentence]) -> HashMap<&str, f64> {
    let mut weights = HashMap::new();
    for word in sentences.iter().flat_map(|sentence| &sentence.words) {
        *weights.entry(word.as_str()).or_insert(0.0) += 1.0;
    }
    weights.values_mut().for_each(|weight: &mut f64| *weight = 1.0 + weight.ln());
    weights
}

/// The places of the sentences chosen, the best first.
///
/// Each time the sentence that adds most new words for its cost. What a sentence adds only
/// falls as others are chosen, so one that is still best after a second look is the best of all.
fn choose(sentences: &[ScoredSentence], tokens: usize) -> Vec<usize> {
    let mut weights = weights(sentences);
    let costs: Vec<usize> = sentences.iter().map(|sentence| count_tokens(&sentence.text) + 1).collect();
    let value = |place: usize, weights: &HashMap<&str, f64>| SentenceValue {
        gain: sentences[place].worth(weights) / (costs[place] as f64).powf(THRIFT),
        place,
    };
    let mut queue: BinaryHeap<SentenceValue> = (0..sentences.len()).map(|place| value(place, &weights)).collect();
    let (mut chosen, mut left) = (Vec::new(), tokens + 1);
    while let Some(top) = queue.pop() {
        if costs[top.place] > left {
            continue;
        }
        let now = value(top.place, &weights);
        if now.gain <= 0.0 {
            continue;
        }
        if queue.peek().is_some_and(|next| now < *next) {
            queue.push(now);
            continue;
        }
        left -= costs[top.place];
        chosen.push(top.place);
        for word in &sentences[top.place].words {
            weights.remove(word.as_str());
        }
    }
    chosen
}

/// What a sentence adds for its cost; among equals the earlier is greater.
#[derive(PartialEq)]
struct SentenceValue {
    gain: f64,
    place: usize,
}

impl Eq for SentenceValue {}

impl Ord for SentenceValue {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for SentenceValue {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn join(sentences: &[ScoredSentence], chosen: &[usize]) -> String {
    let mut places = chosen.to_vec();
    places.sort_unstable();
    let mut text = String::new();
    for (n, place) in places.iter().enumerate() {
        if n > 0 {
            text.push_str(if places[n - 1] + 1 == *place { " " } else { GAP });
        }
        text.push_str(&sentences[*place].text);
    }
    text
}

/// As many whole words from the beginning as fit, and the sign that more followed.
fn cut(line: &str, tokens: usize) -> Option<String> {
    let mut ends: Vec<usize> = line.match_indices(' ').map(|(place, _)| place).collect();
    // Scripts without blanks are cut between two signs.
    let signs = line.char_indices().filter(|(_, c)| is_sign(*c)).map(|(place, c)| place + c.len_utf8());
    ends.extend(signs.filter(|end| *end < line.len()));
    ends.sort_unstable();
    let made = |end: usize| format!("{} …", &line[..end]);
    let mut fitting = ends.partition_point(|end| count_tokens(&made(*end)) <= tokens);
    // Counts do not quite grow with length: step back until it is so.
    while fitting > 0 {
        let short = made(ends[fitting - 1]);
        if count_tokens(&short) <= tokens {
            return Some(short);
        }
        fitting -= 1;
    }
    None
}

/// The sentences, without the blanks around them.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let end = place + character.len_utf8();
        let ends = match character {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' | '。' | '！' | '？' | '।' | '॥' => true,
            '!' | '?' | '…' | '؟' | '۔' | '։' | '።' => {
                characters.peek().is_none_or(|(_, next)| next.is_whitespace())
            }
            '.' => {
                let after = text[end..].trim_start();
                after.len() < text.len() - end
                    && !after.starts_with(char::is_lowercase)
                    && !abbreviated(&text[start..place])
            }
            _ => false,
        };
        if ends {
            parts.push(text[start..end].trim());
            start = end;
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// Whether the full stop after this belongs to its last word.
fn abbreviated(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    initial
        || ["Mr", "Mrs", "Ms", "Dr", "St", "Prof", "vs", "e.g", "i.e", "etc", "No", "г", "ул", "т.е"].contains(&word)
}

/// Words that tell what a sentence is about, each once: not the small ones that every sentence has.
fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.contains(is_sign) {
            words.extend(word.chars().map(String::from));
            continue;
        }
        let lower = word.to_lowercase();
        let telling = word.contains(char::is_numeric) || lower.chars().nth(2).is_some();
        if telling && !SMALL.contains(&lower.as_str()) {
            words.push(lower);
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// A sign of a script that puts no blanks between words.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Small words of three letters and more.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "about", "after", "all", "also", "and", "any", "are", "been", "but", "can", "could", "did", "does", "for", "from",
    "had", "has", "have", "her", "here", "him", "his", "how", "into", "its", "just", "like", "more", "not", "our",
    "out", "she", "should", "some", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "very", "was", "were", "what", "when", "which", "who", "will", "with", "would", "you", "your",
    "без", "был", "была", "были", "быть", "для", "его", "если", "есть", "ещё", "как", "когда", "который", "мне",
    "меня", "она", "они", "оно", "при", "так", "также", "там", "тебя", "того", "тоже", "только", "чем", "что", "чтобы",
    "это", "этот",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STORY: &str = "Caroline leads the Lisbon team since 2021. It was a nice day and they were there. \
        Dr. Silva, i.e. her mentor, lives in Porto. They had been there. The team moves to Porto in March 2024.";

    #[test]
    fn sentences_end_where_readers_end_them() {
        for (text, expect) in [
            ("", vec![]),
            ("One. Two! Three?", vec!["One.", "Two!", "Three?"]),
            ("Dr. Silva pays 3.50 e.g. in cash. J. Doe too", vec!["Dr. Silva pays 3.50 e.g. in cash.", "J. Doe too"]),
            ("a line\n\n- another", vec!["a line", "- another"]),
            ("我喜欢茶。他喜欢咖啡。", vec!["我喜欢茶。", "他喜欢咖啡。"]),
            ("Она живёт на ул. Мира. Он нет.", vec!["Она живёт на ул. Мира.", "Он нет."]),
            ("see loci.toml for more", vec!["see loci.toml for more"]),
        ] {
            assert_eq!(split(text), expect);
        }
    }

    // Coverage: S4.13.
    #[test]
    fn what_carries_most_is_kept_in_its_order() {
        for (tokens, expect) in [
            (200, STORY),
            (
                40,
                "Caroline leads the Lisbon team since 2021. … Dr. Silva, i.e. her mentor, lives in Porto. … The team \
                 moves to Porto in March 2024.",
            ),
            (26, "Caroline leads the Lisbon team since 2021. … The team moves to Porto in March 2024."),
            (13, "Caroline leads the Lisbon team since 2021."),
            (8, "Caroline leads the Lisbon team since …"),
        ] {
            assert_eq!(shorten(STORY, tokens).as_deref(), Some(expect), "{tokens}");
        }
        for (text, tokens) in [(STORY, 7), ("", 50), (&*"a".repeat(8000), 50), ("\n \n", 50)] {
            assert_eq!(shorten(text, tokens), None, "{text:.10} {tokens}");
        }
    }

    proptest! {
        // Coverage: S4.13.
        #[test]
        fn never_too_long_and_never_a_new_word(
            parts in prop::collection::vec(prop_oneof!["[A-Za-z0-9]{1,12}", "[.!?,\n]", "\\PC{0,12}", "[一-龥。]{1,9}"], 0..60),
            tokens in 0_usize..80,
        ) {
            let text = parts.join(" ");
            if let Some(short) = shorten(&text, tokens) {
                prop_assert!(count_tokens(&short) <= tokens);
                prop_assert!(!short.is_empty());
                // A cut of a script without blanks leaves the beginning of a "word".
                for word in short.split(' ').filter(|word| *word != "…") {
                    prop_assert!(fold(&text).contains(word), "{word:?} in {short:?}");
                }
                prop_assert_eq!(Some(short), shorten(&text, tokens));
            }
        }
    }
}
