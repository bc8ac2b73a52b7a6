//! Is anything left of someone who was erased?

use std::path::Path;

use loci_store::prelude::*;
use loci_store::{LedgerQuery, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::hand::{Hand, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Addition, JobKind, JobSpec, Kind, Layer, Memory, NoteValue, Relation, Source, Tenant};
use serde_json::json;

use crate::copy::folder;

/// Words that nobody else says.
const SECRET: &str = "zanzibarquuxly";
/// A name that nobody else has.
const WHO: &str = "wilhelminaprudence";

/// Files below a folder that hold these bytes.
fn holding(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Something of everything that a user leaves, and something of someone else beside it.
async fn live(store: &dyn Store) -> Memory {
    let hand = Hand::on(store);
    let (own, other) = (user(WHO), user("ben"));
    let at_bot = scope(Layer::Agent, &["bot", WHO]);
    let space = own.space();
    let first = hand.remember(&own, &format!("the {SECRET} lantern")).await;
    let second = hand.replace(first, &own, &format!("the {SECRET} candle")).await;
    hand.must(&space, Action::Revise(Box::new(new_text(second, &format!("{SECRET} torch"), true)))).await;
    hand.link(&own, first, second, Relation::Causal).await;
    let gone = hand.remember(&own, &format!("soon gone {SECRET}")).await;
    hand.must(&space, Action::Erase { id: gone }).await;
    let thing = hand.name(&own, SECRET, &[]).await;
    hand.mention(&own, second, thing.id).await;
    hand.remember(&at_bot, &format!("bot knows {SECRET}")).await;
    // Something for the team that they said.
    let team = scope(Layer::Team, &["crew"]);
    let mut said = hand.sample(&team, &format!("{SECRET} for the crew"));
    said.actor_id = Some(WHO.into());
    hand.keep(said).await;
    let turn = Memory {
        kind: Kind::stored(Kind::EPISODIC),
        source: Some(Source { kind: "conversation".into(), ..Source::default() }),
        thread_id: Some(format!("t-{SECRET}")),
        ..hand.sample(&own, &format!("a turn about {SECRET}"))
    };
    hand.must(&space, Action::Add(Box::new(Addition::new(turn)))).await;
    let (session, thread) = (format!("s-{SECRET}"), format!("t-{SECRET}"));
    hand.must(&space, Action::Attend { scope: own.clone(), session, thread }).await;
    let note = |scope, key: &str| Action::Note {
        scope,
        key: key.to_owned(),
        value: NoteValue::Set(json!({ "told": SECRET })),
        until: None,
    };
    hand.must(&space, note(Some(own.clone()), "told")).await;
    hand.must(&space, note(Some(own.clone()), "answer 1")).await;
    hand.must(
        &space,
        Action::Enqueue(JobSpec {
            kind: JobKind::Embed,
            payload: json!({ "memory": second, "why": SECRET }),
            unique: None,
            run_after: at(1),
        }),
    )
    .await;
    hand.must(
        &space,
        Action::Enqueue(JobSpec {
            kind: JobKind::Consolidate,
            payload: json!({ "scope": own.key(), "session": SECRET }),
            unique: None,
            run_after: at(1),
        }),
    )
    .await;
    // Much comes and goes, so that pages are freed.
    for number in 0..200 {
        hand.remember(&own, &format!("{SECRET} number {number} {}", "and so on ".repeat(40))).await;
    }
    let kept = hand.remember(&other, "a plain lantern").await;
    hand.must_get(kept).await
}

/// Erases, and looks that the others lost nothing.
async fn erased(store: &dyn Store, kept: &Memory) {
    let there = good(store.belongings(&whole(), WHO).await);
    // Their own space and those of the agent, the team and someone else.
    assert_eq!(there.len(), 4, "{there:?}");
    assert!(there[&user(WHO).space()].memories > 200, "{there:?}");
    assert!(good(store.belongings(&visible(&[user(WHO)]), WHO).await).is_empty(), "told to those who see all");
    for space in there.keys() {
        Hand::from(store, 9_000).must(space, Action::EraseUser { user: WHO.into() }).await;
    }
    let left = good(store.belongings(&whole(), WHO).await);
    assert!(left.values().all(loci_store::Belongings::is_empty), "{left:?}");
    assert_eq!(Hand::on(store).must_get(kept.id).await, *kept);
    assert_eq!(Hand::on(store).words(&whole(), "lantern", &everything()).await, [kept.id]);
    assert_eq!(Hand::on(store).near(&whole(), "lantern", &everything()).await, [kept.id]);
    // What was there can be told by its hash, and by nothing else.
    let feed = good(
        store.ledger(&whole(), &LedgerQuery::After { space: user(WHO).space().clone(), sequence: 0 }, 5_000).await,
    );
    let tombs: Vec<_> = feed.entries.iter().filter(|entry| entry.event == "ERASE").collect();
    assert!(tombs.len() > 200, "{}", tombs.len());
    let hashes = tombs.iter().filter(|entry| entry.new.as_ref().is_some_and(|new| new.get("contentHash").is_some()));
    assert!(hashes.count() > 200);
    let told = serde_json::to_string(&feed.entries).unwrap();
    assert!(!told.contains(SECRET) && !told.contains(WHO), "the ledger tells nothing");
    sound(store).await;
}

#[tokio::test]
async fn nothing_is_left_in_the_files() {
    let (store, home) = folder();
    let kept = live(&store).await;
    assert!(!holding(home.path(), SECRET).is_empty(), "it is there before");
    erased(&store, &kept).await;
    assert_eq!(good(store.scrub(&Tenant::default()).await), None);
    assert_eq!(holding(home.path(), SECRET), Vec::<String>::new());
    assert_eq!(holding(home.path(), "zanzibarq"), Vec::<String>::new(), "not even a stem");
    assert_eq!(holding(home.path(), WHO), Vec::<String>::new());
    // Erasing someone who is not there changes nothing.
    let before = good(store.positions(&whole()).await);
    Hand::from(&store, 20_000).must(&user(WHO).space(), Action::EraseUser { user: WHO.into() }).await;
    assert_eq!(good(store.positions(&whole()).await), before);
    drop(store);
    assert_eq!(holding(home.path(), SECRET), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_on_the_server() {
    let Some(schema) = Schema::new() else { return };
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    let store = PostgresStore::open(&schema.url, options).await.unwrap();
    let shown = |name: &str| {
        let answer = schema.ask(&format!("SELECT current_setting('{name}')"));
        answer.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
    };
    // Only whoever runs the server can have its log removed at once.
    schema.ask("ALTER SYSTEM SET wal_recycle = off");
    schema.ask("SELECT pg_reload_conf()");
    let folder = shown("data_directory").unwrap();
    if std::fs::read_dir(&folder).is_err() {
        eprintln!("the server's folder cannot be read from here; its bytes are not searched");
        return;
    }
    let kept = live(&store).await;
    schema.ask("CHECKPOINT");
    // Statistics quote what they have seen.
    schema.ask(&format!("ANALYZE {}.memories", schema.name));
    assert!(!holding(Path::new(&folder), SECRET).is_empty(), "it is there before");
    erased(&store, &kept).await;
    assert_eq!(good(store.scrub(&Tenant::default()).await), None);
    assert_eq!(holding(Path::new(&folder), SECRET), Vec::<String>::new());
    assert_eq!(holding(Path::new(&folder), WHO), Vec::<String>::new());
}
