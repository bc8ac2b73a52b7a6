//! Extractive summaries: selects the most central sentences of many texts.
//!
//! Pure. Sentences are ranked by TextRank over their similarity, and those with decisions, preferences, numbers and names
//! rank higher; filler is left out. From the best down, each is taken that is not too
//! similar to those taken before (maximal marginal relevance), while there is room. The result has whole sentences in
//! their order, and never more tokens than allowed.

use std::collections::HashSet;

use super::likeness::{Likeness, SourceSentence};
use super::substance::substance;
use crate::prompt::pack::line::fold;
use crate::prompt::pack::shorten::split;
use crate::prompt::pack::tokens::{MAX_TOKEN_BYTES, count_tokens};

/// Weight of how informative a sentence is. The rest of 1 is the weight of its similarity to chosen sentences, which is subtracted.
const LAMBDA: f32 = 0.7;
/// Number of neighbours of each sentence in the graph. More would cost time and blur the ranks.
const NEIGHBOURS: usize = 24;
/// How much of a sentence's rank comes from its likes.
const DAMPING: f64 = 0.85;
/// Maximum number of iterations of the ranking; ranks hardly change after them.
const MAX_RANK_ROUNDS: usize = 40;
/// Change of the ranks below which the iteration stops.
const STILL: f64 = 1e-7;

/// The sentences of `texts` that say most, in at most `target_tokens` tokens.
///
/// A line holds sentences of one line of one text. `vectors` are those of the texts, in their order. Nothing
/// is returned when no whole sentence fits.
pub fn extractive(texts: &[String], vectors: Option<&[Vec<f32>]>, target_tokens: usize) -> String {
    let sentences = sentences(texts);
    let costs: Vec<SentenceCost> =
        sentences.iter().map(|sentence| SentenceCost::of(&sentence.text, target_tokens)).collect();
    let all = costs.iter().fold(0_usize, |sum, cost| sum.saturating_add(cost.followed));
    let mut chosen: Vec<usize> = if all <= target_tokens {
        (0..sentences.len()).collect()
    } else {
        let likeness = Likeness::new(&sentences, vectors);
        let ranks = ranks(&likeness, sentences.len());
        let worth: Vec<Option<f32>> =
            sentences.iter().zip(&ranks).map(|(one, rank)| substance(&one.text).map(|more| rank + more)).collect();
        let chosen = choose(&likeness, &worth, &costs, target_tokens);
        // Where nothing of substance fits, the rest is better than nothing.
        let all = || ranks.iter().map(|rank| Some(*rank)).collect::<Vec<_>>();
        if chosen.is_empty() { choose(&likeness, &all(), &costs, target_tokens) } else { chosen }
    };
    // The sum of the parts is close to the whole; the whole decides.
    loop {
        let text = join(&sentences, &chosen);
        if count_tokens(&text) <= target_tokens {
            return text;
        }
        chosen.pop();
    }
}

/// Every distinct sentence, in the order of the first occurrence.
fn sentences(texts: &[String]) -> Vec<SourceSentence> {
    let mut seen = HashSet::new();
    let mut sentences = Vec::new();
    for (item, text) in texts.iter().enumerate() {
        for (line, part) in
            text.lines().enumerate().flat_map(|(line, text)| split(text).into_iter().map(move |part| (line, part)))
        {
            let text = fold(part);
            if seen.insert(text.to_lowercase()) {
                sentences.push(SourceSentence { text, item, line });
            }
        }
    }
    sentences
}

/// The tokens of a sentence.
struct SentenceCost {
    /// At the end of all.
    last: usize,
    /// With the line break behind it, which is often one token with the full stop.
    followed: usize,
}

impl SentenceCost {
    fn of(text: &str, most: usize) -> Self {
        // What cannot fit is not worth a count, which takes long for very long words.
        if text.len() > most.saturating_mul(MAX_TOKEN_BYTES) {
            return Self { last: usize::MAX, followed: usize::MAX };
        }
        Self { last: count_tokens(text), followed: count_tokens(&format!("{text}\n")) }
    }
}

/// How much each sentence speaks for the others; the best has 1.
fn ranks(likeness: &Likeness, count: usize) -> Vec<f32> {
    let ties = ties(likeness, count);
    let given: Vec<f64> = ties.iter().map(|ties| ties.iter().map(|(_, alike)| f64::from(*alike)).sum()).collect();
    let base = (1.0 - DAMPING) / count as f64;
    let mut ranks = vec![1.0 / count as f64; count];
    for _ in 0..MAX_RANK_ROUNDS {
        let from = |(other, alike): &(usize, f32)| f64::from(*alike) / given[*other] * ranks[*other];
        let next: Vec<f64> = ties.iter().map(|ties| base + DAMPING * ties.iter().map(from).sum::<f64>()).collect();
        let moved = ranks.iter().zip(&next).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
        ranks = next;
        if moved < STILL {
            break;
        }
    }
    let best = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    ranks.into_iter().map(|rank| (rank / best) as f32).collect()
}

/// Which sentences each is tied to, and how firmly. A tie holds at both ends.
fn ties(likeness: &Likeness, count: usize) -> Vec<Vec<(usize, f32)>> {
    let mut ties: Vec<Vec<(usize, f32)>> = vec![Vec::new(); count];
    for sentence in 0..count {
        let mut near: Vec<(usize, f32)> =
            likeness.row(sentence).into_iter().enumerate().filter(|(_, alike)| *alike > 0.0).collect();
        if near.len() > NEIGHBOURS {
            near.select_nth_unstable_by(NEIGHBOURS, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            near.truncate(NEIGHBOURS);
        }
        for (other, alike) in near {
            ties[sentence].push((other, alike));
            ties[other].push((sentence, alike));
        }
    }
    for ties in &mut ties {
        ties.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        ties.dedup_by_key(|(other, _)| *other);
    }
    ties
}

/// The places of the sentences taken, the best first. Those without a worth are not taken.
fn choose(likeness: &Likeness, worth: &[Option<f32>], costs: &[SentenceCost], tokens: usize) -> Vec<usize> {
    // How like each is to the nearest of those taken.
    let mut taken = vec![0.0_f32; worth.len()];
    let (mut chosen, mut left) = (Vec::new(), tokens);
    let mut open: Vec<usize> = (0..worth.len()).filter(|place| worth[*place].is_some()).collect();
    loop {
        open.retain(|place| costs[*place].last <= left);
        let value = |place: usize| LAMBDA * worth[place].unwrap_or(0.0) - (1.0 - LAMBDA) * taken[place];
        let best = open.iter().copied().max_by(|a, b| value(*a).total_cmp(&value(*b)).then(b.cmp(a)));
        let Some(best) = best else { return chosen };
        chosen.push(best);
        left = left.saturating_sub(costs[best].followed);
        open.retain(|place| *place != best);
        taken.iter_mut().zip(likeness.row(best)).for_each(|(taken, alike)| *taken = taken.max(alike));
    }
}

fn join(sentences: &[SourceSentence], chosen: &[usize]) -> String {
    let mut places = chosen.to_vec();
    places.sort_unstable();
    let mut text = String::new();
    let mut last = None;
    for sentence in places.into_iter().map(|place| &sentences[place]) {
        let line = (sentence.item, sentence.line);
        if let Some(last) = last.replace(line) {
            text.push(if last == line { ' ' } else { '\n' });
        }
        text.push_str(&sentence.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_others_repeat_is_said_once_and_in_order() {
        let texts = owned(&[
            "It was sunny.",
            "The deployment to Lisbon failed because the disk was full.",
            "Someone laughed. The disk in Lisbon was full again.",
            "Ana moved the logs off the full disk in Lisbon.",
            "The deployment to Lisbon went through after the logs were moved.",
            "Lunch came late.",
        ]);
        let failed = "The deployment to Lisbon failed because the disk was full.";
        let moved = "Ana moved the logs off the full disk in Lisbon.";
        for (tokens, expect) in [
            (500, texts.join("\n")),
            (32, [failed, "The disk in Lisbon was full again.", moved].join("\n")),
            (24, [failed, moved].join("\n")),
            (12, moved.to_owned()),
            (6, "Lunch came late.".to_owned()),
            (3, "Someone laughed.".to_owned()),
            (2, String::new()),
            (0, String::new()),
        ] {
            assert_eq!(extractive(&texts, None, tokens), expect, "{tokens}");
        }
    }

    #[test]
    fn two_topics_are_both_spoken_of() {
        let texts = owned(&[
            "The disk in Lisbon is full.",
            "The disk in Lisbon is full again.",
            "Again the disk in Lisbon was full.",
            "Ana leads the Porto team.",
            "The Porto team was hired by Ana.",
        ]);
        let short = extractive(&texts, None, 16);
        assert!(short.contains("Lisbon") && short.contains("Porto"), "{short}");
    }

    #[test]
    fn vectors_speak_where_words_differ() {
        let texts = owned(&[
            "Cats please old people.",
            "Buses are very late.",
            "Felines delight young families.",
            "Kittens charm most children.",
        ]);
        let vectors = [vec![1.0, 0.1], vec![0.0, 1.0], vec![1.0, 0.0], vec![0.9, 0.1]];
        assert!(!extractive(&texts, Some(&vectors), 16).contains("Buses"));
        let other = [vec![0.0, 1.0], vec![1.0, 0.1], vec![1.0, 0.0], vec![0.9, 0.1]];
        assert!(!extractive(&texts, Some(&other), 16).contains("Cats"));
    }

    #[test]
    fn the_same_sentence_is_said_once() {
        let texts = owned(&["Ana likes tea. Tom left.", "ana  likes tea.", "Tom left."]);
        assert_eq!(extractive(&texts, None, 100), "Ana likes tea. Tom left.");
    }

    /// Whether a line is made of sentences of one text, in their order.
    fn made_of(line: &str, parts: &[String]) -> bool {
        line.is_empty()
            || parts.iter().enumerate().any(|(place, part)| {
                let rest = line.strip_prefix(part.as_str());
                rest.is_some_and(|rest| {
                    rest.is_empty() || rest.strip_prefix(' ').is_some_and(|rest| made_of(rest, &parts[place + 1..]))
                })
            })
    }

    fn text() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            "[a-f]{1,3}",
            "(the|Ana|tea|disk|full|Лиссабон|диск)",
            "[.!?\n]",
            "\\PC{0,6}",
            "[一-龥。]{1,4}"
        ];
        prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn whole_sentences_within_the_budget(
            texts in prop::collection::vec(text(), 0..12),
            numbers in prop::collection::vec(-1.0_f32..1.0, 24),
            tokens in 0_usize..60,
        ) {
            let vectors: Vec<Vec<f32>> = numbers.chunks(2).map(<[f32]>::to_vec).collect();
            for vectors in [None, Some(vectors.as_slice())] {
                let short = extractive(&texts, vectors, tokens);
                prop_assert!(count_tokens(&short) <= tokens);
                let mut from = texts.iter().flat_map(|text| text.lines());
                for line in short.lines() {
                    let made = |text: &str| made_of(line, &split(text).into_iter().map(fold).collect::<Vec<_>>());
                    prop_assert!(from.any(made), "{:?} of {:?}", line, texts);
                }
                prop_assert_eq!(&short, &extractive(&texts, vectors, tokens));
            }
        }

        #[test]
        fn what_fits_is_all_there(texts in prop::collection::vec("[A-Z][a-z]{1,5} [a-z]{1,5}\\.", 0..8)) {
            let short = extractive(&texts, None, 1_000);
            for text in &texts {
                prop_assert!(short.to_lowercase().contains(&text.to_lowercase()));
            }
        }
    }

    #[test]
    fn a_thousand_sentences_take_well_under_a_second() {
        crate::prompt::pack::tokens::prepare();
        let nouns = ["disk", "server", "garden", "parser", "letter", "bridge", "window", "engine", "market", "ticket"];
        let verbs = ["failed", "moved", "grew", "broke", "waited", "opened", "closed", "slept", "burned", "froze"];
        let text = |n: usize| {
            let (noun, verb) = (nouns[n % 10], verbs[n / 10 % 10]);
            format!("The {noun} {verb} near the {} on day {} of trip {}.", nouns[n / 7 % 10], n / 3, n % 37)
        };
        let texts: Vec<String> = (0..1_000).map(text).collect();
        let number = |n: usize| (n as f32 * 0.618).fract() - 0.4;
        let vectors: Vec<Vec<f32>> =
            (0..1_000).map(|n| (0..384).map(|d| number(n * 7 + d * (n % 11 + 1))).collect()).collect();
        let start = std::time::Instant::now();
        let short = extractive(&texts, Some(&vectors), 2_000);
        let took = start.elapsed();
        assert!((1_900..=2_000).contains(&count_tokens(&short)), "{}", count_tokens(&short));
        // The bound is wide because tests share the machine.
        assert!(took.as_secs_f64() < 3.0, "{took:?}");
    }
}
