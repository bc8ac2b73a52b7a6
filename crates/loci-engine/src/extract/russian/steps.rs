//! Which steps does a Russian sentence tell, one after the other?
//!
//! Only where the words say so: "как мы печём шарлотку: взбить …, всыпать …", "чтобы выкатить
//! релиз, нужно сначала …, потом …". Steps are infinitives; they are written as a numbered list.

use super::super::word::{Word, capitalised, join};
use super::forms;

/// The procedure that a sentence tells, if it tells one.
pub(super) fn procedure(words: &[Word]) -> Option<String> {
    let (title, behind) = title(words)?;
    let steps = steps(words.get(behind..)?);
    let told = steps.len() >= 2 && steps.iter().all(|step| step.iter().all(|word| !forms::is_pronoun(&word.lower)));
    if !told {
        return None;
    }
    let mut content = format!("Как {title}:");
    for (number, step) in steps.iter().enumerate() {
        content.push_str(&format!("\n{}. {}", number + 1, capitalised(&join(step))));
    }
    Some(content)
}

/// What the steps are for, and where they begin.
fn title(words: &[Word]) -> Option<(String, usize)> {
    let lower = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
    let verb = match (lower(0), lower(1), lower(2)) {
        ("как", "мы", "все" | "обычно" | "всегда") | ("как", "я", "обычно" | "всегда") => {
            3
        }
        ("как", "мы" | "я" | "обычно" | "правильно", _) => 2,
        ("вот", "как", "мы" | "я") => 3,
        ("как" | "чтобы" | "чтоб", ..) => 1,
        ("рецепт", ..) => return recipe(words),
        _ => return None,
    };
    let purpose = lower(0).starts_with("чтоб");
    let ends: &[&str] = if purpose { &[",", ":"] } else { &[":", "—", "–"] };
    let end = words.iter().take(12).position(|word| word.any(ends)).filter(|end| *end > verb)?;
    let does = if is_infinitive(lower(verb)) { lower(verb).to_owned() } else { forms::infinitive(lower(verb))? };
    let object: Vec<Word> =
        words[verb + 1..end].iter().filter(|word| forms::own(&word.lower).is_none()).cloned().collect();
    if object.iter().any(|word| !word.speaks() || forms::is_pronoun(&word.lower)) {
        return None;
    }
    Some((format!("{does} {}", join(&object)).trim().to_owned(), end + 1))
}

/// "Рецепт борща: …".
fn recipe(words: &[Word]) -> Option<(String, usize)> {
    let end = words.iter().take(8).position(|word| word.any(&[":", "—", "–"])).filter(|end| *end > 1)?;
    let of: Vec<Word> = words[1..end].iter().filter(|word| forms::own(&word.lower).is_none()).cloned().collect();
    of.iter().all(Word::speaks).then(|| (format!("готовить по рецепту {}", join(&of)), end + 1))
}

/// Whether a word is a verb that says what to do.
fn is_infinitive(lower: &str) -> bool {
    let long = lower.chars().count() > 3;
    long && ["ать", "ять", "ить", "еть", "уть", "ыть", "оть", "сть", "зть", "ти", "чь", "ться", "тись", "чься"]
        .iter()
        .any(|end| lower.ends_with(end))
        && ![
            "кровать",
            "память",
            "часть",
            "путь",
            "ночь",
            "нефть",
            "скатерть",
            "мощь",
            "есть",
            "печать",
            "почти",
            "сеть",
            "опять",
            "пять",
            "шесть",
            "девять",
            "десять",
        ]
        .contains(&lower)
}

/// Words that open a step and are no part of it.
const LEADS: &[&str] = &[
    "сначала",
    "сперва",
    "потом",
    "затем",
    "дальше",
    "далее",
    "после",
    "этого",
    "наконец",
    "и",
    "нужно",
    "надо",
    "в",
    "конце",
    "следует",
    "можно",
    "просто",
    "потом",
    ",",
];

/// Cuts the telling into steps: each begins with what to do.
fn steps(words: &[Word]) -> Vec<Vec<Word>> {
    let mut steps: Vec<Vec<Word>> = Vec::new();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let lead =
            words[place..].iter().take_while(|word| LEADS.contains(&word.lower.as_str()) || word.is(";")).count();
        let begins = (place == 0 || lead > 0) && words.get(place + lead).is_some_and(|word| is_infinitive(&word.lower));
        if begins {
            steps.push(vec![words[place + lead].clone()]);
            place += lead + 1;
            continue;
        }
        match steps.last_mut() {
            Some(step) => step.push(word.clone()),
            None => return Vec::new(),
        }
        place += 1;
    }
    for step in &mut steps {
        while step.last().is_some_and(|word| !word.speaks() && !word.is(")")) {
            step.pop();
        }
    }
    steps
}
