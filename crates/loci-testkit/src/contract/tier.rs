//! The contract that every tier must pass.
//!
//! Each obligation is one function of a [`Subject`]: a tier with a clock that the test can advance.
//! [`tier_contract!`](crate::tier_contract) makes one test of each, with a separate tier.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use loci_store::tier::{SessionEntry, SessionKey, Tier, TierOptions, WorkingEntry, WorkingKey};
use serde_json::{Value, json};

/// A tier under test.
pub trait Subject {
    /// The tier.
    fn tier(&self) -> &dyn Tier;

    /// Advances the time of the tier without waiting.
    fn pass(&self, time: Duration) -> impl Future<Output = ()>;
}

const MINUTE: Duration = Duration::from_secs(60);

/// Returns limits that are small enough to be reached by a test.
pub fn options() -> TierOptions {
    TierOptions {
        working_entries: 4,
        session_entries: 3,
        deadline: std::time::Duration::from_secs(10),
        ..TierOptions::default()
    }
}

/// Names that would collide if their parts were joined without escaping.
const NAMES: [(&str, &str, Option<&str>); 11] = [
    ("t", "a", None),
    ("t", "a", Some("")),
    ("t", "a", Some("s")),
    ("t", "a:s", None),
    ("t:working", "a", None),
    ("t", "a%3As", None),
    ("t", "{a}:s", None),
    ("t", "working", Some("a")),
    ("t", "агент 7", None),
    ("u", "a", None),
    ("", "", None),
];

fn working_key(name: (&str, &str, Option<&str>)) -> WorkingKey {
    WorkingKey { tenant: name.0.into(), agent: name.1.into(), user: "u".into(), session: name.2.map(Into::into) }
}

fn session_key(tenant: &str, agent: &str, session: &str) -> SessionKey {
    SessionKey { tenant: tenant.into(), agent: agent.into(), user: "u".into(), session: session.into() }
}

fn note(tokens: u64, value: impl Into<Value>) -> WorkingEntry {
    WorkingEntry { tokens, value: value.into() }
}

fn entry(id: &str, second: i64, value: impl Into<Value>) -> SessionEntry {
    let at = Timestamp::from_second(1_700_000_000 + second).expect("a time in range");
    SessionEntry { id: id.into(), at, importance: 0.25, value: value.into() }
}

async fn values(tier: &dyn Tier, key: &WorkingKey) -> Vec<Value> {
    tier.read(key).await.expect("to read").into_iter().map(|entry| entry.value).collect()
}

async fn ids(tier: &dyn Tier, key: &SessionKey, limit: usize) -> Vec<String> {
    tier.latest(key, limit).await.expect("to read").into_iter().map(|entry| entry.id).collect()
}

/// A tier reports its name and version, and that it is not degraded.
pub async fn it_says_how_it_is(subject: &impl Subject) {
    let health = subject.tier().health().await.expect("to answer");
    assert_eq!(health.name, subject.tier().name());
    assert_eq!(health.degraded, None);
    assert!(health.version.starts_with(|digit: char| digit.is_ascii_digit()), "{}", health.version);
}

/// Entries are read back unchanged and in order.
pub async fn what_is_noted_is_read_in_order(subject: &impl Subject) {
    let (tier, key) = (subject.tier(), working_key(("t", "a", None)));
    assert_eq!(values(tier, &key).await, [] as [Value; 0]);
    assert_eq!(tier.append(&key, &[]).await, Ok(0));
    let noted = [
        note(3, "one"),
        note(0, json!({ "two": [1, null, { "tokens": 9 }], "tokens": "x" })),
        note(u64::from(u32::MAX), "три \u{0} \" :"),
    ];
    assert_eq!(tier.append(&key, &noted[..2]).await, Ok(2));
    assert_eq!(tier.append(&key, &noted[2..]).await, Ok(3));
    assert_eq!(tier.read(&key).await.as_deref(), Ok(&noted[..]));
}

/// Working memories with different keys are independent, whichever part of the key differs.
pub async fn working_memories_do_not_meet(subject: &impl Subject) {
    let tier = subject.tier();
    for (number, name) in NAMES.into_iter().enumerate() {
        tier.append(&working_key(name), &[note(1, number)]).await.expect("to append");
    }
    for (number, name) in NAMES.into_iter().enumerate() {
        assert_eq!(values(tier, &working_key(name)).await, [json!(number)], "{name:?}");
    }
    let theirs = WorkingKey { user: "v".into(), ..working_key(NAMES[0]) };
    assert_eq!(values(tier, &theirs).await, [] as [Value; 0]);
    tier.clear(&working_key(NAMES[0])).await.expect("to clear");
    assert_eq!(values(tier, &working_key(NAMES[0])).await, [] as [Value; 0]);
    assert_eq!(values(tier, &working_key(NAMES[1])).await, [json!(1)]);
}

/// Trimming keeps the newest entries that fit into the token limit, without gaps.
pub async fn the_newest_that_fit_are_kept(subject: &impl Subject) {
    let tier = subject.tier();
    let tokens = [1, 50, 2, 3];
    let table: [(u64, usize); 7] = [(1_000, 0), (56, 0), (55, 1), (54, 2), (5, 2), (4, 3), (2, 4)];
    for (most, gone) in table {
        let key = working_key(("t", "a", Some(&most.to_string())));
        let noted: Vec<WorkingEntry> = tokens.iter().map(|&tokens| note(tokens, tokens)).collect();
        tier.append(&key, &noted).await.expect("to append");
        assert_eq!(tier.trim(&key, most).await, Ok(gone), "{most}");
        assert_eq!(tier.read(&key).await.as_deref(), Ok(&noted[gone..]), "{most}");
    }
    assert_eq!(tier.trim(&working_key(("t", "nobody", None)), 5).await, Ok(0));
}

/// A working memory has a maximum number of entries. New ones push out the oldest.
pub async fn too_many_notes_push_out_the_oldest(subject: &impl Subject) {
    let (tier, key) = (subject.tier(), working_key(("t", "a", None)));
    for number in 0..3 {
        tier.append(&key, &[note(1, number)]).await.expect("to append");
    }
    assert_eq!(tier.append(&key, &[note(1, 3), note(1, 4)]).await, Ok(4));
    assert_eq!(values(tier, &key).await, [json!(1), json!(2), json!(3), json!(4)]);
    let many: Vec<WorkingEntry> = (10..20).map(|number| note(1, number)).collect();
    assert_eq!(tier.append(&key, &many).await, Ok(4));
    assert_eq!(values(tier, &key).await, [json!(16), json!(17), json!(18), json!(19)]);
}

// Coverage: S2.25.
/// Removing an entry removes one occurrence for each time that it is listed. The others keep their order.
pub async fn what_is_taken_out_is_gone(subject: &impl Subject) {
    let (tier, key) = (subject.tier(), working_key(("t", "a", None)));
    assert_eq!(tier.remove(&key, &[note(1, 1)]).await, Ok(0), "nothing is there");
    let noted = [note(1, "x"), note(2, json!({ "b": 0.1, "a": null })), note(1, "x"), note(3, "y")];
    tier.append(&key, &noted).await.expect("to append");
    assert_eq!(tier.remove(&key, &[]).await, Ok(0));
    let gone = [noted[1].clone(), note(1, "x"), note(9, "y"), note(1, "none")];
    assert_eq!(tier.remove(&key, &gone).await, Ok(2), "the same tokens and the same value");
    assert_eq!(tier.read(&key).await.as_deref(), Ok(&noted[2..]));
    assert_eq!(tier.remove(&key, &noted).await, Ok(2));
    assert_eq!(values(tier, &key).await, [] as [Value; 0]);
    assert_eq!(tier.append(&key, &[note(1, "z")]).await, Ok(1));
}

/// An idle working memory expires. Reading it counts as use.
pub async fn an_idle_working_memory_is_cleared(subject: &impl Subject) {
    let (tier, used, idle) = (subject.tier(), working_key(("t", "used", None)), working_key(("t", "idle", None)));
    let day = TierOptions::default().working_idle;
    for key in [&used, &idle] {
        tier.append(key, &[note(1, 1)]).await.expect("to append");
    }
    for _ in 0..3 {
        subject.pass(day / 2 - MINUTE).await;
        assert_eq!(values(tier, &used).await.len(), 1, "it was used");
    }
    assert_eq!(values(tier, &idle).await.len(), 0, "it was idle");
    subject.pass(day).await;
    assert_eq!(values(tier, &used).await.len(), 0, "now it was idle");
}

// Coverage: S4.6.
/// Session entries are read newest first, in whatever order they were written.
pub async fn the_newest_of_a_session_come_first(subject: &impl Subject) {
    let (tier, session) = (subject.tier(), session_key("t", "a", "s"));
    assert_eq!(ids(tier, &session, 10).await, [] as [&str; 0]);
    let written = [entry("m", 5, "five"), entry("k", 9, json!({ "role": "user" })), entry("n", 5, Value::Null)];
    for entry in &written {
        tier.put(&session, entry, None).await.expect("to put");
    }
    assert_eq!(ids(tier, &session, 10).await, ["k", "n", "m"]);
    assert_eq!(ids(tier, &session, 2).await, ["k", "n"]);
    assert_eq!(ids(tier, &session, 0).await, [] as [&str; 0]);
    assert_eq!(tier.latest(&session, 1).await.as_deref(), Ok(&written[1..2]), "as it was written");
}

/// An entry with the same id replaces the earlier one.
pub async fn an_entry_takes_the_place_of_its_like(subject: &impl Subject) {
    let (tier, session) = (subject.tier(), session_key("t", "a", "s"));
    for entry in [entry("x", 5, "first"), entry("y", 6, "other"), entry("x", 7, "second")] {
        tier.put(&session, &entry, None).await.expect("to put");
    }
    let found = tier.latest(&session, 10).await.expect("to read");
    let pairs: Vec<(&str, &Value)> = found.iter().map(|entry| (entry.id.as_str(), &entry.value)).collect();
    assert_eq!(pairs, [("x", &json!("second")), ("y", &json!("other"))]);
}

/// A session has a maximum number of entries. New ones push out the oldest.
pub async fn too_many_entries_push_out_the_oldest(subject: &impl Subject) {
    let (tier, session) = (subject.tier(), session_key("t", "a", "s"));
    for (id, second) in [("a", 4), ("b", 1), ("c", 3), ("d", 2)] {
        tier.put(&session, &entry(id, second, id), None).await.expect("to put");
    }
    assert_eq!(ids(tier, &session, 10).await, ["a", "c", "d"]);
    // An entry that is older than all of a full session is not kept.
    tier.put(&session, &entry("e", 0, "e"), None).await.expect("to put");
    assert_eq!(ids(tier, &session, 10).await, ["a", "c", "d"]);
}

/// Sessions with different keys are independent, and ending one does not affect the others.
pub async fn sessions_do_not_meet(subject: &impl Subject) {
    let tier = subject.tier();
    let sessions = [
        ("t", "a", "b"),
        ("t", "a:b", ""),
        ("t", "a", ":b"),
        ("t:episodic", "a", "b"),
        ("t", "b", "a"),
        ("u", "a", "b"),
    ]
    .map(|(tenant, agent, session)| session_key(tenant, agent, session));
    for (number, session) in sessions.iter().enumerate() {
        tier.put(session, &entry(&number.to_string(), 1, number), None).await.expect("to put");
    }
    tier.end(&sessions[0]).await.expect("to end");
    assert_eq!(ids(tier, &sessions[0], 10).await, [] as [&str; 0]);
    for (number, session) in sessions.iter().enumerate().skip(1) {
        assert_eq!(ids(tier, session, 10).await, [number.to_string()], "{session:?}");
    }
}

/// A session expires one hour after its last entry. Reading does not extend it.
pub async fn a_session_lives_as_long_as_it_is_written_to(subject: &impl Subject) {
    let (tier, session) = (subject.tier(), session_key("t", "a", "s"));
    let hour = TierOptions::default().session_idle;
    tier.put(&session, &entry("x", 1, 1), None).await.expect("to put");
    subject.pass(hour - MINUTE).await;
    tier.put(&session, &entry("y", 2, 2), None).await.expect("to put");
    subject.pass(hour - MINUTE).await;
    assert_eq!(ids(tier, &session, 10).await, ["y", "x"]);
    subject.pass(MINUTE).await;
    assert_eq!(ids(tier, &session, 10).await, [] as [&str; 0]);
}

// Coverage: S2.27.
/// A write may set how long the session lives from then on. It never shortens an earlier lifetime.
pub async fn a_session_lives_as_long_as_was_promised(subject: &impl Subject) {
    let (tier, hour) = (subject.tier(), TierOptions::default().session_idle);
    let (short, long) = (session_key("t", "a", "short"), session_key("t", "a", "long"));
    tier.put(&short, &entry("x", 1, 1), Some(2 * MINUTE)).await.expect("to put");
    tier.put(&long, &entry("x", 1, 1), Some(3 * hour)).await.expect("to put");
    tier.put(&long, &entry("y", 2, 2), Some(MINUTE)).await.expect("to put");
    subject.pass(MINUTE).await;
    assert_eq!(ids(tier, &short, 10).await, ["x"]);
    subject.pass(2 * MINUTE).await;
    assert_eq!(ids(tier, &short, 10).await, [] as [&str; 0]);
    tier.put(&long, &entry("z", 3, 3), None).await.expect("to put");
    subject.pass(2 * hour).await;
    assert_eq!(ids(tier, &long, 10).await, ["z", "y", "x"]);
    subject.pass(hour).await;
    assert_eq!(ids(tier, &long, 10).await, [] as [&str; 0]);
}

// Coverage: S2.25.
/// Erasing a user removes all entries of the user, for every agent and session, and no entries of other users.
pub async fn a_user_is_erased_and_nobody_else(subject: &impl Subject) {
    let tier = subject.tier();
    let keys = NAMES.map(working_key);
    let others = NAMES.map(|name| WorkingKey { user: "v:u".into(), ..working_key(name) });
    let sessions = [session_key("t", "a", "s"), session_key("t", "", "s")];
    let other = SessionKey { user: "v:u".into(), ..sessions[0].clone() };
    for one in keys.iter().chain(&others) {
        tier.append(one, &[note(1, 1)]).await.expect("to append");
    }
    for session in sessions.iter().chain([&other]) {
        tier.put(session, &entry("x", 1, 1), None).await.expect("to put");
    }
    assert_eq!(tier.erased("t", "u").await, Ok(None));
    let at = Timestamp::from_second(1_700_000_000).expect("a time in range");
    let ours = |one: &&WorkingKey| one.tenant == "t";
    let expect = keys.iter().filter(ours).count() + sessions.len();
    assert_eq!(tier.erase_user("t", "u", at).await, Ok(expect));
    for one in &keys {
        assert_eq!(values(tier, one).await.is_empty(), one.tenant == "t", "{one:?}");
    }
    for one in &others {
        assert_eq!(values(tier, one).await.len(), 1, "{one:?}");
    }
    for session in &sessions {
        assert_eq!(ids(tier, session, 10).await, [] as [&str; 0], "{session:?}");
    }
    assert_eq!(ids(tier, &other, 10).await, ["x"]);
    assert_eq!((tier.erased("t", "u").await, tier.erased("t", "v:u").await), (Ok(Some(at)), Ok(None)));
    assert_eq!(tier.erase_user("t", "u", at).await, Ok(0), "nothing is left");
    // An erased user can write again.
    assert_eq!(tier.append(&keys[0], &[note(1, 2)]).await, Ok(1));
    assert_eq!(values(tier, &keys[0]).await, [json!(2)]);
    assert_eq!(tier.erase_user("t", "u", at).await, Ok(1));
    subject.pass(TierOptions::default().working_idle).await;
    assert_eq!(tier.erased("t", "u").await, Ok(None), "nobody can hold anything of it still");
}

/// Embeddings are read back unchanged and in the order of the keys.
pub async fn embeddings_come_back_in_the_order_asked(subject: &impl Subject) {
    let tier = subject.tier();
    let keys = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let kept = [("a".to_owned(), vec![0, 255, 10]), ("m:b".to_owned(), vec![]), ("m%3Ab".to_owned(), vec![7; 5_000])];
    tier.keep_embeddings(&kept).await.expect("to keep");
    tier.keep_embeddings(&[]).await.expect("to keep nothing");
    assert_eq!(tier.embeddings(&[]).await, Ok(Vec::new()));
    let found = tier.embeddings(&keys(&["m%3Ab", "none", "a", "m:b", "a"])).await.expect("to read");
    let [a, b, c] = kept.map(|(_, bytes)| Some(bytes));
    assert_eq!(found, [c, None, a.clone(), b, a]);
    tier.keep_embeddings(&[("a".to_owned(), vec![1])]).await.expect("to keep");
    assert_eq!(tier.embeddings(&keys(&["a"])).await, Ok(vec![Some(vec![1])]));
}

/// An embedding expires after its lifetime, whether it is read or not.
pub async fn an_embedding_has_its_time(subject: &impl Subject) {
    let (tier, keys, week) = (subject.tier(), ["a".to_owned()], TierOptions::default().embedding_life);
    tier.keep_embeddings(&[(keys[0].clone(), vec![1])]).await.expect("to keep");
    subject.pass(week - MINUTE).await;
    assert_eq!(tier.embeddings(&keys).await, Ok(vec![Some(vec![1])]));
    subject.pass(MINUTE).await;
    assert_eq!(tier.embeddings(&keys).await, Ok(vec![None]));
}

/// A burst is allowed, and then one request for each interval of the rate.
pub async fn a_burst_and_then_the_rate(subject: &impl Subject) {
    let tier = subject.tier();
    let second = Duration::from_secs(1);
    for left in (0..3).rev() {
        let taken = tier.take("a", 1, 3).await.expect("to take");
        assert!(taken.allowed, "{left}: {taken:?}");
        assert!(taken.left == left || taken.left == left + 1, "{left}: {taken:?}");
    }
    let refused = loop {
        // On a slow machine one more request may have become due by now.
        let taken = tier.take("a", 1, 3).await.expect("to take");
        if !taken.allowed {
            break taken;
        }
    };
    assert_eq!(refused.left, 0);
    assert!(refused.retry_after > Duration::ZERO && refused.retry_after <= second, "{refused:?}");
    assert!(refused.full_after > second && refused.full_after <= 3 * second, "{refused:?}");
    subject.pass(refused.retry_after).await;
    assert!(tier.take("a", 1, 3).await.expect("to take").allowed, "it was due");
    subject.pass(5 * second).await;
    let taken = tier.take("a", 1, 3).await.expect("to take");
    assert_eq!((taken.allowed, taken.left), (true, 2), "a burst is full after its time, and not fuller");
}

/// A refused request does not extend the waiting time.
pub async fn refusals_do_not_count(subject: &impl Subject) {
    let tier = subject.tier();
    while tier.take("a", 1, 1).await.expect("to take").allowed {}
    for _ in 0..20 {
        tier.take("a", 1, 1).await.expect("to take");
    }
    subject.pass(Duration::from_secs(1)).await;
    assert!(tier.take("a", 1, 1).await.expect("to take").allowed);
}

/// Each caller has its own rate, and a rate of 0 does not cause a division by zero.
pub async fn callers_do_not_share(subject: &impl Subject) {
    let tier = subject.tier();
    for key in ["a", "b", "a:b", "", "a%3Ab"] {
        assert!(tier.take(key, 0, 0).await.expect("to take").allowed, "{key}");
    }
}

/// Concurrent requests never exceed the limit.
pub async fn many_at_once_take_what_there_is(subject: &impl Subject) {
    let tier = subject.tier();
    let started = std::time::Instant::now();
    let mut allowed = 0;
    let taken = futures::future::join_all((0..200).map(|_| tier.take("a", 1, 20))).await;
    for taken in taken {
        allowed += u64::from(taken.expect("to take").allowed);
    }
    let more = started.elapsed().as_secs() + 1;
    assert!((20..=20 + more).contains(&allowed), "{allowed}");
}

/// Makes one test per obligation. `$make` is an async function of [`TierOptions`] that returns an empty
/// tier as a [`Subject`], or `None` if the server that it needs is missing.
#[macro_export]
macro_rules! tier_contract {
    ($make:path) => {
        $crate::tier_contract! { @each $make;
            it_says_how_it_is
            what_is_noted_is_read_in_order
            working_memories_do_not_meet
            the_newest_that_fit_are_kept
            too_many_notes_push_out_the_oldest
            what_is_taken_out_is_gone
            an_idle_working_memory_is_cleared
            the_newest_of_a_session_come_first
            an_entry_takes_the_place_of_its_like
            too_many_entries_push_out_the_oldest
            sessions_do_not_meet
            a_session_lives_as_long_as_it_is_written_to
            a_session_lives_as_long_as_was_promised
            a_user_is_erased_and_nobody_else
            embeddings_come_back_in_the_order_asked
            an_embedding_has_its_time
            a_burst_and_then_the_rate
            refusals_do_not_count
            callers_do_not_share
            many_at_once_take_what_there_is
        }
    };
    (@each $make:path; $($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let Some(subject) = $make($crate::contract::tier::options()).await else { return };
                $crate::contract::tier::$name(&subject).await;
            }
        )*
    };
}
