//! `loci store maintain`: runs maintenance, or shows what it would do.

use anyhow::Result;
use clap::Args;
use loci_engine::{MaintainReport, MaintenanceStep, StepReport};
use loci_types::{Error, ErrorKind};

use crate::api::Call;
use crate::arguments::instant;
use crate::context::{Context, Model};
use crate::{output, shape};

/// Which steps, and whether they change anything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store maintain --dry-run
  loci store maintain
  loci store maintain --only decay --only purge
  loci store maintain --dry-run --now 2027-01-01

Steps, in their order: consolidate, decay, expire, ttl, consent, sessions, caps, purge, dedup, enrich, causal, insight, \
summarize, collapse, compact. An interrupted run can be repeated. Most changes can be reverted: `loci history ID`, then \
`loci undo CHANGE`. With --server, a run that takes longer than the timeout of the server continues there.")]
pub(crate) struct MaintainArgs {
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Only this step; may be repeated
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Time that counts as now: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone [default: now]
    #[arg(long, alias = "at", value_name = "TIME")]
    now: Option<String>,
    /// Confirm a run with a later time than now, which purges what would be purged by then
    #[arg(short, long)]
    yes: bool,
}

/// Runs the steps and prints what they did, or would do.
pub(crate) async fn run(context: &Context, args: &MaintainArgs) -> Result<()> {
    let only = args.only.iter().map(|name| name.parse()).collect::<Result<Vec<MaintenanceStep>, _>>()?;
    if let (Some(now), false) = (instant("now", args.now.as_deref())?, args.dry_run)
        && now > context.now()
    {
        let time = shape::instant(now);
        context.confirm(&format!("removes for good what would be purged by {time}"), args.yes)?;
    }
    let api = context.api(Model::Load).await?;
    let bar = output::spinner("maintenance");
    let call =
        Call::post(&["v1", "maintenance"]).field("dryRun", args.dry_run).field("only", only).field("now", &args.now);
    let answer = api.call(call).await;
    bar.finish_and_clear();
    let answer = answer?;
    api.close().await;
    let report: MaintainReport = serde_json::from_value(answer.clone())?;
    context.print(&answer, |_| print(&report));
    check(&report)
}

fn print(report: &MaintainReport) {
    for step in &report.steps {
        if step.changes == 0 && step.aged == 0 && step.problem.is_none() {
            continue;
        }
        output::line(&output::strong(&summary(step)));
        if !step.planned.is_empty() {
            output::line(&table(step));
        }
        output::line("");
    }
    let idle = report.steps.iter().all(|step| step.changes == 0 && step.aged == 0 && step.problem.is_none());
    if idle {
        output::line("Nothing to do.");
    }
    if report.dry_run {
        output::line("This was a dry run: nothing was changed.");
    }
}

/// The result of a step, on one line.
fn summary(step: &StepReport) -> String {
    let plural = if step.changes == 1 { "" } else { "s" };
    let mut line = format!("{}: {} change{plural}", step.step, step.changes);
    if step.aged > 0 {
        line.push_str(&format!(", {} aged", step.aged));
    }
    if let Some(problem) = &step.problem {
        line.push_str(&format!(", failed: {problem}"));
    }
    line
}

fn table(step: &StepReport) -> String {
    let rows = step.planned.iter().map(|planned| {
        let id = planned.id.map_or_else(String::new, |id| id.short());
        vec![planned.action.clone(), shape::brief(&planned.about, 100), planned.why.clone(), id]
    });
    let mut table = shape::table(&["action", "memory", "reason", "id"], rows.collect());
    let more = step.changes.saturating_sub(step.planned.len() as u64);
    if more > 0 {
        table.push_str(&format!("\n… and {more} more"));
    }
    table
}

/// An error if a step of a real run failed.
fn check(report: &MaintainReport) -> Result<()> {
    let failed: Vec<&StepReport> = report.steps.iter().filter(|step| step.problem.is_some()).collect();
    let (Some(first), false) = (failed.first(), report.dry_run) else { return Ok(()) };
    let names: Vec<&str> = failed.iter().map(|step| step.step.name()).collect();
    let problem = first.problem.as_deref().unwrap_or_default();
    let message = format!("some steps failed ({}): {problem}", names.join(", "));
    Err(Error::new(ErrorKind::Provider, message)
        .at("steps")
        .hint("the other steps are done; run it again once the cause is fixed. `loci store jobs` shows waiting jobs")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(changes: u64, aged: u64, problem: Option<&str>) -> StepReport {
        StepReport {
            step: MaintenanceStep::Decay,
            changes,
            aged,
            planned: Vec::new(),
            problem: problem.map(str::to_owned),
        }
    }

    #[test]
    fn a_step_is_summarised_on_one_line() {
        for (step, expect) in [
            (step(12, 431, None), "decay: 12 changes, 431 aged"),
            (step(1, 0, None), "decay: 1 change"),
            (step(0, 0, Some("no model")), "decay: 0 changes, failed: no model"),
        ] {
            assert_eq!(summary(&step), expect);
        }
    }

    #[test]
    fn a_real_run_with_a_problem_is_a_failure() {
        let report = |dry_run, problem| MaintainReport {
            at: jiff::Timestamp::UNIX_EPOCH,
            dry_run,
            steps: vec![step(0, 0, problem)],
        };
        assert!(check(&report(false, None)).is_ok());
        assert!(check(&report(true, Some("no model"))).is_ok());
        let (problem, exit) = crate::fault::read(&check(&report(false, Some("no model"))).unwrap_err(), "maintain");
        assert_eq!((problem.code.as_str(), exit), ("PROVIDER_ERROR", 16));
        assert!(problem.message.contains("(decay): no model"), "{}", problem.message);
    }
}
