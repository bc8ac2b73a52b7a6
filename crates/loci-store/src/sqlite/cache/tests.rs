//! Properties of the cache under concurrent writes and any limit.

use std::path::PathBuf;
use std::sync::Barrier;

use loci_testkit::samples::{add, addition, at, change, edge, memory, scope, vector, visible};
use loci_types::{Action, Layer, Memory, MemoryId, NewContent, Patch, Relation, Revision, Scope, Space, Vector};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rusqlite::Connection;
use tempfile::TempDir;

use super::super::cipher::Cipher;
use super::super::file::FileId;
use super::super::schema;
use super::scope::CachePart;
use super::{ScopeCache, map_bytes};
use crate::Hit;
use crate::sql::apply::Applier;
use crate::sql::clause::Clause;
use crate::sql::turn_runs::{TurnOrder, Turns, turn_runs};
use crate::sql::vector_bytes;
use crate::text::Analyser;
use crate::vectors::tests::seeded::Seeded;

/// The dimensions of the vectors of [`File::fill`].
const DIMENSIONS: usize = 128;

/// A space's file with a connection that writes.
struct File {
    _folder: TempDir,
    path: PathBuf,
    writer: Connection,
    analyser: Analyser,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let writer = schema::open(&path, schema::SPACE, &Cipher::default()).unwrap();
        Self { _folder: folder, path, writer, analyser: Analyser::default() }
    }

    fn apply(&self, change: &loci_types::Change) {
        let applier =
            Applier { connection: &self.writer, path: &self.path, space: &Space::Shared, analyser: &self.analyser };
        applier.apply(change).unwrap();
    }

    fn reader(&self) -> Connection {
        schema::open_reader(&self.path, &Cipher::default()).unwrap()
    }

    fn id(&self) -> FileId {
        FileId::of(&self.path).unwrap()
    }

    /// Writes many rows with random vectors and terms into a scope, faster than memory by memory.
    fn fill(&self, scope: &Scope, rows: u64) {
        let (mut random, mut vectors) = (SmallRng::seed_from_u64(rows), vectors());
        self.apply(&add(memory(1, scope, "lantern")));
        let connection = &self.writer;
        connection.execute_batch("BEGIN").unwrap();
        connection
            .execute("INSERT OR IGNORE INTO models (model, name, dimensions) VALUES (77, 'wide', ?1)", [DIMENSIONS])
            .unwrap();
        let columns: Vec<String> = connection
            .prepare("SELECT name FROM pragma_table_info('memories') WHERE name NOT IN ('row', 'id', 'thread_id')")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let columns = columns.join(", ");
        let copy = format!(
            "INSERT INTO memories (id, thread_id, {columns}) SELECT ?1, ?2, {columns} FROM memories WHERE id = ?3"
        );
        let first = memory(1, scope, "lantern").id;
        for number in 0..rows {
            let id = memory(1_000_000 + number, scope, "").id;
            let thread = format!("thread {}", number / 12);
            connection
                .prepare_cached(&copy)
                .unwrap()
                .execute(rusqlite::params![id.as_bytes(), thread, first.as_bytes()])
                .unwrap();
            let row = connection.last_insert_rowid();
            let vector = vectors.next();
            let terms: Vec<u8> = (0..20).flat_map(|_| (random.random_range(0..40_u32).pow(2)).to_le_bytes()).collect();
            connection
                .prepare_cached("INSERT INTO vectors (memory, model, vector) VALUES (?1, 77, ?2)")
                .unwrap()
                .execute(rusqlite::params![row, vector_bytes(&vector)])
                .unwrap();
            connection
                .prepare_cached("INSERT INTO words (memory, terms) VALUES (?1, ?2)")
                .unwrap()
                .execute(rusqlite::params![row, terms])
                .unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
}

/// The vectors of [`File::fill`].
fn vectors() -> Seeded {
    Seeded::new(5, 20_000, DIMENSIONS)
}

/// A query vector near those of [`File::fill`].
fn wide(seed: u64) -> Vector {
    let (mut vectors, mut random) = (vectors(), SmallRng::seed_from_u64(seed));
    let nth = (0..seed).fold(vectors.next(), |_, _| vectors.next());
    let values = nth.into_iter().map(|value| value + random.random_range(-0.1..0.1)).collect();
    Vector { model: "wide".to_owned(), values, token_states: None }
}

/// A scope of the shared space.
fn project(name: &str) -> Scope {
    scope(Layer::Project, &[name])
}

fn clause(reader: &Connection, scopes: &[Scope]) -> Clause {
    Clause::visible(reader, &Space::Shared, &visible(scopes)).unwrap().unwrap()
}

fn near(cache: &ScopeCache, reader: &Connection, scope: &Scope, vector: &Vector) -> Vec<Hit> {
    cache.nearest(reader, &clause(reader, std::slice::from_ref(scope)), vector, 9).unwrap()
}

/// A reader of an older snapshot loads a scope while another scope is ahead; no entry in between is lost.
#[test]
fn a_scope_loaded_from_an_old_snapshot_catches_up() {
    let file = File::new();
    let (anna, ben) = (project("anna"), project("ben"));
    let cache = ScopeCache::new(1 << 20);
    let near = |reader: &Connection, scope: &Scope| near(&cache, reader, scope, &vector("lantern")).len();
    file.apply(&add(memory(1, &anna, "lantern")));
    let behind = file.reader();
    behind.execute_batch("BEGIN; SELECT * FROM memories").unwrap();
    file.apply(&add(memory(2, &anna, "lantern too")));
    file.apply(&add(memory(3, &ben, "lantern")));
    let ahead = file.reader();
    assert_eq!(near(&ahead, &ben), 1);
    assert_eq!(near(&behind, &anna), 1);
    assert_eq!(near(&ahead, &anna), 2);
    // A part that is loaded from the old snapshot sets the others back, and all catch up again.
    let terms = file.analyser.terms("lantern");
    let words = |reader: &Connection| {
        cache.lexical(reader, &clause(reader, std::slice::from_ref(&anna)), &terms, 9).unwrap().len()
    };
    assert_eq!(words(&behind), 1);
    assert_eq!(near(&ahead, &anna), 2);
    assert_eq!(words(&ahead), 2);
    assert_eq!(words(&behind), 1);
}

/// Cached terms equal those of the file after any changes of questions and answers.
#[test]
fn the_terms_in_memory_are_those_of_the_file() {
    let file = File::new();
    let reader = file.reader();
    let (anna, cache) = (project("anna"), ScopeCache::new(1 << 20));
    let turn = |number: u64, text: &str| -> Memory {
        let mut turn = memory(number, &anna, text);
        turn.actor_id = Some(format!("speaker {number}"));
        turn
    };
    let check = |word: &str, expect: &[u64]| {
        let clause = clause(&reader, std::slice::from_ref(&anna));
        let terms = file.analyser.terms(word);
        let found = |cache: &ScopeCache| {
            let hits = cache.lexical(&reader, &clause, &terms, 100).unwrap();
            let mut ids: Vec<MemoryId> = hits.iter().map(|hit| hit.id).collect();
            ids.sort();
            (ids, cache.frequencies(&reader, &clause, &terms).unwrap())
        };
        let (ids, frequencies) = found(&cache);
        assert_eq!(ids, expect.iter().map(|number| turn(*number, "").id).collect::<Vec<_>>(), "{word}");
        for bound in [1 << 20, 0] {
            assert_eq!(found(&ScopeCache::new(bound)), (ids.clone(), frequencies.clone()), "{word} {bound}");
        }
    };
    let revise = |number: u64, text: &str| {
        let content = NewContent {
            text: text.to_owned(),
            hash: turn(number, text).content_hash,
            unless: None,
            claim: None,
            tokens: 1,
        };
        let patch = Patch { content: Some(content), ..Patch::default() };
        let revision = Revision { id: turn(number, "").id, expect: None, patch, vector: None, jobs: Vec::new() };
        file.apply(&change(at(99), Action::Revise(Box::new(revision))));
    };
    file.apply(&add(turn(1, "Where is the lighthouse?")));
    check("lighthouse", &[1]);
    let mut answer = addition(turn(2, "In Brittany."));
    answer.follows = Some(turn(1, "").id);
    file.apply(&change(at(2), Action::Add(Box::new(answer))));
    check("lighthouse", &[1, 2]);
    revise(1, "Where is the windmill?");
    check("lighthouse", &[]);
    check("windmill", &[1, 2]);
    revise(1, "The windmill is old.");
    check("windmill", &[1]);
    revise(1, "Who owns the windmill?");
    check("windmill", &[1, 2]);
    // An edge that is drawn later makes an answer of a turn.
    file.apply(&add(turn(3, "My aunt.")));
    let later = edge(9, turn(1, "").id, turn(3, "").id, Relation::Temporal);
    file.apply(&change(at(3), Action::Link(later)));
    check("windmill", &[1, 2, 3]);
    let (source, target) = (turn(1, "").id, turn(3, "").id);
    file.apply(&change(at(3), Action::Unlink { source, target, relation: Relation::Temporal }));
    check("windmill", &[1, 2]);
    // A row that follows in another scope has no terms of this one, and is not cached here.
    let theirs = memory(8, &project("ben"), "Not me.");
    let id = theirs.id;
    file.apply(&add(theirs));
    file.apply(&change(at(4), Action::Link(edge(10, source, id, Relation::Temporal))));
    check("windmill", &[1, 2]);
    check("not me", &[]);
    file.apply(&change(at(4), Action::Erase { id: turn(1, "").id }));
    check("windmill", &[]);
    check("aunt brittany", &[2, 3]);
    file.apply(&change(at(5), Action::Erase { id: turn(2, "").id }));
    check("aunt brittany", &[3]);
    // Erased rows leave no bytes behind in the lists of answers.
    cache
        .with(&reader, &[1], CachePart::Terms, |scopes| {
            let (counted, walked) = scopes.cached[0].1.terms.as_ref().unwrap().walked_bytes();
            assert_eq!(counted, walked);
            Ok(())
        })
        .unwrap();
}

// Coverage: SPEC-7.8.
/// The cached turn order equals that of the file after any additions and removals.
#[test]
fn the_turn_order_in_memory_is_that_of_the_file() {
    let file = File::new();
    let reader = file.reader();
    let (anna, cache) = (project("anna"), ScopeCache::new(1 << 20));
    let turn = |number: u64| -> Memory {
        let mut turn = memory(number, &anna, &format!("turn {number}"));
        turn.thread_id = (!number.is_multiple_of(7)).then(|| format!("thread {}", number % 2));
        turn.identifiers.session_id = Some(format!("session {}", number / 8));
        turn
    };
    let check = |ids: &[u64]| {
        let clause = clause(&reader, std::slice::from_ref(&anna));
        let ids: Vec<_> = ids.iter().map(|number| turn(*number).id).collect();
        let found = |order: Option<&dyn TurnOrder>| -> Vec<(u64, Vec<_>)> {
            let turn_runs =
                turn_runs(&reader, &file.path, &clause, &ids, 3, order.map_or(Turns::Query, Turns::InMemory)).unwrap();
            turn_runs.into_iter().map(|strip| (strip.session, strip.places.iter().map(|p| p.id).collect())).collect()
        };
        let cached = |cache: &ScopeCache, expect: bool| {
            let work = |order: Option<&dyn TurnOrder>| {
                assert_eq!(order.is_some(), expect);
                found(order)
            };
            cache.with_turns(&reader, clause.scopes.as_deref().unwrap(), work).unwrap()
        };
        assert_eq!(cached(&cache, true), found(None), "{ids:?}");
        assert_eq!(cached(&ScopeCache::new(0), false), found(None), "{ids:?}");
    };
    for number in 1..30 {
        file.apply(&add(turn(number)));
    }
    check(&[3, 9, 14, 15, 28]);
    for number in 30..60 {
        file.apply(&add(turn(number)));
        check(&[5, number / 2, number]);
    }
    for number in [4, 31, 59] {
        let mut gone = add(turn(number));
        gone.action = Action::Erase { id: turn(number).id };
        file.apply(&gone);
        check(&[number - 1, number - 2, 20]);
    }
    // An import may put a memory into another conversation.
    file.writer.execute("UPDATE memories SET thread_id = 'elsewhere' WHERE row IN (10, 11, 12)", []).unwrap();
    file.writer
        .execute(
            "INSERT INTO ledger (at, event, memory, scope, reason) SELECT 1, 'update', row, scope, 'import' \
             FROM memories WHERE row IN (10, 11, 12)",
            [],
        )
        .unwrap();
    check(&[8, 9, 10, 11, 12, 13, 14]);
}

// Coverage: SPEC-7.8.
/// Every change of a memory changes its stamp.
#[test]
fn a_stamp_changes_with_its_memory() {
    let file = File::new();
    let reader = file.reader();
    let (anna, cache) = (project("anna"), ScopeCache::new(1 << 20));
    for number in [1, 2] {
        file.apply(&add(memory(number, &anna, "lantern")));
    }
    let stamps = || cache.with_turns(&reader, &[1], |order| [1, 2].map(|row| order.unwrap().stamp(1, row))).unwrap();
    let before = stamps();
    let id = memory(1, &anna, "lantern").id;
    file.apply(&change(at(3), Action::Forget { id, expect: None, purge_at: at(9) }));
    let after = stamps();
    assert!(after[0] > before[0]);
    assert_eq!(after[1], before[1]);
}

/// Rows that a restore has renumbered are read again, in every scope of the file.
#[test]
fn a_restore_drops_everything_of_the_file() {
    let file = File::new();
    let reader = file.reader();
    let (anna, ben, cache) = (project("anna"), project("ben"), ScopeCache::new(1 << 20));
    for (number, scope) in [(1, &anna), (2, &ben)] {
        file.apply(&add(memory(number, scope, "lantern")));
        assert_eq!(near(&cache, &reader, scope, &vector("lantern")).len(), 1);
    }
    assert_eq!(cache.loads(), 2);
    file.writer.execute("DELETE FROM vectors", []).unwrap();
    file.writer.execute("INSERT INTO ledger (at, event, reason) VALUES (1, 'restore', '')", []).unwrap();
    for scope in [&anna, &ben] {
        assert_eq!(near(&cache, &reader, scope, &vector("lantern")).len(), 0);
    }
    assert_eq!(cache.loads(), 4);
}

/// Concurrent queries load a scope once.
#[test]
fn concurrent_first_questions_load_a_scope_once() {
    let file = File::new();
    let (anna, cache, barrier) = (project("anna"), ScopeCache::new(1 << 30), Barrier::new(64));
    file.fill(&anna, 3_000);
    let (expect, path) = (near(&ScopeCache::new(1 << 30), &file.reader(), &anna, &wide(3)), &file.path);
    std::thread::scope(|threads| {
        for _ in 0..64 {
            threads.spawn(|| {
                let reader = schema::open_reader(path, &Cipher::default()).unwrap();
                barrier.wait();
                assert_eq!(near(&cache, &reader, &anna, &wide(3)), expect);
            });
        }
    });
    assert_eq!(cache.loads(), 1);
}

/// A scope of twice the limit yields the same results as an unlimited cache, and a second query loads nothing.
#[test]
fn a_scope_of_twice_the_bound_is_answered() {
    let file = File::new();
    let reader = file.reader();
    let anna = project("anna");
    file.fill(&anna, 20_000);
    let clause = clause(&reader, std::slice::from_ref(&anna));
    let scopes = clause.scopes.clone().unwrap();
    let question = |cache: &ScopeCache, seed: u64| {
        let asked = [seed as u32 % 40, 17].map(|number| number.pow(2));
        let scores = |cache: &ScopeCache| {
            let mut scores = cache.scores(&reader, &clause, &asked).unwrap();
            scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            scores.truncate(10);
            scores
        };
        cache.with_turns(&reader, &scopes, |_| ()).unwrap();
        (near(cache, &reader, &anna, &wide(seed)), scores(cache))
    };
    let unbounded = ScopeCache::new(1 << 30);
    let expect: Vec<_> = (0..10).map(|seed| question(&unbounded, seed)).collect();
    let whole = unbounded.bytes();
    // With half the bytes there are sketches instead of codes, with a tenth fewer parts, with none no cache.
    for bound in [whole / 2, whole / 10, 0] {
        let cache = ScopeCache::new(bound);
        let (mut loads, mut same) = (Vec::new(), 0);
        for (seed, (near, words)) in expect.iter().enumerate() {
            let found = question(&cache, seed as u64);
            assert_eq!(found.1, *words, "{bound}");
            assert_eq!(found.0.len(), 9);
            same += near.iter().filter(|hit| found.0.contains(hit)).count();
            assert!(cache.bytes() <= bound + 1_024, "{} of {bound}", cache.bytes());
            loads.push(cache.loads());
        }
        // Codes and sketches are estimates: at most one of 90 neighbours may differ.
        assert!(same >= 89, "{bound}: {same} of 90");
        assert!(loads.iter().all(|after| *after == loads[0]), "nothing is loaded again: {loads:?}");
        if bound == whole / 2 {
            let compact = cache.with(&reader, &scopes, CachePart::Vectors(77), |scopes| {
                assert!(scopes.uncached.is_empty());
                Ok(scopes.cached[0].1.vectors[&77].is_compact())
            });
            assert!(compact.unwrap());
        }
    }
}

/// The least recently used scope is evicted first, regardless of its file and its size.
#[test]
fn eviction_is_by_last_use_over_all_files() {
    let (one, two) = (File::new(), File::new());
    let (anna, ben) = (project("anna"), project("ben"));
    for file in [&one, &two] {
        file.fill(&anna, 1_000);
        file.apply(&add(memory(2, &ben, "lantern")));
    }
    let readers = [one.reader(), two.reader()];
    let ask = |cache: &ScopeCache, reader: &Connection, scope: &Scope| {
        near(cache, reader, scope, &wide(1));
        let scopes = clause(reader, std::slice::from_ref(scope)).scopes.unwrap();
        for part in [CachePart::Terms, CachePart::Turns] {
            cache.with(reader, &scopes, part, |_| Ok(())).unwrap();
        }
    };
    let unbounded = ScopeCache::new(1 << 30);
    ask(&unbounded, &readers[0], &anna);
    let each = unbounded.bytes();
    let cache = ScopeCache::new(each * 5 / 2);
    let number = |reader: &Connection, scope: &Scope| clause(reader, std::slice::from_ref(scope)).scopes.unwrap()[0];
    ask(&cache, &readers[0], &ben);
    ask(&cache, &readers[0], &anna);
    ask(&cache, &readers[1], &anna);
    ask(&cache, &readers[0], &anna);
    // A third large scope needs room: the small one and that of the second file were used less recently.
    let third = File::new();
    third.fill(&anna, 1_000);
    ask(&cache, &third.reader(), &anna);
    let cached =
        |file: &File, reader: &Connection, scope: &Scope| cache.table().contains(file.id(), number(reader, scope));
    assert!(!cached(&one, &readers[0], &ben));
    assert!(!cached(&two, &readers[1], &anna));
    assert!(cached(&one, &readers[0], &anna));
    assert!(cached(&third, &third.reader(), &anna));
    assert!(cache.bytes() <= each * 5 / 2);
}

/// The cache counts its allocated bytes: names of threads, lists of turns, and parts.
#[test]
fn bytes_are_those_that_are_allocated() {
    let file = File::new();
    let reader = file.reader();
    let anna = project("anna");
    file.fill(&anna, 5_000);
    let scopes = clause(&reader, std::slice::from_ref(&anna)).scopes.unwrap();
    let cache = ScopeCache::new(1 << 30);
    near(&cache, &reader, &anna, &wide(1));
    cache.with(&reader, &scopes, CachePart::Terms, |_| Ok(())).unwrap();
    let exact = cache
        .with(&reader, &scopes, CachePart::Turns, |scopes| {
            let cached = scopes.cached[0].1;
            let (counted, walked) = cached.turns.as_ref().unwrap().walked_bytes();
            assert_eq!(counted, walked);
            // 5,001 rows: a key, a scale, a code, a sketch and a place each; terms of four bytes; places of turns.
            let vectors = 5_001 * (8 + 4 + 128 + 16) + (8 << 10) * 5 + (4 << 10);
            let terms = 5_001 * (8 + 4) + 5_000 * 80 + (8 << 10) * 5;
            Ok(vectors + terms + walked + map_bytes::<(i64, (u32, i64))>(5_001) + 420 * (24 + 33 * 2))
        })
        .unwrap();
    let difference = (cache.bytes() as f64 - exact as f64).abs() / exact as f64;
    assert!(difference < 0.1, "{} counted, {exact} expected", cache.bytes());
}

/// After a panic in the middle of a change the scope is loaded again.
#[test]
fn a_poisoned_scope_is_loaded_again() {
    let file = File::new();
    let reader = file.reader();
    let (anna, cache) = (project("anna"), ScopeCache::new(1 << 20));
    file.apply(&add(memory(1, &anna, "lantern")));
    assert_eq!(near(&cache, &reader, &anna, &vector("lantern")).len(), 1);
    let (tail, entries) = cache.table().entries(file.id(), &[1]);
    let panicked = std::thread::scope(|threads| {
        threads
            .spawn(|| {
                let mut cached = entries[0].cached.write().unwrap();
                let _tail = tail.lock().unwrap();
                cached.vectors.values_mut().for_each(|arrays| assert!(arrays.remove(1)));
                panic!("half changed");
            })
            .join()
    });
    assert!(panicked.is_err());
    assert_eq!(near(&cache, &reader, &anna, &vector("lantern")).len(), 1);
    file.apply(&add(memory(2, &anna, "lantern too")));
    assert_eq!(near(&cache, &reader, &anna, &vector("lantern")).len(), 2);
    assert_eq!(cache.loads(), 2);
}

/// A query that still reads a deleted file does not change the cache of its replacement.
#[test]
fn a_reader_of_a_replaced_file_does_not_touch_its_successor() {
    let mut file = File::new();
    let (anna, cache) = (project("anna"), ScopeCache::new(1 << 20));
    for number in 1..30 {
        file.apply(&add(memory(number, &anna, &format!("lantern {number}"))));
    }
    let old = file.reader();
    old.execute_batch("BEGIN; SELECT * FROM memories").unwrap();
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", file.path.display())).unwrap();
    }
    file.writer = schema::open(&file.path, schema::SPACE, &Cipher::default()).unwrap();
    file.apply(&add(memory(1, &anna, "lantern")));
    let new = file.reader();
    assert_eq!(near(&cache, &new, &anna, &vector("lantern")).len(), 1);
    // The ledger of the old file is longer than that of the new one.
    assert_eq!(near(&cache, &old, &anna, &vector("lantern")).len(), 9);
    file.apply(&add(memory(2, &anna, "lantern too")));
    assert_eq!(near(&cache, &new, &anna, &vector("lantern")).len(), 2);
}

/// The entries of a write to one scope are read once, and other scopes do not read them.
#[test]
fn a_write_costs_what_it_changed() {
    let file = File::new();
    let reader = file.reader();
    let cache = ScopeCache::new(1 << 20);
    let users: Vec<Scope> = (0..20).map(|number| project(&format!("project-{number}"))).collect();
    for (number, scope) in users.iter().enumerate() {
        file.apply(&add(memory(number as u64, scope, "lantern")));
    }
    users.iter().for_each(|scope| drop(near(&cache, &reader, scope, &vector("lantern"))));
    let loads = cache.loads();
    for number in 100..200 {
        file.apply(&add(memory(number, &users[3], &format!("lantern {number}"))));
    }
    for (number, scope) in users.iter().enumerate() {
        let found = cache.nearest(&reader, &clause(&reader, std::slice::from_ref(scope)), &vector("lantern"), 500);
        assert_eq!(found.unwrap().len(), if number == 3 { 101 } else { 1 });
    }
    assert_eq!(cache.loads(), loads, "all scopes were updated without loading");
}
