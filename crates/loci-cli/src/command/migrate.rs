//! `loci migrate`: how does everything go from one store to another?
//!
//! The copying and comparing is the store's; here stands which stores are meant. A source is never made:
//! a folder or a schema that is not there is an error. Passwords are never printed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use loci_store::{
    MigrateOptions, MigratePhase, MigrateStep, MigrationReport, PostgresOptions, PostgresStore, SqliteOptions,
    SqliteStore,
};
use loci_types::Error;
use serde_json::json;

use crate::context::Context;
use crate::floor::AnyStore;
use crate::output;
use crate::settings::variable;

/// A count of a large table takes its time, and nobody else waits.
const PATIENCE: Duration = Duration::from_secs(300);

/// So long a server may take to be there at all.
const GREETING: Duration = Duration::from_secs(15);

/// From where to where.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci migrate --from ./data --to postgres://loci@db.example.com/loci
  LOCI_PG=postgres://loci:secret@db/loci loci migrate --from ./data --to env:LOCI_PG
  loci migrate --from env:LOCI_PG --to ./copy
  loci migrate --from ./data --to env:LOCI_PG --verify-only

An ADDRESS is a data folder, a postgres:// URL, or env:NAME for a variable that holds one of them, so
that a password does not stand in the list of processes.

Stop the servers first: the source must not be written to meanwhile. Everything goes along: tenants,
agents, keys, memories with their vectors, history, edges, entities, sessions, notes and jobs; words are
made anew. At the end every row is read back from both sides and compared. A copy that was interrupted
goes on when the same command is run again; one that is whole is only compared.

Exit codes: 0 all is the same; 16 a server does not answer; 20 an address or the source cannot be used;
21 the target holds something else, or the source was written to meanwhile; 22 the copy is not the same;
23 the disk is full, or a folder cannot be used.")]
pub(crate) struct MigrateArgs {
    /// Where everything is
    #[arg(long, value_name = "ADDRESS")]
    from: String,
    /// Where it goes; a folder or a schema that is not there is made
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// The schema of the source, if it is a server
    #[arg(long, value_name = "NAME", default_value = "loci")]
    from_schema: String,
    /// The schema of the target, if it is a server
    #[arg(long, value_name = "NAME", default_value = "loci")]
    to_schema: String,
    /// Copy nothing: compare every row of both sides
    #[arg(long)]
    verify_only: bool,
}

/// Copies, and compares.
pub(crate) async fn run(context: &Context, args: &MigrateArgs) -> Result<()> {
    let (from, to) = (Address::read("from", &args.from)?, Address::read("to", &args.to)?);
    let source = from.open("from", &args.from_schema, false).await?;
    let target = to.open("to", &args.to_schema, !args.verify_only).await?;
    let bar = output::progress(0, "rows");
    let told = bar.clone();
    let options = MigrateOptions { verify_only: args.verify_only, ..MigrateOptions::default() };
    let passes = if args.verify_only { 1 } else { 2 };
    let copied = source
        .migrate_to(&target, options, &mut move |step: &MigrateStep<'_>| {
            let doing = if step.phase == MigratePhase::Verified { "compared" } else { "copied" };
            told.set_length(passes * step.total);
            told.set_message(format!("{doing} ({}/{} {})", step.tenant, step.space, step.table));
            told.inc(step.rows);
            Ok(())
        })
        .await;
    bar.finish_and_clear();
    let copied = copied?;
    if let Address::Server(url) = &to
        && !args.verify_only
    {
        graph(context, url, &args.to_schema).await?;
    }
    tell(context, args, &copied, &from, &to);
    Ok(())
}

/// Makes the graph that large scopes are searched by, at once for all vectors: one that is there while
/// they come in is ten times as slow.
async fn graph(context: &Context, url: &str, schema: &str) -> Result<()> {
    let bar = output::steps(1);
    bar.set_message("making the graph of vectors");
    let mut options = PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::default() };
    options.dimensions.extend(context.settings.embeddings.dimensions);
    let made = PostgresStore::open(url, options).await;
    bar.finish_and_clear();
    Ok(made.map(drop)?)
}

fn tell(context: &Context, args: &MigrateArgs, copied: &MigrationReport, from: &Address, to: &Address) {
    let rows: u64 = copied.tables.iter().map(|table| table.rows).sum();
    if context.json {
        return output::json(&json!({
            "from": from.shown(),
            "to": to.shown(),
            "copied": copied.copied,
            "verified": rows,
            "tables": copied.tables,
        }));
    }
    for space in copied.tables.chunk_by(|one, other| (&one.tenant, &one.space) == (&other.tenant, &other.space)) {
        let Some(first) = space.first() else { continue };
        let place = first
            .space
            .as_ref()
            .map_or_else(|| format!("{} (catalogue)", first.tenant), |space| format!("{}/{space}", first.tenant));
        let counts = space.iter().filter(|table| table.rows > 0).map(|table| format!("{} {}", table.rows, table.table));
        output::line(&format!("{place}: {}", counts.collect::<Vec<_>>().join(", ")));
    }
    let done = match copied.copied {
        _ if args.verify_only => String::new(),
        0 => "everything was there already; ".to_owned(),
        copied => format!("{copied} rows copied; "),
    };
    output::line(&format!("{done}{rows} rows are the same in {} and {}", from.shown(), to.shown()));
}

/// Where a store is.
#[derive(Debug, PartialEq, Eq)]
enum Address {
    Folder(PathBuf),
    Server(String),
}

impl Address {
    fn read(field: &'static str, given: &str) -> Result<Self> {
        let text = match given.strip_prefix("env:") {
            None => given.to_owned(),
            Some(name) => variable(name).ok_or_else(|| {
                Error::invalid(field, format!("the environment variable {name} is not set"))
                    .hint("set it to a data folder or a postgres:// URL")
            })?,
        };
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Address::Server(text));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(Error::invalid(field, format!("`{scheme}` is no store that Loci knows"))
                .hint("give a data folder or a postgres:// URL")
                .into());
        }
        if text.is_empty() {
            return Err(Error::invalid(field, "the address is empty")
                .hint("give a data folder or a postgres:// URL")
                .into());
        }
        Ok(Address::Folder(text.into()))
    }

    /// As people may see it.
    fn shown(&self) -> String {
        match self {
            Address::Folder(folder) => folder.display().to_string(),
            Address::Server(url) => without_password(url),
        }
    }

    async fn open(&self, field: &'static str, schema: &str, make: bool) -> Result<AnyStore> {
        match self {
            Address::Folder(folder) => {
                if !make {
                    is_data(field, folder)?;
                }
                Ok(AnyStore::Sqlite(SqliteStore::open(folder, SqliteOptions::default())?))
            }
            Address::Server(url) => {
                let quick =
                    PostgresOptions { schema: schema.to_owned(), timeout: GREETING, ..PostgresOptions::default() };
                if !PostgresStore::is_there(url, &quick).await? && !make {
                    return Err(Error::invalid(field, format!("there is no data in the schema `{schema}` there"))
                        .hint(format!("name another schema with --{field}-schema, or another database"))
                        .into());
                }
                // The graph comes last.
                let options = PostgresOptions { timeout: PATIENCE, dimensions: Vec::new(), ..quick };
                Ok(AnyStore::Postgres(PostgresStore::open(url, options).await?))
            }
        }
    }
}

/// That a folder holds data; opening one that does not would make it.
fn is_data(field: &'static str, folder: &Path) -> Result<()> {
    if folder.join("catalogue.db").is_file() {
        return Ok(());
    }
    let what = if folder.is_dir() { "there is no data in the folder" } else { "there is no folder" };
    Err(Error::invalid(field, format!("{what} {}", folder.display()))
        .hint("a data folder has a file `catalogue.db` in it; `loci config check` shows which one is in use")
        .into())
}

/// A URL without the password that may stand in it, before the `@` or among the options.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // The last `@`: a password may hold one that was not encoded.
    let rest = match rest.rsplit_once('@') {
        Some((who, place)) => {
            let name = who.split(':').next().unwrap_or_default();
            format!("{name}@{place}")
        }
        None => rest.to_owned(),
    };
    let shown = match rest.split_once('?') {
        Some((place, options)) => {
            let kept: Vec<&str> = options.split('&').filter(|option| !option.starts_with("password=")).collect();
            if kept.is_empty() { place.to_owned() } else { format!("{place}?{}", kept.join("&")) }
        }
        None => rest,
    };
    format!("{scheme}://{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://db/loci", "postgres://db/loci"),
            ("postgres://ann@db/loci", "postgres://ann@db/loci"),
            ("postgres://ann:secret@db:5432/loci", "postgres://ann@db:5432/loci"),
            ("postgresql://ann:se:cr@et@db/loci?sslmode=disable", "postgresql://ann@db/loci?sslmode=disable"),
            ("postgres://db/loci?user=ann&password=secret", "postgres://db/loci?user=ann"),
            ("postgres://db/loci?password=secret", "postgres://db/loci"),
        ] {
            assert_eq!(Address::Server(url.to_owned()).shown(), shown);
        }
    }

    #[test]
    fn an_address_is_a_folder_or_a_server() {
        assert_eq!(Address::read("from", "./data").unwrap(), Address::Folder("./data".into()));
        let url = "postgresql://db/loci";
        assert_eq!(Address::read("from", url).unwrap(), Address::Server(url.to_owned()));
        for (given, told) in [
            ("mysql://db/loci", "`mysql` is no store that Loci knows"),
            ("", "the address is empty"),
            ("env:LOCI_NOBODY_SETS_THIS", "the environment variable LOCI_NOBODY_SETS_THIS is not set"),
        ] {
            assert_eq!(Address::read("from", given).unwrap_err().to_string(), told);
        }
    }
}
