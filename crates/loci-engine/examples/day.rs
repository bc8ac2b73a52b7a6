//! How well is a scripted day learned?
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;

use jiff::Timestamp;
use loci_engine::{Caller, Clock, Config, Engine, ListRequest, RecallRequest, Turn};
use loci_models::{Cached, Embedder, Local};
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Filter, Identifiers, Memory};
use serde_json::Value;

struct Hands(Mutex<Timestamp>);
impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

fn says(text: &str, words: &Value) -> bool {
    let text = text.to_lowercase();
    words.as_array().unwrap().iter().any(|word| text.contains(&word.as_str().unwrap().to_lowercase()))
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap();
    let name = args.next().unwrap();
    let model = args.next();
    let turns: Vec<Value> =
        std::fs::read_to_string(format!("{folder}/{}.jsonl", if name == "day" { "turns" } else { "other" }))
            .unwrap()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
    let expect: Value = serde_json::from_str(
        &std::fs::read_to_string(format!("{folder}/{}.json", if name == "day" { "expect" } else { "other-expect" }))
            .unwrap(),
    )
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path(), SqliteOptions::default()).unwrap();
    let clock = Arc::new(Hands(Mutex::new("2026-06-01T07:00:00Z".parse().unwrap())));
    let embedder: Option<Arc<dyn Embedder>> =
        model.map(|m| Arc::new(Cached::new(Local::load(std::path::Path::new(&m)).unwrap())) as Arc<dyn Embedder>);
    let engine = Engine::new(Arc::new(store), embedder, clock.clone(), Config::default()).unwrap();
    let operator = Caller::operator();
    let user = turns.iter().find_map(|t| t["actorId"].as_str()).unwrap().to_owned();
    let caller = |session: Option<&str>| {
        Caller::new(Identifiers {
            user_id: Some(user.clone()),
            session_id: session.map(str::to_owned),
            ..Default::default()
        })
    };
    let mut last: Option<String> = None;
    let settle = async |session: &str| {
        engine.end_session(&caller(Some(session)), session).await.unwrap();
        engine.embed_waiting(&operator, 10_000).await.unwrap();
        engine.work(&operator, &[], 1000).await.unwrap();
        for p in engine.proposals(&caller(None)).await.unwrap() {
            engine.accept(&caller(None), p.memory.id).await.unwrap();
        }
    };
    for t in &turns {
        let session = t["sessionId"].as_str().unwrap();
        if last.as_deref().is_some_and(|l| l != session) {
            settle(last.as_deref().unwrap()).await;
        }
        last = Some(session.to_owned());
        *clock.0.lock().unwrap() = t["eventTime"].as_str().unwrap().parse().unwrap();
        let s = |f: &str| t[f].as_str().map(str::to_owned);
        engine
            .ingest(
                &caller(Some(session)),
                Turn {
                    thread_id: s("threadId").unwrap(),
                    content: s("content").unwrap(),
                    role: s("role"),
                    actor_id: s("actorId"),
                    event_time: t["eventTime"].as_str().map(|x| x.parse().unwrap()),
                    reference: s("reference"),
                    ..Default::default()
                },
            )
            .await
            .unwrap();
    }
    settle(last.as_deref().unwrap()).await;
    let ana = caller(None);
    let mut all: Vec<Memory> = Vec::new();
    let mut cursor = None;
    loop {
        let page = engine
            .list(
                &ana,
                ListRequest {
                    limit: Some(100),
                    cursor,
                    filter: Some(Filter::everything(engine.now())),
                    ..Default::default()
                },
            )
            .await
            .unwrap();
        all.extend(page.memories);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let learned: Vec<&Memory> = all.iter().filter(|m| m.kind.name() != "episodic").collect();
    let active: Vec<&Memory> =
        learned.iter().copied().filter(|m| m.superseded_by_id.is_none() && m.state.is_live()).collect();
    let mut sources = std::collections::BTreeMap::new();
    for m in &learned {
        let told = engine.explain(&ana, m.id).await.unwrap();
        let refs: Vec<String> = told.sources.iter().filter_map(|s| s.source.as_ref()?.reference.clone()).collect();
        sources.insert(m.id, refs);
    }
    for job in engine.jobs(&operator, &[]).await.unwrap() {
        println!("JOB {:?} {} {:?}", job.kind, job.state, job.last_error);
    }
    for session in engine.sessions(&operator, Default::default()).await.unwrap() {
        println!("SESSION {} pending {} ended {:?}", session.name, session.pending, session.ended_at);
    }
    println!("== learned {} active {}", learned.len(), active.len());
    for m in learned.iter().rev() {
        println!(
            "{} [{}] {} {:?}",
            if m.superseded_by_id.is_none() { "  " } else { "x " },
            m.kind,
            m.content,
            sources[&m.id]
        );
    }
    println!("== facts");
    let (mut hit, mut stale, mut n) = (0, 0, 0);
    for f in expect["facts"].as_array().unwrap() {
        n += 1;
        let filter = Filter {
            kinds: engine.kinds().iter().filter(|k| k.name != "episodic").map(|k| k.name.clone()).collect(),
            ..Filter::at(engine.now())
        };
        let recall = engine
            .recall(
                &ana,
                RecallRequest {
                    query: f["question"].as_str().unwrap().to_owned(),
                    filter: Some(filter),
                    limit: Some(5),
                    uncounted: true,
                    ..Default::default()
                },
            )
            .await
            .unwrap();
        let found = recall.hits.iter().any(|h| says(&h.memory.content, &f["answer"]));
        let old = f.get("not").is_some_and(|not| {
            recall.hits.iter().any(|h| says(&h.memory.content, not) && !says(&h.memory.content, &f["answer"]))
        });
        hit += usize::from(found);
        stale += usize::from(old);
        if !found || old {
            println!(
                "{} {} {} turn {} learned: {}",
                f["id"],
                if found { "STALE" } else { "MISS" },
                f["question"],
                f["turn"],
                active.iter().any(|m| says(&m.content, &f["answer"]))
            );
        }
    }
    println!("facts {hit}/{n}, stale {stale}");
    println!("== contradictions");
    let (mut resolved, mut n) = (0, 0);
    for c in expect["contradictions"].as_array().unwrap() {
        n += 1;
        let about = |m: &Memory| says(&m.content, &c["about"]);
        let latest: Vec<&&Memory> = active.iter().filter(|m| says(&m.content, &c["latest"]) && about(m)).collect();
        let old: Vec<&&Memory> = active
            .iter()
            .filter(|m| says(&m.content, &c["old"]) && !says(&m.content, &c["latest"]) && about(m))
            .collect();
        let chain = learned.iter().any(|m| m.superseded_by_id.is_some() && says(&m.content, &c["old"]));
        if !latest.is_empty() && old.is_empty() {
            resolved += 1;
        }
        if latest.is_empty() || !old.is_empty() || !chain {
            println!(
                "{} latest {} old {:?} chain {chain} turns {}",
                c["id"],
                latest.len(),
                old.iter().map(|m| &m.content).collect::<Vec<_>>(),
                c["turns"]
            );
        }
    }
    println!("contradictions {resolved}/{n}");
    let chit: BTreeSet<&str> = expect["chitchat"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    let junk: Vec<&&Memory> = active
        .iter()
        .filter(|m| {
            !sources[&m.id].is_empty()
                && sources[&m.id].iter().all(|r| chit.contains(r.as_str()))
                && m.kind.name() != "insight"
        })
        .collect();
    println!("chit-chat learned {}: {:?}", junk.len(), junk.iter().map(|m| &m.content).collect::<Vec<_>>());
    let mut dup = 0;
    for group in expect["duplicates"].as_array().unwrap() {
        let refs: BTreeSet<&str> = group.as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
        let from: Vec<&&Memory> = active
            .iter()
            .filter(|m| sources[&m.id].iter().any(|r| refs.contains(r.as_str())) && m.kind.name() != "insight")
            .collect();
        if from.len() > 1 {
            dup += 1;
            println!("duplicates? {refs:?} {:?}", from.iter().map(|m| &m.content).collect::<Vec<_>>());
        }
    }
    println!("duplicate groups {dup}");
    for e in expect["entities"].as_array().unwrap() {
        let mut ids = BTreeSet::new();
        let mut missing = Vec::new();
        for name in e["names"].as_array().unwrap() {
            match engine.entity(&ana, name.as_str().unwrap()).await {
                Ok(p) => {
                    ids.insert(p.entity.id);
                }
                Err(_) => missing.push(name.clone()),
            }
        }
        if ids.len() != 1 || !missing.is_empty() {
            println!("entity {} ids {} missing {missing:?}", e["names"], ids.len());
        }
    }
    println!("{:?}", engine.learned(&operator).await.unwrap());
}
