//! `loci store operations`: counts of changes over time.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::api::Call;
use crate::arguments::ScopeFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// What is counted, and in which intervals.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store operations
  loci store operations --after 2026-01-01 --bucket week
  loci store operations --bucket hour --after 2026-01-31 --before 2026-02-01 --node worker
  loci store operations --bucket whole --event add --event delete --json

Without times the last seven days are counted, by day.")]
pub(crate) struct OperationsArgs {
    /// Count from this time on: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, alias = "since", value_name = "TIME")]
    after: Option<String>,
    /// Count what happened before this time [default: now]
    #[arg(long, alias = "until", value_name = "TIME")]
    before: Option<String>,
    /// Interval of the counts: hour, day, week or whole
    #[arg(long, alias = "by", value_name = "BUCKET", default_value = "day")]
    bucket: String,
    /// Any of these parts of Loci: hotpath, context, episodic, worker, operator; may be repeated
    #[arg(long)]
    node: Vec<String>,
    /// Any of these events, such as add or delete; may be repeated
    #[arg(long, alias = "op", value_name = "EVENT")]
    event: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the counts.
pub(crate) async fn run(context: &Context, args: OperationsArgs) -> Result<()> {
    let call = Call::get(&["v1", "operations"])
        .scope(&context.scope(&args.scope))
        .param("after", args.after)
        .param("before", args.before)
        .param("bucket", Some(&args.bucket))
        .list_param("node", &args.node)
        .list_param("event", &events(&args.event));
    let answer = context.api(Model::Skip).await?.call(call).await?;
    context.print(&answer, |answer| {
        let rows: Vec<_> = answer["data"].as_array().into_iter().flatten().map(row).collect();
        if rows.is_empty() {
            let time = |field: &str| shape::time(&answer[field]);
            return output::line(&format!("No changes between {} and {}.", time("after"), time("before")));
        }
        let head = if args.bucket == "whole" { "from" } else { &args.bucket };
        output::line(&shape::table(&[head, "part", "event", "count"], rows));
    });
    Ok(())
}

fn row(count: &Value) -> Vec<String> {
    let text = |field: &str| count[field].as_str().unwrap_or_default().to_owned();
    let node = match text("node").as_str() {
        "" => "–".to_owned(),
        // The name that the specification gives to writes of callers.
        "hotpath" => "direct".to_owned(),
        node => node.to_owned(),
    };
    vec![shape::time(&count["start"]), node, text("event"), count["count"].to_string()]
}

/// The names of events as the API takes them: in capitals.
pub(crate) fn events(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_uppercase()).collect()
}
