//! Chooses the kind of a text if the caller gives none.
//!
//! Pure. The first signal that matches decides, in the order of the selection guidelines; a text without any is a
//! fact, with low confidence in that choice. Signals are tied to a position in the text, so that a word alone decides
//! nothing.

use crate::learn::extract::kind_by_form;
use crate::learn::extract::procedure::tells_steps;

/// Actions that a record of something done begins with.
const DONE: &str = "deployed fixed ran migrated released shipped merged upgraded installed refactored removed tested renamed reviewed \
    patched configured rolled задеплоил исправил починил запустил";
/// What someone is for others, by profession or by role.
const ROLES: &str = "sre engineer developer designer manager lead leader head director boss ceo cto cfo architect analyst teacher doctor dentist \
    nurse lawyer accountant colleague coworker friend neighbour neighbor assistant intern owner founder maintainer contact captain wife husband \
    partner mother father sister brother son daughter cousin";
const LIKINGS: &str = "prefers prefer likes dislikes hates loves enjoys favourite favorite preferred frustrated annoyed предпочитает любит ненавидит";

/// The kind of a text and how sure we are of it.
pub fn choose_kind(text: &str) -> (&'static str, f64) {
    let lower = text.trim().to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let among = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    let begins = |starts: &[&str]| starts.iter().any(|start| lower.starts_with(start));
    let first = words.first().copied().unwrap_or_default();
    let kind = match () {
        () if corrects(&lower) => "correction",
        () if tells_steps(text) => "procedural",
        () if in_a_session(&words) => "episodic",
        () if begins(&[
            "decided ",
            "chose ",
            "decision:",
            "we decided",
            "we chose",
            "we agreed",
            "решили ",
            "решил ",
            "решила ",
        ]) =>
        {
            "decision"
        }
        () if words.iter().any(|word| among(LIKINGS, word)) => "preference",
        () if among(DONE, first) || begins(&["todo", "to do:", "нужно сделать"]) => "task",
        () if begins(&["project ", "the project ", "проект "]) => "project",
        () if is_someone(text.trim(), &words, |word| among(ROLES, word)) => "person",
        () => match kind_by_form(text) {
            Some(kind) => kind,
            None if begins(&["user's ", "user uses", "my ", "i use", "i am ", "i live", "у меня ", "я живу"]) => {
                "fact"
            }
            None => return ("fact", 0.5),
        },
    };
    (kind, 0.8)
}

/// "I suggested port 8080 — correct port is 4000", "… user corrected: …".
fn corrects(lower: &str) -> bool {
    let said = ["i suggested", "i said", "i thought", "i claimed", "i assumed", "i told"]
        .iter()
        .any(|start| lower.starts_with(start));
    let right = ["correct ", "corrected", "wrong", "actually"].iter().any(|word| lower.contains(word));
    said && right
        || ["i was wrong", "correction:", "correct answer is", "я ошиб", "поправка"]
            .iter()
            .any(|start| lower.starts_with(start))
}

/// "In our Feb 18 session, we …".
fn in_a_session(words: &[&str]) -> bool {
    let talk = |word: &&str| matches!(*word, "session" | "conversation" | "chat" | "call" | "meeting");
    let ours = words.windows(2).position(|two| two == ["in", "our"]);
    ours.is_some_and(|at| words[at + 2..].iter().take(4).any(talk))
        || words.starts_with(&["last", "time", "we"])
        || words.starts_with(&["we", "discussed"])
        || words.starts_with(&["мы", "обсуждали"])
}

/// "Bob is the SRE on call this week": a name, and what someone is.
fn is_someone(text: &str, words: &[&str], is_role: impl Fn(&str) -> bool) -> bool {
    let named = text.starts_with(char::is_uppercase)
        && !matches!(
            words.first(),
            Some(&("the" | "this" | "that" | "user" | "my" | "our" | "a" | "an" | "it" | "there"))
        );
    let is = words.iter().take(3).position(|word| matches!(*word, "is" | "was"));
    named && is.is_some_and(|is| words[is + 1..].iter().take(7).any(|word| is_role(word.trim_end_matches("'s"))))
}

#[cfg(test)]
mod tests {
    use super::choose_kind;

    // Coverage: S0-2.2.
    /// The examples and guidelines of the schema, word for word.
    #[test]
    fn the_sentences_of_the_schema_have_their_kinds() {
        for (text, kind) in [
            ("User's k8s cluster runs on ARM64 nodes.", "fact"),
            ("User prefers Terraform over Pulumi.", "preference"),
            ("Alice is the user's team lead. She approves production deployments.", "person"),
            ("Project Atlas uses Next.js 15, deploys to Vercel, deadline March 1.", "project"),
            ("Deployed v2.3.1 to staging on Feb 20. Smoke tests passed.", "task"),
            ("In our Feb 18 session, we debugged a memory leak in the worker pool.", "episodic"),
            ("Chose Kysely over Drizzle because Graphile Worker manages its own schema.", "decision"),
            (
                "I suggested using Alpine — user corrected: node:24-slim is required for Playwright compat.",
                "correction",
            ),
            ("User's primary language is TypeScript.", "fact"),
            ("User prefers explicit error handling over try/catch.", "preference"),
            ("Bob is the SRE on call this week.", "person"),
            ("Project Cortex uses Fastify, Kysely, and Graphile Worker.", "project"),
            ("Migrated database from v16 to v17 on Feb 20.", "task"),
            ("In our Feb 18 session, the user was debugging OOM kills.", "episodic"),
            ("Decided to use per-agent Qdrant collections for isolation.", "decision"),
            ("I suggested port 8080 — correct port is 4000.", "correction"),
            ("user gets frustrated with verbose output", "preference"),
            ("user was stressed about the deadline in our Feb 18 session", "episodic"),
        ] {
            assert_eq!(choose_kind(text).0, kind, "{text}");
        }
    }

    #[test]
    fn a_word_alone_decides_nothing() {
        for (text, kind) in [
            ("I was wrong about port 8080; the port is 4000.", "correction"),
            ("The figures in the report are not correct", "fact"),
            ("The deadline is 3 May", "fact"),
            ("The repo lives on the old server", "fact"),
            ("Postgres is the database", "fact"),
            ("Я предпочитаю чай", "preference"),
            ("Ich mag lange Spaziergänge", "preference"),
            ("The sky is blue", "fact"),
        ] {
            assert_eq!(choose_kind(text).0, kind, "{text}");
        }
        assert!(choose_kind("The sky is blue").1 < choose_kind("I prefer tea").1);
    }
}
