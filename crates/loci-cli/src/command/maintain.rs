//! `loci maintain`: what is done in the night?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, MaintainReport, MaintainRequest, MaintenanceStep, StepReport};
use loci_types::{Error, ErrorKind};

use crate::arguments::instant;
use crate::context::Context;
use crate::{output, shape};

/// What to do, and whether to do it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci maintain --dry-run
  loci maintain
  loci maintain --only decay --only purge
  loci maintain --dry-run --now 2027-01-01

Steps, in their order: consolidate, decay, expire, ttl, consent, sessions, caps, purge, dedup, enrich,
causal, insight, summarize, collapse, compact. A run that was cut short is simply run again. Most
changes can be taken back: `loci history ID`, then `loci undo LINE`.")]
pub(crate) struct MaintainArgs {
    /// Tell what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Only this step; may be repeated
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// The instant or day that counts as now [default: now]
    #[arg(long, alias = "at", value_name = "TIME")]
    now: Option<String>,
}

/// Does the steps and tells what they did, or would do.
pub(crate) async fn run(context: &Context, args: &MaintainArgs) -> Result<()> {
    let only = args.only.iter().map(|name| name.parse()).collect::<Result<Vec<MaintenanceStep>, _>>()?;
    let at = instant("now", args.now.as_deref())?;
    let operator = Caller::operator();
    let engine = context.engine_with_model(false, &operator).await?;
    let total = if only.is_empty() { MaintenanceStep::ALL.len() } else { only.len() };
    let bar = output::steps(total as u64);
    let told = bar.clone();
    let mut begun = 0;
    let request = MaintainRequest { dry_run: args.dry_run, only, at };
    let outcome = engine
        .maintain(&operator, request, move |step| {
            begun += 1;
            told.set_position(begun);
            told.set_message(step.name());
        })
        .await;
    bar.finish_and_clear();
    let report = outcome?;
    if context.json {
        output::json(&report);
    } else {
        print(&report);
    }
    troubles(&report)
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
        output::line("nothing to do");
    }
    if report.dry_run {
        output::line("This was a dry run: nothing was changed.");
    }
}

/// What one step comes to, in a line.
fn summary(step: &StepReport) -> String {
    let plural = if step.changes == 1 { "" } else { "s" };
    let mut line = format!("{}: {} change{plural}", step.step, step.changes);
    if step.aged > 0 {
        line.push_str(&format!(", {} aged", step.aged));
    }
    if let Some(problem) = &step.problem {
        line.push_str(&format!(", could not be done: {problem}"));
    }
    line
}

fn table(step: &StepReport) -> String {
    let rows = step.planned.iter().map(|planned| {
        let id = planned.id.map_or_else(String::new, |id| id.to_string());
        vec![planned.action.clone(), shape::brief(&planned.about, 100), planned.why.clone(), id]
    });
    let mut table = shape::table(&["action", "what", "why", "id"], rows.collect());
    let more = step.changes.saturating_sub(step.planned.len() as u64);
    if more > 0 {
        table.push_str(&format!("\n… and {more} more"));
    }
    table
}

/// A run in which a step failed has not done its work.
fn troubles(report: &MaintainReport) -> Result<()> {
    let failed: Vec<&StepReport> = report.steps.iter().filter(|step| step.problem.is_some()).collect();
    let (Some(first), false) = (failed.first(), report.dry_run) else { return Ok(()) };
    let names: Vec<&str> = failed.iter().map(|step| step.step.name()).collect();
    let problem = first.problem.as_deref().unwrap_or_default();
    let message = format!("not all steps could be done ({}): {problem}", names.join(", "));
    Err(Error::new(ErrorKind::Provider, message)
        .at("steps")
        .hint("the others are done; run it again when what failed is back, `loci jobs` shows what waits")
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
    fn a_step_is_summed_up_in_a_line() {
        for (step, expect) in [
            (step(12, 431, None), "decay: 12 changes, 431 aged"),
            (step(1, 0, None), "decay: 1 change"),
            (step(0, 0, Some("no model")), "decay: 0 changes, could not be done: no model"),
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
        assert!(troubles(&report(false, None)).is_ok());
        assert!(troubles(&report(true, Some("no model"))).is_ok());
        let (problem, exit) = crate::fault::read(&troubles(&report(false, Some("no model"))).unwrap_err(), "maintain");
        assert_eq!((problem.code.as_str(), exit), ("PROVIDER_ERROR", 16));
        assert!(problem.message.contains("(decay): no model"), "{}", problem.message);
    }
}
