//! What must hold whatever is said?

use std::time::Instant;

use super::*;

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(
        parts in prop::collection::vec(
            prop_oneof![
                "[a-zA-Z']{1,9}", "[а-яА-Я]{1,9}", "\\PC{0,8}", "[.,;:!?()`\"'—-]{1,3}", "[0-9]{1,4}",
                prop::sample::select(vec![
                    "I", "we", "my", "our", "am", "is", "live", "in", "Porto", "not", "no", "actually", "it", "she", "and", "to", "the", "prefer",
                    "over", "remind", "me", "last", "week", "by", "Friday", "has", "5", "nodes", "scaled", "I'm", "don't", "\n", "1.", "first", "then",
                    "я", "живу", "в", "мой", "у", "меня", "нет", "не", "а", "—", "remember", "that", "aka", "(", ")", "called", "let's", "use", "for",
                ].into_iter().map(str::to_owned).collect::<Vec<_>>()),
            ],
            0..30,
        ),
        spaced in any::<bool>(),
    ) {
        let text = parts.join(if spaced { " " } else { "" });
        let found = learned(&text);
        prop_assert!(found.len() <= 5);
        laws(&found);
        for other in ["Ana has 3 cats", text.as_str()] {
            let _ = (super::super::differs(&text, other), super::super::numeric_step(&text, other), claim_of(&text));
        }
        let _ = (crate::writing::validate(&text, Class::Episodic), crate::writing::trim(&text, Class::Semantic));
    }
}

#[test]
fn a_turn_teaches_at_most_five_things() {
    let text = "I live in Porto. I work at Acme. I'm a nurse. I have two kids. I love tea. I hate coffee. I'm 34. I drive a Tesla.";
    let found = learned(text);
    assert_eq!(found.len(), 5);
    assert!(found.windows(2).all(|two| two[0].confidence >= two[1].confidence));
}

#[test]
fn the_same_thing_said_twice_is_learned_once_from_both() {
    let found = learned("I live in Porto ¶ as I said, I live in Porto");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].from.len(), 2);
}

#[test]
fn times_are_taken_from_the_words() {
    let day = |text: &str| format!("{text}T00:00:00Z").parse().ok();
    for (text, event, from, until) in [
        ("I moved to Lisbon last week", day("2026-05-25"), day("2026-05-25"), None),
        ("I need to renew my passport by Friday", None, None, day("2026-06-06")),
        ("remind me to call Bob tomorrow", None, None, day("2026-06-03")),
        ("I work at Acme since January", None, day("2026-01-01"), None),
        ("I deployed v2 to staging yesterday", day("2026-05-31"), None, None),
    ] {
        let found = learned(text);
        let times = found.first().map(|one| (one.event_time, one.valid_from, one.expires_at));
        assert_eq!(times, Some((event, from, until)), "{text}");
    }
}

#[test]
fn corrections_say_so() {
    for (text, expect) in [
        ("I live in Porto", false),
        ("no, actually I live in Porto", true),
        ("I live in Lisbon, not Porto", true),
        ("The port is 8080 ¶ it's 4000, not 8080", true),
    ] {
        assert_eq!(learned(text).last().map(|one| one.corrects), Some(expect), "{text}");
    }
}

/// Not a benchmark, only a floor: a quarter of what was measured when this was written.
#[test]
fn two_thousand_turns_take_less_than_a_second() {
    let turns: Vec<&str> = english::ROWS.iter().chain(russian::ROWS).map(|(text, _)| *text).collect();
    let started = Instant::now();
    let count = 2_000;
    for text in turns.iter().cycle().take(count) {
        learned(text);
    }
    let second = count as f64 / started.elapsed().as_secs_f64();
    println!("{second:.0} turns a second");
    assert!(second > 500.0, "{second:.0} turns a second");
}
