//! What can be asked of the command?
//!
//! The flags that several commands share stand here; what only one command knows stands with it.
//! Words that belong to memory (layers, times, states) are read by our own parsers and not by the
//! argument parser, so that a wrong one fails with its own code and field.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use loci_types::{Error, Filter, Identifiers, Layer, State, TimeRange};
use serde_json::{Map, Value};

use crate::command::{
    agent, backup, chain, checkpoint, completions, config, confirm, consent, context, correct, doctor, edges, entity,
    erase, events, explain, export, fact, forget, get, history, import, ingest, init, jobs, key, list, maintain, mcp,
    migrate, model, operations, pin, pool, query, recall, reembed, remember, resolve, restore, restore_backup, search,
    serve, session, stats, summarise, supersede, undo, update, vectors, weak, working,
};

/// Long-term memory for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "loci",
    version,
    args_override_self = true,
    about = "Long-term memory for AI agents",
    after_help = "Examples:\n  loci init\n  loci remember I prefer tea to coffee\n  loci recall what do I drink\n  loci list --user ann --json\n\nEvery command takes --json. Exit codes tell failures apart; `loci COMMAND --help` shows more."
)]
pub(crate) struct Arguments {
    /// The data folder [environment: LOCI_DATA; default: the platform's data folder]
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The configuration [environment: LOCI_CONFIG; default: ./loci.toml if it is there]
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: answers to standard output, failures to standard error
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the data folder and show the first steps
    Init(init::InitArgs),
    /// Look after agents, each with a memory of its own
    Agent(agent::AgentArgs),
    /// Share what agents know, in pools that only their members see
    Pool(Box<pool::PoolArgs>),
    /// Make, list, revoke and rotate the keys of callers
    Key(key::KeyArgs),
    /// Remember something; with `-`, one memory per line of standard input
    Remember(Box<remember::RememberArgs>),
    /// Take in a turn of a conversation; with `-`, one per line of standard input
    Ingest(Box<ingest::IngestArgs>),
    /// Find what matters to a question
    Recall(Box<recall::RecallArgs>),
    /// Find what matters and write it within a budget of tokens
    Query(Box<query::QueryArgs>),
    /// Fill a model's window: system, memories, history and input
    Context(Box<context::ContextArgs>),
    /// Show where a memory comes from
    Explain(explain::ExplainArgs),
    /// Find what is like a text, layer by layer
    Search(Box<search::SearchArgs>),
    /// Show one memory whole
    Get(get::GetArgs),
    /// List memories, newest first
    List(Box<list::ListArgs>),
    /// Change a memory
    Update(Box<update::UpdateArgs>),
    /// Forget a memory; it can be restored until its purge date
    Forget(forget::ForgetArgs),
    /// Bring a forgotten memory back
    Restore(restore::RestoreArgs),
    /// Show what happened to a memory
    History(history::HistoryArgs),
    /// Put something new in the place of a memory
    Supersede(Box<supersede::SupersedeArgs>),
    /// Say that a memory was wrong, and what is right
    Correct(correct::CorrectArgs),
    /// Say that a memory is right
    Confirm(confirm::ConfirmArgs),
    /// Settle which of two memories that may contradict each other holds
    Resolve(resolve::ResolveArgs),
    /// Keep a memory whatever happens
    Pin(pin::PinArgs),
    /// Show all versions of what a memory says
    Chain(chain::ChainArgs),
    /// Show what a memory hangs together with
    Edges(edges::EdgesArgs),
    /// Take back a line of a memory's history
    Undo(undo::UndoArgs),
    /// Look after conversations: list, end, learn; put entries in and read them
    Session(session::SessionArgs),
    /// What an agent has before it: messages, results of tools, a scratchpad
    Working(Box<working::WorkingArgs>),
    /// Decide what may be known
    Consent(consent::ConsentArgs),
    /// Look after the people and things that are spoken of
    Entity(entity::EntityArgs),
    /// State, list and retract triples: subject, predicate, object
    Fact(fact::FactArgs),
    /// Keep and find again where the work of a thread stood
    Checkpoint(checkpoint::CheckpointArgs),
    /// Show facts that fade, weakest first
    Weak(weak::WeakArgs),
    /// Say a conversation, or what is known, in few words
    Summarise(Box<summarise::SummariseArgs>),
    /// Look after the work that was left for later
    Jobs(jobs::JobsArgs),
    /// Learn, fade, tidy and purge, as every night
    Maintain(maintain::MaintainArgs),
    /// Show what happens, as it happens
    Events(Box<events::EventsArgs>),
    /// Count what was done, by time, part and event
    Operations(operations::OperationsArgs),
    /// Count what there is
    Stats(stats::StatsArgs),
    /// Look for damage, and mend what can be mended
    Doctor(doctor::DoctorArgs),
    /// Write memories as JSON lines
    Export(export::ExportArgs),
    /// Read memories from JSON lines
    Import(import::ImportArgs),
    /// Put everything, or one space, into one file while others write
    Backup(backup::BackupArgs),
    /// Bring a backup back, as it was or as it was earlier
    RestoreBackup(Box<restore_backup::RestoreBackupArgs>),
    /// Remove everything of one user, in all spaces
    Erase(erase::EraseArgs),
    /// Copy everything from one store to another, and compare
    Migrate(migrate::MigrateArgs),
    /// Give every memory a vector of the present model, or of another beside it
    Reembed(reembed::ReembedArgs),
    /// List and fetch the embedding models
    Model(model::ModelArgs),
    /// Look after the vector index outside the store
    Vectors(vectors::VectorsArgs),
    /// Serve over HTTP and MCP, on this machine or, with keys, on others
    Serve(serve::ServeArgs),
    /// Serve tools for models on standard input and output
    Mcp(mcp::McpArgs),
    /// Measure how well recall finds what it should
    Eval(crate::eval::EvalArgs),
    /// Measure what adding and finding cost
    Bench(crate::bench::BenchArgs),
    /// Look at the configuration
    Config(config::ConfigArgs),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// The verb, as failures name it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Agent(_) => "agent",
            Command::Pool(_) => "pool",
            Command::Key(_) => "key",
            Command::Remember(_) => "remember",
            Command::Ingest(_) => "ingest",
            Command::Recall(_) => "recall",
            Command::Query(_) => "query",
            Command::Context(_) => "context",
            Command::Explain(_) => "explain",
            Command::Search(_) => "search",
            Command::Get(_) => "get",
            Command::List(_) => "list",
            Command::Update(_) => "update",
            Command::Forget(_) => "forget",
            Command::Restore(_) => "restore",
            Command::History(_) => "history",
            Command::Supersede(_) => "supersede",
            Command::Correct(_) => "correct",
            Command::Confirm(_) => "confirm",
            Command::Resolve(_) => "resolve",
            Command::Pin(_) => "pin",
            Command::Chain(_) => "chain",
            Command::Edges(_) => "edges",
            Command::Undo(_) => "undo",
            Command::Session(_) => "session",
            Command::Working(_) => "working",
            Command::Consent(_) => "consent",
            Command::Entity(_) => "entity",
            Command::Fact(_) => "fact",
            Command::Checkpoint(_) => "checkpoint",
            Command::Weak(_) => "weak",
            Command::Summarise(_) => "summarise",
            Command::Jobs(_) => "jobs",
            Command::Maintain(_) => "maintain",
            Command::Events(_) => "events",
            Command::Operations(_) => "operations",
            Command::Stats(_) => "stats",
            Command::Doctor(_) => "doctor",
            Command::Export(_) => "export",
            Command::Import(_) => "import",
            Command::Backup(_) => "backup",
            Command::RestoreBackup(_) => "restore-backup",
            Command::Erase(_) => "erase",
            Command::Migrate(_) => "migrate",
            Command::Reembed(_) => "reembed",
            Command::Model(_) => "model",
            Command::Vectors(_) => "vectors",
            Command::Serve(_) => "serve",
            Command::Mcp(_) => "mcp",
            Command::Eval(_) => "eval",
            Command::Bench(_) => "bench",
            Command::Config(_) => "config",
            Command::Completions(_) => "completions",
        }
    }
}

/// Whose memories are meant.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Whose")]
pub(crate) struct ScopeFlags {
    /// The agent, by its slug
    #[arg(long, value_name = "SLUG")]
    agent: Option<String>,
    /// The user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The session, a conversation
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The project or repository
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// The organisation
    #[arg(long, value_name = "NAME")]
    org: Option<String>,
    /// The company
    #[arg(long, value_name = "NAME")]
    company: Option<String>,
    /// The pool, by its slug
    #[arg(long, value_name = "SLUG")]
    pool: Option<String>,
}

impl ScopeFlags {
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

/// Which memories are meant.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Which")]
pub(crate) struct FilterFlags {
    /// Only this layer; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    /// As if it were then: RFC 3339, or YYYY-MM-DD (midnight UTC)
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// See what held at this time instead of what holds now
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Any of these kinds; may be repeated, as may the others below that name a thing
    #[arg(long)]
    kind: Vec<String>,
    /// Any of these categories
    #[arg(long)]
    category: Vec<String>,
    /// Any of these tags
    #[arg(long)]
    tag: Vec<String>,
    /// Any of these types of source
    #[arg(long, value_name = "TYPE")]
    source_type: Vec<String>,
    /// Any of these roles of the source
    #[arg(long, value_name = "ROLE")]
    source_role: Vec<String>,
    /// Any of these roles
    #[arg(long)]
    role: Vec<String>,
    /// Said by any of these
    #[arg(long)]
    actor: Vec<String>,
    /// From any of these conversations
    #[arg(long)]
    thread: Vec<String>,
    /// From any of these runs
    #[arg(long)]
    run: Vec<String>,
    /// Only pinned ones, or with `--pinned=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pinned: Option<bool>,
    /// At least this important, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance_min: Option<f64>,
    /// At most this important, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance_max: Option<f64>,
    /// At least this certain, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence_min: Option<f64>,
    /// Came in at this time or later
    #[arg(long, value_name = "TIME")]
    created_after: Option<String>,
    /// Came in before this time
    #[arg(long, value_name = "TIME")]
    created_before: Option<String>,
    /// Changed at this time or later
    #[arg(long, value_name = "TIME")]
    updated_after: Option<String>,
    /// Changed before this time
    #[arg(long, value_name = "TIME")]
    updated_before: Option<String>,
    /// Happened at this time or later
    #[arg(long, value_name = "TIME")]
    event_after: Option<String>,
    /// Happened before this time
    #[arg(long, value_name = "TIME")]
    event_before: Option<String>,
    /// Any of these states: active, decayed, archived, soft_deleted
    #[arg(long)]
    state: Vec<String>,
    /// Metadata that must be so; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// Only those that mirror a knowledge item, or with `=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    has_knowledge_pointer: Option<bool>,
}

impl FilterFlags {
    /// The layers that were named; none: all that the identifiers open.
    pub(crate) fn layers(&self) -> Result<Option<Vec<Layer>>, Error> {
        let layers = self.layer.iter().map(|name| name.parse()).collect::<Result<Vec<Layer>, _>>()?;
        Ok((!layers.is_empty()).then_some(layers))
    }

    /// The time that the question is asked at, if it is not now.
    pub(crate) fn at(&self) -> Result<Option<Timestamp>, Error> {
        moment("at", self.at.as_deref())
    }

    /// The filter, for a clock that shows `now`.
    pub(crate) fn filter(&self, now: Timestamp) -> Result<Filter, Error> {
        let mut filter = Filter::at(self.at()?.unwrap_or(now));
        filter.as_of = moment("asOf", self.as_of.as_deref())?;
        if !self.state.is_empty() {
            filter.states = self.state.iter().map(|name| name.parse()).collect::<Result<Vec<State>, _>>()?;
        }
        let range = |field, after: &Option<String>, before: &Option<String>| {
            Ok::<_, Error>(TimeRange {
                from: moment(field, after.as_deref())?,
                until: moment(field, before.as_deref())?,
            })
        };
        filter.created = range("created", &self.created_after, &self.created_before)?;
        // As if it were then: what came later is not there yet.
        if let Some(at) = self.at()? {
            filter.created.until = Some(filter.created.until.map_or(at, |until| until.min(at)));
        }
        filter.updated = range("updated", &self.updated_after, &self.updated_before)?;
        filter.event = range("event", &self.event_after, &self.event_before)?;
        filter.kinds.clone_from(&self.kind);
        filter.categories.clone_from(&self.category);
        filter.tags.clone_from(&self.tag);
        filter.source_types.clone_from(&self.source_type);
        filter.source_roles.clone_from(&self.source_role);
        filter.roles.clone_from(&self.role);
        filter.actors.clone_from(&self.actor);
        filter.threads.clone_from(&self.thread);
        filter.runs.clone_from(&self.run);
        filter.pinned = self.pinned;
        filter.has_knowledge_pointer = self.has_knowledge_pointer;
        filter.importance_min = self.importance_min;
        filter.importance_max = self.importance_max;
        filter.confidence_min = self.confidence_min;
        filter.metadata = metadata(&self.meta)?.into_iter().collect();
        Ok(filter)
    }
}

/// Reads a time: an instant, or a day that stands for its first moment in UTC.
pub(crate) fn moment(field: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, Error> {
    let Some(text) = text else { return Ok(None) };
    let day = || text.parse::<Date>().ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok()).map(|day| day.timestamp());
    let instant = text.parse::<Timestamp>().ok().or_else(day);
    instant.map(Some).ok_or_else(|| {
        Error::invalid(field, format!("`{text}` is not a time")).hint("write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    })
}

/// Reads `KEY=VALUE` pairs; a value that is JSON is taken as such, anything else as text.
pub(crate) fn metadata(pairs: &[String]) -> Result<Map<String, Value>, Error> {
    let read = |pair: &String| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
        }
        _ => Err(Error::invalid("metadata", format!("`{pair}` is not KEY=VALUE")).hint("write --meta city=Porto")),
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
            let read = moment("at", Some(text));
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
