//! `loci store jobs`: background jobs.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::ConsolidationReport;
use loci_types::{Error, ErrorKind};
use serde_json::{Value, json};

use super::print_page;
use crate::api::{Api, Call};
use crate::arguments::PageFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// Maximum number of jobs that one request runs.
const MAX_JOBS: usize = 1_000;

/// What to do with jobs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store jobs
  loci store jobs list --state dead
  loci store jobs retry users_21 42
  loci store jobs run --limit 10

Slow work is queued as jobs: vectors, learning from sessions, summaries. A job that fails is tried again with growing \
pauses; after several failures it is dead.")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    command: Option<JobsCommand>,
    #[command(flatten)]
    list: ListFlags,
}

/// Which jobs are listed.
#[derive(Debug, Clone, Default, Args)]
struct ListFlags {
    /// Any of these states: waiting, running, dead; may be repeated
    #[arg(long)]
    state: Vec<String>,
    #[command(flatten)]
    page: PageFlags,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    /// List jobs, oldest first
    List {
        #[command(flatten)]
        list: ListFlags,
    },
    /// Run a job again at once
    Retry {
        /// Space of the job
        space: String,
        /// Number of the job
        id: i64,
    },
    /// Remove a job without running it
    Drop {
        /// Space of the job
        space: String,
        /// Number of the job
        id: i64,
        /// Confirm
        #[arg(short, long)]
        yes: bool,
    },
    /// Run waiting jobs
    Run {
        /// Maximum number of jobs [default: all]
        #[arg(short = 'n', long, value_name = "NUMBER")]
        limit: Option<usize>,
    },
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: JobsArgs) -> Result<()> {
    match args.command {
        None => list(context, &args.list).await,
        Some(JobsCommand::List { list: flags }) => list(context, &flags).await,
        Some(JobsCommand::Retry { space, id }) => {
            let call = Call::post(&["v1", "jobs", &space, &id.to_string(), "retry"]);
            context.api(Model::Skip).await?.call(call).await?;
            print_job(context, &space, id, "retried", "is queued again");
            Ok(())
        }
        Some(JobsCommand::Drop { space, id, yes }) => {
            context.confirm(&format!("removes the job {id} of {space} without running it"), yes)?;
            let call = Call::delete(&["v1", "jobs", &space, &id.to_string()]);
            context.api(Model::Skip).await?.call(call).await?;
            print_job(context, &space, id, "dropped", "is removed");
            Ok(())
        }
        Some(JobsCommand::Run { limit }) => run_jobs(context, limit).await,
    }
}

fn print_job(context: &Context, space: &str, id: i64, done: &str, words: &str) {
    let answer = json!({ "space": space, "id": id, done: true });
    context.print(&answer, |_| output::line(&format!("job {id} of {space} {words}")));
}

async fn list(context: &Context, flags: &ListFlags) -> Result<()> {
    let call = flags.page.of(Call::get(&["v1", "jobs"])).list_param("state", &flags.state);
    let answer = context.api(Model::Skip).await?.call(call).await?;
    let row = |job: &Value| {
        let [space, id, kind, state, attempts, error] =
            ["space", "id", "kind", "state", "attempts", "lastError"].map(|field| shape::cell(&job[field]));
        vec![space, id, kind, state, attempts, shape::time(&job["runAfter"]), subject(job), error]
    };
    let head = ["space", "id", "kind", "state", "attempts", "run after", "subject", "last error"];
    print_page(context, &answer, &head, row, "No jobs.");
    Ok(())
}

/// The session or the memory that a job is about.
fn subject(job: &Value) -> String {
    let payload = &job["payload"];
    shape::cell(if payload["session"].is_null() { &payload["memory"] } else { &payload["session"] })
}

/// The sum of several runs.
#[derive(Debug, Default)]
struct RunSum {
    done: u64,
    failed: u64,
    waiting: u64,
    vectors: u64,
    learned: ConsolidationReport,
}

async fn run_jobs(context: &Context, limit: Option<usize>) -> Result<()> {
    let api = context.api(Model::Load).await?;
    let (sum, outcome) = run_until(&api, limit).await;
    api.close().await;
    let answer = json!({
        "done": sum.done, "failed": sum.failed, "waiting": sum.waiting, "vectors": sum.vectors, "learned": sum.learned,
    });
    context.print(&answer, |_| {
        output::line(&format!(
            "{} done, {} failed, {} computed",
            sum.done,
            sum.failed,
            shape::count(sum.vectors, "vector")
        ));
        if sum.learned.turns > 0 {
            output::line(&super::session::report_line("learned", &sum.learned));
        }
    });
    outcome?;
    if sum.failed > 0 {
        let message = format!("{} jobs failed and will be tried again", sum.failed);
        return Err(Error::new(ErrorKind::Provider, message)
            .at("jobs")
            .hint("`loci store jobs` shows the errors")
            .into());
    }
    Ok(())
}

/// Runs jobs until the limit is reached or nothing is left to run. What was done counts even if the rest fails.
async fn run_until(api: &Api, limit: Option<usize>) -> (RunSum, Result<()>) {
    let mut sum = RunSum::default();
    let mut left = limit.unwrap_or(usize::MAX);
    loop {
        let wanted = if limit == Some(0) { 0 } else { left.min(MAX_JOBS) };
        let run = match api.call(Call::post(&["v1", "jobs", "run"]).field("limit", wanted)).await {
            Ok(run) => run,
            Err(error) => return (sum, Err(error)),
        };
        let count = |field: &str| run[field].as_u64().unwrap_or(0);
        sum.done += count("done");
        sum.failed += count("failed");
        sum.waiting += count("waiting");
        sum.vectors += count("vectors");
        if let Ok(learned) = serde_json::from_value::<ConsolidationReport>(run["learned"].clone()) {
            sum.learned.add(learned);
        }
        let ran = count("done") + count("failed") + count("waiting") + count("vectors");
        left = left.saturating_sub(usize::try_from(ran).unwrap_or(usize::MAX));
        if left == 0 || ran == 0 {
            return (sum, Ok(()));
        }
    }
}
