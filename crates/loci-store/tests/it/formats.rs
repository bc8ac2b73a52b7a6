//! Files of older versions open.
//!
//! Old files are kept as they were written. They are read from a copy: opening one brings it up to date.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use loci_store::prelude::*;
use loci_store::{EntityQuery, LedgerQuery, SqliteOptions, SqliteStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good, name_in};
use loci_testkit::samples::*;
use loci_types::{
    Action, Entity, EntityId, ErrorKind, Filter, JobKind, Layer, Memory, Relation, Scope, Tenant, Visible,
};
use rusqlite::{Connection, params};
use tempfile::TempDir;

const SPACE: &str = "tenants/default/spaces/shared/loci.db";

fn kept(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{format}"))
}

/// All files below a folder, by their place in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// A copy that may be written to.
fn copy(format: u32) -> TempDir {
    let (from, to) = (kept(format), tempfile::tempdir().unwrap());
    for file in files(&from) {
        fs::create_dir_all(to.path().join(&file).parent().unwrap()).unwrap();
        fs::copy(from.join(&file), to.path().join(&file)).unwrap();
    }
    to
}

fn open(folder: &Path) -> SqliteStore {
    good(SqliteStore::open(folder, SqliteOptions::default()))
}

/// The number of the format, as it stands in the first bytes of the file. Looking at them changes nothing.
fn format_of(file: &Path) -> u32 {
    let bytes = fs::read(file).unwrap();
    u32::from_be_bytes(bytes[60..64].try_into().unwrap())
}

/// The format that a new file has.
async fn newest() -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    Driver::on(&store).remember(&scope(Layer::Project, &["atlas"]), "lantern").await;
    drop(store);
    format_of(&folder.path().join(SPACE))
}

/// What the old files hold: by scope, text and words that find it.
fn first() -> [(Scope, &'static str, &'static str); 3] {
    [
        (user("ann"), "I drink green tea in the morning", "drinking teas"),
        (user("ann"), "Мой кот любит молоко", "коты и молоко"),
        (scope(Layer::Project, &["atlas"]), "The project uses PostgreSQL 18 with pgvector", "postgresql"),
    ]
}

/// Its own clock: the old files were written later than the samples are.
fn today() -> Filter {
    Filter::at(at(400 * 86_400))
}

#[test]
fn old_files_are_kept_as_they_were() {
    for format in 1..=7 {
        let folder = kept(format);
        assert_eq!(files(&folder), [Path::new("catalogue.db"), Path::new(SPACE)], "no logs beside them");
        assert_eq!(format_of(&folder.join(SPACE)), format);
    }
}

#[tokio::test]
async fn a_file_of_format_1_opens_and_goes_on() {
    opens_and_goes_on(1).await;
}

#[tokio::test]
async fn a_file_of_format_2_opens_and_goes_on() {
    opens_and_goes_on(2).await;
}

/// The file of format 3 is that of format 2, brought up to date by a Loci that knew no later one.
#[tokio::test]
async fn a_file_of_format_3_opens_and_goes_on() {
    opens_and_goes_on(3).await;
}

#[tokio::test]
async fn a_file_of_format_4_opens_and_goes_on() {
    opens_and_goes_on(4).await;
}

#[tokio::test]
async fn a_file_of_format_5_opens_and_goes_on() {
    opens_and_goes_on(5).await;
}

#[tokio::test]
async fn a_file_of_format_6_opens_and_goes_on() {
    opens_and_goes_on(6).await;
}

/// The file of format 7 is that of format 6, brought up to date by a Loci that knew no later one.
#[tokio::test]
async fn a_file_of_format_7_opens_and_goes_on() {
    opens_and_goes_on(7).await;
}

/// Until format 6 the number of an erased scope was given to the next one.
#[tokio::test]
async fn a_file_of_format_6_gives_no_number_again_that_its_ledger_names() {
    let folder = copy(6);
    let raw = Connection::open(folder.path().join(SPACE)).unwrap();
    raw.execute("UPDATE ledger SET scope = 40 WHERE sequence = 3", []).unwrap();
    let store = open(folder.path());
    Driver::from(&store, 1_000).remember(&scope(Layer::Project, &["other"]), "lantern").await;
    let sql = "SELECT max(scope) FROM scopes";
    assert_eq!(raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 41);
    sound(&store).await;
}

/// Jobs of older folders are found, though no catalogue said that there are any.
#[tokio::test]
async fn jobs_of_format_6_are_found() {
    let folder = copy(6);
    let raw = Connection::open(folder.path().join(SPACE)).unwrap();
    let waiting: i64 = raw.query_row("SELECT count(*) FROM jobs", [], |row| row.get(0)).unwrap();
    assert!(waiting > 0);
    let store = open(folder.path());
    let minute = std::time::Duration::from_secs(60);
    let claimed = good(store.claim(&Tenant::default(), JobKind::ALL, 9, at(400 * 86_400), minute).await);
    assert_eq!(claimed.len() as i64, waiting);
}

/// Folders of tenants and agents with upper case are found under their new names.
#[tokio::test]
async fn folders_of_format_6_are_renamed() {
    let folder = copy(6);
    let raw = Connection::open(folder.path().join("catalogue.db")).unwrap();
    raw.execute("INSERT INTO tenants (name, created_at) VALUES ('Acme', 0)", []).unwrap();
    raw.execute("INSERT INTO spaces (tenant, name, created_at, written) VALUES ('Acme', 'shared', 0, 1)", []).unwrap();
    drop(raw);
    fs::create_dir_all(folder.path().join("tenants/Acme/spaces/shared")).unwrap();
    fs::rename(folder.path().join(SPACE), folder.path().join("tenants/Acme/spaces/shared/loci.db")).unwrap();
    let store = open(folder.path());
    // The shared space, and the shard of its one user.
    assert_eq!(good(store.spaces(&Tenant::new("Acme").unwrap()).await).len(), 2);
    assert!(folder.path().join("tenants/~acme/spaces/shared/loci.db").exists());
}

/// Until format 4 words were in an index that could not be read back. They are made anew, those of a question with its answer.
#[tokio::test]
async fn answers_of_format_4_are_found_by_the_words_of_their_question() {
    let folder = copy(4);
    let raw = Connection::open(folder.path().join(SPACE)).unwrap();
    let turn = |text: &str, said_by: &str| {
        let sql = "INSERT INTO memories SELECT (SELECT max(row) + 1 FROM memories), randomblob(16), scope, version, layer, agent_id, \
                   user_id, session_id, project_id, team_id, org_id, company_id, pool_id, thread_id, run_id, ?2, role, \
                   kind, category, ?1, content_hash, randomblob(32), tokens, tags, metadata, source_type, source_role, \
                   source_reference, knowledge_pointer, access_policy, importance, confidence, decay_rate, pinned, \
                   access_count, last_accessed_at, relevance, event_time, created_at, updated_at, valid_from, \
                   valid_until, expires_at, purge_at, supersedes_id, superseded_by_id, state, claim, aged_at \
                   FROM memories WHERE row = 1 RETURNING row";
        raw.query_row(sql, params![text, said_by], |row| row.get::<_, i64>(0)).unwrap()
    };
    let (asked, said) = (turn("Where is the lighthouse?", "ann"), turn("In Brittany.", "bot"));
    let edge = "INSERT INTO edges (id, source, target, relation, strength, confidence, valid_from, created_at) \
                VALUES (randomblob(16), ?1, ?2, 'temporal', 1, 1, 0, 0)";
    raw.execute(edge, [asked, said]).unwrap();
    drop(raw);
    let store = open(folder.path());
    let seen = visible(&[user("ann")]);
    let driver = Driver::from(&store, 1_000);
    let (question, answer) =
        (driver.words(&seen, "lighthouse", &today()).await, driver.words(&seen, "brittany", &today()).await);
    assert_eq!((question.len(), answer.len()), (2, 1));
    assert!(question.contains(&answer[0]));
    // When the question goes, so do its words, in memory too.
    let gone = *question.iter().find(|id| **id != answer[0]).unwrap();
    driver.must(&user("ann").space(), Action::Erase { id: gone }).await;
    assert_eq!(driver.words(&seen, "lighthouse", &today()).await, []);
    assert_eq!(driver.words(&seen, "brittany", &today()).await, answer);
}

async fn opens_and_goes_on(format: u32) {
    let folder = copy(format);
    let file = folder.path().join(SPACE);
    let store = open(folder.path());
    let driver = Driver::from(&store, 1_000);
    let there = good(store.scan(&whole(), &today(), loci_store::Page { after: None, limit: 9 }).await).memories;
    let mut texts: Vec<&str> = there.iter().map(|memory| memory.content.as_str()).collect();
    let mut expect = first().map(|(_, text, _)| text);
    texts.sort_unstable();
    expect.sort_unstable();
    assert_eq!(texts, expect);
    let find = |text: &str| -> &Memory { there.iter().find(|memory| memory.content == text).unwrap() };
    for (scope, text, words) in first() {
        let memory = find(text);
        assert_eq!(memory.scope().unwrap(), scope);
        for seen in [whole(), visible(std::slice::from_ref(&scope))] {
            assert_eq!(driver.words(&seen, words, &today()).await, [memory.id], "{words}");
        }
        assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(memory.id), 9).await).entries.len(), 1);
    }
    // It goes on as if it had been written today.
    let ann = user("ann");
    let (tea, cat) = (find(first()[0].1).id, find(first()[1].1).id);
    let more = driver.remember(&ann, "I drink black tea at night").await;
    let found: BTreeSet<_> =
        driver.words(&visible(std::slice::from_ref(&ann)), "tea", &today()).await.into_iter().collect();
    assert_eq!(found, BTreeSet::from([tea, more]));
    driver.link(&ann, cat, tea, Relation::RelatedTo).await;
    let murka = driver.name(&ann, "Мурка", &["the cat"]).await.id;
    driver.mention(&ann, cat, murka).await;
    for name in ["МУРКА", "The Cat"] {
        let named = good(
            store
                .entities(
                    &visible(std::slice::from_ref(&ann)),
                    &EntityQuery::Named([name.to_owned()].to_vec()),
                    usize::MAX,
                )
                .await,
        );
        assert_eq!(named.iter().map(|entity| entity.id).collect::<Vec<_>>(), [murka], "{name}");
    }
    assert_eq!(good(store.frequencies(&whole(), &["tea".to_owned()]).await).of, [2]);
    sound(&store).await;
    drop(store);
    assert_eq!(format_of(&file), newest().await);
    let again = open(folder.path());
    assert_eq!(Driver::on(&again).scan(&whole(), &today()).await.len(), 4);
    sound(&again).await;
}

#[tokio::test]
async fn a_file_of_format_1_may_be_written_before_it_is_read() {
    let folder = copy(1);
    let store = open(folder.path());
    let driver = Driver::from(&store, 1_000);
    driver.name(&user("ann"), "Мурка", &[]).await;
    assert_eq!(driver.scan(&whole(), &today()).await.len(), 3);
    sound(&store).await;
    drop(store);
    assert_eq!(format_of(&folder.path().join(SPACE)), newest().await);
}

/// Writes an entity and memories that mention it into an old file, as an older version did.
fn plant(folder: &Path, entity: &Entity, texts: &[&str]) {
    let raw = Connection::open(folder.join(SPACE)).unwrap();
    raw.execute(
        "INSERT INTO entities (id, canonical_name, entity_type, aliases, summary, first_seen, last_updated, \
         mention_count, attributes) VALUES (?1, ?2, 'person', ?3, ?4, 0, 0, ?5, '{}')",
        params![
            entity.id.as_bytes(),
            entity.canonical_name,
            serde_json::to_string(&entity.aliases).unwrap(),
            entity.summary,
            texts.len()
        ],
    )
    .unwrap();
    for text in texts {
        raw.execute(
            "INSERT INTO mentions (memory, entity) SELECT m.row, e.entity FROM memories m, entities e \
             WHERE m.content = ?1 AND e.id = ?2",
            params![text, entity.id.as_bytes()],
        )
        .unwrap();
    }
}

async fn named(store: &SqliteStore, visible: &Visible, name: &str) -> Vec<EntityId> {
    let found = good(store.entities(visible, &EntityQuery::Named([name.to_owned()].to_vec()), usize::MAX).await);
    found.iter().map(|entity| entity.id).collect()
}

#[tokio::test]
async fn entities_of_format_1_are_found_by_their_names() {
    let folder = copy(1);
    let cat = entity(7, "Мурка", &["The CAT", "Ёжик"]);
    plant(folder.path(), &cat, &[first()[1].1]);
    let store = open(folder.path());
    for name in ["мурка", "Мурка", "the cat", "ёжик", "ЁЖИК"] {
        assert_eq!(named(&store, &visible(&[user("ann")]), name).await, [cat.id], "{name}");
    }
    sound(&store).await;
}

#[tokio::test]
async fn entities_of_format_1_go_on_in_the_scope_that_speaks_of_them() {
    let folder = copy(1);
    let (ann, atlas) = (user("ann"), scope(Layer::Project, &["atlas"]));
    let (cat, shared, alone) = (entity(7, "Мурка", &[]), entity(8, "Atlas", &[]), entity(9, "Nobody's", &[]));
    plant(folder.path(), &cat, &[first()[1].1]);
    plant(folder.path(), &shared, &[first()[0].1, first()[2].1]);
    plant(folder.path(), &alone, &[]);
    let store = open(folder.path());
    let driver = Driver::from(&store, 1_000);
    let memory = driver.remember(&ann, "Мурка спит").await;
    let theirs = driver.remember(&atlas, "The atlas grows").await;
    let (of_ann, of_atlas) = (visible(std::slice::from_ref(&ann)), visible(std::slice::from_ref(&atlas)));
    // It belongs to those who spoke of it first; the others no longer hear of it.
    assert_eq!(named(&store, &of_ann, "atlas").await, [shared.id]);
    assert_eq!(named(&store, &of_atlas, "atlas").await, []);
    // A mention and a union go on within the scope, and nowhere else.
    driver.mention(&ann, memory, cat.id).await;
    driver.must(&ann.space(), Action::Unite { into: cat.id, from: shared.id }).await;
    assert_eq!(named(&store, &of_ann, "atlas").await, [cat.id]);
    let refused = async |scope: &Scope, action, kind| {
        let error = driver.act(&scope.space(), action).await.expect_err("not of this scope");
        assert_eq!(error.kind(), kind);
        error.to_string()
    };
    let mention = |entity| Action::Mention { memory: theirs, entity, counted: true };
    refused(&ann, mention(cat.id), ErrorKind::NotFound).await;
    // One that nobody spoke of is nobody's until someone names it.
    let message = refused(&atlas, mention(alone.id), ErrorKind::InvalidInput).await;
    assert!(message.contains("belongs to nobody"), "{message}");
    refused(&ann, Action::Unite { into: cat.id, from: alone.id }, ErrorKind::InvalidInput).await;
    driver.must(&atlas.space(), name_in(&atlas, alone.clone())).await;
    driver.mention(&atlas, theirs, alone.id).await;
    assert_eq!(named(&store, &of_atlas, "nobody's").await, [alone.id]);
    let other = scope(Layer::Project, &["other"]);
    refused(&other, name_in(&other, alone), ErrorKind::InvalidInput).await;
    sound(&store).await;
}
