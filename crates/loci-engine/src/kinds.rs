//! What sort of memory is this text, when nobody said?
//!
//! Pure. The first signal that matches decides; a text without any is a fact, with little
//! confidence in that choice.

/// Signals by kind, in the order in which they are tried. A signal with a leading `^` must start
/// the text.
const SIGNALS: &[(&str, &[&str])] = &[
    (
        "correction",
        &[
            "i was wrong",
            "correct answer is",
            "corrected:",
            "actually, it",
            "not correct",
            "correction:",
            "я ошиб",
            "поправка",
        ],
    ),
    ("decision", &["decided to", "we chose", "chose ", "decision:", "we agreed", "решили", "решил "]),
    (
        "preference",
        &[
            "prefers ",
            "i prefer",
            "likes ",
            "i like",
            "dislikes ",
            "i hate",
            "favourite",
            "favorite",
            "предпочита",
            "нравится",
        ],
    ),
    (
        "episodic",
        &["in our session", "in our conversation", "yesterday we", "last time we", "^we discussed", "мы обсуждали"],
    ),
    (
        "task",
        &[
            "^deployed",
            "^fixed",
            "^ran ",
            "^migrated",
            "todo",
            "to do:",
            "deadline is",
            "by friday",
            "нужно сделать",
            "^задеплоил",
        ],
    ),
    ("project", &["^project ", "the project", "repository ", "repo ", "^проект "]),
    (
        "person",
        &[
            " is my ",
            "is the user's ",
            "is a person",
            "team lead",
            "'s wife",
            "'s husband",
            "is our ",
            "мой начальник",
            "моя жена",
            "мой муж",
        ],
    ),
    ("fact", &["user uses", "user's", "my ", "i use", "i am ", "i live", "у меня ", "я живу"]),
];

/// The kind of a text and how sure we are of it.
pub fn choose_kind(text: &str) -> (&'static str, f64) {
    let text = text.trim().to_lowercase().replace('’', "'");
    let says = |signal: &str| match signal.strip_prefix('^') {
        Some(start) => text.starts_with(start),
        None => text.contains(signal),
    };
    SIGNALS
        .iter()
        .find(|(_, signals)| signals.iter().any(|signal| says(signal)))
        .map_or(("fact", 0.5), |(kind, _)| (kind, 0.8))
}

#[cfg(test)]
mod tests {
    use super::choose_kind;

    #[test]
    fn signals_choose_the_kind() {
        for (text, kind) in [
            ("User's primary language is TypeScript.", "fact"),
            ("User prefers explicit error handling over try/catch.", "preference"),
            ("Bob is our SRE on call this week.", "person"),
            ("Project Cortex uses Fastify, Kysely, and Graphile Worker.", "project"),
            ("Migrated database from v16 to v17 on Feb 20.", "task"),
            ("In our session on Feb 18 the user was debugging OOM kills.", "episodic"),
            ("Decided to use one collection per agent for isolation.", "decision"),
            ("I was wrong about port 8080; the port is 4000.", "correction"),
            ("Я предпочитаю чай", "preference"),
            ("The sky is blue", "fact"),
        ] {
            assert_eq!(choose_kind(text).0, kind, "{text}");
        }
        assert!(choose_kind("The sky is blue").1 < choose_kind("I prefer tea").1);
    }
}
