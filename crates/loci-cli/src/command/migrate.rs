//! `loci store migrate`: copies everything from one store to another, and compares.
//!
//! This module reads the addresses; the store copies and compares. A source is never created: a folder or a schema that does
//! not exist is an error. Passwords are never printed.

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
use crate::output;
use crate::settings::variable;
use crate::store::AnyStore;

/// Timeout of statements: counting a large table takes minutes.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

/// Timeout of the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The source and the target.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci store migrate --from ./data --to postgres://loci@db.example.com/loci
  LOCI_PG=postgres://loci:secret@db/loci loci store migrate --from ./data --to env:LOCI_PG
  loci store migrate --from env:LOCI_PG --to ./copy
  loci store migrate --from ./data --to env:LOCI_PG --verify-only

An ADDRESS is a data folder, a postgres:// URL, or env:NAME for an environment variable that has one of them, so that \
a password is not visible in the list of processes.

Stop the servers first: the source must not change during the copy. Everything is copied: tenants, agents, keys, \
memories with their vectors, history, links, entities, sessions, notes and jobs; the index of words is built again. At \
the end every row of both sides is read and compared. An interrupted copy continues when the same command is run again; \
a complete one is only compared.

Exit codes: 0 both sides are equal; 16 a server does not answer; 20 an address or the source cannot be used; 22 the sides \
differ; 23 the disk is full, or a folder cannot be used; 24 the target has other data, or the source has changed \
meanwhile.")]
pub(crate) struct MigrateArgs {
    /// Source
    #[arg(long, value_name = "ADDRESS")]
    from: String,
    /// Target; a folder or a schema that does not exist is created
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// Schema of the source, if it is PostgreSQL
    #[arg(long, value_name = "NAME", default_value = "loci")]
    from_schema: String,
    /// Schema of the target, if it is PostgreSQL
    #[arg(long, value_name = "NAME", default_value = "loci")]
    to_schema: String,
    /// Only compare every row of both sides
    #[arg(long)]
    verify_only: bool,
}

/// Copies, and compares.
pub(crate) async fn run(context: &Context, args: &MigrateArgs) -> Result<()> {
    context.require_local("store migrate")?;
    let (from, to) = (Address::read("from", &args.from)?, Address::read("to", &args.to)?);
    let source = from.open("from", &args.from_schema, false).await?;
    let target = to.open("to", &args.to_schema, !args.verify_only).await?;
    let bar = output::progress(0, "rows");
    let shown = bar.clone();
    let options = MigrateOptions { verify_only: args.verify_only, ..MigrateOptions::default() };
    let passes = if args.verify_only { 1 } else { 2 };
    let copied = source
        .migrate_to(&target, options, &mut move |step: &MigrateStep<'_>| {
            let doing = if step.phase == MigratePhase::Verified { "compared" } else { "copied" };
            shown.set_length(passes * step.total);
            shown.set_message(format!("{doing} ({}/{} {})", step.tenant, step.space, step.table));
            shown.inc(step.rows);
            Ok(())
        })
        .await;
    bar.finish_and_clear();
    let copied = copied?;
    if let Address::Server(url) = &to
        && !args.verify_only
    {
        build_graph(context, url, &args.to_schema).await?;
    }
    print(context, args, &copied, &from, &to);
    Ok(())
}

/// Builds the vector index of large scopes after the copy: inserting into an index that exists is ten times as slow.
async fn build_graph(context: &Context, url: &str, schema: &str) -> Result<()> {
    let bar = output::steps(1);
    bar.set_message("building the vector index");
    let mut options = PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::default() };
    options.dimensions.extend(context.settings.embeddings.dimensions);
    let made = PostgresStore::open(url, options).await;
    bar.finish_and_clear();
    Ok(made.map(drop)?)
}

fn print(context: &Context, args: &MigrateArgs, report: &MigrationReport, from: &Address, to: &Address) {
    let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    let answer = json!({
        "from": from.shown(),
        "to": to.shown(),
        "copied": report.copied,
        "verified": rows,
        "tables": report.tables,
    });
    context.print(&answer, |_| print_report(args, report, rows, from, to));
}

fn print_report(args: &MigrateArgs, report: &MigrationReport, rows: u64, from: &Address, to: &Address) {
    for space in report.tables.chunk_by(|one, other| (&one.tenant, &one.space) == (&other.tenant, &other.space)) {
        let Some(first) = space.first() else { continue };
        let place = first
            .space
            .as_ref()
            .map_or_else(|| format!("{} (catalogue)", first.tenant), |space| format!("{}/{space}", first.tenant));
        let counts = space.iter().filter(|table| table.rows > 0).map(|table| format!("{} {}", table.rows, table.table));
        output::line(&format!("{place}: {}", counts.collect::<Vec<_>>().join(", ")));
    }
    let done = match report.copied {
        _ if args.verify_only => String::new(),
        0 => "nothing to copy; ".to_owned(),
        copied => format!("{copied} rows copied; "),
    };
    output::line(&format!("{done}{rows} rows are equal in {} and {}", from.shown(), to.shown()));
}

/// The place of a store.
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
            return Err(Error::invalid(field, format!("unknown kind of store `{scheme}`"))
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

    /// The address without its password.
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
                    check_folder(field, folder)?;
                }
                Ok(AnyStore::Sqlite(SqliteStore::open(folder, SqliteOptions::default())?))
            }
            Address::Server(url) => {
                let quick = PostgresOptions {
                    schema: schema.to_owned(),
                    timeout: CONNECT_TIMEOUT,
                    ..PostgresOptions::default()
                };
                if !PostgresStore::is_there(url, &quick).await? && !make {
                    return Err(Error::invalid(field, format!("the schema `{schema}` has no data of Loci"))
                        .hint(format!("name another schema with --{field}-schema, or another database"))
                        .into());
                }
                // The vector index is built after the copy.
                let options = PostgresOptions { timeout: STATEMENT_TIMEOUT, dimensions: Vec::new(), ..quick };
                Ok(AnyStore::Postgres(PostgresStore::open(url, options).await?))
            }
        }
    }
}

/// Checks that a folder has data: opening one that has none would create it.
fn check_folder(field: &'static str, folder: &Path) -> Result<()> {
    if folder.join("catalogue.db").is_file() {
        return Ok(());
    }
    let what = if folder.is_dir() { "has no data of Loci" } else { "is not a folder" };
    Err(Error::invalid(field, format!("{} {what}", folder.display()))
        .hint("a data folder has a file `catalogue.db` in it; `loci config check` shows which one is in use")
        .into())
}

/// The URL without its password, which is before the `@` or among the options.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // The last `@`: a password may contain one that is not encoded.
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
        for (given, message) in [
            ("mysql://db/loci", "unknown kind of store `mysql`"),
            ("", "the address is empty"),
            ("env:LOCI_NOBODY_SETS_THIS", "the environment variable LOCI_NOBODY_SETS_THIS is not set"),
        ] {
            assert_eq!(Address::read("from", given).unwrap_err().to_string(), message);
        }
    }
}
