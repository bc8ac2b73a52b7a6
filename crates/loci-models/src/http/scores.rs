//! Parsing of the answer to a rerank call.
//!
//! Services agree on an index and a score for each text, and on little else: the list is the whole answer or is in
//! `results` or `data`, and the score is called `score` or `relevance_score`. All of these are accepted. The needed
//! fields are checked strictly: every text has exactly one finite score.
//!
//! **Invariant: no error quotes the answer**, because answers may repeat the texts.

use serde_json::Value;

/// Tolerance for the rounding of probabilities. A score further outside of 0..=1 is a logit.
const ROUNDING: f64 = 1e-6;

/// Returns the scores in the order of the `count` texts, or what is wrong with the answer.
pub(super) fn read(answer: &Value, count: usize) -> Result<Vec<f64>, String> {
    let list = [answer, &answer["results"], &answer["data"]].into_iter().find_map(Value::as_array);
    let mut scores = vec![None; count];
    for (position, item) in list.ok_or("it has no list of scores")?.iter().enumerate() {
        let wrong = |problem: &str| format!("item {position}: {problem}");
        let index = item["index"].as_u64().ok_or_else(|| wrong("it has no index"))?;
        let score = [&item["relevance_score"], &item["score"]].into_iter().find_map(Value::as_f64);
        let score = score.filter(|score| score.is_finite()).ok_or_else(|| wrong("its score is not a finite number"))?;
        let place = usize::try_from(index).ok().and_then(|index| scores.get_mut(index));
        let place = place.ok_or_else(|| wrong(&format!("its index is {index}, for {count} texts")))?;
        if place.replace(score).is_some() {
            return Err(wrong(&format!("its index is {index}, which is repeated")));
        }
    }
    let missing = scores.iter().position(Option::is_none);
    missing
        .map_or_else(|| Ok(scores.into_iter().flatten().collect()), |index| Err(format!("text {index} has no score")))
}

/// Converts the scores of one question to relevances in 0..=1.
///
/// The scores are probabilities unless `logits` is set or one of them is outside of 0..=1. Then all of them are treated
/// as logits and go through the logistic function, so that their order stays.
pub(super) fn relevances(mut scores: Vec<f64>, logits: bool) -> Vec<f64> {
    let logits = logits || scores.iter().any(|score| !(-ROUNDING..=1.0 + ROUNDING).contains(score));
    for score in &mut scores {
        *score = if logits { 1.0 / (1.0 + (-*score).exp()) } else { score.clamp(0.0, 1.0) };
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, json: &str, expected: Result<&[f64], &str>) {
        let answer: Value = serde_json::from_str(json).unwrap();
        assert_eq!(read(&answer, count), expected.map(<[f64]>::to_vec).map_err(str::to_owned), "{json}");
    }

    #[test]
    fn every_common_shape_is_read() {
        let two: Result<&[f64], &str> = Ok(&[0.25, 0.5]);
        check(2, r#"[{"index":1,"score":0.5},{"index":0,"score":0.25}]"#, two);
        check(2, r#"{"results":[{"index":0,"relevance_score":0.25},{"index":1,"relevance_score":0.5}]}"#, two);
        check(2, r#"{"results":[{"index":0,"score":0.25,"x":1},{"index":1,"score":0.5}],"meta":null}"#, two);
        check(2, r#"{"data":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":0.25}]}"#, two);
        check(
            2,
            r#"[{"index":0,"relevance_score":0.25,"score":9},{"index":1,"relevance_score":null,"score":0.5}]"#,
            two,
        );
        check(1, r#"[{"index":0,"score":-7}]"#, Ok(&[-7.0]));
        check(0, "[]", Ok(&[]));
    }

    #[test]
    fn malformed_answers_are_distinguished_and_never_quoted() {
        for json in ["{}", "null", "7", r#""a text""#, r#"{"results":"a text"}"#] {
            check(1, json, Err("it has no list of scores"));
        }
        for json in [r#"[{"score":1}]"#, r#"[{"index":-1,"score":1}]"#, r#"[{"index":"a text","score":1}]"#, "[7]"] {
            check(1, json, Err("item 0: it has no index"));
        }
        for json in [r#"[{"index":0}]"#, r#"[{"index":0,"score":"NaN"}]"#, r#"[{"index":0,"score":null}]"#] {
            check(1, json, Err("item 0: its score is not a finite number"));
        }
        let two = r#"[{"index":0,"score":1},{"index":2,"score":1}]"#;
        check(2, two, Err("item 1: its index is 2, for 2 texts"));
        check(3, two, Err("text 1 has no score"));
        check(2, "[]", Err("text 0 has no score"));
        let twice = r#"[{"index":0,"score":1},{"index":0,"score":1}]"#;
        check(2, twice, Err("item 1: its index is 0, which is repeated"));
    }

    #[test]
    fn logits_go_through_the_logistic_function_together() {
        let half = 1.0 / (1.0 + (-0.5_f64).exp());
        for (scores, logits, expected) in [
            (vec![], false, vec![]),
            (vec![0.0, 0.5, 1.0], false, vec![0.0, 0.5, 1.0]),
            (vec![-1e-9, 1.000_000_1], false, vec![0.0, 1.0]),
            (vec![0.5, -1e9, 1e9, 0.0], false, vec![half, 0.0, 1.0, 0.5]),
            (vec![0.5, 1.1], false, vec![half, 1.0 / (1.0 + (-1.1_f64).exp())]),
            (vec![0.5, -0.1], false, vec![half, 1.0 / (1.0 + 0.1_f64.exp())]),
            (vec![0.5, 0.0], true, vec![half, 0.5]),
        ] {
            assert_eq!(relevances(scores.clone(), logits), expected, "{scores:?}");
        }
    }
}
