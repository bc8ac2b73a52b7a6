//! Which real servers may a test talk to?
//!
//! `make test` brings them up and says where in the environment. Where one is missing, the test says
//! that it was skipped; under `LOCI_TEST_REQUIRE=1`, which `make check` sets, it fails instead.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Where the PostgreSQL for tests is: a superuser's URL. Make a database of your own in it.
pub fn postgres() -> Option<String> {
    given("LOCI_TEST_POSTGRES_URL")
}

/// Where a PgBouncer in transaction mode in front of that PostgreSQL is. Nobody must have one.
pub fn pgbouncer() -> Option<String> {
    variable("LOCI_TEST_PGBOUNCER_URL")
}

/// Where the same PostgreSQL is reached over TLS: by the name `localhost`, with `sslmode=verify-full` and the certificate of the
/// authority. Nobody must have one.
pub fn postgres_tls() -> Option<String> {
    variable("LOCI_TEST_POSTGRES_TLS_URL")
}

/// Where the Redis for tests is. Use a prefix of your own in it.
pub fn redis() -> Option<String> {
    given("LOCI_TEST_REDIS_URL")
}

/// Where a real Qdrant is. Nobody must have one: its contract also runs on a stand-in.
pub fn qdrant() -> Option<String> {
    variable("LOCI_TEST_QDRANT_URL")
}

/// A schema of one test in the PostgreSQL for tests; it goes with this value.
pub struct Schema {
    /// Where the server is.
    pub url: String,
    /// The schema.
    pub name: String,
}

impl Schema {
    /// A name that nobody else uses, if there is a server. The schema itself is made by whoever opens it.
    pub fn new() -> Option<Self> {
        let name = format!("loci_{}", uuid::Uuid::new_v4().simple());
        postgres().map(|url| Self { url, name })
    }

    /// The server's `host:port`.
    ///
    /// # Panics
    /// If the URL names none.
    pub fn address(&self) -> String {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
        assert!(address.contains(':'), "the URL of the server for tests must name its port");
        address.to_owned()
    }

    /// The URL of the same server behind another `host:port`, such as a proxy's.
    pub fn through(&self, address: impl std::fmt::Display) -> String {
        self.url.replacen(&self.address(), &address.to_string(), 1)
    }

    /// Asks the server something as its superuser, past all policies.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn ask(&self, sql: &str) -> Vec<tokio_postgres::SimpleQueryMessage> {
        let (url, sql) = (self.url.clone(), sql.to_owned());
        // A thread of its own: whoever calls may be in the middle of something that must not block.
        let asked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let (client, connection) =
                    tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("the server for tests");
                let driven = tokio::spawn(connection);
                // Whoever still works in the background may get in the way once; then nothing was done.
                let mut answer = client.simple_query(&sql).await;
                while answer.as_ref().is_err_and(is_deadlock) {
                    answer = client.simple_query(&sql).await;
                }
                let answer = answer.expect("the server's answer");
                drop(client);
                drop(driven.await);
                answer
            })
        });
        asked.join().expect("an answer")
    }

    /// The one whole number that the server answers with, asked in this schema.
    ///
    /// # Panics
    /// If it answers with anything else.
    pub fn number(&self, sql: &str) -> i64 {
        let answer = self.ask(&format!("SET search_path = {}, public; {sql}", self.name));
        let first = answer.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        first.expect("a number")
    }
}

fn is_deadlock(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::T_R_DEADLOCK_DETECTED)
}

impl Drop for Schema {
    fn drop(&mut self) {
        self.ask(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
    }
}

/// A Redis of one test, that may be killed and started again, empty, on the same port.
pub struct PrivateRedis {
    program: String,
    port: u16,
    running: Option<Child>,
}

impl PrivateRedis {
    /// One that runs, if there is a program for it.
    pub fn start() -> Option<Self> {
        let mut redis = Self::stopped()?;
        redis.restart();
        Some(redis)
    }

    /// One that has a port but does not run yet.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn stopped() -> Option<Self> {
        let program = given("LOCI_TEST_REDIS_SERVER")?;
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let port = free.local_addr().expect("the free port").port();
        Some(Self { program, port, running: None })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as a crash would.
    ///
    /// # Panics
    /// If it cannot be ended.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.running.take() {
            child.kill().expect("to end our own Redis");
            child.wait().expect("to see our own Redis end");
        }
    }

    /// Starts it with nothing in it, and returns when it listens.
    ///
    /// # Panics
    /// If it does not listen within ten seconds.
    pub fn restart(&mut self) {
        self.kill();
        let port = self.port.to_string();
        let arguments = ["--bind", "127.0.0.1", "--port", &port, "--save", "", "--appendonly", "no"];
        let child = Command::new(&self.program)
            .args(arguments)
            .current_dir(std::env::temp_dir())
            .stdout(Stdio::null())
            .spawn()
            .expect("to start Redis");
        self.running = Some(child);
        for _ in 0..1000 {
            if std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("Redis does not listen on port {}", self.port);
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        self.kill();
    }
}

#[expect(clippy::print_stdout, reason = "whoever reads a test's output must see what it did not test")]
fn given(name: &str) -> Option<String> {
    let found = variable(name);
    if found.is_none() {
        assert!(variable("LOCI_TEST_REQUIRE").is_none(), "{name} is not set, and LOCI_TEST_REQUIRE asks for it");
        println!("SKIPPED: {name} is not set; `make test` sets it");
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "where servers are is told to tests by the environment alone")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
