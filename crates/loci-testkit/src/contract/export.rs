//! Contract: export, and import without loss.

use loci_store::{ExportCursor, ExportPage, ExportedMemory, Store};
use loci_types::{Action, Addition, Bookkeeping, Filter, Memory, Outcome, Relation, Scope, Session, State, Visible};

use crate::driver::{Driver, good};
use crate::samples::*;

async fn page(store: &dyn Store, visible: &Visible, after: ExportCursor) -> ExportPage {
    good(store.export_page(visible, &everything(), &user("anna").space(), &after, 9).await)
}

async fn memories(store: &dyn Store, filter: &Filter, limit: usize) -> Vec<ExportedMemory> {
    let (mut found, mut after) = (Vec::new(), Some(ExportCursor::Memories(0)));
    while let Some(cursor) = after {
        let page = good(store.export_page(&whole(), filter, &user("anna").space(), &cursor, limit).await);
        assert!(page.memories.len() <= limit, "a page exceeds its limit");
        found.extend(page.memories);
        after = page.next;
    }
    found
}

/// Memories are exported in the order of insertion, in any state, each once, if they are visible and match the filter.
pub async fn memories_are_carried_in_the_order_they_came(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let late = driver.sample(&anna, "made first, kept last");
    let mut expect = Vec::new();
    for (number, state) in State::ALL.iter().enumerate() {
        let memory = driver.sample(if number == 2 { &vera } else { &anna }, &format!("lantern {number}"));
        expect.push(driver.keep(Memory { state: *state, ..memory }).await);
    }
    expect.push(driver.keep(late).await);
    for page in [1, 2, 100] {
        let found = memories(store, &everything(), page).await;
        assert_eq!(found.iter().map(|exported| exported.memory.id).collect::<Vec<_>>(), expect, "{page}");
    }
    let hers = Filter { users: vec!["vera".to_owned()], ..everything() };
    assert_eq!(memories(store, &hers, 9).await.len(), 1);
    let seen = page(store, &visible(std::slice::from_ref(&vera)), ExportCursor::Memories(0)).await.memories;
    assert_eq!(seen.iter().map(|exported| exported.memory.id).collect::<Vec<_>>(), [expect[2]]);
    let elsewhere = agent("bot").space();
    let nothing = store.export_page(&visible(&[vera]), &everything(), &elsewhere, &ExportCursor::Memories(0), 9).await;
    assert_eq!(good(nothing), ExportPage::default());
}

/// An edge is exported if both its memories are visible.
pub async fn edges_are_carried_with_both_their_ends(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    let three = driver.remember(&vera, "three").await;
    driver.link(&anna, one, two, Relation::Causal).await;
    driver.link(&anna, two, three, Relation::RelatedTo).await;
    let all = page(store, &whole(), ExportCursor::Edges(None)).await.edges;
    assert_eq!(all.len(), 2);
    assert!(all[0].id < all[1].id);
    let rest = page(store, &whole(), ExportCursor::Edges(Some(all[0].id))).await.edges;
    assert_eq!(rest, all[1..]);
    let hers = page(store, &visible(&[anna]), ExportCursor::Edges(None)).await.edges;
    assert_eq!(hers.iter().map(|edge| edge.source_id).collect::<Vec<_>>(), [one]);
}

/// An entity is exported with its own names and the entity it is united with, without those of the union.
pub async fn entities_are_carried_each_by_itself(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let (lab, labs) = (driver.name(&anna, "Acme Lab", &["lab"]).await, driver.name(&anna, "Acme Labs", &[]).await);
    let memory = driver.remember(&anna, "works at Acme Labs").await;
    driver.mention(&anna, memory, labs.id).await;
    driver.must(&anna.space(), Action::Unite { into: lab.id, from: labs.id }).await;
    let all = page(store, &whole(), ExportCursor::Entities(None)).await.entities;
    let found: Vec<_> = all.iter().map(|one| (one.entity.id, one.united_with, one.mentions.clone())).collect();
    assert_eq!(found, [(lab.id, None, vec![]), (labs.id, Some(lab.id), vec![memory])]);
    assert_eq!((all[0].entity.aliases.as_slice(), &all[0].scope), (&["lab".to_owned()][..], &anna));
    let hers = page(store, &visible(&[anna]), ExportCursor::Entities(None)).await.entities;
    assert_eq!(hers.iter().map(|one| one.entity.id).collect::<Vec<_>>(), [labs.id], "those that are mentioned");
    assert_eq!(page(store, &visible(&[vera]), ExportCursor::Entities(None)).await.entities, []);
}

/// An imported record replaces the one with its id, including its terms.
pub async fn a_record_takes_the_place_of_its_own(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.sample(&anna, "lantern");
    driver.keep(old.clone()).await;
    let new = Memory { version: 7, access_count: 3, tags: vec!["x".into()], content: "harbour".into(), ..old.clone() };
    let new = Memory { content_hash: hash("harbour"), ..new };
    let aged = Addition { aged_at: Some(at(5)), ..addition(new.clone()) };
    let applied = driver.must(&anna.space(), Action::Replace(Box::new(aged))).await;
    assert_eq!((applied.outcome, applied.version), (Outcome::Updated, 7));
    assert_eq!(driver.must_get(old.id).await, new);
    assert_eq!(driver.words(&whole(), "lantern", &now()).await, []);
    assert_eq!(driver.words(&whole(), "harbour", &now()).await, [old.id]);
    assert_eq!(memories(store, &everything(), 9).await[0].aged_at, Some(at(5)));
    let other = Memory { identifiers: user("vera").identifiers(), ..new.clone() };
    assert!(driver.act(&anna.space(), Action::Replace(Box::new(addition(other)))).await.is_err(), "of another scope");
    let born = Memory { state: State::Proposed, ..new };
    assert!(driver.act(&anna.space(), Action::Replace(Box::new(addition(born)))).await.is_err(), "no such step");
    let unknown = addition(driver.sample(&anna, "unknown"));
    assert!(driver.act(&anna.space(), Action::Replace(Box::new(unknown))).await.is_err());
}

/// Replacing writes every field of a record, including those about its origin.
pub async fn a_record_that_is_replaced_is_replaced_whole(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.sample(&anna, "lantern");
    driver.keep(old.clone()).await;
    let some = |text: &str| Some(text.to_owned());
    let identifiers = loci_types::Identifiers {
        agent_id: some("a"),
        session_id: some("s"),
        project_id: some("p"),
        team_id: some("t"),
        org_id: some("o"),
        company_id: some("c"),
        pool_id: some("q"),
        ..old.identifiers.clone()
    };
    let new = Memory {
        version: 3,
        identifiers,
        thread_id: some("t"),
        run_id: some("r"),
        actor_id: some("who"),
        role: some("user"),
        created_at: at(-9),
        said_at: Some(at(-8)),
        imported_at: Some(at(-7)),
        last_accessed_at: Some(at(-6)),
        access_count: 4,
        ..old
    };
    driver.must(&anna.space(), Action::Replace(Box::new(addition(new.clone())))).await;
    assert_eq!(driver.must_get(new.id).await, new);
    assert_eq!(memories(store, &Filter { sessions: vec!["s".to_owned()], ..everything() }, 9).await.len(), 1);
    // A later change leaves these fields as they are.
    driver.forget(&anna, new.id).await;
    driver.must(&anna.space(), Action::Restore { id: new.id }).await;
    assert_eq!(driver.must_get(new.id).await, Memory { version: 5, updated_at: driver.clock(), ..new });
}

/// An imported session is read back unchanged with its mark, even if the turn of the mark is erased.
pub async fn a_session_comes_back_as_it_was(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut turns = Vec::new();
    for number in 0..3 {
        let memory = driver.sample(&anna, &format!("turn {number}"));
        let source = Some(loci_types::Source { kind: "conversation".into(), ..loci_types::Source::default() });
        let kind = loci_types::Kind::stored(loci_types::Kind::EPISODIC);
        turns.push(driver.keep(Memory { kind, source, thread_id: Some("t".into()), ..memory }).await);
    }
    let session = |name: &str, through| Session {
        scope: anna.clone(),
        session_id: name.into(),
        thread_id: "t".into(),
        created_at: at(1),
        updated_at: at(2),
        ended_at: Some(at(3)),
        consolidated_at: Some(at(4)),
        consolidated_through: through,
        pending: false,
    };
    let kept = session("t", Some(turns[1]));
    for _ in 0..2 {
        driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Resume(Box::new(kept.clone())))).await;
    }
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Resume(Box::new(session("a", None))))).await;
    let all = page(store, &whole(), ExportCursor::Sessions(None)).await.sessions;
    assert_eq!(all, [session("a", None), kept.clone()]);
    let place: Option<(Scope, String)> = Some((anna.clone(), "a".into()));
    assert_eq!(page(store, &whole(), ExportCursor::Sessions(place)).await.sessions, std::slice::from_ref(&kept));
    assert_eq!(page(store, &visible(&[user("vera")]), ExportCursor::Sessions(None)).await.sessions, []);
    let waiting = good(store.pending_turns(&whole(), &anna, "t", 9).await);
    assert_eq!(waiting.iter().map(|turn| turn.id).collect::<Vec<_>>(), [turns[2]]);
    // After the turn of the mark is erased, the turns before it do not become pending again.
    driver.must(&anna.space(), Action::Erase { id: turns[1] }).await;
    driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Resume(Box::new(kept)))).await;
    let waiting = good(store.pending_turns(&whole(), &anna, "t", 9).await);
    assert_eq!(waiting.iter().map(|turn| turn.id).collect::<Vec<_>>(), [turns[2]]);
}
