//! Contract: search by words.

use loci_store::Store;
use loci_types::{Action, Addition, Layer, Memory, MemoryId, Relation};

use crate::driver::{Driver, good};
use crate::samples::*;

// Coverage: S1.5.
/// A word is found by its other forms, in English and in Russian.
pub async fn words_are_found_by_their_stems(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let english = driver.remember(&anna, "Caroline researched adoption agencies").await;
    let russian = driver.remember(&anna, "Анна любит пчёл и свою пасеку").await;
    let possessive = driver.remember(&anna, "Anna’s dog doesn't bark").await;
    for visible in [whole(), visible(&[anna])] {
        for (query, expect) in [
            ("researching", &[english][..]),
            ("AGENCY", &[english]),
            ("What did Caroline research?", &[english]),
            ("пчела", &[russian]),
            ("пчёлы", &[russian]),
            ("ПЧЕЛЫ", &[russian]),
            ("пасека", &[russian]),
            ("любить", &[russian]),
            ("dogs barking", &[possessive]),
            ("anna", &[possessive]),
            ("ｄｏｇ", &[possessive]),
            ("cat", &[]),
            ("research_1", &[]),
        ] {
            let mut found = driver.words(&visible, query, &now()).await;
            if query == "research_1" {
                // This query may also find `research`.
                found.retain(|id| *id != english);
            }
            assert_eq!(found, expect, "{query}");
        }
    }
}

// Coverage: S1.5.
/// Codes, paths and versions rank first when the query contains them exactly.
pub async fn identifiers_are_found_whole(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let texts = [
        "The build failed with ERR-4021.",
        "The build failed with ERR-4022.",
        "The main rs src of it: 4021 errors",
        "Look at src/main.rs, line 12",
        "Look at src/lib.rs, line 12",
        "Release v1.2.3 is out",
        "Release v1.3.2 is out",
        "Write to anna@example.org or see #812",
        "my_table has snake_case",
    ];
    let mut ids = Vec::new();
    for text in texts {
        ids.push(driver.remember(&anna, text).await);
    }
    for visible in [whole(), visible(&[anna])] {
        for (query, first) in [
            ("ERR-4021", 0),
            ("err-4022?", 1),
            ("what is in `src/main.rs`", 3),
            ("src/lib.rs", 4),
            ("v1.2.3", 5),
            ("v1.3.2", 6),
            ("anna@example.org", 7),
            ("my_table", 8),
        ] {
            let found = driver.words(&visible, query, &now()).await;
            assert_eq!(found.first(), Some(&ids[first]), "{query}");
        }
    }
}

/// Every query is read as plain words, without syntax.
pub async fn no_question_is_a_syntax_error(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let texts = [
        "lantern",
        "\"",
        "'\"`",
        "*",
        "lan*",
        "lantern AND",
        "AND OR NOT NEAR",
        "NEAR(lantern candle, 2)",
        "terms: lantern",
        "rowid:1",
        "{terms} : x",
        "^lantern",
        "(((",
        "lantern) OR (1=1",
        "-lantern +candle",
        "🐝🐝 👩‍👩‍👧",
        "\u{202e}nretnal",
        "ﷺ ẞ İ ŉ ǰ",
        "a\u{301}\u{301}\u{301}",
        "\u{fffd}\u{feff}",
        "'; DROP TABLE memories; --",
        "%_%",
        "",
        "   \n\t",
        "who are you",
        "_",
        "._.",
        "a_1",
        "1_",
    ];
    let long = [
        "x".repeat(10_000),
        "lantern ".repeat(1_250),
        (0..2_000).map(|n| format!("w{n} ")).collect::<String>(),
        "\"(*".repeat(3_000),
        "a/b-".repeat(2_500),
        "é".repeat(10_000),
    ];
    let all: Vec<&str> = texts.into_iter().chain(long.iter().map(String::as_str)).collect();
    let mut ids: Vec<MemoryId> = Vec::new();
    for text in &all {
        ids.push(driver.remember(&anna, text).await);
    }
    for visible in [whole(), visible(&[anna])] {
        // A query may contain NUL, which a stored text cannot.
        for query in all.iter().chain(&["lantern\u{0}candle", "\u{0}"]) {
            let shown: String = query.chars().take(40).collect();
            let found = store.lexical(&visible, query, &now(), 100).await;
            assert!(found.is_ok(), "{shown}: {found:?}");
        }
        assert!(driver.words(&visible, "\"lantern\"* OR NOT )", &now()).await.contains(&ids[0]));
    }
}

fn said(driver: &Driver<'_>, who: &str, text: &str) -> Memory {
    let session = scope(Layer::Session, &["anna", "s"]);
    Memory { actor_id: Some(who.into()), thread_id: Some("s".into()), ..driver.sample(&session, text) }
}

async fn follow(driver: &Driver<'_>, before: MemoryId, memory: Memory) -> MemoryId {
    let (id, space) = (memory.id, crate::driver::space_of(&memory));
    driver.must(&space, Action::Add(Box::new(Addition { follows: Some(before), ..addition(memory) }))).await;
    id
}

/// A turn that follows two questions answers the later one, whichever link was created first.
pub async fn of_several_questions_the_latest_counts(store: &dyn Store) {
    let driver = Driver::on(store);
    let session = scope(Layer::Session, &["anna", "s"]);
    let first = driver.keep(said(&driver, "vera", "Have you been to Lisbon?")).await;
    let second = driver.keep(said(&driver, "vera", "Did you see the lighthouse?")).await;
    for (one, other) in [(first, second), (second, first)] {
        let answer = driver.keep(said(&driver, "anna", &format!("Yes, {}", driver.next()))).await;
        driver.link(&session, one, answer, Relation::Temporal).await;
        driver.link(&session, other, answer, Relation::Temporal).await;
        assert!(driver.words(&whole(), "lighthouse", &now()).await.contains(&answer));
        assert!(!driver.words(&whole(), "Lisbon", &now()).await.contains(&answer));
    }
}

/// An answer is found by the words of the question before it; a reply is not found by those of a statement.
pub async fn an_answer_is_found_by_its_question(store: &dyn Store) {
    let driver = Driver::on(store);
    let question = driver.keep(said(&driver, "vera", "Have you been to Lisbon?")).await;
    let answer = follow(&driver, question, said(&driver, "anna", "Yes, last week")).await;
    let statement = follow(&driver, answer, said(&driver, "vera", "The harbour is lovely.")).await;
    let reply = follow(&driver, statement, said(&driver, "anna", "Indeed")).await;
    let monologue = follow(&driver, reply, said(&driver, "anna", "Shall we visit Porto?")).await;
    let own = follow(&driver, monologue, said(&driver, "anna", "Perhaps in spring")).await;
    let mut found = driver.words(&whole(), "Lisbon", &now()).await;
    found.sort();
    assert_eq!(found, [question, answer]);
    assert_eq!(driver.words(&whole(), "harbour", &now()).await, [statement]);
    assert_eq!(driver.words(&whole(), "Porto", &now()).await, [monologue]);
    assert_eq!(driver.words(&whole(), "spring", &now()).await, [own]);
}

/// When the question is revised or erased, its old words no longer find the answer.
pub async fn an_answer_forgets_the_old_words_of_its_question(store: &dyn Store) {
    let driver = Driver::on(store);
    let question = driver.keep(said(&driver, "vera", "Have you been to Lisbon?")).await;
    let answer = follow(&driver, question, said(&driver, "anna", "Yes, last week")).await;
    let space = scope(Layer::Session, &["anna", "s"]).space();
    driver.must(&space, Action::Revise(Box::new(new_text(question, "Have you been to Madrid?", true)))).await;
    assert_eq!(driver.words(&whole(), "Lisbon", &now()).await, []);
    let mut found = driver.words(&whole(), "Madrid", &now()).await;
    found.sort();
    assert_eq!(found, [question, answer]);
    driver.must(&space, Action::Erase { id: question }).await;
    assert_eq!(driver.words(&whole(), "Madrid", &now()).await, []);
    assert_eq!(driver.words(&whole(), "week", &now()).await, [answer]);
}

// Coverage: S2.22.
/// Results are sorted by score, all scores are positive, and the limit keeps the best.
pub async fn better_matches_come_first(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for number in 0..20 {
        driver.remember(&anna, &format!("a plain sentence about number {number} and its harbour")).await;
    }
    let best = driver.remember(&anna, "harbour lantern").await;
    for visible in [whole(), visible(&[anna])] {
        let hits = good(store.lexical(&visible, "harbour lantern", &now(), 100).await);
        assert_eq!((hits.len(), hits[0].id), (21, best));
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score) && hits.iter().all(|hit| hit.score > 0.0));
        assert_eq!(good(store.lexical(&visible, "harbour lantern", &now(), 3).await), hits[..3]);
    }
}

/// A long query over many scopes does not fail.
pub async fn many_scopes_and_many_words(store: &dyn Store) {
    let driver = Driver::on(store);
    let scopes: Vec<_> = (0..60).map(|n| user(&format!("user-{n}"))).collect();
    let mut ids = Vec::new();
    for scope in &scopes {
        ids.push(driver.remember(scope, "one small lantern").await);
    }
    let query: String = (0..200).map(|n| format!("word{n} ")).collect::<String>() + "lanternlanternlantern lantern";
    let found = driver.words(&visible(&scopes), &query, &now()).await;
    // Only the longest words of a very long query are used; it must not return memories of other scopes.
    assert!(found.iter().all(|id| ids.contains(id)));
    assert_eq!(driver.words(&visible(&scopes), "a small lantern", &now()).await.len(), 60);
}
