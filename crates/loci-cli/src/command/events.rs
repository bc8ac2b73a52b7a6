//! `loci store events`: changes of memories, listed or followed.

use anyhow::Result;
use clap::Args;
use futures::StreamExt;
use loci_types::Error;
use serde_json::Value;

use super::operations::events;
use crate::api::{Api, Call, reported};
use crate::arguments::ScopeFlags;
use crate::context::{Context, Model};
use crate::{output, shape};

/// Number of entries of a page.
const PAGE: usize = 200;

/// Which changes, and from where.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store events
  loci store events --follow
  loci store events --user ann --event delete --json
  loci store events --cursor all~shared.120 --limit 10

Without --cursor all changes are listed, or with --follow only changes from now on; `--cursor all --follow` does both. \
Each JSON line has the cursor to continue after it. Ctrl-C ends --follow.")]
pub(crate) struct EventsArgs {
    /// Wait for further changes until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Start after this entry: the cursor of an earlier line, `all` or `now`
    #[arg(long, aliases = ["after", "since"])]
    cursor: Option<String>,
    /// Maximum number of changes [default: all]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Any of these events, such as add or delete; may be repeated
    #[arg(long)]
    event: Vec<String>,
    /// Only changes of this memory
    #[arg(long, alias = "memory", value_name = "ID")]
    memory_id: Option<String>,
    /// Only changes in this conversation
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Option<String>,
    /// Any of these kinds; may be repeated
    #[arg(long)]
    kind: Vec<String>,
    /// Any of these layers; may be repeated
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

impl EventsArgs {
    /// A call with the filter and the scope.
    fn call(&self, context: &Context, path: &[&str]) -> Call {
        Call::get(path)
            .scope(&context.scope(&self.scope))
            .list_param("event", &events(&self.event))
            .param("memoryId", self.memory_id.as_ref())
            .param("threadId", self.thread_id.as_ref())
            .list_param("kind", &self.kind)
            .list_param("layer", &self.layer)
    }
}

/// Prints changes, one per line, and waits for more with `--follow`.
pub(crate) async fn run(context: &Context, args: EventsArgs) -> Result<()> {
    if args.limit == Some(0) {
        return Err(Error::invalid("limit", "limit is 0, but must be at least 1").into());
    }
    let api = context.api(Model::Skip).await?;
    let mut left = args.limit.unwrap_or(usize::MAX);
    if args.follow {
        return tokio::select! {
            followed = follow(context, &args, &api, &mut left) => followed,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
    }
    // `now` is another place at each call, so there is nothing to continue from.
    let place = list(context, &args, &api, &mut left).await?.filter(|place| place != "now");
    if let Some(place) = place
        && !context.json
    {
        output::note(&output::muted(&format!("to continue from here: --cursor {place}")));
    }
    Ok(())
}

/// Prints what there is, and returns the place after it.
async fn list(context: &Context, args: &EventsArgs, api: &Api, left: &mut usize) -> Result<Option<String>> {
    let mut place = args.cursor.clone();
    loop {
        let call = args.call(context, &["v1", "ledger"]);
        let call = call.param("limit", Some((*left).min(PAGE))).param("after", place.as_ref());
        let page = api.call(call).await?;
        for entry in page["data"].as_array().into_iter().flatten() {
            print(context, entry);
            *left -= 1;
            place = entry["cursor"].as_str().map(str::to_owned);
        }
        match page["nextCursor"].as_str() {
            Some(next) if *left > 0 => place = Some(next.to_owned()),
            _ => return Ok(place),
        }
    }
}

/// Prints changes as they happen, until `left` have been printed.
async fn follow(context: &Context, args: &EventsArgs, api: &Api, left: &mut usize) -> Result<()> {
    let call =
        args.call(context, &["v1", "events"]).param("after", args.cursor.as_ref().filter(|place| *place != "now"));
    let mut stream = api.stream(call).await?;
    let mut waiting = Vec::new();
    let mut frame = Frame::default();
    while let Some(part) = stream.next().await {
        waiting.extend(part?);
        while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = waiting.drain(..=end).collect();
            if !frame.take(&String::from_utf8_lossy(&line)) {
                continue;
            }
            let Some(entry) = std::mem::take(&mut frame).entry()? else { continue };
            print(context, &entry);
            *left -= 1;
            if *left == 0 {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A server-sent event, as far as its lines have arrived. Its id may come after its data.
#[derive(Debug, Default)]
struct Frame {
    event: String,
    id: Option<String>,
    data: String,
}

impl Frame {
    /// Takes a line. Returns true if it ends the event.
    fn take(&mut self, line: &str) -> bool {
        let line = line.trim_end_matches(['\r', '\n']);
        match line.split_once(':') {
            Some(("event", value)) => value.trim().clone_into(&mut self.event),
            Some(("id", value)) => self.id = Some(value.trim().to_owned()),
            Some(("data", value)) => self.data.push_str(value),
            _ => return line.is_empty(),
        }
        false
    }

    /// The entry with the place after it, or `None` for a heartbeat. An error of the server ends the stream.
    fn entry(self) -> Result<Option<Value>> {
        if self.data.is_empty() {
            return Ok(None);
        }
        let mut entry: Value = serde_json::from_str(&self.data)?;
        if self.event == "error" {
            entry["detail"] = entry["message"].take();
            return Err(reported(&entry).into());
        }
        entry["cursor"] = self.id.into();
        Ok(Some(entry))
    }
}

fn print(context: &Context, entry: &Value) {
    context.print(entry, |entry| {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        // An entry without a memory, or of one that was deleted, has no text.
        let without = if entry["memoryId"].is_null() { text("reason") } else { "(deleted)" };
        let content = entry["content"].as_str().unwrap_or(without);
        let about = format!("{} {}", text("memoryId"), text("kind"));
        output::line(&format!(
            "{}  {:<13} {}  {}",
            shape::time(&entry["createdAt"]),
            text("event"),
            shape::brief(content, 60),
            output::muted(about.trim())
        ));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<Result<Option<Value>>> {
        let mut frame = Frame::default();
        let ended = text.split_inclusive('\n').filter_map(|line| {
            let ended = frame.take(line);
            ended.then(|| std::mem::take(&mut frame).entry())
        });
        ended.collect()
    }

    #[test]
    fn an_entry_has_the_place_after_itself() {
        let text = ": here\nid: all\nretry: 2000\n\nevent: ADD\ndata: {\"event\":\"ADD\"}\nid: all~shared.1\n\n";
        let read = frames(text);
        assert_eq!(read.len(), 2);
        assert!(matches!(read[0], Ok(None)), "a heartbeat is not an entry");
        let entry = read[1].as_ref().unwrap().as_ref().unwrap();
        assert_eq!((&entry["event"], &entry["cursor"]), (&"ADD".into(), &"all~shared.1".into()));
    }

    #[test]
    fn an_error_of_the_server_ends_the_stream() {
        let text = "event: error\ndata: {\"code\":\"UNAUTHORIZED\",\"message\":\"not a member\"}\n\n";
        let error = frames(text).remove(0).unwrap_err();
        let (problem, exit) = crate::fault::read(&error, "events");
        assert_eq!((problem.code.as_str(), problem.message.as_str(), exit), ("UNAUTHORIZED", "not a member", 18));
    }
}
