//! `loci erase`: how is everything of one user removed?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Erasure};
use loci_types::Tenant;

use crate::context::Context;
use crate::output;

/// Who, and how thoroughly.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci erase --user anna            # shows what would go, and changes nothing
  loci erase --user anna --yes
  loci erase --user anna --yes --no-scrub

Erased are the memories of all scopes of the user, and those in other layers that name them as user or as the one
who said it: with words, vectors, edges, sessions, facts, checkpoints, entities that nobody else speaks of, waiting
work, working memory, and what the ledger told of them. Of each memory a line stays that it was there, with the
hash of its words.

A user with many memories goes in steps. If the command is interrupted, what went is gone and the rest is still
there: run it again.

Afterwards the files are written anew, so that nothing is left in freed pages, in the index of words or in the
log. With PostgreSQL those tables are written anew that this takes a moment for; what stays in free space of the
others, and until when, is said. --no-scrub leaves all of it for later.

Backups and exports that were made before still hold what they held: delete them, or restore and erase again.

Exit codes: 0 done, or shown; 20 the name is none; 21 someone keeps writing for this user.")]
pub(crate) struct EraseArgs {
    /// The user
    #[arg(long, value_name = "NAME")]
    user: String,
    /// The tenant they belong to
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: String,
    /// Do it; without this, what would go is only shown
    #[arg(long)]
    yes: bool,
    /// Leave freed pages and logs as they are
    #[arg(long)]
    no_scrub: bool,
}

/// Shows what there is, and erases it if told to.
pub(crate) async fn run(context: &Context, args: &EraseArgs) -> Result<()> {
    let engine = context.engine().await?;
    let operator = Caller { tenant: Tenant::new(&args.tenant)?, ..Caller::operator() };
    let erasure = if args.yes {
        let bar = output::steps(1);
        bar.set_message("erasing");
        let done = engine.erase_user(&operator, &args.user, !args.no_scrub).await;
        bar.finish_and_clear();
        done?
    } else {
        engine.user_data(&operator, &args.user).await?
    };
    if context.json {
        output::json(&erasure);
    } else {
        tell(&erasure);
    }
    Ok(())
}

fn tell(erasure: &Erasure) {
    if erasure.spaces.is_empty() {
        return output::line(&format!("there is nothing of user {}", erasure.user_id));
    }
    for (space, of) in &erasure.spaces {
        let counts = [
            (of.memories, "memories"),
            (of.vectors, "vectors"),
            (of.edges, "edges"),
            (of.entities, "entities"),
            (of.facts, "facts"),
            (of.checkpoints, "checkpoints"),
            (of.sessions, "sessions"),
            (of.notes, "notes"),
            (of.jobs, "jobs"),
            (of.lines, "lines of the ledger"),
        ];
        let told: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        output::line(&format!("{}: {}", output::strong(space), told.join(", ")));
    }
    if !erasure.erased {
        return output::note("nothing was erased; --yes does it");
    }
    let how = if erasure.scrubbed { "erased, and the files written anew" } else { "erased; freed pages still hold it" };
    output::line(how);
    for left in &erasure.left {
        output::warn(left, None);
    }
    erasure.not_reached.iter().for_each(|text| output::note(text));
}
