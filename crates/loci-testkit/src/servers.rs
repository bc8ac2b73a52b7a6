//! The servers for tests.
//!
//! `make test` starts them and sets their addresses in the environment. If one is missing, the test reports that it was
//! skipped; with `LOCI_TEST_REQUIRE=1`, which `make check` sets, it fails instead.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The URL of the PostgreSQL for tests, as superuser. Each test must use a schema of its own.
pub fn postgres() -> Option<String> {
    given("LOCI_TEST_POSTGRES_URL")
}

/// The URL of a PgBouncer in transaction mode in front of that PostgreSQL. Optional.
pub fn pgbouncer() -> Option<String> {
    variable("LOCI_TEST_PGBOUNCER_URL")
}

/// The URL of the same PostgreSQL over TLS, with the host `localhost`, `sslmode=verify-full` and the certificate of the
/// authority. Optional.
pub fn postgres_tls() -> Option<String> {
    variable("LOCI_TEST_POSTGRES_TLS_URL")
}

/// The URL of the Redis for tests. Each test must use a prefix of its own.
pub fn redis() -> Option<String> {
    given("LOCI_TEST_REDIS_URL")
}

/// The URL of a real Qdrant. Optional: its contract also runs on a stand-in.
pub fn qdrant() -> Option<String> {
    variable("LOCI_TEST_QDRANT_URL")
}

/// A schema of one test in the PostgreSQL for tests, which is dropped with this value.
pub struct Schema {
    /// The URL of the server.
    pub url: String,
    /// The name of the schema.
    pub name: String,
}

impl Schema {
    /// A unique name, if there is a server. The schema itself is created when a store opens it.
    pub fn new() -> Option<Self> {
        let name = format!("loci_{}", uuid::Uuid::new_v4().simple());
        postgres().map(|url| Self { url, name })
    }

    /// The server's `host:port`.
    ///
    /// # Panics
    /// If the URL has no port.
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

    /// Runs a query as superuser, which bypasses all policies.
    ///
    /// # Panics
    /// If the query fails.
    pub fn ask(&self, sql: &str) -> Vec<tokio_postgres::SimpleQueryMessage> {
        let (url, sql) = (self.url.clone(), sql.to_owned());
        // Uses a thread of its own, because the caller may be on a thread that must not block.
        let asked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let (client, connection) =
                    tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("the server for tests");
                let driven = tokio::spawn(connection);
                // Background work may cause a deadlock; the query is then rolled back and repeated.
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

    /// Runs a query in this schema and returns its only number.
    ///
    /// # Panics
    /// If the result has no number.
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

/// A Redis of one test that can be killed and started again, empty, on the same port.
pub struct PrivateRedis {
    program: String,
    port: u16,
    running: Option<Child>,
    /// The certificate and its key. With them the server speaks TLS only.
    tls: Option<(PathBuf, PathBuf)>,
}

impl PrivateRedis {
    /// Starts a server, if there is a program for it.
    pub fn start() -> Option<Self> {
        let mut redis = Self::stopped()?;
        redis.restart();
        Some(redis)
    }

    /// A server with a port that is not started yet.
    ///
    /// # Panics
    /// If no port is free.
    pub fn stopped() -> Option<Self> {
        let program = given("LOCI_TEST_REDIS_SERVER")?;
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let port = free.local_addr().expect("the free port").port();
        Some(Self { program, port, running: None, tls: None })
    }

    /// Starts a server that speaks TLS only, with this certificate and its key, if there is a program for it.
    pub fn start_with_tls((certificate, key): (PathBuf, PathBuf)) -> Option<Self> {
        let mut redis = Self::stopped()?;
        redis.tls = Some((certificate, key));
        redis.restart();
        Some(redis)
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills it, as in a crash.
    ///
    /// # Panics
    /// If it cannot be killed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.running.take() {
            child.kill().expect("to end our own Redis");
            child.wait().expect("to see our own Redis end");
        }
    }

    /// Starts it empty and returns when it accepts connections.
    ///
    /// # Panics
    /// If it does not accept connections within ten seconds.
    pub fn restart(&mut self) {
        self.kill();
        let port = self.port.to_string();
        let mut command = Command::new(&self.program);
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        match &self.tls {
            None => command.args(["--port", &port]),
            Some((certificate, key)) => {
                command.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no", "--tls-cert-file"]);
                command.arg(certificate).arg("--tls-key-file").arg(key)
            }
        };
        let child = command.current_dir(std::env::temp_dir()).stdout(Stdio::null()).spawn().expect("to start Redis");
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

#[expect(clippy::print_stdout, reason = "the output must say which tests were skipped")]
fn given(name: &str) -> Option<String> {
    let found = variable(name);
    if found.is_none() {
        assert!(variable("LOCI_TEST_REQUIRE").is_none(), "{name} is not set, and LOCI_TEST_REQUIRE asks for it");
        println!("SKIPPED: {name} is not set; `make test` sets it");
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "tests get the addresses of servers from the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
