//! `loci session`: conversations, their entries, and what is learned from them.

mod entries;
mod summarize;

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::ConsolidationReport;
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{PageFlags, ScopeFlags};
use crate::command::{print_next_page, print_warnings};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with sessions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session list --user ann --pending
  loci session end monday --user ann
  loci session learn monday --user ann
  loci session summarize monday --user ann
  loci session put monday --user ann --importance 0.8 'Ann asked to be reminded of the exam'
  loci session recent monday --user ann --query exam

A session ends by `loci session end`, when its thread continues in another session, or when `loci store maintain` finds it \
idle. Its end queues the learning from it; `learn` does that at once. Entries (`put`, `recent`) live as long as the session, \
in a running server (--server) or in Redis ([tiers] kind = \"redis\"); important ones are stored as memories of the user when \
the session ends.")]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// List sessions, those idle longest first
    List(SessionListArgs),
    /// End a session, and queue the learning from it
    End(EndArgs),
    /// Learn from a session now, whether it has ended or not
    Learn(LearnArgs),
    /// Summarize a session, or memories; nothing is stored
    #[command(alias = "summarise")]
    Summarize(Box<summarize::SummarizeArgs>),
    /// Store an entry in a session
    Put(entries::EntryPutArgs),
    /// List the entries of a session, newest first, or search them
    Recent(entries::RecentArgs),
}

/// Runs a command on sessions.
pub(crate) async fn run(context: &Context, args: SessionArgs) -> Result<()> {
    match args.command {
        SessionCommand::List(args) => list(context, &args).await,
        SessionCommand::End(args) => end(context, &args).await,
        SessionCommand::Learn(args) => learn(context, &args).await,
        SessionCommand::Summarize(args) => summarize::run(context, *args).await,
        SessionCommand::Put(args) => entries::put(context, args).await,
        SessionCommand::Recent(args) => entries::recent(context, &args).await,
    }
}

/// Which sessions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session list
  loci session list --user ann --ended=false
  loci session list --everyone --pending --json")]
struct SessionListArgs {
    /// Only sessions with turns that were not learned from yet
    #[arg(long)]
    pending: bool,
    /// Only sessions that have ended, or with `=false` only open ones
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    ended: Option<bool>,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

async fn list(context: &Context, args: &SessionListArgs) -> Result<()> {
    let call = Call::get(&["v1", "sessions"])
        .scope(&context.scope(&args.scope))
        .param("pending", args.pending.then_some(true))
        .param("ended", args.ended);
    let answer = context.api(Model::Skip).await?.call(args.page.of(call)).await?;
    context.print(&answer, |answer| {
        let sessions = super::entries(answer);
        if sessions.is_empty() {
            return output::line("No sessions. `loci ingest --thread-id NAME TEXT` starts one.");
        }
        let row = |session: &Value| {
            vec![
                shape::cell(&session["sessionId"]),
                shape::cell(&session["threadId"]),
                shape::cell(&session["scope"]),
                shape::time(&session["updatedAt"]),
                shape::time(&session["endedAt"]),
                shape::time(&session["consolidatedAt"]),
                if session["pending"] == true { "yes" } else { "no" }.to_owned(),
            ]
        };
        let head = ["session", "thread", "scope", "last turn", "ended", "learned from", "pending"];
        output::line(&shape::table(&head, sessions.iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

/// Which session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session end monday
  loci session end monday --user ann --json")]
struct EndArgs {
    /// Id of the session
    #[arg(value_name = "SESSION")]
    session_id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

async fn end(context: &Context, args: &EndArgs) -> Result<()> {
    let id = &args.session_id;
    let api = context.api(Model::Skip).await?;
    let call = Call::post(&["v1", "sessions", id, "end"]).scope(&context.scope(&args.scope));
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        match answer["event"].as_str() {
            Some("NONE") => output::line(&format!("{id} had ended already")),
            _ => output::line(&format!("{id} has ended; `loci session learn {id}` learns from it at once")),
        }
        print_warnings(answer);
    });
    api.close().await;
    Ok(())
}

/// Which session, and from which turn on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session learn monday
  loci session learn monday --user ann --again
  loci session learn monday --no-wait

Learning starts at the first turn that was not learned from yet. What is known already is not added twice.")]
struct LearnArgs {
    /// Id of the session
    #[arg(value_name = "SESSION")]
    session_id: String,
    /// Start at the first turn, for example after a change of the language model
    #[arg(long)]
    again: bool,
    /// Queue the learning instead of waiting for it; `loci serve` or `loci store jobs run` does it
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

async fn learn(context: &Context, args: &LearnArgs) -> Result<()> {
    let id = &args.session_id;
    let api = context.api(if args.no_wait { Model::Skip } else { Model::Load }).await?;
    let call = Call::post(&["v1", "sessions", id, "learn"])
        .scope(&context.scope(&args.scope))
        .field("again", args.again)
        .field("wait", !args.no_wait);
    let answer = api.call(call).await?;
    // Learning that is queued answers without a body.
    let report: Option<ConsolidationReport> = serde_json::from_value(answer.clone())?;
    context.print(&answer, |_| match report {
        Some(report) => output::line(&report_line(id, &report)),
        None => output::line(&format!("{id}: the learning is queued")),
    });
    api.close().await;
    Ok(())
}

/// What was learned, on one line, and details on further lines.
pub(super) fn report_line(name: &str, report: &ConsolidationReport) -> String {
    if report.turns == 0 {
        return format!("{name}: no new turns");
    }
    let parts: Vec<String> = [
        (report.added, "new"),
        (report.superseded, "replaced"),
        (report.skipped, "known already"),
        (report.proposed, "waiting for consent"),
        (report.linked, "linked as a possible contradiction"),
        (report.refused.values().sum(), "refused"),
        (report.missed.len(), "requested without content"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let learned = if parts.is_empty() { "nothing learned".to_owned() } else { parts.join(", ") };
    let turns = if report.turns == 1 { "turn" } else { "turns" };
    let mut text = format!("{name}: {} {turns} read, {learned}", report.turns);
    for (reason, count) in &report.refused {
        text.push_str(&format!("\n  {count} refused: {reason}"));
    }
    for request in &report.missed {
        text.push_str(&format!("\n  requested without content: {request}"));
    }
    if let Some(until) = report.waits_until {
        text.push_str(&format!(
            "\n  the daily cap is reached; the remaining turns are learned from after {}",
            shape::instant(until)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_what_is_not_zero() {
        for (report, expect) in [
            (ConsolidationReport::default(), "s: no new turns"),
            (ConsolidationReport { turns: 2, ..ConsolidationReport::default() }, "s: 2 turns read, nothing learned"),
            (
                ConsolidationReport { turns: 3, added: 2, proposed: 1, ..ConsolidationReport::default() },
                "s: 3 turns read, 2 new, 1 waiting for consent",
            ),
            (
                ConsolidationReport {
                    turns: 1,
                    refused: [("no evidence".to_owned(), 2)].into(),
                    ..ConsolidationReport::default()
                },
                "s: 1 turn read, 2 refused\n  2 refused: no evidence",
            ),
        ] {
            assert_eq!(report_line("s", &report), expect);
        }
    }
}
