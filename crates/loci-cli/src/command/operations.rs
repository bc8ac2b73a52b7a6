//! `loci operations`: how much is done, by which part of Loci, and when?

use anyhow::Result;
use clap::Args;
use loci_engine::{Bucket, OperationsRequest};
use loci_types::{Error, Event};

use crate::arguments::{ScopeFlags, instant};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to count, and in which stretches of time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci operations
  loci operations --after 2026-01-01 --bucket week
  loci operations --bucket hour --after 2026-01-31 --before 2026-02-01 --node worker
  loci operations --bucket whole --event add --event delete --json

Without times the last seven days are counted, each by itself.")]
pub(crate) struct OperationsArgs {
    /// Count from this time on: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, alias = "since", value_name = "TIME")]
    after: Option<String>,
    /// Count what happened before this time
    #[arg(long, alias = "until", value_name = "TIME")]
    before: Option<String>,
    /// The length of time that is counted together: hour, day, week or whole
    #[arg(long, alias = "by", value_name = "BUCKET", default_value = "day")]
    bucket: String,
    /// Only what this part did: hotpath, context, episodic, worker or operator; may be repeated
    #[arg(long)]
    node: Vec<String>,
    /// Only this event, such as add or delete; may be repeated
    #[arg(long, alias = "op", value_name = "EVENT")]
    event: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the sums.
pub(crate) async fn run(context: &Context, args: OperationsArgs) -> Result<()> {
    let request = OperationsRequest {
        after: instant("after", args.after.as_deref())?,
        before: instant("before", args.before.as_deref())?,
        bucket: args.bucket.parse()?,
        nodes: args.node,
        events: events(&args.event)?,
    };
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let told = context.engine().await?.operations(&caller, request).await?;
    if context.json {
        output::json(&told);
        return Ok(());
    }
    if told.data.is_empty() {
        output::line(&format!(
            "Nothing was done between {} and {}.",
            shape::instant(told.after),
            shape::instant(told.before)
        ));
        return Ok(());
    }
    let head = if told.bucket == Bucket::Whole { "since" } else { told.bucket.name() };
    let rows = told.data.iter().map(|one| {
        let node = if one.node.is_empty() { "–" } else { &one.node };
        vec![shape::instant(one.start), node.to_owned(), one.event.clone(), one.count.to_string()]
    });
    output::line(&shape::table(&[head, "part", "event", "how often"], rows.collect()));
    Ok(())
}

/// Events by their names, in small letters or in capitals.
pub(crate) fn events(names: &[String]) -> Result<Vec<Event>, Error> {
    names.iter().map(|name| name.to_ascii_lowercase().parse()).collect()
}
