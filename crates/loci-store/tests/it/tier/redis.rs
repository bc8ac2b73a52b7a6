//! The contract of every tier, on Redis, with several servers and within the deadline.

use std::time::{Duration, Instant};

use loci_store::tier::{RedisTier, SessionEntry, SessionKey, Tier, TierError, TierOptions, WorkingEntry, WorkingKey};
use loci_testkit::contract::tier::Subject;
use loci_testkit::proxy::Proxy;
use loci_testkit::servers::{self, PrivateRedis};
use redis::aio::MultiplexedConnection;

/// Redis with a clock that can be moved: by what is left of every key, and by the times in the rates.
/// A key without a time to live is an error.
struct Movable {
    tier: RedisTier,
    prefix: String,
    connection: MultiplexedConnection,
}

const PASS: &str = r"
    local micros = tonumber(ARGV[2])
    local millis = math.floor(micros / 1000)
    for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do
        local left = redis.call('PTTL', key)
        if left < 0 then return redis.error_reply('it would live for ever: ' .. key) end
        if left <= millis then
            redis.call('DEL', key)
        else
            if string.find(key, ARGV[1] .. ':rate:', 1, true) == 1 then
                redis.call('SET', key, string.format('%.0f', tonumber(redis.call('GET', key)) - micros))
            end
            redis.call('PEXPIRE', key, left - millis)
        end
    end
";

impl Subject for Movable {
    fn tier(&self) -> &dyn Tier {
        &self.tier
    }

    async fn pass(&self, time: Duration) {
        let mut connection = self.connection.clone();
        let mut call = redis::cmd("EVAL");
        call.arg(PASS).arg(0).arg(&self.prefix).arg(u64::try_from(time.as_micros()).unwrap());
        call.exec_async(&mut connection).await.unwrap();
    }
}

fn own(options: TierOptions) -> TierOptions {
    TierOptions { prefix: format!("loci-test-{}", uuid::Uuid::new_v4()), ..options }
}

async fn fresh(options: TierOptions) -> Option<Movable> {
    let url = servers::redis()?;
    let options = own(options);
    let connection = redis::Client::open(url.as_str()).unwrap().get_multiplexed_async_connection().await.unwrap();
    Some(Movable { prefix: options.prefix.clone(), tier: RedisTier::new(&url, options).unwrap(), connection })
}

loci_testkit::tier_contract!(fresh);

#[tokio::test]
async fn two_servers_share_a_rate() {
    let Some(url) = servers::redis() else { return };
    let options = own(TierOptions::default());
    let servers = [(); 2].map(|()| RedisTier::new(&url, options.clone()).unwrap());
    let started = Instant::now();
    let mut allowed = 0;
    for number in 0..40 {
        allowed += u64::from(servers[number % 2].take("a", 1, 10).await.unwrap().allowed);
    }
    assert!((10..=11 + started.elapsed().as_secs()).contains(&allowed), "{allowed}");
}

#[tokio::test]
async fn redis_itself_ends_a_session() {
    let Some(url) = servers::redis() else { return };
    let options = own(TierOptions { session_idle: Duration::from_millis(50), ..TierOptions::default() });
    let tier = RedisTier::new(&url, options).unwrap();
    let session = SessionKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: "s".into() };
    let entry = SessionEntry { id: "x".into(), at: jiff::Timestamp::UNIX_EPOCH, importance: 0.5, value: 1.into() };
    tier.put(&session, &entry, None).await.unwrap();
    let started = Instant::now();
    while !tier.latest(&session, 1).await.unwrap().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(10), "it is still there");
    }
}

#[tokio::test]
async fn nobody_waits_longer_than_the_deadline() {
    let Some(url) = servers::redis() else { return };
    let address = url.trim_start_matches("redis://").trim_end_matches('/').to_owned();
    let proxy = Proxy::to(address).await;
    let tier = RedisTier::new(&format!("redis://{}", proxy.address()), own(TierOptions::default())).unwrap();
    tier.take("a", 1, 10).await.unwrap();
    proxy.delay(Duration::from_secs(3_600));
    for _ in 0..3 {
        let started = Instant::now();
        let failure = tier.take("a", 1, 10).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        assert!(failure.to_string().starts_with("redis"), "{failure}");
    }
    proxy.heal();
    let taken = tier.take("a", 1, 10).await.unwrap();
    assert!(taken.left < 9, "it is the same Redis: {taken:?}");
    proxy.cut();
    assert!(matches!(tier.take("a", 1, 10).await, Err(TierError::Unreachable { .. })));
    proxy.heal();
    tier.take("a", 1, 10).await.unwrap();
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_trimmed_away() {
    let Some(subject) = fresh(TierOptions::default()).await else { return };
    let (tier, mut connection) = (&subject.tier, subject.connection.clone());
    let key = WorkingKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: None };
    let entry = |value: &str| WorkingEntry { tokens: 2, value: value.into() };
    let name = format!("{}:t:working:a:u", subject.prefix);
    for value in ["one", "two"] {
        redis::cmd("RPUSH").arg(&name).arg("of another version").exec_async(&mut connection).await.unwrap();
        tier.append(&key, &[entry(value)]).await.unwrap();
    }
    assert_eq!(tier.trim(&key, 4).await, Ok(2), "what nobody can read goes");
    assert_eq!(tier.read(&key).await, Ok(vec![entry("one"), entry("two")]));
    redis::cmd("RPUSH").arg(&name).arg("{}").exec_async(&mut connection).await.unwrap();
    assert_eq!(tier.trim(&key, 2).await, Ok(2));
    assert_eq!(tier.read(&key).await, Ok(vec![entry("two")]));
}

#[tokio::test]
async fn a_user_with_many_sessions_is_erased_in_parts() {
    let Some(subject) = fresh(TierOptions::default()).await else { return };
    let entry = SessionEntry { id: "x".into(), at: jiff::Timestamp::UNIX_EPOCH, importance: 0.5, value: 1.into() };
    let session = |number: usize| {
        let session = number.to_string();
        SessionKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session }
    };
    let keys: Vec<_> = (0..1_200).map(session).collect();
    for key in &keys {
        subject.tier.put(key, &entry, None).await.unwrap();
    }
    assert_eq!(subject.tier.erase_user("t", "u", entry.at).await, Ok(keys.len()));
    assert_eq!(subject.tier.latest(&keys[0], 1).await, Ok(Vec::new()));
    assert_eq!(subject.tier.erase_user("t", "u", entry.at).await, Ok(0));
}

#[tokio::test]
async fn a_server_without_tls_is_named_as_the_reason() {
    let Some(redis) = PrivateRedis::start() else { return };
    let tier = RedisTier::new(&format!("rediss://user:secret@{}", redis.address()), TierOptions::default()).unwrap();
    let failure = tier.health().await.unwrap_err();
    assert!(failure.to_string().contains("TLS"), "{failure}");
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

#[test]
fn an_address_that_is_none_is_refused_without_telling_it() {
    for url in ["", "127.0.0.1", "http://user:secret@host", "redis://user:secret@host:port"] {
        let failure = RedisTier::new(url, TierOptions::default()).err().unwrap();
        assert!(matches!(failure, TierError::Address { .. }), "{url}: {failure}");
        assert!(!failure.to_string().contains("secret"), "{failure}");
    }
}
