//! `loci session`: which conversations are there, and what was learned from them?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::{Caller, ConsolidationReport, Engine, Entry, NewEntry};
use loci_types::{Error, ErrorKind, Session, SessionFilter};
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with sessions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci session list --pending
  loci session end monday
  loci session learn monday --user ann
  loci session put monday --user ann --importance 0.8 'Ann asked to be reminded of the exam'
  loci session recent monday --user ann --query exam

A session ends when `loci session end` ends it, when its thread goes on in another one, or when `loci maintain`
finds it quiet for long. Ending it leaves the learning for later; `learn` does it at once. Entries that are
put in live as long as the session, in the tier that is set: what matters of them is remembered for the user at the end.
They outlive this command only with [tiers] kind = \"redis\".")]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the sessions, those quiet longest first
    List {
        /// Only those with turns that nothing was learned from yet
        #[arg(long)]
        pending: bool,
        /// Only those that are over
        #[arg(long)]
        ended: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// End a session
    End {
        /// Its name
        name: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Learn from a session at once, whether it is over or not
    Learn {
        /// Its name
        name: String,
        /// Learn from it again, from its first turn
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Put an entry into a session
    Put {
        /// Its name
        name: String,
        /// The text
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// How much it matters, from 0 to 1; default: judged by the text
        #[arg(long, value_name = "SHARE")]
        importance: Option<f64>,
        /// Seconds that the session lives from now on; default: as it is set
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<u64>,
        /// Make its vector, so that it is found by meaning
        #[arg(long)]
        embed: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show the latest entries of a session, or those about something
    Recent {
        /// Its name
        name: String,
        /// Those about this
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
        /// So many at the most
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Looks after sessions.
pub(crate) async fn run(context: &Context, args: SessionArgs) -> Result<()> {
    match args.verb {
        Verb::List { pending, ended, scope } => list(context, &scope, pending, ended).await,
        Verb::End { name, scope } => end(context, &scope, &name).await,
        Verb::Learn { name, again, scope } => learn(context, &scope, &name, again).await,
        Verb::Put { name, text, importance, ttl, embed, scope } => {
            let entry =
                NewEntry { content: text.join(" "), importance, ttl_seconds: ttl, embed, ..NewEntry::default() };
            put(context, &scope, &name, entry).await
        }
        Verb::Recent { name, query, limit, scope } => recent(context, &scope, &name, query, limit).await,
    }
}

async fn put(context: &Context, scope: &ScopeFlags, name: &str, entry: NewEntry) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::User);
    super::working::warn_of_its_end(context)?;
    let engine = context.engine_with_model(!entry.embed, &caller).await?;
    let put = engine.put_entry(&caller, name, entry).await?;
    for problem in &put.degraded {
        output::warn(problem, None);
    }
    if context.json {
        output::json(&put);
    } else {
        output::line(&format!("put {} into {name} (importance {:.2})", put.entry.id, put.entry.importance));
    }
    Ok(())
}

async fn recent(
    context: &Context,
    scope: &ScopeFlags,
    name: &str,
    query: Option<String>,
    limit: Option<usize>,
) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::User);
    super::working::warn_of_its_end(context)?;
    let engine = context.engine_with_model(query.is_none(), &caller).await?;
    let (page, rows) = match query {
        Some(query) => {
            let hits = engine.query_entries(&caller, name, &query, 0, limit).await?;
            let rows: Vec<_> = hits.iter().map(|hit| entry_row(&hit.entry, Some(hit.score))).collect();
            (json!({ "entries": hits }), rows)
        }
        None => {
            let entries = engine.entries(&caller, name, 0, limit).await?;
            let rows = entries.iter().map(|entry| entry_row(entry, None)).collect();
            (json!({ "entries": entries }), rows)
        }
    };
    if context.json {
        output::json(&page);
    } else if rows.is_empty() {
        output::line(&format!("{name} has no such entries."));
    } else {
        output::line(&shape::table(&["when", "importance", "score", "entry"], rows));
    }
    Ok(())
}

fn entry_row(entry: &Entry, score: Option<f64>) -> Vec<String> {
    let score = score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"));
    vec![shape::instant(entry.at), format!("{:.2}", entry.importance), score, shape::brief(&entry.content, 80)]
}

async fn list(context: &Context, scope: &ScopeFlags, pending: bool, ended: bool) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let filter = SessionFilter { pending, ended: ended.then_some(true), ..SessionFilter::default() };
    let sessions = context.engine().await?.sessions(&caller, filter).await?;
    if context.json {
        output::json(&json!({ "sessions": sessions }));
    } else if sessions.is_empty() {
        output::line("No such sessions. `loci ingest --thread-id NAME` begins one.");
    } else {
        let when = |at: Option<jiff::Timestamp>| at.map_or_else(|| "–".to_owned(), shape::instant);
        let rows = sessions.iter().map(|session| {
            vec![
                session.session_id.clone(),
                session.thread_id.clone(),
                session.scope.to_string(),
                shape::instant(session.updated_at),
                when(session.ended_at),
                when(session.consolidated_at),
                if session.pending { "yes" } else { "no" }.to_owned(),
            ]
        });
        let head = ["session", "thread", "whose", "last turn", "ended", "learned", "turns since"];
        output::line(&shape::table(&head, rows.collect()));
    }
    Ok(())
}

async fn end(context: &Context, scope: &ScopeFlags, name: &str) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    // One that has nothing but entries is known to nobody else than whoever is named.
    if caller.identifiers.is_empty() {
        find(&engine, &caller, name).await?;
    }
    let ended = engine.end_session(&caller, name).await?;
    if context.json {
        output::json(&json!({ "sessionId": name, "ended": ended }));
    } else if ended {
        output::line(&format!("{name} is over; `loci session learn {name}` learns from it at once"));
    } else {
        output::line(&format!("{name} was over already"));
    }
    Ok(())
}

async fn learn(context: &Context, scope: &ScopeFlags, name: &str, again: bool) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine_with_model(false, &caller).await?;
    if again {
        engine.learn_again(&caller, name).await?;
    }
    let session = find(&engine, &caller, name).await?;
    let report = engine.consolidate(&Caller::operator(), &session.scope, name).await?;
    if context.json {
        output::json(&report);
    } else {
        output::line(&report_line(name, &report));
    }
    Ok(())
}

/// What a session taught, in a sentence.
pub(super) fn report_line(name: &str, report: &ConsolidationReport) -> String {
    if report.turns == 0 {
        return format!("{name}: nothing new was said");
    }
    let parts: Vec<String> = [
        (report.added, "new"),
        (report.superseded, "replaced"),
        (report.skipped, "known already"),
        (report.proposed, "waiting for consent"),
        (report.linked, "that may contradict something known"),
        (report.refused.values().sum(), "refused"),
        (report.missed.len(), "asked for, but nothing found to keep"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let taught = if parts.is_empty() { "nothing to keep".to_owned() } else { parts.join(", ") };
    let mut text = format!("{name}: {} turns read, {taught}", report.turns);
    for (reason, count) in &report.refused {
        text.push_str(&format!("\n  {count} refused: {reason}"));
    }
    for request in &report.missed {
        text.push_str(&format!("\n  asked for and not kept: {request}"));
    }
    if let Some(until) = report.waits_until {
        text.push_str(&format!("\n  the daily cap is reached; the rest is learned after {}", shape::instant(until)));
    }
    text
}

/// The one session with this name that the caller sees.
async fn find(engine: &Engine, caller: &Caller, name: &str) -> Result<Session> {
    let filter = SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() };
    let mut found = engine.sessions(caller, filter).await?;
    if found.len() > 1 {
        let whose: Vec<String> = found.iter().map(|session| session.scope.to_string()).collect();
        let message = format!("there are {} sessions `{name}`: of {}", found.len(), whose.join(", of "));
        return Err(Error::invalid("sessionId", message).hint("say whose with --user NAME, or another name").into());
    }
    found.pop().ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("there is no session `{name}` here"))
            .at("sessionId")
            .hint("`loci session list` shows them")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_taught_is_said_shortly() {
        for (report, expect) in [
            (ConsolidationReport::default(), "s: nothing new was said"),
            (ConsolidationReport { turns: 2, ..ConsolidationReport::default() }, "s: 2 turns read, nothing to keep"),
            (
                ConsolidationReport { turns: 3, added: 2, proposed: 1, ..ConsolidationReport::default() },
                "s: 3 turns read, 2 new, 1 waiting for consent",
            ),
        ] {
            assert_eq!(report_line("s", &report), expect);
        }
    }
}
