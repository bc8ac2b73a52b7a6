//! What is a tool, and how is one called?
//!
//! Every call goes through [`call`]: the role is asked for there and nowhere else, what is refused
//! is written down there, and no answer leaves it that is longer than its budget.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures::FutureExt;
use loci_types::{ErrorKind, Role};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, Told};
use super::asked::Asked;
use super::profile::Profile;
use crate::extract;
use crate::failure::Failure;
use crate::guard;

/// An answer that is being made.
pub(super) type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'a>>;

/// One line of the table.
pub(super) struct Tool {
    /// What it is called by.
    pub(super) name: &'static str,
    /// What people see.
    pub(super) title: &'static str,
    /// When to use it and what it returns, for models.
    pub(super) description: &'static str,
    /// The shape of its arguments.
    pub(super) input: fn() -> Value,
    /// The shape of its answer, where clients count on one.
    pub(super) output: Option<fn() -> Value>,
    /// What it does to memories.
    pub(super) effect: Effect,
    /// Who may call it.
    pub(super) role: Role,
    /// What it does.
    pub(super) run: for<'a> fn(&'a Asked, Value) -> Answering<'a>,
}

/// What a tool does to memories, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It looks.
    Reads,
    /// It adds; the same again adds nothing or something equal.
    Adds,
    /// It sets something so; the same again changes nothing.
    Sets,
    /// It puts something in the place of what was there.
    Replaces,
    /// It takes away; the same again changes nothing.
    Removes,
}

impl Effect {
    /// Read-only, destructive, idempotent.
    pub(super) fn hints(self) -> (bool, bool, bool) {
        match self {
            Effect::Reads => (true, false, true),
            Effect::Adds => (false, false, false),
            Effect::Sets => (false, false, true),
            Effect::Replaces => (false, true, false),
            Effect::Removes => (false, true, true),
        }
    }
}

/// One line of the table: what reads the arguments, and the function that has them read.
macro_rules! tool {
    ($name:literal, $title:literal, $role:ident, $effect:ident, $input:ty => $run:path, $description:literal) => {
        $crate::mcp::tool::Tool {
            name: $name,
            title: $title,
            description: $description,
            input: $crate::mcp::schema::of::<$input>,
            output: None,
            effect: $crate::mcp::tool::Effect::$effect,
            role: loci_types::Role::$role,
            run: |asked, arguments| {
                Box::pin(async move { $run(asked, $crate::mcp::tool::read::<$input>(arguments)?).await })
            },
        }
    };
}
pub(super) use tool;

/// The arguments, or which of them does not fit.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| extract::told(error.path().to_string(), &error.inner().to_string()))
}

/// Calls a tool of a profile. Whatever goes wrong is an answer too.
pub(super) async fn call(asked: &Asked, profile: Profile, name: &str, arguments: Value) -> Told {
    let attempt = AssertUnwindSafe(attempt(asked, profile, name, arguments)).catch_unwind().await;
    // A defect of ours must not leave the client without an answer.
    let outcome = attempt.unwrap_or_else(|_| Err(Failure::new(ErrorKind::Internal, "something in Loci broke", name)));
    match outcome {
        Ok(answer) => answer.within(asked.budget()),
        Err(failure) => {
            audit(asked, name, &failure);
            Told::failed(failure.problem(), profile == Profile::Graph, asked.budget())
        }
    }
}

/// Writes down that someone was refused.
pub(super) fn audit(asked: &Asked, operation: &str, failure: &Failure) {
    let code = &failure.problem().code;
    if *code == ErrorKind::Unauthorized.code() {
        guard::denied(&asked.app, asked.who.name(), asked.who.request(), operation, code);
    }
}

async fn attempt(asked: &Asked, profile: Profile, name: &str, arguments: Value) -> Result<Answer, Failure> {
    let Some(tool) = profile.tools().find(|tool| tool.name == name) else {
        return Err(unknown(profile, name));
    };
    asked.who.may(tool.role, name)?;
    (tool.run)(asked, arguments).await
}

fn unknown(profile: Profile, name: &str) -> Failure {
    let names: Vec<&str> = profile.tools().map(|tool| tool.name).collect();
    let name: String = name.chars().take(64).collect();
    Failure::new(ErrorKind::InvalidInput, format!("there is no tool `{name}`"), "call a tool")
        .field("name")
        .hint(format!("the tools are {}", names.join(", ")))
}

/// An engine verb, counted.
pub(super) async fn verb<T>(
    asked: &Asked,
    operation: &'static str,
    work: impl Future<Output = loci_engine::Result<T>>,
) -> Result<T, Failure> {
    asked.app.verb(operation, work).await
}
