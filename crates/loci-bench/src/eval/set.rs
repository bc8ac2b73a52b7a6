//! An evaluation set: memories, questions and the stores that they are asked of.
//!
//! Turns of conversations, each conversation in a store of its own, or memories of several users in one store. As lived, a
//! line is stored when it was said and the questions are asked the day after the last; fresh, everything happens now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use loci_engine::{Answered, Caller, Clock, Engine, RecallHit, RecallRequest, System, policy};
use loci_models::{Detail, Embedder};
use loci_store::Page;
use loci_types::{Error, Filter, Identifiers, MemoryId};
use serde_json::{Value, json};

use super::corpus::{self, Line, Question};
use super::measure::Measures;
use super::waiting::RefusingEmbedder;
use loci_host::settings::Settings;
use loci_host::wiring;

/// Time between the last line and the questions.
const AFTER: SignedDuration = SignedDuration::from_hours(24);

/// Number of stores for `--waiting`; each leaves the evidence of every fifth question without vectors.
const FOLDS: usize = 5;

/// Stores, their questions and where they lie.
pub(super) struct Set {
    pub(super) name: String,
    stores: BTreeMap<String, Vec<Line>>,
    questions: Vec<Question>,
    folder: PathBuf,
    options: EvalOptions,
    /// Which lines a memory holds, where its source does not say so.
    origins: HashMap<MemoryId, Vec<String>>,
    stored: Times,
}

/// How lines are stored and questions asked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EvalOptions {
    /// Everything happens now, however old it is.
    pub(super) fresh: bool,
    /// Every memory is stored as it is, without comparing it with what is known.
    pub(super) as_is: bool,
    /// What answers a question has no vector yet.
    pub(super) waiting: bool,
    /// How often every question is asked and counted as use before the answers are written down.
    pub(super) repeat: usize,
}

/// The answer to one question.
pub(super) struct Answer {
    pub(super) qid: String,
    /// The ids of lines, best first, each once.
    pub(super) hits: Vec<(String, RecallHit)>,
    pub(super) answered: Answered,
    pub(super) confidence: f64,
    pub(super) degraded: Vec<String>,
}

/// How long things took.
#[derive(Default, Clone)]
pub(super) struct Times {
    lines: usize,
    store: Duration,
    embed: Duration,
    query_embeddings: Vec<f64>,
    recalls: Vec<f64>,
}

/// A clock that is set by hand.
#[derive(Debug)]
struct SettableClock(Mutex<Timestamp>);

impl SettableClock {
    fn set(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Set {
    /// Reads a set; its stores will lie in a folder of its name.
    pub(super) fn read(corpus: &Path, questions: &Path, folder: &Path, options: EvalOptions) -> Result<Self> {
        let mut stores: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in corpus::read::<Line>(corpus)? {
            let store = match &line {
                Line::Turn(_) => line.owner().to_owned(),
                Line::Memory(_) => "memories".to_owned(),
            };
            stores.entry(store).or_default().push(line);
        }
        if stores.is_empty() {
            return Err(Error::invalid("corpus", format!("{} holds nothing", corpus.display())).into());
        }
        if options.waiting {
            let lines: Vec<Line> = stores.into_values().flatten().collect();
            stores = (0..FOLDS).map(|fold| (format!("memories-{fold}"), lines.clone())).collect();
        }
        let name = name(corpus);
        let folder = folder.join(&name);
        let asked = questions;
        let questions: Vec<Question> = corpus::read(asked)?;
        if questions.is_empty() {
            return Err(Error::invalid("questions", format!("{} holds nothing", asked.display())).into());
        }
        Ok(Self { name, stores, questions, folder, options, origins: HashMap::new(), stored: Times::default() })
    }

    async fn engine(
        &self,
        settings: &Settings,
        embedder: Option<Arc<dyn Embedder>>,
        store: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine> {
        let folder = self.folder.join(store);
        // On a server each store has a schema of its own, as it has a folder of its own here.
        let name = format!("eval_{}_{store}", self.name).to_lowercase();
        let schema =
            name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(63).collect();
        let postgres = loci_host::store::Postgres { schema, ..settings.postgres.clone() };
        let settings = &Settings { postgres, ..settings.clone() };
        Ok(wiring::engine(settings, &folder, embedder, clock).await?)
    }

    /// When each line is said, in the order of saying, and when the questions are asked.
    fn timed<'a>(&self, lines: &'a [Line]) -> (Vec<(Timestamp, &'a Line)>, Timestamp) {
        let now = System.now();
        if self.options.fresh {
            return (lines.iter().map(|line| (now, line)).collect(), now);
        }
        let mut last = Timestamp::UNIX_EPOCH;
        let mut timed: Vec<(Timestamp, &Line)> = Vec::with_capacity(lines.len());
        for line in lines {
            let said = line.said_at(now).unwrap_or(last);
            // A session tells one date for all of its turns; they are said one after the other.
            last = match line {
                Line::Turn(_) => said.max(last.checked_add(SignedDuration::from_secs(1)).unwrap_or(last)),
                Line::Memory(_) => said,
            };
            timed.push((last, line));
        }
        timed.sort_by_key(|(at, _)| *at);
        let asked = match lines.first() {
            Some(Line::Turn(_)) => last.checked_add(AFTER).unwrap_or(last),
            _ => now,
        };
        (timed, asked)
    }

    /// Puts the lines into their stores, unless they are there.
    pub(super) async fn store(&mut self, settings: &Settings, embedder: Option<Arc<dyn Embedder>>) -> Result<()> {
        let mut times = Times::default();
        let whole: usize = self.stores.values().map(Vec::len).sum();
        let progress = loci_host::output::progress(whole as u64, "lines");
        let mut origins: HashMap<MemoryId, Vec<String>> = HashMap::new();
        for (place, (store, lines)) in self.stores.iter().enumerate() {
            let (known, beside) =
                (self.folder.join(store).join("catalogue.db"), self.folder.join(store).join("origins.json"));
            if known.exists() {
                progress.inc(lines.len() as u64);
                origins.extend(corpus::read::<(MemoryId, Vec<String>)>(&beside).unwrap_or_default());
                continue;
            }
            let (timed, asked) = self.timed(lines);
            let clock = Arc::new(SettableClock(Mutex::new(asked)));
            let waiting = self.options.waiting.then(|| self.answers(place, lines));
            let embedder = embedder.clone().map(|embedder| RefusingEmbedder::beside(embedder, waiting.clone()));
            let engine = self.engine(settings, embedder, store, clock.clone()).await?;
            let start = Instant::now();
            let mut here: HashMap<MemoryId, Vec<String>> = HashMap::new();
            for (at, line) in timed {
                clock.set(at);
                match line {
                    Line::Turn(turn) => {
                        engine.ingest(&caller(line.owner(), Some(turn.session())), turn.turn()).await?;
                    }
                    Line::Memory(memory) => {
                        let new = memory.memory(self.options.as_is);
                        let receipt = engine.remember(&caller(line.owner(), None), new).await?;
                        here.entry(receipt.id).or_default().push(line.id().to_owned());
                    }
                }
                progress.inc(1);
            }
            clock.set(asked);
            times.store += start.elapsed();
            times.lines += lines.len();
            let start = Instant::now();
            while waiting.is_none() && engine.embed_waiting(&Caller::operator(), 1024).await? > 0 {}
            times.embed += start.elapsed();
            let lines: Vec<String> = here.iter().map(|origin| json!(origin).to_string()).collect();
            // On a server the store itself makes no folder.
            std::fs::create_dir_all(self.folder.join(store))?;
            std::fs::write(beside, lines.join("\n"))?;
            origins.extend(here);
        }
        progress.finish_and_clear();
        (self.origins, self.stored) = (origins, times);
        Ok(())
    }

    /// The questions that are asked in this store.
    fn asked_in(&self, place: usize, lines: &[Line]) -> Vec<&Question> {
        let owners: BTreeSet<&str> = lines.iter().map(Line::owner).collect();
        let numbered = self.questions.iter().enumerate();
        let here = numbered.filter(|(number, _)| !self.options.waiting || number % FOLDS == place);
        here.map(|(_, question)| question).filter(|question| owners.contains(question.conv.as_str())).collect()
    }

    /// The texts that answer a question asked in this store.
    fn answers(&self, place: usize, lines: &[Line]) -> Vec<String> {
        let asked = self.asked_in(place, lines);
        let evidence: BTreeSet<&String> = asked.iter().flat_map(|question| &question.evidence).collect();
        let text = |line: &Line| match line {
            Line::Turn(turn) => turn.turn().content,
            Line::Memory(memory) => memory.memory(true).content,
        };
        lines.iter().filter(|line| evidence.contains(&line.id().to_owned())).map(text).collect()
    }

    /// Asks every question.
    pub(super) async fn ask(
        &self,
        settings: &Settings,
        embedder: Option<Arc<dyn Embedder>>,
        limit: usize,
    ) -> Result<(Vec<Answer>, Times)> {
        let (mut answers, mut times) = (Vec::with_capacity(self.questions.len()), self.stored.clone());
        let progress = loci_host::output::progress(self.questions.len() as u64, "questions");
        for (place, (store, lines)) in self.stores.iter().enumerate() {
            let clock = Arc::new(SettableClock(Mutex::new(self.timed(lines).1)));
            let engine = self.engine(settings, embedder.clone(), store, clock).await?;
            let here = self.asked_in(place, lines);
            for question in (0..self.options.repeat).flat_map(|_| &here) {
                engine.recall(&caller(&question.conv, None), request(question, limit, false)).await?;
            }
            for question in here {
                answers.push(self.ask_one(&engine, embedder.as_deref(), question, limit, &mut times).await?);
                progress.inc(1);
            }
        }
        // A question about someone who is not there finds nothing, and counts as that.
        let answered: BTreeSet<String> = answers.iter().map(|answer| answer.qid.clone()).collect();
        for question in self.questions.iter().filter(|question| !answered.contains(&question.qid)) {
            let qid = question.qid.clone();
            let answered = Answered::No;
            answers.push(Answer { qid, hits: Vec::new(), answered, confidence: 0.0, degraded: Vec::new() });
        }
        progress.finish_and_clear();
        Ok((answers, times))
    }

    /// The lines that recall ranks, each once: a long turn may lie in several pieces.
    async fn ask_one(
        &self,
        engine: &Engine,
        embedder: Option<&dyn Embedder>,
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
        let start = Instant::now();
        // Questions are independent of each other: asking one must not change the answer to the next.
        let recall = engine.recall(&caller(&question.conv, None), request(question, limit, true)).await?;
        times.recalls.push(start.elapsed().as_secs_f64() * 1e3);
        let mut hits: Vec<(String, RecallHit)> = Vec::with_capacity(limit);
        for hit in recall.hits {
            let reference = hit.memory.source.as_ref().and_then(|source| source.reference.clone());
            let ids = self.origins.get(&hit.memory.id).cloned().unwrap_or_else(|| reference.into_iter().collect());
            for id in ids {
                if !hits.iter().any(|(known, _)| *known == id) {
                    hits.push((id, hit.clone()));
                }
            }
        }
        let (qid, answered) = (question.qid.clone(), recall.answered);
        Ok(Answer { qid, hits, answered, confidence: recall.confidence, degraded: recall.degraded })
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
        for (store, lines) in &self.stores {
            let engine = self.engine(settings, embedder.clone(), store, Arc::new(System)).await?;
            let Some(model) = engine.model().map(|model| model.name.clone()) else { return Ok((0.0, 0.0)) };
            let visible = policy::visible(&caller(lines[0].owner(), None), None)?;
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

fn request(question: &Question, limit: usize, uncounted: bool) -> RecallRequest {
    RecallRequest { query: question.question.clone(), limit: Some(limit), uncounted, ..RecallRequest::default() }
}

/// A set is known by its folder, or by its file where several lie in one.
fn name(corpus: &Path) -> String {
    let part =
        |part: Option<&std::ffi::OsStr>| part.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = part(corpus.file_name());
    let file = file.split('.').next().unwrap_or_default();
    let folder = part(corpus.parent().and_then(Path::file_name));
    if file == "corpus" && !folder.is_empty() { folder } else { file.to_owned() }
}

impl Times {
    /// The median of a recall without the question's embedding, in milliseconds.
    pub(super) fn median(&self) -> f64 {
        at(&sorted(self.recalls.clone()), 0.5)
    }

    /// The figures.
    pub(super) fn figures(&self) -> Value {
        let mut whole = self.recalls.clone();
        for (whole, embedding) in whole.iter_mut().zip(&self.query_embeddings) {
            *whole += embedding;
        }
        let (whole, recalls) = (sorted(whole), sorted(self.recalls.clone()));
        json!({
            "lines": self.lines,
            "storedPerSecond": self.lines as f64 / self.store.as_secs_f64().max(1e-9),
            "embeddedPerSecond": self.lines as f64 / self.embed.as_secs_f64().max(1e-9),
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
