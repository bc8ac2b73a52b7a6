//! The server: alive, ready, and gone when asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::run::Home;

const SERVE: [&str; 3] = ["--json", "serve", "--listen=127.0.0.1:0"];

/// A server in a process of its own.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        Self::run(home.command(&SERVE))
    }

    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let address = started["listening"].as_str().unwrap().trim_start_matches("http://").to_owned();
        Self { child, address }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let (status, body) = self.read(path);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// The body of a page that is not JSON.
    pub(crate) fn text(&self, path: &str) -> String {
        let (status, body) = self.read(path);
        assert_eq!(status, 200, "{body}");
        body
    }

    fn read(&self, path: &str) -> (u16, String) {
        self.get_with(path, &format!("Host: {}", self.address))
    }

    /// The answer to a request with this header, which names the host.
    pub(crate) fn get_with(&self, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and sees that it ends well.
    pub(crate) fn stop(mut self) {
        let killed = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

impl Drop for Server {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

// Coverage: S2.21.
#[test]
fn it_reports_health_and_shuts_down() {
    let home = Home::new();
    let server = Server::start(&home);
    assert_eq!(server.get("/healthz"), (200, json!({ "status": "healthy" })));
    let (status, ready) = server.get("/readyz");
    assert_eq!((status, &ready["status"]), (200, &json!("degraded")));
    let parts = &ready["components"];
    assert_eq!((&parts["store"]["status"], &parts["vectors"]["status"]), (&json!("healthy"), &json!("degraded")));
    assert_eq!(server.get("/nowhere").0, 404);
    server.stop();
}

#[test]
fn it_makes_the_vectors_that_others_left() {
    let home = Home::with_model().locally();
    let server = Server::start(&home);
    let (_, ready) = server.get("/readyz");
    assert_eq!(
        (&ready["status"], &ready["components"]["vectors"]["model"]),
        (&json!("healthy"), &json!("all-MiniLM-L6-v2"))
    );
    home.remember(&["--no-embed", "My cat is called Minka"]);
    let start = Instant::now();
    while home.json(&["stats"])["withoutVector"] != 0 {
        assert!(start.elapsed() < Duration::from_secs(30), "the vector was never made");
        std::thread::sleep(Duration::from_millis(100));
    }
    server.stop();
}

/// A process that may open few files serves more agents than it could hold open.
#[cfg(unix)]
#[test]
fn with_few_descriptors_it_serves_any_number_of_agents() {
    let home = Home::new();
    let plain = home.command(&SERVE);
    let mut bounded = Command::new("sh");
    bounded.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    bounded.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.env("PATH", "/usr/bin:/bin").current_dir(home.path()).stdout(Stdio::piped());
    let server = Server::run(bounded);
    let agent = |number: usize| json!({ "agentId": format!("agent{number}"), "userId": "ana" });
    let send = |path: &str, body: &Value| crate::plain::send(&server.address, "POST", path, &[], body).unwrap();
    for number in 0..60 {
        let content = format!("lantern {number}");
        let body = json!({ "content": content, "layer": "agent", "identifiers": agent(number) });
        let (status, answer) = send("/v1/memories", &body);
        assert_eq!((status, &answer["data"]["content"]), (201, &json!(content)), "{number}: {answer}");
    }
    for number in 0..60 {
        let (status, answer) = send("/v1/recall", &json!({ "query": "lantern", "identifiers": agent(number) }));
        assert_eq!(status, 200, "{number}: {answer}");
        assert!(answer.to_string().contains(&format!("lantern {number}")), "{number}: {answer}");
    }
    server.stop();
    assert_eq!(home.export().len(), 60);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Programs that share a data folder start the server, find it by the folder, and leave none behind, even if they are killed.
#[cfg(unix)]
#[test]
fn with_while_used_it_ends_with_its_last_user() {
    let home = Home::new();
    std::fs::create_dir_all(home.data()).unwrap();
    let path = home.data().join("server.users");
    let user = || std::fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
    let (one, two) = (user(), user());
    one.lock_shared().unwrap();
    two.lock_shared().unwrap();
    let mut server = Server::run(home.command(&["--json", "serve", "--while-used"]));
    let found = std::fs::read_to_string(home.data().join("local.key")).unwrap();
    let (key, address) = found.trim().split_once('\n').unwrap();
    assert_eq!(address, server.address());
    assert_eq!(server.get("/v1/whoami").0, 401, "it asks for the key");
    let (status, _) = server.get_with("/v1/whoami", &format!("Host: {address}\r\nAuthorization: Bearer {key}"));
    assert_eq!(status, 200);
    drop(one);
    // Longer than a new server waits for its first user, and than the time between two looks.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(7) {
        assert_eq!(server.get("/healthz").0, 200, "one user is left");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(two);
    // A user who comes before the server has noticed keeps it; this one comes after.
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    user().try_lock_shared().unwrap();
    assert!(!home.data().join("local.key").exists(), "its key ends with it");
    let open = Server::start(&home);
    assert_eq!(open.get("/v1/whoami").0, 200, "no key of the store was made");
}
