//! Tests of summaries, above all of their maximum length.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

/// How a stand-in for a model behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Habit {
    /// Writes a sentence about how many texts it read.
    Brief,
    /// Returns everything, more than once.
    Chatty,
    /// Returns blanks.
    Silent,
    /// Fails from this call on.
    Failing(usize),
}

struct StandIn {
    habit: Habit,
    /// How many texts came in each call.
    calls: Mutex<Vec<usize>>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

impl StandIn {
    fn new(habit: Habit) -> Self {
        Self { habit, calls: Mutex::default(), busy: AtomicUsize::new(0), busiest: AtomicUsize::new(0) }
    }

    fn calls(&self) -> Vec<usize> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait]
impl Writer for StandIn {
    async fn write(&self, texts: &[String], _: usize) -> Result<String> {
        let call = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(texts.len());
            calls.len()
        };
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.busiest.fetch_max(busy, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.busy.fetch_sub(1, Ordering::SeqCst);
        match self.habit {
            Habit::Brief => Ok(format!("\n {} texts were read. ", texts.len())),
            Habit::Chatty => Ok(format!("{}\n\n", texts.join(" ")).repeat(3)),
            Habit::Silent => Ok(" \n".to_owned()),
            Habit::Failing(from) if call < from => Ok("So far so good.".to_owned()),
            Habit::Failing(_) => Err(loci_models::Error::Inference { problem: "no mood".to_owned() }.into()),
        }
    }
}

fn run(texts: &[String], strategy: SummaryStrategy, target: usize, writer: Option<&StandIn>) -> Result<Summary> {
    let writer = writer.map(|writer| writer as &dyn Writer);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(summarize(texts, None, strategy, target, writer))
}

/// Texts of about eleven tokens.
fn diary(days: usize) -> Vec<String> {
    (0..days).map(|day| format!("On day {day} Ana counted {} herons by the river.", day * 7 % 23)).collect()
}

#[test]
fn names_are_read_as_they_are_written() {
    for strategy in SummaryStrategy::ALL {
        assert_eq!(strategy.name().parse::<SummaryStrategy>().unwrap(), *strategy);
        assert_eq!(serde_json::to_value(strategy).unwrap(), strategy.name());
        assert_eq!(serde_json::from_value::<SummaryStrategy>(strategy.name().into()).unwrap(), *strategy);
    }
    for other in ["map_reduce", "map-reduce"] {
        assert_eq!(other.parse::<SummaryStrategy>().unwrap(), SummaryStrategy::MapReduce);
        assert_eq!(serde_json::from_value::<SummaryStrategy>(other.into()).unwrap(), SummaryStrategy::MapReduce);
    }
    let error = "poetic".parse::<SummaryStrategy>().unwrap_err();
    assert_eq!(error.field(), Some("strategy"));
    assert_eq!(error.advice(), Some("use one of simple, hierarchical, extractive, map_reduce"));
}

#[test]
fn each_strategy_calls_in_its_own_shape() {
    use SummaryStrategy::*;
    for (strategy, texts, target, calls, text) in [
        (Simple, 25, 50, vec![25], "25 texts were read."),
        (
            Extractive,
            2,
            50,
            vec![],
            "On day 0 Ana counted 0 herons by the river.\nOn day 1 Ana counted 7 herons by the river.",
        ),
        (Hierarchical, 7, 50, vec![7], "7 texts were read."),
        (Hierarchical, 25, 50, vec![10, 10, 5], "10 texts were read.\n10 texts were read.\n5 texts were read."),
        (Hierarchical, 25, 10, vec![10, 10, 5, 3], "3 texts were read."),
        (Hierarchical, 101, 9, [vec![10; 10], vec![1, 10, 1, 2]].concat(), "2 texts were read."),
        (MapReduce, 7, 50, vec![7], "7 texts were read."),
        (MapReduce, 25, 50, vec![10, 10, 5, 3], "3 texts were read."),
        (MapReduce, 0, 50, vec![], ""),
        (Simple, 3, 0, vec![], ""),
    ] {
        let writer = StandIn::new(Habit::Brief);
        let summary = run(&diary(texts), strategy, target, Some(&writer)).unwrap();
        assert_eq!((writer.calls(), summary.text.as_str()), (calls, text), "{strategy} {texts} {target}");
        assert_eq!(summary.used_llm, strategy != Extractive && !text.is_empty(), "{strategy} {texts}");
        assert!(writer.busiest.into_inner() <= CONCURRENT_CHUNKS);
    }
}

#[test]
fn chunks_are_written_side_by_side() {
    let writer = StandIn::new(Habit::Brief);
    run(&diary(100), SummaryStrategy::MapReduce, 100, Some(&writer)).unwrap();
    assert_eq!(writer.busiest.into_inner(), CONCURRENT_CHUNKS);
}

#[test]
fn without_a_writer_the_shape_stays() {
    for strategy in SummaryStrategy::ALL {
        let summary = run(&diary(120), *strategy, 60, None).unwrap();
        assert!(!summary.used_llm);
        assert!((45..=60).contains(&summary.tokens_after), "{strategy}: {}", summary.text);
        assert!(summary.text.lines().all(|line| diary(120).contains(&line.to_owned())), "{}", summary.text);
        assert_eq!(summary.tokens_saved, summary.tokens_before - summary.tokens_after);
    }
}

#[test]
fn a_writer_is_held_to_the_target() {
    for strategy in SummaryStrategy::ALL {
        let chatty = run(&diary(30), *strategy, 40, Some(&StandIn::new(Habit::Chatty))).unwrap();
        assert!((1..=40).contains(&chatty.tokens_after), "{strategy}");
        let silent = run(&diary(30), *strategy, 40, Some(&StandIn::new(Habit::Silent))).unwrap();
        assert!(!silent.used_llm && (1..=40).contains(&silent.tokens_after), "{strategy}: {silent:?}");
        assert!(silent.text.lines().all(|line| diary(30).contains(&line.to_owned())), "{strategy}: {}", silent.text);
    }
}

#[test]
fn a_failure_is_reported() {
    use SummaryStrategy::*;
    for (strategy, from, fails) in
        [(Simple, 1, true), (Simple, 2, false), (Hierarchical, 3, true), (MapReduce, 4, true), (Extractive, 1, false)]
    {
        let result = run(&diary(30), strategy, 40, Some(&StandIn::new(Habit::Failing(from))));
        assert_eq!(result.is_err(), fails, "{strategy} {from}");
        if let Err(error) = result {
            assert_eq!(error.to_string(), "the local model failed: no mood");
        }
    }
}

#[test]
fn vectors_of_another_number_of_texts_are_not_read() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let vectors = vec![vec![1.0, 0.0]; 3];
    for strategy in SummaryStrategy::ALL {
        let with = runtime.block_on(summarize(&diary(30), Some(&vectors), *strategy, 40, None)).unwrap();
        assert_eq!(with, run(&diary(30), *strategy, 40, None).unwrap());
    }
}

fn habits() -> impl Strategy<Value = Option<Habit>> {
    prop_oneof![Just(None), Just(Some(Habit::Brief)), Just(Some(Habit::Chatty)), Just(Some(Habit::Silent))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_summary_keeps_the_laws(
        texts in prop::collection::vec("([a-z]{1,6} ){0,9}[.!]?( \\PC{0,9}\\. [A-Z]?)?", 0..45),
        strategy in prop::sample::select(SummaryStrategy::ALL),
        target in 0_usize..90,
        habit in habits(),
    ) {
        let writer = habit.map(StandIn::new);
        let summary = run(&texts, strategy, target, writer.as_ref()).unwrap();
        prop_assert!(summary.tokens_after <= target);
        prop_assert_eq!(summary.tokens_after, count_tokens(&summary.text));
        prop_assert_eq!(summary.tokens_before, texts.iter().map(|text| count_tokens(text)).sum::<usize>());
        prop_assert_eq!(summary.tokens_saved, summary.tokens_before.saturating_sub(summary.tokens_after));
        prop_assert_eq!(summary.strategy, strategy);
        if habit.is_none() || strategy == SummaryStrategy::Extractive {
            prop_assert!(!summary.used_llm);
        }
        if let (Some(writer), SummaryStrategy::Simple) = (&writer, strategy) {
            prop_assert!(writer.calls().len() <= 1);
        }
        prop_assert_eq!(&summary, &run(&texts, strategy, target, habit.map(StandIn::new).as_ref()).unwrap());
    }
}
