//! The cache saves work without changing a result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use loci_models::cache::{Cached, Limits, Stats};
use loci_models::{Detail, Embedder, Embedding, Error, Model, SharedCache, Token};

/// Embeds a text as its length, and writes down what it was asked.
struct Noting {
    model: Model,
    asked: Mutex<Vec<Vec<String>>>,
    fails: bool,
}

impl Noting {
    fn new(fails: bool) -> Arc<Self> {
        let model = Model { name: "noting".into(), dimensions: 1, similarity_threshold: 0.3, max_tokens: 9 };
        Arc::new(Self { model, asked: Mutex::default(), fails })
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Noting {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.asked.lock().unwrap().push(texts.to_vec());
        if self.fails {
            return Err(Error::Timeout { service: "noting".into(), after: Duration::ZERO });
        }
        let token = |text: &String| Token { id: 1, piece: text.clone(), state: vec![1.0; 1000] };
        let embed = |text: &String| Embedding {
            vector: vec![text.len() as f32],
            tokens: if detail == Detail::Tokens { vec![token(text)] } else { vec![] },
        };
        Ok(texts.iter().map(embed).collect())
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

async fn lengths(cached: &Cached<Arc<Noting>>, text: &str) -> Vec<f32> {
    let embeddings = cached.embed(&words(text), Detail::Sentence).await.unwrap();
    embeddings.iter().map(|embedding| embedding.vector[0]).collect()
}

// Coverage: S4.7.
#[tokio::test]
async fn only_misses_are_sent_on_in_one_batch() {
    let noting = Noting::new(false);
    let cached = Cached::new(Arc::clone(&noting));
    assert_eq!(lengths(&cached, "a bb").await, [1.0, 2.0]);
    assert_eq!(lengths(&cached, "ccc bb dddd a ccc").await, [3.0, 2.0, 4.0, 1.0, 3.0]);
    assert_eq!(lengths(&cached, "dddd a").await, [4.0, 1.0]);
    assert_eq!(noting.asked(), [words("a bb"), words("ccc dddd")]);
    assert_eq!(cached.stats(), Stats { hits: 5, misses: 4 });
}

#[tokio::test]
async fn sentences_and_tokens_are_kept_apart() {
    let noting = Noting::new(false);
    let cached = Cached::new(Arc::clone(&noting));
    for (detail, tokens) in [(Detail::Sentence, 0), (Detail::Tokens, 1), (Detail::Sentence, 0), (Detail::Tokens, 1)] {
        assert_eq!(cached.embed(&words("a"), detail).await.unwrap()[0].tokens.len(), tokens);
    }
    assert_eq!(noting.asked().len(), 2);
}

// Coverage: S4.7.
#[tokio::test]
async fn the_longest_unused_gives_way() {
    let noting = Noting::new(false);
    let cached = Cached::with_limits(Arc::clone(&noting), Limits { entries: 2, ..Limits::default() });
    for text in ["a", "bb", "a", "ccc"] {
        lengths(&cached, text).await;
        cached.settle().await;
    }
    lengths(&cached, "a ccc").await;
    assert_eq!(noting.asked().len(), 3, "`a` and `ccc` are known");
    lengths(&cached, "bb").await;
    assert_eq!(noting.asked().len(), 4, "`bb` had to give way");
}

#[tokio::test]
async fn token_states_are_bounded_by_bytes() {
    let noting = Noting::new(false);
    // One state of a thousand numbers is a little over 4 kB.
    let cached = Cached::with_limits(Arc::clone(&noting), Limits { token_bytes: 9000, ..Limits::default() });
    for text in ["a", "b", "c", "c", "b", "a"] {
        cached.embed(&words(text), Detail::Tokens).await.unwrap();
        cached.settle().await;
    }
    assert_eq!(cached.stats(), Stats { hits: 2, misses: 4 });
}

// Coverage: S4.7.
#[tokio::test]
async fn what_is_old_is_asked_again() {
    let noting = Noting::new(false);
    let limits = Limits { lifetime: Duration::from_millis(50), ..Limits::default() };
    let cached = Cached::with_limits(Arc::clone(&noting), limits);
    lengths(&cached, "a").await;
    tokio::time::sleep(Duration::from_millis(80)).await;
    lengths(&cached, "a").await;
    assert_eq!(noting.asked().len(), 2);
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let noting = Noting::new(true);
    let cached = Cached::new(Arc::clone(&noting));
    for _ in 0..2 {
        assert!(matches!(cached.embed(&words("a"), Detail::Sentence).await, Err(Error::Timeout { .. })));
    }
    assert_eq!(noting.asked().len(), 2);
    assert!(cached.embed(&[], Detail::Sentence).await.unwrap().is_empty());
}

/// A cache that several share, in one of its moods.
#[derive(Default)]
struct Common {
    kept: Mutex<HashMap<String, Vec<u8>>>,
    mood: Mutex<Mood>,
}

#[derive(Default, Clone, Copy)]
enum Mood {
    #[default]
    Well,
    Away,
    Hanging,
    Confused,
}

impl Common {
    async fn mood(&self) -> Mood {
        let mood = *self.mood.lock().unwrap();
        if matches!(mood, Mood::Hanging) {
            std::future::pending::<()>().await;
        }
        mood
    }
}

#[async_trait]
impl SharedCache for Common {
    async fn get(&self, keys: &[String]) -> Option<Vec<Option<Vec<u8>>>> {
        match self.mood().await {
            Mood::Away => None,
            Mood::Confused => Some(vec![Some(b"nonsense".to_vec()); keys.len()]),
            _ => Some(keys.iter().map(|key| self.kept.lock().unwrap().get(key).cloned()).collect()),
        }
    }

    async fn put(&self, entries: Vec<(String, Vec<u8>)>) {
        if let Mood::Well = self.mood().await {
            self.kept.lock().unwrap().extend(entries);
        }
    }
}

#[tokio::test]
async fn two_processes_embed_a_text_once() {
    let common = Arc::new(Common::default());
    let noting = [Noting::new(false), Noting::new(false)];
    let [first, second] = noting.each_ref().map(|noting| Cached::new(Arc::clone(noting)).sharing(common.clone()));
    assert_eq!(lengths(&first, "a bb").await, [1.0, 2.0]);
    assert_eq!(lengths(&second, "ccc bb a dddd bb").await, [3.0, 2.0, 1.0, 4.0, 2.0]);
    assert_eq!(lengths(&first, "dddd a ccc").await, [4.0, 1.0, 3.0]);
    assert_eq!(noting[0].asked(), [words("a bb")]);
    assert_eq!(noting[1].asked(), [words("ccc dddd")]);
    assert_eq!(second.stats(), Stats { hits: 3, misses: 2 });
    // Once known here, nobody else is asked.
    *common.mood.lock().unwrap() = Mood::Away;
    assert_eq!(lengths(&second, "a bb").await, [1.0, 2.0]);
    // The other detail is another embedding, and comes back whole.
    *common.mood.lock().unwrap() = Mood::Well;
    let here = first.embed(&words("a"), Detail::Tokens).await.unwrap();
    let there = second.embed(&words("a"), Detail::Tokens).await.unwrap();
    assert_eq!((here[0].tokens.len(), &here), (1, &there));
    assert_eq!((noting[0].asked().len(), noting[1].asked().len()), (2, 1));
}

// Coverage: S2.23.
#[tokio::test]
async fn a_shared_cache_that_fails_is_passed_over() {
    for mood in [Mood::Away, Mood::Hanging, Mood::Confused] {
        let common = Arc::new(Common { mood: Mutex::new(mood), ..Common::default() });
        let noting = Noting::new(false);
        let cached = Cached::new(Arc::clone(&noting)).sharing(common);
        let started = std::time::Instant::now();
        assert_eq!(lengths(&cached, "a bb").await, [1.0, 2.0]);
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        assert_eq!(noting.asked(), [words("a bb")]);
    }
}

#[tokio::test]
async fn long_texts_with_all_their_tokens_are_not_shared() {
    let common = Arc::new(Common::default());
    let cached = Cached::new(Noting::new(false)).sharing(common.clone());
    cached.embed(&["x".repeat(80_000)], Detail::Tokens).await.unwrap();
    assert_eq!(common.kept.lock().unwrap().len(), 0);
}
