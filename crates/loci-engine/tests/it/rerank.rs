//! Tests of the reranker and of its failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use loci_engine::{RecallRequest, Strategy, Weights};
use loci_models::{Error, Reranker};

use crate::house::{House, ask, user};

/// A stand-in for a reranker: likes one word, or fails.
struct Judge {
    likes: Option<&'static str>,
    asked: AtomicUsize,
}

#[async_trait]
impl Reranker for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    async fn rerank(&self, _: &str, texts: &[String]) -> Result<Vec<f64>, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let Some(likes) = self.likes else { return Err(Error::ModelMissing { looked: Vec::new() }) };
        Ok(texts.iter().map(|text| if text.contains(likes) { 0.9 } else { 0.1 }).collect())
    }
}

async fn house(likes: Option<&'static str>) -> (House, Arc<Judge>) {
    let judge = Arc::new(Judge { likes, asked: AtomicUsize::new(0) });
    let house = House::new().with_reranker(judge.clone());
    for content in ["the red kite flies", "the red kite is torn", "the red kite costs ten"] {
        house.remember(&user("ana"), content).await;
    }
    (house, judge)
}

// Coverage: SPEC-6.4.
#[tokio::test]
async fn a_reranker_decides_the_order_and_the_explanation_still_adds_up() {
    let (house, _) = house(Some("torn")).await;
    let recall = house.engine.recall(&user("ana"), ask("red kite")).await.unwrap();
    assert_eq!(recall.hits[0].memory.content, "the red kite is torn");
    assert!(recall.degraded.is_empty());
    for hit in &recall.hits {
        assert_eq!(hit.explain.reranked, Some(hit.explain.terms.relevance));
        assert_eq!(hit.explain.terms.relevance, hit.explain.judged_relevance());
        assert_eq!(hit.score, hit.explain.score(&Weights::default()));
    }
}

// Coverage: SPEC-6.4.
#[tokio::test]
async fn when_it_fails_the_order_stays_and_the_answer_says_so() {
    let (failing, judge) = house(None).await;
    let plain = failing.recall(&user("ana"), "red kite").await;
    let recall = failing.engine.recall(&user("ana"), ask("red kite")).await.unwrap();
    assert_eq!(recall.degraded, ["rerank"]);
    assert_eq!(recall.hits.iter().map(|hit| hit.memory.content.clone()).collect::<Vec<_>>(), plain);
    assert!(recall.hits.iter().all(|hit| hit.explain.reranked.is_none()));
    let before = judge.asked.load(Ordering::Relaxed);
    let newest = RecallRequest { strategy: Some(Strategy::Recency), ..ask("red kite") };
    failing.engine.recall(&user("ana"), newest).await.unwrap();
    assert_eq!(judge.asked.load(Ordering::Relaxed), before, "a strategy of one lane keeps its own order");
}
