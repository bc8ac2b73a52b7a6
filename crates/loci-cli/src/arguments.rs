//! What can be asked of the command?
//!
//! The flags that several commands share stand here; what only one command knows stands with it.
//! Words that belong to memory (layers, times, states) are read by our own parsers and not by the
//! argument parser, so that a wrong one fails with its own code and field.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;
use loci_engine::parse_instant;
use loci_types::{Error, Filter, Identifiers, Layer, MemoryRef, TimeRange};
use serde_json::{Map, Value};

use crate::command::{
    agent, backup, chain, checkpoint, completions, config, confirm, consent, context, correct, doctor, edges, entity,
    erase, events, explain, export, fact, forget, get, history, import, ingest, init, jobs, key, list, maintain, mcp,
    migrate, model, operations, pin, pool, query, recall, reembed, remember, resolve, restore, restore_backup, search,
    serve, session, stats, summarize, supersede, undo, update, vectors, weak, working,
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
    #[command(alias = "summarise")]
    Summarize(Box<summarize::SummarizeArgs>),
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
            Command::Summarize(_) => "summarize",
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
    /// The organization
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

/// Conditions that a memory must meet. They are those of the HTTP API (`MemoryFilter`), by the same names.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterFlags {
    /// The instant or day that counts as now [default: now]
    #[arg(long, alias = "at", value_name = "TIME")]
    now: Option<String>,
    /// Any of these ids; may be repeated, as may all that say "any of these"
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// Any of these layers
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    /// Any of these kinds
    #[arg(long)]
    kind: Vec<String>,
    /// Any of these categories
    #[arg(long)]
    category: Vec<String>,
    /// At least one of these tags
    #[arg(long, alias = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Any of these states: active, decayed, archived, soft_deleted [default: active and decayed]
    #[arg(long)]
    state: Vec<String>,
    /// Any of these conversations
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Vec<String>,
    /// Any of these agent runs
    #[arg(long, alias = "run", value_name = "RUN")]
    run_id: Vec<String>,
    /// Any of these speakers or writers
    #[arg(long, alias = "actor", value_name = "NAME")]
    actor_id: Vec<String>,
    /// Any of these roles of the speaker
    #[arg(long)]
    role: Vec<String>,
    /// Any of these users among the identifiers of the memory; --user chooses whose memories are read
    #[arg(long, value_name = "NAME")]
    user_id: Vec<String>,
    /// Any of these agents among the identifiers of the memory
    #[arg(long, value_name = "SLUG")]
    agent_id: Vec<String>,
    /// Any of these sessions among the identifiers of the memory
    #[arg(long, value_name = "NAME")]
    session_id: Vec<String>,
    /// Any of these types of the source, for example conversation
    #[arg(long, value_name = "TYPE")]
    source_type: Vec<String>,
    /// Any of these roles of the source
    #[arg(long, value_name = "ROLE")]
    source_role: Vec<String>,
    /// Any of these access policies: private, restricted, shared, organization, public
    #[arg(long, value_name = "POLICY")]
    access_policy: Vec<String>,
    /// Only pinned ones, or with `=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pinned: Option<bool>,
    /// Only those that mirror a knowledge item, or with `=false` only others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    has_knowledge_pointer: Option<bool>,
    /// A metadata field that has exactly this value; may be repeated, then all must
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// The least importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance_min: Option<f64>,
    /// The greatest importance, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance_max: Option<f64>,
    /// The least confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence_min: Option<f64>,
    /// The greatest confidence, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence_max: Option<f64>,
    /// It happened at this time or later: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, value_name = "TIME")]
    event_after: Option<String>,
    /// It happened before this time
    #[arg(long, value_name = "TIME")]
    event_before: Option<String>,
    /// It was added at this time or later
    #[arg(long, value_name = "TIME")]
    created_after: Option<String>,
    /// It was added before this time
    #[arg(long, value_name = "TIME")]
    created_before: Option<String>,
    /// It was last changed at this time or later
    #[arg(long, value_name = "TIME")]
    updated_after: Option<String>,
    /// It was last changed before this time
    #[arg(long, value_name = "TIME")]
    updated_before: Option<String>,
    /// Include superseded, expired and not yet valid memories
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    superseded: Option<bool>,
    /// Select what held at this time instead of what holds now
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
}

impl FilterFlags {
    /// The layers that were named; none: all that the identifiers open.
    pub(crate) fn layers(&self) -> Result<Option<Vec<Layer>>, Error> {
        let layers: Vec<Layer> = words(&self.layer)?;
        Ok((!layers.is_empty()).then_some(layers))
    }

    /// The time that counts as now, if it was given.
    pub(crate) fn now(&self) -> Result<Option<Timestamp>, Error> {
        instant("now", self.now.as_deref())
    }

    /// The filter, for a clock that shows `now`. The ids, which may be short, are looked up among what the caller sees.
    pub(crate) async fn resolve(
        &self,
        engine: &loci_engine::Engine,
        caller: &loci_engine::Caller,
        now: Timestamp,
    ) -> Result<Filter, loci_engine::Error> {
        let given: Vec<MemoryRef> = words(&self.id)?;
        Ok(Filter { ids: engine.resolve_filter_ids(caller, &given).await?, ..self.filter(now)? })
    }

    /// The filter without its ids.
    pub(crate) fn filter(&self, now: Timestamp) -> Result<Filter, Error> {
        let open = Filter::at(self.now()?.unwrap_or(now));
        let range = |fields: [&'static str; 2], after: &Option<String>, before: &Option<String>| {
            Ok::<_, Error>(TimeRange {
                from: instant(fields[0], after.as_deref())?,
                until: instant(fields[1], before.as_deref())?,
            })
        };
        Ok(Filter {
            ids: Vec::new(),
            kinds: self.kind.clone(),
            categories: self.category.clone(),
            tags: self.tags.clone(),
            states: if self.state.is_empty() { open.states.clone() } else { words(&self.state)? },
            threads: self.thread_id.clone(),
            runs: self.run_id.clone(),
            actors: self.actor_id.clone(),
            roles: self.role.clone(),
            users: self.user_id.clone(),
            agents: self.agent_id.clone(),
            sessions: self.session_id.clone(),
            source_types: self.source_type.clone(),
            source_roles: self.source_role.clone(),
            access_policies: words(&self.access_policy)?,
            pinned: self.pinned,
            has_knowledge_pointer: self.has_knowledge_pointer,
            metadata: metadata(&self.metadata)?.into_iter().collect(),
            importance_min: self.importance_min,
            importance_max: self.importance_max,
            confidence_min: self.confidence_min,
            confidence_max: self.confidence_max,
            event: range(["eventAfter", "eventBefore"], &self.event_after, &self.event_before)?,
            created: range(["createdAfter", "createdBefore"], &self.created_after, &self.created_before)?,
            updated: range(["updatedAfter", "updatedBefore"], &self.updated_after, &self.updated_before)?,
            superseded: self.superseded.unwrap_or(false),
            as_of: instant("asOf", self.as_of.as_deref())?,
            ..open
        })
    }
}

/// Reads each of the texts.
fn words<T: FromStr>(texts: &[String]) -> Result<Vec<T>, T::Err> {
    texts.iter().map(|text| text.parse()).collect()
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
