//! Estimates the importance of a text.
//!
//! Pure. Signals in the words of the text, in English and Russian, are added to a medium base. Age and use are not
//! included, because importance is stored once and both change afterwards: recency and utility (`recall::score`) count
//! them at query time.

/// Signals of who someone is and what they want kept.
const PERSONAL: &[&str] = &[
    "my name is",
    "i prefer",
    "remember that",
    "i am allergic",
    "always use",
    "never use",
    "меня зовут",
    "я предпочитаю",
    "запомни",
];

/// Signals of decisions and promises.
const COMMITTED: &[&str] = &["i will", "let's do", "decided", "we agreed", "я буду", "решил", "договорились"];

/// The importance of a text, 0..1.
/// A result of a tool is a turn of the role `tool`, or has the source type `tool_result`.
pub fn importance(text: &str, source_type: Option<&str>, role: Option<&str>) -> f64 {
    let text = text.to_lowercase().replace('’', "'");
    let says = |signals: &[&str]| signals.iter().any(|signal| text.contains(signal));
    let mut score: f64 = 0.5;
    if says(PERSONAL) {
        score += 0.3;
    }
    if says(COMMITTED) {
        score += 0.2;
    }
    if source_type == Some("tool_result") || matches!(role, Some("tool" | "function")) {
        score += 0.1;
    }
    score.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::importance;

    // Coverage: S0-1.2, S4.1.
    #[test]
    fn signals_raise_importance() {
        for (text, source, role, expect) in [
            ("The sky is blue", None, None, 0.5),
            ("My name is Ana", None, Some("user"), 0.8),
            ("I prefer tabs and decided so", None, None, 1.0),
            ("We decided to ship", None, None, 0.7),
            ("I will send it, let's do that", None, None, 0.7),
            ("exit code 0", Some("tool_result"), None, 0.6),
            ("exit code 0", Some("conversation"), Some("tool"), 0.6),
            ("exit code 0", Some("conversation"), Some("assistant"), 0.5),
            ("Меня зовут Анна", None, None, 0.8),
        ] {
            assert!((importance(text, source, role) - expect).abs() < 1e-9, "{text}");
        }
    }
}
