//! `loci jobs`: what was left for later?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::{Caller, Engine, JobRun};
use loci_types::{Error, ErrorKind, JobRecord, Space};
use serde_json::{Value, json};

use crate::context::Context;
use crate::{output, shape};

/// So many vectors are made at once.
const AT_ONCE: usize = 256;
/// The states that a job can be in.
const STATES: [&str; 3] = ["waiting", "running", "dead"];

/// What to do with jobs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci jobs
  loci jobs list --state dead
  loci jobs retry users_21 42
  loci jobs run --limit 10

Slow work waits as jobs: vectors, the learning from sessions, summaries. One that fails is tried again,
later each time, and is dead when it has failed too often.")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    which: StateFlag,
}

/// Which jobs are listed.
#[derive(Debug, Clone, Default, Args)]
struct StateFlag {
    /// Only those that are waiting, running or dead; may be repeated
    #[arg(long)]
    state: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List jobs, oldest first
    List {
        #[command(flatten)]
        which: StateFlag,
    },
    /// Let a job be tried again at once
    Retry {
        /// The space it belongs to
        space: String,
        /// Its number there
        id: i64,
    },
    /// Give a job up
    Drop {
        /// The space it belongs to
        space: String,
        /// Its number there
        id: i64,
    },
    /// Do what waits
    Run {
        /// So many jobs at most
        #[arg(long, value_name = "NUMBER")]
        limit: Option<usize>,
    },
}

/// Looks after jobs.
pub(crate) async fn run(context: &Context, args: JobsArgs) -> Result<()> {
    let operator = Caller::operator();
    match args.verb {
        None => list(context, &args.which.state).await,
        Some(Verb::List { which }) => list(context, &[args.which.state, which.state].concat()).await,
        Some(Verb::Retry { space, id }) => {
            let space: Space = space.parse()?;
            context.engine().await?.retry_job(&operator, &space, id).await?;
            tell(context, &space, id, "retried", "is tried again at once");
            Ok(())
        }
        Some(Verb::Drop { space, id }) => {
            let space: Space = space.parse()?;
            context.engine().await?.drop_job(&operator, &space, id).await?;
            tell(context, &space, id, "dropped", "is given up");
            Ok(())
        }
        Some(Verb::Run { limit }) => work(context, limit.unwrap_or(usize::MAX)).await,
    }
}

fn tell(context: &Context, space: &Space, id: i64, done: &str, words: &str) {
    if context.json {
        output::json(&json!({ "space": space.name(), "id": id, done: true }));
    } else {
        output::line(&format!("job {id} of {space} {words}"));
    }
}

async fn list(context: &Context, wanted: &[String]) -> Result<()> {
    let mut states = Vec::new();
    for name in wanted {
        states.push(STATES.into_iter().find(|state| state == name).ok_or_else(|| {
            Error::invalid("state", format!("`{name}` is not the state of a job"))
                .hint(format!("use one of {}", STATES.join(", ")))
        })?);
    }
    let jobs = context.engine().await?.jobs(&Caller::operator(), &states).await?;
    if context.json {
        output::json(&json!({ "jobs": jobs }));
    } else if jobs.is_empty() {
        output::line("No such jobs.");
    } else {
        let rows = jobs.iter().map(|job| {
            vec![
                job.space.clone(),
                job.id.to_string(),
                job.kind.to_string(),
                job.state.clone(),
                job.attempts.to_string(),
                shape::instant(job.run_after),
                about(job),
                job.last_error.clone().unwrap_or_default(),
            ]
        });
        let head = ["space", "id", "kind", "state", "tries", "not before", "about", "what went wrong"];
        output::line(&shape::table(&head, rows.collect()));
    }
    Ok(())
}

/// What a job is about: a session, or a memory.
fn about(job: &JobRecord) -> String {
    let text = |field: &str| job.payload.get(field).and_then(Value::as_str);
    text("session").or_else(|| text("memory")).unwrap_or_default().to_owned()
}

async fn work(context: &Context, limit: usize) -> Result<()> {
    let operator = Caller::operator();
    let engine = context.engine_with_model(false, &operator).await?;
    // Vectors are quick, and nobody waits for them behind slow work.
    let (first, outcome) = make_vectors(&engine, &operator, limit).await;
    outcome?;
    let worked = engine.work(&operator, &[], limit.saturating_sub(first).max(1)).await?;
    let left = limit.saturating_sub(first + worked.done + worked.failed + worked.waiting);
    let (more, outcome) = make_vectors(&engine, &operator, left).await;
    let vectors = first + more;
    if context.json {
        let JobRun { done, failed, waiting, learned } = &worked;
        output::json(
            &json!({ "done": done, "failed": failed, "waiting": waiting, "vectors": vectors, "learned": learned }),
        );
    } else {
        output::line(&format!("{} done, {} failed, {vectors} vectors made", worked.done, worked.failed));
        if worked.learned.turns > 0 {
            output::line(&super::session::report_line("learned", &worked.learned));
        }
    }
    outcome?;
    if worked.failed > 0 {
        let message = format!("{} jobs failed and wait to be tried again", worked.failed);
        return Err(Error::new(ErrorKind::Provider, message)
            .at("jobs")
            .hint("`loci jobs` shows what went wrong")
            .into());
    }
    Ok(())
}

/// Makes up to `limit` vectors that wait. What was made counts even if the rest fails.
async fn make_vectors(engine: &Engine, operator: &Caller, limit: usize) -> (usize, Result<()>) {
    let mut made = 0;
    while engine.model().is_some() && made < limit {
        match engine.embed_waiting(operator, AT_ONCE.min(limit - made)).await {
            Ok(0) => break,
            Ok(more) => made += more,
            Err(error) => return (made, Err(error.into())),
        }
    }
    (made, Ok(()))
}
