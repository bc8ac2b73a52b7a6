//! The table of tools, and how a tool is called.
//!
//! Every call goes through [`run`]. Roles are checked only here, denials are logged here, and no answer leaves it that
//! is longer than its budget.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures::FutureExt;
use loci_types::{ErrorKind, Role};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::CALL;
use super::answer::{ToolAnswer, ToolOutput};
use super::call::Call;
use super::profile::Profile;
use crate::extract;
use crate::failure::Failure;
use crate::guard;

/// The future of an answer.
pub(super) type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolAnswer, Failure>> + Send + 'a>>;

/// One tool.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// Its title for people.
    pub(super) title: &'static str,
    /// When to use it and what it returns, for models.
    pub(super) description: &'static str,
    /// The schema of its arguments.
    pub(super) input: fn() -> Value,
    /// Arguments that the default profile accepts without describing them, as paths: `reason`, `turns.at`.
    pub(super) rare: &'static [&'static str],
    /// The schema of its answer, where clients rely on one.
    pub(super) output: Option<fn() -> Value>,
    /// What it does to memories.
    pub(super) effect: Effect,
    /// The role that it requires.
    pub(super) role: Role,
    /// The `operationId` of the HTTP operation that does the same.
    pub(super) operation: &'static str,
    /// Runs it.
    pub(super) run: for<'a> fn(&'a Call, Value) -> AnswerFuture<'a>,
}

/// What a tool does to memories, for the annotations that clients read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Reads only.
    Reads,
    /// Adds memories.
    Adds,
    /// Sets a property; a repetition changes nothing.
    Sets,
    /// Replaces what was there.
    Replaces,
    /// Removes; a repetition changes nothing.
    Removes,
}

impl Effect {
    /// Returns whether a tool only reads, destroys, and may be repeated without effect.
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

/// Defines a tool from the type of its arguments and the function that takes them.
macro_rules! tool {
    ($name:literal, $title:literal, $role:ident, $effect:ident, $operation:literal, $input:ty => $run:path,
     $description:literal $(, rare: $rare:expr)?) => {
        $crate::mcp::tool::Tool {
            name: $name,
            title: $title,
            description: $description,
            input: $crate::mcp::schema::of::<$input>,
            rare: $crate::mcp::tool::rare!($($rare)?),
            output: None,
            effect: $crate::mcp::tool::Effect::$effect,
            role: loci_types::Role::$role,
            operation: $operation,
            run: |call, arguments| {
                Box::pin(async move { $run(call, $crate::mcp::tool::read::<$input>(arguments)?).await })
            },
        }
    };
}
pub(super) use tool;

/// The list of rare arguments, or none.
macro_rules! rare {
    () => {
        &[]
    };
    ($rare:expr) => {
        &$rare
    };
}
pub(super) use rare;

/// Reads the arguments, or says which of them is wrong.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(arguments)
        .map_err(|error| extract::field_failure(error.path().to_string(), &error.inner().to_string()))
}

/// Returns a tool of a profile.
pub(super) fn find(profile: Profile, name: &str) -> Option<&'static Tool> {
    profile.tools().find(|tool| tool.name == name)
}

/// Calls a tool of a profile. A failure is an answer too.
pub(super) async fn run(call: &Call, profile: Profile, name: &str, arguments: Value) -> ToolOutput {
    let attempt = async {
        let tool = find(profile, name).ok_or_else(|| unknown(profile, name))?;
        call.principal.require_role(tool.role, tool.operation)?;
        (tool.run)(call, arguments).await
    };
    // A defect must not leave the client without an answer.
    let defect = |_| Err(Failure::new(ErrorKind::Internal, "internal error", call.operation));
    let whole = async { AssertUnwindSafe(attempt).catch_unwind().await.unwrap_or_else(defect) };
    match call.counted(whole).await {
        Ok(answer) => answer.within(call.budget()),
        Err(failure) => {
            audit(call, &failure);
            ToolOutput::failed(failure.problem(), profile == Profile::Graph, call.budget())
        }
    }
}

/// Logs that a call was denied.
pub(super) fn audit(call: &Call, failure: &Failure) {
    let code = &failure.problem().code;
    if *code == ErrorKind::Unauthorized.code() {
        guard::denied(&call.app, call.principal.name(), call.principal.request(), call.operation, code);
    }
}

fn unknown(profile: Profile, name: &str) -> Failure {
    let names: Vec<&str> = profile.tools().map(|tool| tool.name).collect();
    let name: String = name.chars().take(64).collect();
    Failure::new(ErrorKind::InvalidInput, format!("unknown tool `{name}`"), CALL)
        .field("name")
        .hint(format!("the tools are {}", names.join(", ")))
}
