//! What is a set of conversations with questions?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use loci_engine::{Caller, Engine, RecallHit, RecallRequest, policy};
use loci_models::{Detail, Embedder};
use loci_store::Page;
use loci_types::{Filter, Identifiers, MemoryId};
use serde_json::{Value, json};

use super::corpus::{self, Line, Question};
use super::measure::Measures;
use crate::settings::Settings;
use crate::wiring;

/// Conversations, their questions and where their stores lie.
pub(super) struct Set {
    pub(super) name: String,
    conversations: BTreeMap<String, Vec<Line>>,
    questions: Vec<Question>,
    stores: PathBuf,
    ingested: Times,
}

/// The answer to one question.
pub(super) struct Answer {
    pub(super) qid: String,
    /// The ids of turns, best first, each once.
    pub(super) hits: Vec<(String, RecallHit)>,
    pub(super) degraded: Vec<String>,
}

/// How long things took.
#[derive(Default, Clone)]
pub(super) struct Times {
    turns: usize,
    ingest: Duration,
    embed: Duration,
    query_embeddings: Vec<f64>,
    recalls: Vec<f64>,
}

impl Set {
    /// Reads a set; its stores will lie in a folder of its name.
    pub(super) fn read(corpus: &Path, questions: &Path, stores: &Path) -> Result<Self> {
        let mut conversations: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in corpus::read::<Line>(corpus)? {
            conversations.entry(line.conv.clone()).or_default().push(line);
        }
        let folder = corpus.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let name = folder.filter(|name| !name.is_empty()).unwrap_or_else(|| corpus.display().to_string());
        let stores = stores.join(&name);
        Ok(Self { name, conversations, questions: corpus::read(questions)?, stores, ingested: Times::default() })
    }

    async fn engine(
        &self,
        settings: &Settings,
        embedder: Option<Arc<dyn Embedder>>,
        conversation: &str,
    ) -> Result<Engine> {
        let folder = self.stores.join(conversation);
        // On a server each conversation has a schema of its own, as it has a folder of its own here.
        let name = format!("eval_{}_{conversation}", self.name).to_lowercase();
        let schema =
            name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(63).collect();
        let postgres = crate::floor::Postgres { schema, ..settings.postgres.clone() };
        let settings = &Settings { postgres, ..settings.clone() };
        Ok(wiring::engine(settings, &folder, embedder, Arc::new(loci_engine::System)).await?)
    }

    /// Puts the conversations into their stores, unless they are there.
    pub(super) async fn ingest(&mut self, settings: &Settings, embedder: Option<Arc<dyn Embedder>>) -> Result<()> {
        let mut times = Times::default();
        let whole: usize = self.conversations.values().map(Vec::len).sum();
        let progress = crate::output::progress(whole as u64, "turns");
        for (conversation, lines) in &self.conversations {
            let known = self.stores.join(conversation).join("catalogue.db").exists();
            progress.inc(lines.len() as u64);
            if known {
                continue;
            }
            let engine = self.engine(settings, embedder.clone(), conversation).await?;
            let start = Instant::now();
            for line in lines {
                engine.ingest(&caller(conversation, Some(line.session())), line.turn()).await?;
            }
            times.ingest += start.elapsed();
            times.turns += lines.len();
            let start = Instant::now();
            while engine.embed_waiting(&Caller::operator(), 1024).await? > 0 {}
            times.embed += start.elapsed();
        }
        progress.finish_and_clear();
        self.ingested = times;
        Ok(())
    }

    /// Asks every question.
    pub(super) async fn ask(
        &self,
        settings: &Settings,
        embedder: Option<Arc<dyn Embedder>>,
        limit: usize,
    ) -> Result<(Vec<Answer>, Times)> {
        let (mut answers, mut times) = (Vec::with_capacity(self.questions.len()), self.ingested.clone());
        let progress = crate::output::progress(self.questions.len() as u64, "questions");
        let asked: BTreeSet<&str> = self.conversations.keys().map(String::as_str).collect();
        for conversation in &asked {
            let engine = self.engine(settings, embedder.clone(), conversation).await?;
            for question in self.questions.iter().filter(|question| question.conv == *conversation) {
                let embedder = embedder.as_deref();
                answers.push(ask(&engine, embedder, conversation, question, limit, &mut times).await?);
                progress.inc(1);
            }
        }
        // A question about a conversation that is not there finds nothing, and counts as that.
        for question in self.questions.iter().filter(|question| !asked.contains(question.conv.as_str())) {
            answers.push(Answer { qid: question.qid.clone(), hits: Vec::new(), degraded: Vec::new() });
        }
        progress.finish_and_clear();
        Ok((answers, times))
    }

    /// How good the answers are.
    pub(super) fn measure(&self, answers: &[Answer]) -> Measures {
        let mut measures = Measures::default();
        for question in &self.questions {
            if let Some(answer) = answers.iter().find(|answer| answer.qid == question.qid) {
                let ranked: Vec<String> = answer.hits.iter().map(|(id, _)| id.clone()).collect();
                measures.add(question, &ranked);
            }
        }
        measures
    }

    /// Bytes of a turn's vector and of its token states, on average.
    pub(super) async fn bytes(&self, settings: &Settings, embedder: Option<Arc<dyn Embedder>>) -> Result<(f64, f64)> {
        let (mut vectors, mut states, mut turns) = (0, 0, 0);
        for conversation in self.conversations.keys() {
            let engine = self.engine(settings, embedder.clone(), conversation).await?;
            let Some(model) = engine.model().map(|model| model.name.clone()) else { return Ok((0.0, 0.0)) };
            let visible = policy::visible(&caller(conversation, None), None)?;
            let page = Page { after: None, limit: 100_000 };
            let listing = engine.store().scan(&visible, &Filter::at(engine.now()), page).await?;
            let ids: Vec<MemoryId> = listing.memories.iter().map(|memory| memory.id).collect();
            for (_, vector) in engine.store().vectors(&visible, &model, &ids).await? {
                vectors += 4 * vector.values.len();
                states += vector.token_states.map_or(0, |states| states.len());
                turns += 1;
            }
        }
        let share = |bytes: usize| bytes as f64 / f64::from(turns.max(1));
        Ok((share(vectors), share(states)))
    }
}

fn caller(conversation: &str, session: Option<String>) -> Caller {
    Caller::new(Identifiers {
        agent_id: Some("eval".to_owned()),
        user_id: Some(conversation.to_owned()),
        session_id: session,
        ..Identifiers::default()
    })
}

/// The turns that recall ranks, each once: a long turn may lie in several pieces.
async fn ask(
    engine: &Engine,
    embedder: Option<&dyn Embedder>,
    conversation: &str,
    question: &Question,
    limit: usize,
    times: &mut Times,
) -> Result<Answer> {
    if let Some(embedder) = embedder {
        // Into the cache, so that the time of recall is seen without the model's.
        let start = Instant::now();
        embedder.embed(std::slice::from_ref(&question.question), Detail::Tokens).await?;
        times.query_embeddings.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // Questions are independent of each other: asking one must not change the answer to the next.
    let request = RecallRequest {
        query: question.question.clone(),
        limit: Some(limit),
        uncounted: true,
        ..RecallRequest::default()
    };
    let start = Instant::now();
    let recall = engine.recall(&caller(conversation, None), request).await?;
    times.recalls.push(start.elapsed().as_secs_f64() * 1e3);
    let mut hits: Vec<(String, RecallHit)> = Vec::with_capacity(limit);
    for hit in recall.hits {
        let Some(id) = hit.memory.source.as_ref().and_then(|source| source.reference.clone()) else { continue };
        if !hits.iter().any(|(known, _)| *known == id) {
            hits.push((id, hit));
        }
    }
    Ok(Answer { qid: question.qid.clone(), hits, degraded: recall.degraded })
}

impl Times {
    /// The median of a recall without the question's embedding, in milliseconds.
    pub(super) fn median(&self) -> f64 {
        at(&sorted(self.recalls.clone()), 0.5)
    }

    /// The figures.
    pub(super) fn told(&self) -> Value {
        let mut whole = self.recalls.clone();
        for (whole, embedding) in whole.iter_mut().zip(&self.query_embeddings) {
            *whole += embedding;
        }
        let (whole, recalls) = (sorted(whole), sorted(self.recalls.clone()));
        json!({
            "turns": self.turns,
            "ingestPerSecond": self.turns as f64 / self.ingest.as_secs_f64().max(1e-9),
            "embedPerSecond": self.turns as f64 / self.embed.as_secs_f64().max(1e-9),
            "recallMs": { "p50": at(&recalls, 0.5), "p95": at(&recalls, 0.95) },
            "withEmbeddingMs": { "p50": at(&whole, 0.5), "p95": at(&whole, 0.95) },
        })
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn at(sorted: &[f64], share: f64) -> f64 {
    sorted.get((sorted.len() as f64 * share) as usize).copied().unwrap_or(0.0)
}
