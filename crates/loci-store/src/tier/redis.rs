//! How does Redis keep what may be lost, for several servers?
//!
//! | key | type | what |
//! |---|---|---|
//! | `{prefix}:{tenant}:working:{agent}:{user}` and `…:{session}` | list | working memory, one JSON object each |
//! | `{prefix}:{tenant}:episodic:{agent}:{user}:{session}` | sorted set | ids of a session's entries by time |
//! | `{prefix}:{tenant}:session:{agent}:{user}:{session}` | hash | these entries as JSON, by id |
//! | `{prefix}:{tenant}:owned:{user}` | sorted set | the keys above of this user, by when they end |
//! | `{prefix}:{tenant}:erased:{user}` | string | when this user was erased, in microseconds |
//! | `{prefix}:embedding:{key}` | string | an embedding's bytes |
//! | `{prefix}:rate:{key}` | string | when the next request would be on time, in Redis's microseconds |
//!
//! Every key has a time to live. What must happen together happens in one script or one transaction.
//! No call takes longer than its deadline: a connection that fails or is late is dropped, and the next
//! call dials again.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Pipeline, RedisResult, Script, ScriptInvocation};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::{Conversation, Desk, Jotting, SessionEntry, Taken, Tier, TierError, TierHealth, TierOptions, TierResult};

const NAME: &str = "redis";

/// Writes down that `key` belongs to a user and lives for so many milliseconds; what has ended is
/// struck out, so that the list never grows beyond what lives. Every script that writes begins with it.
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

/// KEYS: a working memory, what its user owns. ARGV: the time to live in milliseconds, the most entries,
/// what is added.
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

/// KEYS: a working memory, what its user owns. ARGV: the time to live in milliseconds.
static READ: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r"
        local entries = redis.call('LRANGE', KEYS[1], 0, -1)
        if #entries > 0 then own(KEYS[2], KEYS[1], tonumber(ARGV[1])) end
        return entries
        ",
    )
});

/// KEYS: what a user owns, where their erasure is noted. ARGV: when, and how long that is told. Returns
/// how many desks and sessions there were: a session is two keys.
static ERASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
        local gone = 0
        for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
            local sort = redis.call('TYPE', key).ok
            redis.call('DEL', key)
            if sort == 'list' or sort == 'zset' then gone = gone + 1 end
        end
        redis.call('DEL', KEYS[1])
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
        return gone
        ",
    )
});

/// KEYS: a working memory, what its user owns. ARGV: the most tokens, the time to live in milliseconds.
static TRIM: LazyLock<Script> = LazyLock::new(|| {
    owning(
        r#"
        local entries = redis.call('LRANGE', KEYS[1], 0, -1)
        local sum, kept = 0, 0
        for place = #entries, 1, -1 do
            sum = sum + tonumber(string.match(entries[place], '^{"tokens":(%d+)'))
            if sum > tonumber(ARGV[1]) then break end
            kept = kept + 1
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

/// KEYS: the sorted set and the hash of a session, what its user owns. ARGV: id, time in microseconds,
/// JSON, the most entries, the time to live in milliseconds.
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

/// KEYS: the sorted set and the hash of a session. ARGV: how many.
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

/// KEYS: a rate. ARGV: requests per second, burst. The clock is Redis's own, so that servers whose
/// clocks differ count alike. Returns: allowed, left, microseconds to wait, microseconds until full.
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
    /// The connection that all callers share, with its number; none: the next caller dials.
    connection: Mutex<(u64, Option<MultiplexedConnection>)>,
}

impl RedisTier {
    /// A tier at this address, such as `redis://127.0.0.1:6379/0`. Nothing is dialled yet: a server
    /// that is down is a failure of each call, not of the start.
    pub fn new(url: &str, options: TierOptions) -> TierResult<Self> {
        let client = Client::open(url)
            .map_err(|error| TierError::Address { name: NAME, problem: error.category().to_owned() })?;
        Ok(Self { client, options, connection: Mutex::new((0, None)) })
    }

    /// Runs something on the shared connection, within the deadline.
    async fn within<T, F: Future<Output = RedisResult<T>>>(
        &self,
        work: impl FnOnce(MultiplexedConnection) -> F,
    ) -> TierResult<T> {
        let mut number = 0;
        let asked = timeout(self.options.deadline, async {
            let (found, connection) = self.connected().await?;
            number = found;
            work(connection).await
        })
        .await;
        let late = TierError::Late { name: NAME, milliseconds: self.options.deadline.as_millis() };
        let (failure, broken) = match asked {
            Ok(Ok(answer)) => return Ok(answer),
            // The connection has the same deadline for a single answer.
            Ok(Err(error)) if error.is_timeout() => (late, true),
            Ok(Err(error)) => {
                let broken = error.is_io_error() || error.is_unrecoverable_error();
                (TierError::Failed { name: NAME, problem: error.to_string() }, broken)
            }
            Err(_) => (late, true),
        };
        // Whoever dials holds the lock, so it is not waited for: that caller drops what it finds broken.
        if broken
            && let Ok(mut shared) = self.connection.try_lock()
            && shared.0 == number
        {
            shared.1 = None;
        }
        Err(failure)
    }

    async fn connected(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        let mut shared = self.connection.lock().await;
        if let (number, Some(connection)) = &*shared {
            return Ok((*number, connection.clone()));
        }
        let deadline = Some(self.options.deadline);
        let config = AsyncConnectionConfig::new().set_connection_timeout(deadline).set_response_timeout(deadline);
        let connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        *shared = (shared.0 + 1, Some(connection.clone()));
        Ok((shared.0, connection))
    }

    async fn script<T: FromRedisValue + Send>(&self, call: ScriptInvocation<'_>) -> TierResult<T> {
        self.within(|mut connection| async move { call.invoke_async(&mut connection).await }).await
    }

    async fn pipe<T: FromRedisValue + Send>(&self, pipe: &Pipeline) -> TierResult<T> {
        self.within(|mut connection| async move { pipe.query_async(&mut connection).await }).await
    }

    fn key(&self, parts: &[&str]) -> String {
        let mut key = self.options.prefix.clone();
        for part in parts {
            key.push(':');
            escape(part, &mut key);
        }
        key
    }

    fn desk(&self, desk: &Desk) -> String {
        let parts = [desk.tenant.as_str(), "working", &desk.agent, &desk.user];
        let session = desk.session.as_deref();
        self.key(&parts.into_iter().chain(session).collect::<Vec<_>>())
    }

    fn owned(&self, tenant: &str, user: &str) -> String {
        self.key(&[tenant, "owned", user])
    }

    fn conversation(&self, conversation: &Conversation) -> [String; 2] {
        let Conversation { tenant, agent, user, session } = conversation;
        ["episodic", "session"].map(|sort| self.key(&[tenant, sort, agent, user, session]))
    }
}

/// Writes a name so that no colon of its own ends it, and no name looks like another.
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

/// Entries in a form that we cannot read were not written by this version: they are passed over.
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
        let (told,): (String,) = self.pipe(redis::pipe().cmd("INFO").arg("server")).await?;
        let version = told.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or("unknown").trim();
        Ok(TierHealth { name: NAME, version: version.to_owned(), latency: started.elapsed(), degraded: None })
    }

    async fn append(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize> {
        let mut call = APPEND.prepare_invoke();
        call.key(self.desk(desk)).key(self.owned(&desk.tenant, &desk.user));
        call.arg(milliseconds(self.options.working_idle)).arg(self.options.working_entries);
        for jotting in jottings {
            call.arg(written(jotting)?);
        }
        self.script(call).await
    }

    async fn read(&self, desk: &Desk) -> TierResult<Vec<Jotting>> {
        let mut call = READ.prepare_invoke();
        call.key(self.desk(desk)).key(self.owned(&desk.tenant, &desk.user));
        call.arg(milliseconds(self.options.working_idle));
        self.script(call).await.map(|texts: Vec<String>| parsed(&texts))
    }

    async fn trim(&self, desk: &Desk, tokens: u64) -> TierResult<usize> {
        let mut call = TRIM.prepare_invoke();
        call.key(self.desk(desk))
            .key(self.owned(&desk.tenant, &desk.user))
            .arg(tokens)
            .arg(milliseconds(self.options.working_idle));
        self.script(call).await
    }

    async fn remove(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize> {
        if jottings.is_empty() {
            return Ok(0);
        }
        let key = self.desk(desk);
        let mut pipe = redis::pipe();
        pipe.atomic();
        for jotting in jottings {
            pipe.lrem(&key, 1, written(jotting)?);
        }
        self.pipe(&pipe).await.map(|counts: Vec<usize>| counts.into_iter().sum())
    }

    async fn clear(&self, desk: &Desk) -> TierResult<()> {
        self.pipe(redis::pipe().del(self.desk(desk)).ignore()).await
    }

    async fn put(&self, conversation: &Conversation, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        let [ids, entries] = self.conversation(conversation);
        let mut call = PUT.prepare_invoke();
        call.key(ids).key(entries).key(self.owned(&conversation.tenant, &conversation.user));
        call.arg(&entry.id).arg(entry.at.as_microsecond()).arg(written(entry)?);
        call.arg(self.options.session_entries).arg(milliseconds(life.unwrap_or(self.options.session_idle)));
        self.script(call).await
    }

    async fn latest(&self, conversation: &Conversation, limit: usize) -> TierResult<Vec<SessionEntry>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let [ids, entries] = self.conversation(conversation);
        let mut call = LATEST.prepare_invoke();
        call.key(ids).key(entries).arg(limit);
        self.script(call).await.map(|texts: Vec<String>| parsed(&texts))
    }

    async fn end(&self, conversation: &Conversation) -> TierResult<()> {
        self.pipe(redis::pipe().del(self.conversation(conversation).to_vec()).ignore()).await
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let mut call = ERASE.prepare_invoke();
        call.key(self.owned(tenant, user)).key(self.key(&[tenant, "erased", user]));
        call.arg(at.as_microsecond()).arg(milliseconds(self.options.working_idle));
        self.script(call).await
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        let key = self.key(&[tenant, "erased", user]);
        let (found,): (Option<i64>,) = self.pipe(redis::pipe().get(key)).await?;
        Ok(found.and_then(|at| Timestamp::from_microsecond(at).ok()))
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = keys.iter().map(|key| self.key(&["embedding", key])).collect();
        self.pipe(redis::pipe().mget(keys)).await.map(|(found,)| found)
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
        self.pipe(&pipe).await
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<Taken> {
        let mut call = TAKE.prepare_invoke();
        call.key(self.key(&["rate", key])).arg(per_second.max(1)).arg(burst.max(1));
        let (allowed, left, wait, full): (bool, u32, u64, u64) = self.script(call).await?;
        let (retry_after, full_after) = (Duration::from_micros(wait), Duration::from_micros(full));
        Ok(Taken { allowed, left, retry_after, full_after })
    }
}
