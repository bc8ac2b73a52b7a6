//! A tier in Redis, for several servers.
//!
//! | key | type | content |
//! |---|---|---|
//! | `{prefix}:{tenant}:working:{agent}:{user}` and `…:{session}` | list | working memory, one JSON object each |
//! | `{prefix}:{tenant}:episodic:{agent}:{user}:{session}` | sorted set | ids of a session's entries by time |
//! | `{prefix}:{tenant}:session:{agent}:{user}:{session}` | hash | these entries as JSON, by id |
//! | `{prefix}:{tenant}:owned:{user}` | sorted set | the keys above of this user, by their expiry |
//! | `{prefix}:{tenant}:erased:{user}` | string | when this user was erased, in microseconds |
//! | `{prefix}:embedding:{key}` | string | an embedding's bytes |
//! | `{prefix}:rate:{key}` | string | the theoretical arrival time of the next request, in Redis's microseconds |
//!
//! Every key has a time to live. Atomic steps are one script or one transaction. Every call has a deadline, which grows
//! with the number of entries it reads or writes; a connection that fails or times out is dropped, and the next call
//! connects again. Calls with many entries use a connection of their own, so that no other answer waits behind theirs.
//!
//! Every script names all its keys in `KEYS`. Redis Cluster is not supported: the keys of one call have no common hash
//! tag, so they may be in different slots (`MGET` of embeddings, and the scripts that update `…:owned:{user}`).

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, FromRedisValue, Pipeline, RedisError, RedisResult, Script,
    ScriptInvocation, TlsCertificates,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::{
    RateDecision, SessionEntry, SessionKey, Tier, TierError, TierHealth, TierOptions, TierResult, WorkingEntry,
    WorkingKey,
};

const NAME: &str = "redis";

/// Calls with more entries than this use the connection for large calls and have a longer deadline.
const MANY_ENTRIES: usize = 64;

/// The time that each further entry adds to the deadline.
const TIME_PER_ENTRY: Duration = Duration::from_millis(1);

/// Maximum number of keys that one script erases; a script blocks all other clients.
const ERASE_AT_ONCE: usize = 500;

/// Lua function of every script that writes: records that `key` belongs to a user and lives for `life` milliseconds.
/// Expired keys are removed from the set, so that it holds only existing keys.
const OWN: &str = r"
    local function own(owned, key, life)
        local time = redis.call('TIME')
        local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
        redis.call('PEXPIRE', key, life)
        redis.call('ZREMRANGEBYSCORE', owned, '-inf', now)
        redis.call('ZADD', owned, now + life, key)
        if redis.call('PTTL', owned) < life then redis.call('PEXPIRE', owned, life) end
    end
";

fn owning(body: &str) -> Script {
    Script::new(&format!("{OWN}{body}"))
}

/// KEYS: a working memory, the owned set of its user. ARGV: the time to live in milliseconds, the maximum number of
/// entries, the new entries.
static APPEND: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r"
        for place = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
        redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
        local count = redis.call('LLEN', KEYS[1])
        if count > 0 then own(KEYS[2], KEYS[1], tonumber(ARGV[1])) end
        return count
        ",
    )
});

/// KEYS: a working memory, the owned set of its user. ARGV: the time to live in milliseconds.
static READ: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r"
        local entries = redis.call('LRANGE', KEYS[1], 0, -1)
        if #entries > 0 then own(KEYS[2], KEYS[1], tonumber(ARGV[1])) end
        return entries
        ",
    )
});

/// KEYS: the owned set of a user, some keys of that set. Returns the number of deleted working memories and sessions; a
/// session has two keys and counts once.
static ERASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local deleted = 0
        for place = 2, #KEYS do
            local kind = redis.call('TYPE', KEYS[place]).ok
            redis.call('DEL', KEYS[place])
            redis.call('ZREM', KEYS[1], KEYS[place])
            if kind == 'list' or kind == 'zset' then deleted = deleted + 1 end
        end
        return deleted
        ",
    )
});

/// KEYS: a working memory, the owned set of its user. ARGV: the maximum number of tokens, the time to live in
/// milliseconds. An entry without a readable token count was written by another version and is removed, because it
/// cannot be read.
static TRIM: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r#"
        local entries = redis.call('LRANGE', KEYS[1], 0, -1)
        local sum, kept = 0, 0
        for place = #entries, 1, -1 do
            local tokens = tonumber(string.match(entries[place], '^{"tokens":(%d+)'))
            if tokens then
                sum = sum + tokens
                if sum > tonumber(ARGV[1]) then break end
                kept = kept + 1
            else
                redis.call('LREM', KEYS[1], -1, entries[place])
            end
        end
        if kept == 0 then
            redis.call('DEL', KEYS[1])
        else
            redis.call('LTRIM', KEYS[1], -kept, -1)
            own(KEYS[2], KEYS[1], tonumber(ARGV[2]))
        end
        return #entries - kept
        "#,
    )
});

/// KEYS: the sorted set and the hash of a session, the owned set of its user. ARGV: id, time in microseconds, JSON, the
/// maximum number of entries, the time to live in milliseconds.
static PUT: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r"
        redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
        redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
        local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[4])
        if over > 0 then
            local popped = redis.call('ZPOPMIN', KEYS[1], over)
            for place = 1, #popped, 2 do redis.call('HDEL', KEYS[2], popped[place]) end
        end
        local life = math.max(tonumber(ARGV[5]), redis.call('PTTL', KEYS[1]))
        own(KEYS[3], KEYS[1], life)
        own(KEYS[3], KEYS[2], life)
        ",
    )
});

/// KEYS: the sorted set and the hash of a session. ARGV: the maximum number of entries.
static LATEST: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local ids = redis.call('ZREVRANGE', KEYS[1], 0, tonumber(ARGV[1]) - 1)
        local found = {}
        for _, id in ipairs(ids) do
            local entry = redis.call('HGET', KEYS[2], id)
            if entry then found[#found + 1] = entry end
        end
        return found
        ",
    )
});

/// KEYS: a rate. ARGV: requests per second, burst. The clock is that of Redis, so that the clocks of servers may
/// differ. Returns: allowed, left, microseconds to wait, microseconds until a full burst.
static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local time = redis.call('TIME')
        local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
        local gap, burst = 1000000 / tonumber(ARGV[1]), tonumber(ARGV[2])
        local full = gap * burst
        local ahead = math.max(tonumber(redis.call('GET', KEYS[1]) or 0) - now, 0)
        -- Times are kept in whole microseconds: half of one must not refuse a request that is due.
        if ahead + gap > full + 0.5 then
            return {0, 0, math.ceil(ahead + gap - full), math.ceil(ahead)}
        end
        ahead = ahead + gap
        redis.call('SET', KEYS[1], string.format('%.0f', now + ahead), 'PX', math.ceil(ahead / 1000))
        local room = math.max(full - ahead, 0)
        return {1, math.floor((room + 0.5) / gap), math.max(math.ceil(gap - room), 0), math.ceil(ahead)}
        ",
    )
});

/// A tier in Redis.
pub struct RedisTier {
    client: Client,
    options: TierOptions,
    tls: bool,
    small_calls: SharedConnection,
    large_calls: SharedConnection,
}

/// A connection shared by all callers, with its number. If there is none, the next caller connects.
type SharedConnection = Mutex<(u64, Option<MultiplexedConnection>)>;

impl RedisTier {
    /// A tier at this address, such as `redis://127.0.0.1:6379/0`, or `rediss://…` for TLS. It does not connect yet, so
    /// it succeeds while the server is down.
    pub fn new(url: &str, options: TierOptions) -> TierResult<Self> {
        Self::with_authorities(url, None, options)
    }

    /// The same with these certificate authorities (PEM) and no others. They require `rediss://`.
    pub fn with_authorities(url: &str, authorities: Option<Vec<u8>>, options: TierOptions) -> TierResult<Self> {
        let wrong = |problem: String| TierError::Address { name: NAME, problem };
        let client = match authorities {
            None => Client::open(url),
            Some(_) if !url.starts_with("rediss://") => {
                return Err(wrong(
                    "certificate authorities are given, but the address does not begin with rediss://".to_owned(),
                ));
            }
            Some(pem) => Client::build_with_tls(url, TlsCertificates { client_tls: None, root_cert: Some(pem) }),
        };
        let client = client.map_err(|error| wrong(error.category().to_owned()))?;
        let tls = matches!(client.get_connection_info().addr(), ConnectionAddr::TcpTls { .. });
        Ok(Self { client, options, tls, small_calls: Mutex::default(), large_calls: Mutex::default() })
    }

    /// Runs a call that reads or writes this number of entries on a shared connection, within its deadline.
    async fn within<T, F: Future<Output = RedisResult<T>>>(
        &self,
        entries: usize,
        work: impl FnOnce(MultiplexedConnection) -> F,
    ) -> TierResult<T> {
        let shared = if entries > MANY_ENTRIES { &self.large_calls } else { &self.small_calls };
        let more = u32::try_from(entries.saturating_sub(MANY_ENTRIES)).unwrap_or(u32::MAX);
        let deadline = self.options.deadline.saturating_add(TIME_PER_ENTRY.saturating_mul(more));
        let mut number = None;
        let outcome = timeout(deadline, async {
            let (found, connection) = self.connected(shared).await?;
            number = Some(found);
            work(connection).await
        })
        .await;
        let milliseconds = deadline.as_millis();
        let late = TierError::Timeout { name: NAME, milliseconds };
        let (failure, broken) = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if number.is_none() => (self.not_connected(&error.to_string()), false),
            Err(_) if number.is_none() => {
                (self.not_connected(&format!("no connection within {milliseconds} ms")), false)
            }
            Ok(Err(error)) if error.is_timeout() => (late, true),
            Err(_) => (late, true),
            Ok(Err(error)) => {
                let broken = error.is_io_error() || error.is_unrecoverable_error();
                let problem = error.to_string();
                match broken || refuses_all(&error) {
                    true => (TierError::Unreachable { name: NAME, problem }, broken),
                    false => (TierError::Failed { name: NAME, problem }, false),
                }
            }
        };
        // A caller that connects holds the lock and replaces the connection, so the lock is not waited for.
        if broken
            && let Ok(mut shared) = shared.try_lock()
            && Some(shared.0) == number
        {
            shared.1 = None;
        }
        Err(failure)
    }

    fn not_connected(&self, problem: &str) -> TierError {
        let hint = if self.tls { "; rediss:// asks for TLS: does the server offer it?" } else { "" };
        TierError::Unreachable { name: NAME, problem: format!("{problem}{hint}") }
    }

    async fn connected(&self, shared: &SharedConnection) -> RedisResult<(u64, MultiplexedConnection)> {
        let mut shared = shared.lock().await;
        if let (number, Some(connection)) = &*shared {
            return Ok((*number, connection.clone()));
        }
        // Each call has its own deadline, so the connection needs no response timeout.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(Some(self.options.deadline)).set_response_timeout(None);
        let connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        *shared = (shared.0 + 1, Some(connection.clone()));
        Ok((shared.0, connection))
    }

    async fn script<T: FromRedisValue + Send>(&self, entries: usize, call: ScriptInvocation<'_>) -> TierResult<T> {
        self.within(entries, |mut connection| async move { call.invoke_async(&mut connection).await }).await
    }

    async fn pipe<T: FromRedisValue + Send>(&self, entries: usize, pipe: &Pipeline) -> TierResult<T> {
        self.within(entries, |mut connection| async move { pipe.query_async(&mut connection).await }).await
    }

    /// Number of entries of a list or a sorted set, from which the deadline of reading it follows.
    async fn count(&self, command: &str, key: &str) -> TierResult<usize> {
        let (count,): (usize,) = self.pipe(1, redis::pipe().cmd(command).arg(key)).await?;
        Ok(count)
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut key = self.options.prefix.clone();
        for part in parts {
            key.push(':');
            escape(part, &mut key);
        }
        key
    }

    fn working(&self, key: &WorkingKey) -> String {
        let parts = [key.tenant.as_str(), "working", &key.agent, &key.user];
        let session = key.session.as_deref();
        self.key(&parts.into_iter().chain(session).collect::<Vec<_>>())
    }

    fn owned(&self, tenant: &str, user: &str) -> String {
        self.key(&[tenant, "owned", user])
    }

    fn session(&self, key: &SessionKey) -> [String; 2] {
        let SessionKey { tenant, agent, user, session } = key;
        ["episodic", "session"].map(|kind| self.key(&[tenant, kind, agent, user, session]))
    }
}

/// Whether the server refuses all calls at present: it loads its data, or its cluster or primary is down.
fn refuses_all(error: &RedisError) -> bool {
    use redis::ServerErrorKind::{BusyLoading, ClusterDown, MasterDown};
    matches!(error.kind(), redis::ErrorKind::Server(BusyLoading | ClusterDown | MasterDown))
}

/// Escapes `:`, `%`, `{` and `}` in a name, so that different keys never collide.
fn escape(name: &str, key: &mut String) {
    for letter in name.chars() {
        match letter {
            ':' | '%' | '{' | '}' => {
                let _ = write!(key, "%{:02X}", u32::from(letter));
            }
            _ => key.push(letter),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Parses entries. Those that cannot be read were written by another version and are skipped.
fn parsed<T: serde::de::DeserializeOwned>(texts: &[String]) -> Vec<T> {
    texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
}

fn written<T: serde::Serialize>(value: &T) -> TierResult<String> {
    serde_json::to_string(value).map_err(|error| TierError::Failed { name: NAME, problem: error.to_string() })
}

#[async_trait]
impl Tier for RedisTier {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn health(&self) -> TierResult<TierHealth> {
        let started = Instant::now();
        let (info,): (String,) = self.pipe(1, redis::pipe().cmd("INFO").arg("server")).await?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or("unknown").trim();
        Ok(TierHealth { name: NAME, version: version.to_owned(), latency: started.elapsed(), degraded: None })
    }

    async fn append(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        let mut call = APPEND.prepare_invoke();
        call.key(self.working(key)).key(self.owned(&key.tenant, &key.user));
        call.arg(milliseconds(self.options.working_idle)).arg(self.options.working_entries);
        for entry in entries {
            call.arg(written(entry)?);
        }
        self.script(entries.len(), call).await
    }

    async fn read(&self, key: &WorkingKey) -> TierResult<Vec<WorkingEntry>> {
        let name = self.working(key);
        let count = self.count("LLEN", &name).await?;
        let mut call = READ.prepare_invoke();
        call.key(name).key(self.owned(&key.tenant, &key.user)).arg(milliseconds(self.options.working_idle));
        self.script(count, call).await.map(|texts: Vec<String>| parsed(&texts))
    }

    async fn trim(&self, key: &WorkingKey, tokens: u64) -> TierResult<usize> {
        let name = self.working(key);
        let count = self.count("LLEN", &name).await?;
        let mut call = TRIM.prepare_invoke();
        call.key(name).key(self.owned(&key.tenant, &key.user));
        call.arg(tokens).arg(milliseconds(self.options.working_idle));
        self.script(count, call).await
    }

    async fn remove(&self, key: &WorkingKey, entries: &[WorkingEntry]) -> TierResult<usize> {
        if entries.is_empty() {
            return Ok(0);
        }
        let name = self.working(key);
        let mut pipe = redis::pipe();
        pipe.atomic();
        for entry in entries {
            pipe.lrem(&name, 1, written(entry)?);
        }
        self.pipe(entries.len(), &pipe).await.map(|counts: Vec<usize>| counts.into_iter().sum())
    }

    async fn clear(&self, key: &WorkingKey) -> TierResult<()> {
        self.pipe(1, redis::pipe().del(self.working(key)).ignore()).await
    }

    async fn put(&self, key: &SessionKey, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        let [ids, entries] = self.session(key);
        let mut call = PUT.prepare_invoke();
        call.key(ids).key(entries).key(self.owned(&key.tenant, &key.user));
        call.arg(&entry.id).arg(entry.at.as_microsecond()).arg(written(entry)?);
        call.arg(self.options.session_entries).arg(milliseconds(life.unwrap_or(self.options.session_idle)));
        self.script(1, call).await
    }

    async fn latest(&self, key: &SessionKey, limit: usize) -> TierResult<Vec<SessionEntry>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let [ids, entries] = self.session(key);
        let count = self.count("ZCARD", &ids).await?.min(limit);
        let mut call = LATEST.prepare_invoke();
        call.key(ids).key(entries).arg(limit);
        self.script(count, call).await.map(|texts: Vec<String>| parsed(&texts))
    }

    async fn end(&self, key: &SessionKey) -> TierResult<()> {
        self.pipe(1, redis::pipe().del(self.session(key).to_vec()).ignore()).await
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let (owned, erased) = (self.owned(tenant, user), self.key(&[tenant, "erased", user]));
        let life = milliseconds(self.options.working_idle);
        self.pipe::<()>(1, redis::pipe().pset_ex(erased, at.as_microsecond(), life).ignore()).await?;
        let mut deleted = 0;
        loop {
            let page = redis::pipe().zrange(&owned, 0, ERASE_AT_ONCE as isize - 1).to_owned();
            let (keys,): (Vec<String>,) = self.pipe(ERASE_AT_ONCE, &page).await?;
            if keys.is_empty() {
                return Ok(deleted);
            }
            let mut call = ERASE.prepare_invoke();
            call.key(&owned).key(&keys);
            deleted += self.script::<usize>(keys.len(), call).await?;
        }
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        let key = self.key(&[tenant, "erased", user]);
        let (found,): (Option<i64>,) = self.pipe(1, redis::pipe().get(key)).await?;
        Ok(found.and_then(|at| Timestamp::from_microsecond(at).ok()))
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = keys.iter().map(|key| self.key(&["embedding", key])).collect();
        self.pipe(keys.len(), redis::pipe().mget(&keys)).await.map(|(found,)| found)
    }

    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let life = milliseconds(self.options.embedding_life);
        let mut pipe = redis::pipe();
        for (key, bytes) in entries {
            pipe.pset_ex(self.key(&["embedding", key]), bytes, life).ignore();
        }
        self.pipe(entries.len(), &pipe).await
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<RateDecision> {
        let mut call = TAKE.prepare_invoke();
        call.key(self.key(&["rate", key])).arg(per_second.max(1)).arg(burst.max(1));
        let (allowed, left, wait, full): (bool, u32, u64, u64) = self.script(1, call).await?;
        let (retry_after, full_after) = (Duration::from_micros(wait), Duration::from_micros(full));
        Ok(RateDecision { allowed, left, retry_after, full_after })
    }
}
