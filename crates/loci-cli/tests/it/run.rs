//! Runs the binary on a data folder of the test's own, or against a server on that folder.
//!
//! With `LOCI_TEST_SERVER=1` every command that can is sent to a running server (`--server`), so that the same tests hold both
//! ways. A server is started for each [`Home`] when it is first needed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use loci_types::{Shard, Space};
use serde_json::Value;
use tempfile::TempDir;

use crate::serve::Server;

/// Commands that work on a folder only, or that start a server themselves.
const LOCAL: &[&str] = &[
    "init",
    "serve",
    "mcp",
    "model",
    "config",
    "completions",
    "dev",
    "eval",
    "bench",
    "doctor",
    "migrate",
    "vectors",
    "--help",
    "--version",
    "-h",
    "-V",
    "help",
];

/// A data folder of its own, without a model unless a test asks for one.
pub(crate) struct Home {
    folder: TempDir,
    environment: Vec<(String, String)>,
    server: OnceLock<Server>,
    /// Whether commands go to a server, where they can.
    remote: bool,
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    #[expect(clippy::disallowed_methods, reason = "whoever runs tests asks for a server by a variable")]
    pub(crate) fn new() -> Self {
        Self::with_server(std::env::var_os("LOCI_TEST_SERVER").is_some())
    }

    /// For a test about the folder itself: never through a server.
    pub(crate) fn local() -> Self {
        Self::with_server(false)
    }

    /// Always through a server.
    pub(crate) fn remote() -> Self {
        Self::with_server(true)
    }

    fn with_server(remote: bool) -> Self {
        let environment = vec![("LOCI_EMBEDDINGS".to_owned(), "none".to_owned())];
        Self { folder: tempfile::tempdir().unwrap(), environment, server: OnceLock::new(), remote }
    }

    /// With the model that `make model` fetches.
    pub(crate) fn with_model() -> Self {
        let model = crate::model::folder();
        let mut home = Self::new();
        home.environment = vec![("LOCI_MODEL_DIR".to_owned(), model.display().to_string())];
        home
    }

    /// Never through a server.
    pub(crate) fn locally(mut self) -> Self {
        self.remote = false;
        self
    }

    /// With one more variable.
    pub(crate) fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The configuration file of the user, in the platform's folder.
    pub(crate) fn configuration(&self) -> PathBuf {
        let folders = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
        self.path().join(folders).join("loci/loci.toml")
    }

    /// Writes the configuration of the user.
    pub(crate) fn configure(&self, text: &str) {
        let file = self.configuration();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The file of the space where a user lies.
    pub(crate) fn file_of(&self, user: &str) -> PathBuf {
        let space = Space::Users(Shard::of(user)).name();
        self.data().join("tenants/default/spaces").join(space).join("loci.db")
    }

    /// A command on this data folder, in a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.folder_command(args);
        if self.remote && !args.iter().any(|word| LOCAL.contains(word)) {
            let server = self.server.get_or_init(|| Server::start(self));
            command.env("LOCI_SERVER", server.url(""));
        }
        command
    }

    fn folder_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loci"));
        command.env_clear().env("HOME", self.path()).envs(self.environment.iter().cloned()).current_dir(self.path());
        command.arg("--data").arg(self.data()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.command(args).output().unwrap().into()
    }

    /// Runs with this on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A thread of its own, so that neither pipe can fill up while the other waits.
        let feeder = std::thread::spawn(move || drop(pipe.write_all(&input)));
        let run = child.wait_with_output().unwrap().into();
        feeder.join().unwrap();
        run
    }

    /// Runs what must succeed, and reads its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        let run = self.run(&all);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run.value()
    }

    /// The number of memories that `loci list` with these flags lists.
    pub(crate) fn count(&self, flags: &[&str]) -> usize {
        self.json(&[&["list", "--limit=1000"], flags].concat())["data"].as_array().unwrap().len()
    }

    /// Remembers a text and returns its id.
    pub(crate) fn remember(&self, args: &[&str]) -> String {
        let mut all = vec!["remember"];
        all.extend(args);
        self.json(&all)["id"].as_str().unwrap().to_owned()
    }

    /// Every record, as export writes them, without what only a line says.
    pub(crate) fn export(&self) -> Vec<Value> {
        let mut lines = self.lines(&[]);
        lines.retain(|line| line["type"] == "memory");
        for line in &mut lines {
            let fields = line.as_object_mut().unwrap();
            fields.retain(|name, _| name != "type" && name != "agedAt");
        }
        lines
    }

    /// The lines of an export, without the time at which it was made. Without a scope it has everyone's data.
    pub(crate) fn lines(&self, args: &[&str]) -> Vec<Value> {
        let scoped =
            args.iter().any(|flag| ["--user", "--agent", "--project"].iter().any(|name| flag.starts_with(name)));
        let everyone: &[&str] = if scoped { &[] } else { &["--everyone"] };
        let run = self.run(&[&["export"], everyone, args].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let mut lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines[0].as_object_mut().unwrap().remove("exportedAt").is_some(), "{}", lines[0]);
        lines
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error as JSON: the last line of standard error.
    pub(crate) fn problem(&self) -> Value {
        let last = self.err.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
