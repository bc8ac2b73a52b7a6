//! `loci user erase`: removes all data of a user.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use super::task;
use crate::api::Call;
use crate::context::{Context, Model};
use crate::{output, shape};

/// Which user, and how thoroughly.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci user erase --user anna            # shows what would be erased
  loci user erase --user anna --yes
  loci user erase --user anna --yes --no-scrub

Erased are the memories of all scopes of the user and those in other layers that name the user as owner or speaker, with \
words, vectors, links, sessions, facts, checkpoints, entities that nothing else mentions, jobs, working memory, and the \
texts in the ledger. For each memory an entry stays in the ledger, with a hash of its text.

A user with many memories is erased in steps. After an interruption, run the command again.

Afterwards the files are rewritten, so that nothing is left in freed pages, in the index of words or in the log. On \
PostgreSQL only small tables are rewritten; the answer says what stays in free space of the others, and until when. \
--no-scrub leaves all of it for later.

Earlier backups and exports still have the data: delete them, or restore and erase again.

Exit codes: 0 erased or shown; 20 invalid name; 24 another process keeps writing for this user.")]
pub(crate) struct EraseArgs {
    /// User
    #[arg(short, long, value_name = "NAME")]
    user: String,
    /// Tenant of the user [default: the tenant of the caller]
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Erase; without this flag it is only shown what would be erased
    #[arg(short, long)]
    yes: bool,
    /// Leave freed pages and logs as they are
    #[arg(long)]
    no_scrub: bool,
}

/// Shows what the user has, and erases it with `--yes`.
pub(crate) async fn run(context: &Context, args: &EraseArgs) -> Result<()> {
    let api = context.api(Model::Skip).await?;
    let call = Call::post(&["v1", "admin", "erasures"])
        .field("userId", &args.user)
        .field("tenant", &args.tenant)
        .field("dryRun", !args.yes)
        .field("scrub", !args.no_scrub);
    let answer = api.call(call).await?;
    let erasure = if args.yes { task::wait(&api, answer).await? } else { answer };
    api.close().await;
    context.print(&erasure, print_erasure);
    Ok(())
}

/// The counts of a space, with the words for them.
const COUNTS: [(&str, &str); 10] = [
    ("memories", "memory"),
    ("vectors", "vector"),
    ("edges", "link"),
    ("entities", "entity"),
    ("facts", "fact"),
    ("checkpoints", "checkpoint"),
    ("sessions", "session"),
    ("notes", "note"),
    ("jobs", "job"),
    ("lines", "ledger entry"),
];

fn print_erasure(erasure: &Value) {
    let spaces = erasure["spaces"].as_object().into_iter().flatten();
    let mut empty = true;
    for (space, counts) in spaces {
        empty = false;
        let of_space = COUNTS.iter().map(|(field, what)| (counts[field].as_u64().unwrap_or(0), what));
        let of_space = of_space.filter(|(count, _)| *count > 0).map(|(count, what)| shape::count(count, what));
        output::line(&format!("{}: {}", output::strong(space), of_space.collect::<Vec<_>>().join(", ")));
    }
    if empty {
        return output::line(&format!("No data of user {}.", erasure["userId"].as_str().unwrap_or_default()));
    }
    if erasure["erased"] != true {
        return output::note("nothing was erased; add --yes to erase it");
    }
    let scrubbed = erasure["scrubbed"] == true;
    output::line(if scrubbed { "erased, and the files are rewritten" } else { "erased; freed pages still have it" });
    let texts = |field: &str| erasure[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    texts("left").for_each(|text| output::warn(text, None));
    texts("notReached").for_each(output::note);
}
