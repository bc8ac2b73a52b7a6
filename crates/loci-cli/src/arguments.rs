//! The command line: global options, commands in groups, and the flags that several commands share.
//!
//! Flags of one command are declared with it. Words that belong to memory (layers, times, states) are parsed by the API and
//! not by the argument parser, so that a wrong one fails with its own code and field.

use std::convert::Infallible;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;
use loci_engine::parse_instant;
use loci_types::{Error, Identifiers};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::Call;
use crate::command::memory::{read, write};
use crate::command::{
    agent, backup, checkpoint, completions, config, consent, context, doctor, entity, erase, events, export, fact,
    import, ingest, init, jobs, key, list, maintain, mcp, migrate, model, operations, pool, recall, reembed, remember,
    serve, session, stats, vectors, working,
};

/// The help of `loci` itself. A test checks that it names every command.
const HELP: &str = "\
Long-term memory for AI agents

Usage: loci [OPTIONS] COMMAND

Memories
  remember    Store a memory; `-` reads one per line of standard input
  recall      Find the memories that answer a question
  context     Fill a model's window with system prompt, memories and history
  list        List memories, newest first
  get         Show one memory
  update      Change a memory
  forget      Delete a memory; it can be restored until it is purged
  restore     Restore a deleted memory
  history     Show the changes of a memory
  undo        Revert one change
  memory      Supersede, correct, confirm, resolve, pin, explain one memory
Conversations
  ingest      Store a turn of a conversation; `-` reads one per line
  session     List, end, learn from and summarize sessions
  working     Working memory of an agent: messages, tool results, scratchpad
  checkpoint  Checkpoints of agent threads
Knowledge
  entity      People and things that memories mention
  fact        Facts as subject, predicate, object
  consent     Review memories that wait for consent
Setup and data
  init        Create the data folder and show the first steps
  serve       Serve HTTP and MCP
  mcp         Serve MCP on standard input and output
  import      Import memories
  export      Export memories as JSON lines
  agent, pool, key, user, store, backup, model, config, dev, completions
              Administration; `loci COMMAND --help` lists their commands

Options
  -d, --data DIR      Data folder [env: LOCI_DATA]
  -c, --config FILE   Configuration file [env: LOCI_CONFIG]
  -s, --server URL    Use a running server instead of a data folder [env: LOCI_SERVER]
  -k, --key KEY       Key for the server [env: LOCI_KEY]
      --ca FILE       Certificate authorities of the server, as PEM [env: LOCI_CA]
  -j, --json          Print JSON: answers to standard output, errors to standard error
  -q, --quiet         Print no notes and no progress
  -h, --help          Print help
  -V, --version       Print the version

Examples
  loci remember I prefer tea to coffee
  loci recall what do I drink

Without scope flags a command means the user `me` (setting `user`); reading by id finds a memory in any scope.
The setting `project` adds the memories of that project to what is read. Exit codes: `loci config exit-codes`.";

/// Long-term memory for AI agents.
#[derive(Debug, Parser)]
#[command(name = "loci", version, args_override_self = true, override_help = HELP, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Data folder [env: LOCI_DATA; default: the platform's data folder]
    #[arg(short, long, global = true, help_heading = "Global options", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file [env: LOCI_CONFIG; default: loci.toml in the platform's configuration folder]
    #[arg(short, long, global = true, help_heading = "Global options", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use a running server instead of a data folder [env: LOCI_SERVER]
    #[arg(short, long, global = true, help_heading = "Global options", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Key for the server [env: LOCI_KEY]
    #[arg(short, long, global = true, help_heading = "Global options", value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Certificate authorities of the server, as PEM [env: LOCI_CA; default: the setting ca_file, or those of the system]
    #[arg(long, global = true, help_heading = "Global options", value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Print JSON: answers to standard output, errors to standard error
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Print no notes and no progress
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store a memory; `-` reads one per line of standard input
    Remember(Box<remember::RememberArgs>),
    /// Find the memories that answer a question
    Recall(Box<recall::RecallArgs>),
    /// Fill a model's window with system prompt, memories and history
    Context(Box<context::ContextArgs>),
    /// List memories, newest first
    List(Box<list::ListArgs>),
    /// Show one memory
    Get(read::GetArgs),
    /// Change a memory
    Update(Box<write::UpdateArgs>),
    /// Delete a memory; it can be restored until it is purged
    Forget(write::ForgetArgs),
    /// Restore a deleted memory
    Restore(write::RestoreArgs),
    /// Show the changes of a memory
    History(read::HistoryArgs),
    /// Revert one change
    Undo(write::UndoArgs),
    /// Supersede, correct, confirm, resolve, pin or explain one memory
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Store a turn of a conversation; `-` reads one per line of standard input
    Ingest(Box<ingest::IngestArgs>),
    /// List, end, learn from and summarize sessions; their entries
    Session(session::SessionArgs),
    /// Working memory of an agent: messages, tool results, scratchpad
    Working(Box<working::WorkingArgs>),
    /// Checkpoints of agent threads
    Checkpoint(checkpoint::CheckpointArgs),
    /// People and things that memories mention
    Entity(entity::EntityArgs),
    /// Facts as subject, predicate, object
    Fact(fact::FactArgs),
    /// Review memories that wait for consent
    Consent(consent::ConsentArgs),
    /// Create the data folder and show the first steps
    Init(init::InitArgs),
    /// Serve HTTP and MCP
    Serve(serve::ServeArgs),
    /// Serve MCP on standard input and output
    Mcp(mcp::McpArgs),
    /// Import memories
    Import(import::ImportArgs),
    /// Export memories as JSON lines
    Export(export::ExportArgs),
    /// Agents, each with its own memory
    Agent(agent::AgentArgs),
    /// Pools that share memories between agents
    Pool(Box<pool::PoolArgs>),
    /// Keys of callers
    Key(key::KeyArgs),
    /// Erase the data of one user
    #[command(subcommand)]
    User(UserCommand),
    /// Statistics, maintenance, jobs, events and repair of the store
    #[command(subcommand)]
    Store(StoreCommand),
    /// Back up and restore the store
    Backup(backup::BackupArgs),
    /// Embedding models
    Model(model::ModelArgs),
    /// The configuration
    Config(config::ConfigArgs),
    /// Evaluation and benchmarks
    #[command(subcommand)]
    Dev(Box<DevCommand>),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
}

/// Commands about one memory.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Replace a memory by a newer one
    Supersede(Box<write::SupersedeArgs>),
    /// Replace a memory that was wrong
    Correct(write::CorrectArgs),
    /// Confirm that a memory is right
    Confirm(write::ConfirmArgs),
    /// Decide between two memories that may contradict each other
    Resolve(write::ResolveArgs),
    /// Pin a memory, so that it never fades, or unpin it
    Pin(write::PinArgs),
    /// List all versions of a memory
    Chain(read::ChainArgs),
    /// List links to and from a memory
    Links(read::LinksArgs),
    /// Show where a memory comes from
    Explain(read::ExplainArgs),
    /// List facts with low confidence, lowest first
    Fading(read::FadingArgs),
}

/// Commands about a user.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Remove all data of a user, in all spaces
    Erase(erase::EraseArgs),
}

/// Commands about the whole store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Count memories, vectors and jobs
    Stats(stats::StatsArgs),
    /// Run maintenance: learn, age, tidy, purge
    Maintain(maintain::MaintainArgs),
    /// Background jobs
    Jobs(jobs::JobsArgs),
    /// Follow changes as they happen
    Events(Box<events::EventsArgs>),
    /// Count operations over time
    Operations(operations::OperationsArgs),
    /// Find damage, and repair what can be repaired
    Doctor(doctor::DoctorArgs),
    /// Copy everything to another store, and compare
    Migrate(migrate::MigrateArgs),
    /// Compute the vectors of all memories with another model
    Reembed(reembed::ReembedArgs),
    /// The vector index outside of the store
    Vectors(vectors::VectorsArgs),
}

/// Commands for those who develop Loci.
#[derive(Debug, Subcommand)]
pub(crate) enum DevCommand {
    /// Measure the quality of recall and of learning
    Eval(Box<loci_bench::eval::EvalArgs>),
    /// Measure the cost of adding and finding
    Bench(loci_bench::bench::BenchArgs),
}

/// The scope of a command. Without any of these it is the user of the setting `user`, by default `me`; commands that read by id
/// find it in any scope.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Scope (default: the user `me`)")]
pub(crate) struct ScopeFlags {
    /// Agent, by its slug
    #[arg(short, long, value_name = "SLUG")]
    agent: Option<String>,
    /// User
    #[arg(short, long, value_name = "NAME")]
    user: Option<String>,
    /// Session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Project or repository
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Organization
    #[arg(long, value_name = "NAME")]
    org: Option<String>,
    /// Company
    #[arg(long, value_name = "NAME")]
    company: Option<String>,
    /// Pool, by its slug
    #[arg(long, value_name = "SLUG")]
    pool: Option<String>,
    /// Everyone's data instead of one scope
    #[arg(long, conflicts_with_all = ["agent", "user", "session", "project", "team", "org", "company", "pool"])]
    pub(crate) everyone: bool,
}

impl ScopeFlags {
    /// Takes the session out, for commands that name it elsewhere than in the scope.
    pub(crate) fn take_session(&mut self) -> Option<String> {
        self.session.take()
    }

    /// Whether none of the flags was given.
    pub(crate) fn is_empty(&self) -> bool {
        !self.everyone && self.identifiers().is_empty()
    }

    /// The identifiers that were given, and no others.
    pub(crate) fn identifiers(&self) -> Identifiers {
        Identifiers {
            agent_id: self.agent.clone(),
            user_id: self.user.clone(),
            session_id: self.session.clone(),
            project_id: self.project.clone(),
            team_id: self.team.clone(),
            org_id: self.org.clone(),
            company_id: self.company.clone(),
            pool_id: self.pool.clone(),
        }
    }
}

/// The part of a list that is printed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PageFlags {
    /// Maximum number of results, at most 1,000 [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Cursor of the next page: `nextCursor` of the page before
    #[arg(long)]
    cursor: Option<String>,
}

impl PageFlags {
    /// Asks for this part of the list, by query parameters.
    pub(crate) fn of(&self, call: Call) -> Call {
        call.param("limit", self.limit).param("cursor", self.cursor.as_ref())
    }

    /// Asks for this part of the list, in the body.
    pub(crate) fn in_body(&self, call: Call) -> Call {
        call.field("limit", self.limit).field("cursor", &self.cursor)
    }
}

/// Conditions that a memory must meet. They are those of the HTTP API (`MemoryFilter`), by the same names.
#[derive(Debug, Clone, Default, Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterFlags {
    /// Any of these ids; may be repeated, as may all that say "any of these"
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    id: Vec<String>,
    /// Any of these layers
    #[arg(long, value_name = "LAYER")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layer: Vec<String>,
    /// Any of these kinds
    #[arg(long)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kind: Vec<String>,
    /// Any of these categories
    #[arg(long)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    category: Vec<String>,
    /// At least one of these tags
    #[arg(long, alias = "tag", value_name = "TAG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Any of these states: active, decayed, archived, soft_deleted [default: active and decayed]
    #[arg(long)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<String>,
    /// Any of these conversations
    #[arg(long, alias = "thread", value_name = "THREAD")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thread_id: Vec<String>,
    /// Any of these agent runs
    #[arg(long, alias = "run", value_name = "RUN")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    run_id: Vec<String>,
    /// Any of these speakers or writers
    #[arg(long, alias = "actor", value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actor_id: Vec<String>,
    /// Any of these roles of the speaker
    #[arg(long)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    role: Vec<String>,
    /// Any of these users among the identifiers of the memory; --user chooses whose memories are read
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    user_id: Vec<String>,
    /// Any of these agents among the identifiers of the memory
    #[arg(long, value_name = "SLUG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agent_id: Vec<String>,
    /// Any of these sessions among the identifiers of the memory
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    session_id: Vec<String>,
    /// Any of these types of the source, for example conversation
    #[arg(long, value_name = "TYPE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    source_type: Vec<String>,
    /// Any of these roles of the source
    #[arg(long, value_name = "ROLE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    source_role: Vec<String>,
    /// Any of these access policies: private, restricted, shared, organization, public
    #[arg(long, value_name = "POLICY")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    access_policy: Vec<String>,
    /// Only pinned ones, or with `=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<bool>,
    /// Only those that mirror a knowledge item, or with `=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(skip_serializing_if = "Option::is_none")]
    has_knowledge_pointer: Option<bool>,
    /// A metadata field that has exactly this value; may be repeated, then all must
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<String>,
    /// The least importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    importance_min: Option<Value>,
    /// The greatest importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    importance_max: Option<Value>,
    /// The least confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence_min: Option<Value>,
    /// The greatest confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence_max: Option<Value>,
    /// It happened at this time or later: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    event_after: Option<String>,
    /// It happened before this time
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    event_before: Option<String>,
    /// It was added at this time or later
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    created_after: Option<String>,
    /// It was added before this time
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    created_before: Option<String>,
    /// It was last changed at this time or later
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_after: Option<String>,
    /// It was last changed before this time
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_before: Option<String>,
    /// Include superseded, expired and not yet valid memories
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<bool>,
    /// Select what held at this time instead of what holds now
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
}

impl FilterFlags {
    /// The filter as the API takes it in a body; `None` if no condition was given.
    pub(crate) fn object(&self) -> Result<Option<Map<String, Value>>, Error> {
        let Ok(Value::Object(mut object)) = serde_json::to_value(self) else { return Ok(None) };
        if !self.metadata.is_empty() {
            object.insert("metadata".to_owned(), Value::Object(metadata(&self.metadata)?));
        }
        Ok((!object.is_empty()).then_some(object))
    }

    /// The filter as query parameters: lists are separated by commas.
    pub(crate) fn parameters(&self) -> Result<Vec<(String, String)>, Error> {
        let parameter = |(name, value): (String, Value)| {
            let text = match value {
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                Value::String(text) => text,
                other => other.to_string(),
            };
            // The plain names of these are the scope.
            let name = match name.as_str() {
                "userId" | "agentId" | "sessionId" => format!("filter.{name}"),
                _ => name,
            };
            (name, text)
        };
        Ok(self.object()?.unwrap_or_default().into_iter().map(parameter).collect())
    }
}

/// Reads a time: an instant, or a day, which stands for its midnight in `retrieval.time_zone`.
pub(crate) fn instant(field: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, Error> {
    let read = |text: &str| {
        parse_instant(text).map_err(|_| {
            Error::invalid(field, format!("`{text}` is not a time"))
                .hint("write it as 2026-01-31 or 2026-01-31T12:00:00Z")
        })
    };
    text.map(read).transpose()
}

/// Reads a number. Anything else is passed on as text, so that the API refuses it by its field.
pub(crate) fn number(text: &str) -> Result<Value, Infallible> {
    let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
    Ok(number.map_or_else(|| text.into(), Value::Number))
}

/// Reads `KEY=VALUE` pairs; a value that is JSON is taken as such, anything else as text.
pub(crate) fn metadata(pairs: &[String]) -> Result<Map<String, Value>, Error> {
    let read = |pair: &String| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
        }
        _ => Err(Error::invalid("metadata", format!("`{pair}` is not KEY=VALUE")).hint("write --metadata city=Porto")),
    };
    pairs.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_instants_or_days() {
        for (text, expect) in [
            ("2026-01-31", Some("2026-01-31T00:00:00Z")),
            ("2026-01-31T10:00:00+02:00", Some("2026-01-31T08:00:00Z")),
            ("yesterday", None),
            ("2026-02-30", None),
            ("", None),
        ] {
            let read = instant("at", Some(text));
            match expect {
                Some(expect) => assert_eq!(read.unwrap(), Some(expect.parse().unwrap()), "{text}"),
                None => assert_eq!(read.unwrap_err().field(), Some("at"), "{text}"),
            }
        }
    }

    #[test]
    fn metadata_is_json_where_it_can_be() {
        let read = metadata(&["n=3".into(), "city=Porto".into(), "l=[1]".into(), "e=a=b".into()]).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"city":"Porto","e":"a=b","l":[1],"n":3}"#);
        assert_eq!(metadata(&["nothing".into()]).unwrap_err().field(), Some("metadata"));
    }
}
