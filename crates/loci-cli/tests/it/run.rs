//! How is the binary run in a test?

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use loci_types::{Shard, Space};
use serde_json::Value;
use tempfile::TempDir;

/// A data folder of its own, without a model unless a test asks for one.
pub(crate) struct Home {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let environment = vec![("LOCI_EMBEDDINGS".to_owned(), "none".to_owned())];
        Self { folder: tempfile::tempdir().unwrap(), environment }
    }

    /// With the model that `make model` fetches.
    pub(crate) fn with_model() -> Self {
        let model = crate::model::folder();
        let mut home = Self::new();
        home.environment = vec![("LOCI_MODEL_DIR".to_owned(), model.display().to_string())];
        home
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

    /// The lines of an export, without when it was made.
    pub(crate) fn lines(&self, args: &[&str]) -> Vec<Value> {
        let run = self.run(&[&["export"], args].concat());
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

    /// The failure that was told as JSON: the last line of standard error.
    pub(crate) fn problem(&self) -> Value {
        let last = self.err.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
