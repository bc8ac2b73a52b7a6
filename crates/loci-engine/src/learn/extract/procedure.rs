//! Recognises texts that say how something is done, step by step.
//!
//! Pure. A text says at its beginning that it is about how something is done; its steps are numbered ("1. … 2. …"), follow each
//! other in words ("To deploy, first …, then …"), or are listed ("how we deploy: …, …, …"). A story in the same order
//! ("First we went home, then …") is none, and neither is any other list.

/// Beginnings of a text that is about how something is done.
const OPENERS: &[&str] = &[
    "to ",
    "how ",
    "here's how ",
    "here is how ",
    "this is how ",
    "when you ",
    "whenever you ",
    "if you want to ",
    "um ",
    "wie ",
    "para ",
    "cómo ",
    "pour ",
    "comment ",
    "voici comment ",
    "чтобы ",
    "как ",
    "вот как ",
    "для того чтобы ",
];

/// Words before a numbered list that call it a way of doing something.
const HEADS: &[&str] = &[
    "how",
    "steps",
    "workflow",
    "procedure",
    "process",
    "routine",
    "recipe",
    "instructions",
    "wie",
    "schritte",
    "ablauf",
    "anleitung",
    "cómo",
    "pasos",
    "comment",
    "étapes",
    "как",
    "шаги",
    "порядок",
    "инструкция",
];

/// Words of the first step.
const FIRST: &[&str] = &["first", "firstly", "start", "zuerst", "primero", "d'abord", "сначала", "сперва"];

/// Words of a later step.
const LATER: &[&str] = &[
    "then",
    "next",
    "after",
    "finally",
    "dann",
    "danach",
    "luego",
    "después",
    "ensuite",
    "puis",
    "потом",
    "затем",
    "после",
];

/// Whether a text says how something is done, in at least two steps.
pub(crate) fn tells_steps(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let opens = || OPENERS.iter().any(|opener| lower.starts_with(opener));
    is_numbered(&words) || opens() && (is_ordered(&words) || is_listed(&lower))
}

/// A word without punctuation at its ends.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// The place of the mark of a step: `1.` or `1)`.
fn mark(words: &[&str], number: &str) -> Option<usize> {
    words.iter().position(|word| word.strip_prefix(number).is_some_and(|rest| matches!(rest, "." | ")")))
}

/// "how to …: 1. … 2. …".
fn is_numbered(words: &[&str]) -> bool {
    let Some(first) = mark(words, "1") else { return false };
    let headed = words[..first].iter().any(|word| HEADS.contains(&bare(word)));
    let second = mark(&words[first + 1..], "2");
    // Each step has words of its own.
    headed && second.is_some_and(|second| second > 0 && first + second + 2 < words.len())
}

/// "first …, then …".
fn is_ordered(words: &[&str]) -> bool {
    let first = words.iter().position(|word| FIRST.contains(&bare(word)));
    first.is_some_and(|first| words[first + 1..].iter().any(|word| LATER.contains(&bare(word))))
}

/// "how we deploy: a, b, c".
fn is_listed(lower: &str) -> bool {
    let Some((head, steps)) = lower.split_once(": ") else { return false };
    !head.contains(['.', ',']) && steps.matches([',', ';']).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_numbered_ordered_or_listed() {
        for (text, expect) in [
            ("To deploy, first run the tests, then push the tag, then check the dashboard.", true),
            ("how we deploy: run the tests, tag, push", true),
            ("Here's how to reset the router: 1. unplug it 2. wait ten seconds 3. plug it in.", true),
            ("Save this workflow: 1) export the CSV 2) clean it 3) import it", true),
            ("How we release:\n1. Run make check\n2. Tag the commit\n3. Push the tag", true),
            ("Чтобы выкатить релиз, сначала прогони тесты, потом поставь тег, затем запушь.", true),
            ("First we went to the lake, then we slept.", false),
            ("To be honest, I like tea.", false),
            ("My films: 1. Alien 2. Heat", false),
            ("Version 1.2 and 2.0 are out.", false),
            ("Steps: 1. 2.", false),
            ("My goals: tea, peace, quiet", false),
            ("", false),
        ] {
            assert_eq!(tells_steps(text), expect, "{text}");
        }
    }
}
