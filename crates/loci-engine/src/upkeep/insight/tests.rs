//! Is something told only where there is something to tell?

use proptest::prelude::*;

use super::*;

fn told(turns: &[&str], changes: &[(&str, &str)], facts: &[&str]) -> Vec<String> {
    let changes: Vec<(String, String)> = changes.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let input = InsightInput { name: "Ana", turns, changes: &changes, facts };
    insights(&input).into_iter().map(|insight| insight.summary).collect()
}

#[test]
fn a_feeling_that_comes_back_is_told_with_its_topic() {
    for (turns, facts, expect) in [
        (
            vec!["The deployment is so frustrating.", "Could you look at the tests?", "Ugh, this deployment again!"],
            vec![],
            vec!["Ana shows repeated frustration, mostly about the deployment."],
        ),
        (
            vec!["I'm worried that we are late", "Still anxious, I did nothing at all for weeks"],
            vec![],
            vec!["Ana shows repeated worry."],
        ),
        (
            vec!["I'm nervous about the exam on Friday", "I am so scared that I will not pass this time"],
            vec!["Ana has an exam on Friday."],
            vec!["Ana shows repeated worry, mostly about the exam."],
        ),
        (
            vec!["So happy with the new flat!", "We moved in on Monday", "I love this flat so much, made my day"],
            vec![],
            vec!["Ana shows repeated joy, mostly about the flat."],
        ),
        (
            vec!["I trust you with the budget", "You know the numbers better, I trust your plan for the budget"],
            vec![],
            vec!["Ana shows repeated trust, mostly about the budget."],
        ),
        (
            vec!["I'm exhausted and I hate this job", "Barely slept again, sick of it", "Fine."],
            vec![],
            vec!["Ana shows repeated frustration.", "Ana shows repeated fatigue."],
        ),
        (
            vec!["Бесит этот деплой, третий день подряд", "Надоело чинить деплой по ночам"],
            vec![],
            vec!["Ana shows repeated frustration, mostly about «деплой»."],
        ),
        (
            vec!["Огромное спасибо за помощь с переездом!", "Очень благодарна за советы, всё получилось"],
            vec![],
            vec!["Ana shows repeated gratitude."],
        ),
    ] {
        assert_eq!(told(&turns, &[], &facts), expect, "{turns:?}");
    }
}

#[test]
fn a_taste_that_changed_is_told_by_what_differs() {
    for (old, new, expect) in [
        ("Ana prefers tea.", "Ana prefers coffee.", "formerly tea, now coffee."),
        ("I prefer tea", "I prefer strong coffee", "formerly tea, now strong coffee."),
        ("Ana prefers tabs.", "Ana prefers spaces for Python.", "formerly tabs, now spaces for Python."),
        ("Ana likes jazz", "Ana hates jazz", "formerly likes jazz, now hates jazz."),
        ("Ana likes tea", "Ana likes tea with milk", "formerly likes tea, now likes tea with milk."),
        ("Ана любит чай.", "Ана любит кофе.", "formerly чай, now кофе."),
    ] {
        let expect = format!("Ana's taste has changed: {expect}");
        assert_eq!(told(&[], &[(old, new)], &[]), [expect], "{old} | {new}");
    }
}

#[test]
fn a_style_shows_in_most_turns() {
    for (turns, expect) in [
        (
            vec![
                "run tests",
                "fix it",
                "again",
                "now deploy it",
                "And tell me how long the whole thing took in the end",
            ],
            "Ana writes tersely, in a few words a turn.",
        ),
        (
            vec![
                "Could you check the parser for me?",
                "Thank you, that is what I was looking for",
                "Please run the tests again with the new flag",
                "Would you also write the release notes?",
            ],
            "Ana writes politely, with please and thanks in most turns.",
        ),
        (
            vec!["Please run it", "Thanks, stop it", "Status, please", "Thank you"],
            "Ana writes in few words, yet politely.",
        ),
    ] {
        assert_eq!(told(&turns, &[], &[]), [expect], "{turns:?}");
    }
}

#[test]
fn mostly_there_is_nothing_to_tell() {
    let none: &[&[&str]] = &[
        &[],
        &[""],
        &["I like green tea in the morning."],
        &["This is so frustrating, nothing builds any more."],
        &["This is so frustrating!", "This is so frustrating!"],
        &["I'm frustrated with the build today", "I'm worried about the exam next week"],
        &["I'm not frustrated by the build", "I was never frustrated with the tests"],
        &["Tom is angry about the build", "The client is furious about the delay"],
        &["Don't worry about the build", "No worries, we have all the time we need"],
        &["The connection pool is exhausted", "Memory was exhausted in the second run"],
        &["Happy to help with the garden", "Happy birthday to your sister, by the way"],
        &["Are you tired of my questions?", "Are you tired today, or is it me?"],
        &["I'd be happy with a smaller flat", "If I were worried I would tell you"],
        &["The trust store has a new certificate", "Zero trust is a buzzword in our office"],
        &["Thanks, the parser works now as expected", "Thanks for the notes on the schema"],
        &["Том устал после смены на заводе", "Он устал и вчера вечером тоже"],
        &["Я не злюсь на Тома за опоздание", "Не переживай, билеты мы купим завтра"],
        &["run tests", "fix it", "again"],
        &["run tests", "fix it", "again", "Then write down what you found and send it to Tom."],
        &["Please check the parser", "The tests are red since Monday morning", "I moved the logs to the other disk"],
        &["What is the port of the server?", "Which of the two disks is full?", "When does the lease end?"],
        &["Какой порт у сервера в Риге?", "Напиши Тому про отчёт за май", "Диск опять почти полный"],
    ];
    for turns in none {
        assert_eq!(told(turns, &[], &[]), [""; 0], "{turns:?}");
    }
    for (old, new) in [
        ("", "Ana likes tea"),
        ("Ana likes tea", ""),
        ("Ana likes tea", "ana likes  tea."),
        ("Ana likes her tea hot", "Ana likes her tea cold with their milk"),
        ("My favourite is tea", "Now I prefer coffee"),
    ] {
        assert_eq!(told(&[], &[(old, new)], &["Ana likes tea"]), [""; 0], "{old} | {new}");
    }
    assert_eq!(told(&[], &[], &["Ana is frustrated", "Ana is frustrated again", "Ana hates Mondays"]), [""; 0]);
}

#[test]
fn only_the_latest_turns_are_read() {
    let old = ["Ugh, the deployment", "I hate this deployment"];
    let new = [
        "The lease of the office ends in May",
        "Tom has the keys of the office",
        "The garden is open on Sunday",
        "What is the port of the server?",
        "Write down the port of the new server",
    ];
    assert_eq!(told(&[old.as_slice(), &new].concat(), &[], &[]), [""; 0]);
    assert_eq!(told(&[&new[2..], &old].concat(), &[], &[]).len(), 1);
}

#[test]
fn tags_and_importance_come_along() {
    let frustrated = ["Ugh", "I hate the build", "Such an annoying build", "This build is driving me crazy, argh"];
    let input = InsightInput { name: " ", turns: &frustrated, changes: &[], facts: &[] };
    let found = insights(&input);
    assert_eq!(found[0].summary, "User shows repeated frustration, mostly about the build.");
    assert_eq!(
        (found[0].tags.as_slice(), found[0].importance),
        (["frustration", "build"].map(str::to_owned).as_slice(), 3)
    );
}

proptest! {
    #[test]
    fn three_at_most_and_never_too_long(
        name in "\\PC{0,80}",
        turns in prop::collection::vec("(ugh|i hate|so happy|please|the build|no|\\PC{0,20}| ){0,9}", 0..8),
        changes in prop::collection::vec(("\\PC{0,200}", "\\PC{0,200}"), 0..5),
    ) {
        let turns: Vec<&str> = turns.iter().map(String::as_str).collect();
        let found = insights(&InsightInput { name: &name, turns: &turns, changes: &changes, facts: &turns });
        prop_assert!(found.len() <= MOST);
        for insight in found {
            prop_assert!(insight.summary.chars().count() <= LONGEST && !insight.summary.contains('\n'));
            prop_assert!((1..=5).contains(&insight.importance) && !insight.tags.is_empty());
        }
    }
}
