//! `loci events`: what happens?

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use loci_engine::{FeedCursor, FeedEntry, FeedRequest};
use loci_types::{Error, Layer};
use serde::Serialize;

use super::operations::events;
use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// How many entries one page has.
const PAGE: usize = 200;
/// How often whoever follows looks again.
const AGAIN: Duration = Duration::from_millis(500);

/// From where, and what of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci events
  loci events --follow
  loci events --user ann --event delete --json
  loci events --after all~shared.120 --limit 10

Without --after all changes are listed, or with --follow only changes from now on;
`--after all --follow` does both. Each JSON line has the cursor with which to go on after it.
Ctrl-C ends --follow.")]
pub(crate) struct EventsArgs {
    /// Wait for further changes until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// After this place: a cursor that was printed, `all` or `now`
    #[arg(long, alias = "since", value_name = "CURSOR")]
    after: Option<String>,
    /// So many at most
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Only this event, such as add or delete; may be repeated
    #[arg(long)]
    event: Vec<String>,
    /// Only what is about this memory
    #[arg(long, alias = "memory", value_name = "ID")]
    memory_id: Option<String>,
    /// Only what is of this conversation
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Option<String>,
    /// Only what is about memories of this kind; may be repeated
    #[arg(long)]
    kind: Vec<String>,
    /// Only this layer; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// An entry with the place after it.
#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    entry: &'a FeedEntry,
    cursor: &'a FeedCursor,
}

/// Prints what happened, one a line, and goes on if asked.
pub(crate) async fn run(context: &Context, args: EventsArgs) -> Result<()> {
    if args.limit == Some(0) {
        return Err(Error::invalid("limit", "limit is 0, but must be at least 1").into());
    }
    let layers = args.layer.iter().map(|name| name.parse()).collect::<Result<Vec<Layer>, _>>()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let mut request = FeedRequest {
        cursor: match &args.after {
            Some(cursor) => cursor.parse()?,
            None if args.follow => engine.feed_now(&caller).await?,
            None => FeedCursor::start(),
        },
        layers: (!layers.is_empty()).then_some(layers),
        events: events(&args.event)?,
        memory: args.memory_id.as_deref().map(str::parse).transpose()?,
        thread: args.thread_id,
        kinds: args.kind,
        limit: None,
    };
    let mut left = args.limit.unwrap_or(usize::MAX);
    while left > 0 {
        request.limit = Some(left.min(PAGE));
        let page = engine.feed(&caller, &request).await?;
        let mut place = page.began;
        for entry in &page.entries {
            place.pass(entry);
            print(context, entry, &place);
        }
        left -= page.entries.len();
        request.cursor = page.cursor;
        if page.more {
            continue;
        }
        if !args.follow {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => {}
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    if !context.json {
        output::note(&output::muted(&format!("to go on from here: --after {}", request.cursor)));
    }
    Ok(())
}

fn print(context: &Context, entry: &FeedEntry, cursor: &FeedCursor) {
    if context.json {
        return output::json(&Told { entry, cursor });
    }
    let id = entry.memory_id.map_or_else(String::new, |id| id.to_string());
    let text = entry.content.as_deref().unwrap_or(&entry.reason);
    let about = [id.as_str(), entry.kind.as_ref().map_or("", |kind| kind.name())].join(" ");
    output::line(&format!(
        "{}  {:<13} {}  {}",
        shape::instant(entry.at),
        entry.event,
        shape::brief(text, 60),
        output::muted(about.trim())
    ));
}
