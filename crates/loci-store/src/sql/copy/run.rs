//! In which order is a copy made?
//!
//! Before anything is written, every space of the target is looked at: it is empty, or what it has last
//! is what the source has there.

use std::sync::Arc;

use loci_types::{Space, Tenant};

use super::catalogue::{self, LISTS, List, SPACES};
use super::line::{self, Line};
use super::pair::{Pair, START, unlike};
use super::table::{TABLES, Table};
use super::{Copied, CopiedTable, CopyOptions, CopyPhase, CopyStep, numbers, page};
use crate::sql::backend::blocking;
use crate::sql::{Backend, Value, keys, row};
use crate::{Error, Result};

/// How progress is told.
type Progress<'p> = &'p mut (dyn FnMut(&CopyStep<'_>) -> Result<()> + Send);

/// A copy under way.
pub(super) struct Run<'p, F: Backend, T: Backend> {
    from: Arc<F>,
    to: Arc<T>,
    options: CopyOptions,
    progress: Progress<'p>,
    tenants: Vec<Tenant>,
    spaces: Vec<Registered<F, T>>,
    whole: u64,
    done: Copied,
}

/// A space as the source's catalogue has it.
struct Registered<F: Backend, T: Backend> {
    pair: Pair<F, T>,
    created_at: i64,
    written: bool,
    /// The last line of its ledger when the copy began.
    end: i64,
}

impl<'p, F: Backend, T: Backend> Run<'p, F, T> {
    /// Looks at what there is to copy.
    pub(super) async fn new(from: Arc<F>, to: Arc<T>, options: CopyOptions, progress: Progress<'p>) -> Result<Self> {
        let (theirs, ours) = (from.clone(), to.clone());
        let (tenants, spaces, whole) = blocking(move || look(&theirs, &ours)).await?;
        Ok(Self { from, to, options, progress, tenants, spaces, whole, done: Copied::default() })
    }

    /// Copies, and compares.
    pub(super) async fn run(mut self) -> Result<Copied> {
        if self.tenants.is_empty() {
            return Err(Error::Refused("the source is empty: there is nothing to copy".to_owned()));
        }
        let spaces = std::mem::take(&mut self.spaces);
        if !self.options.verify_only {
            for Registered { pair, .. } in &spaces {
                let pair = pair.clone();
                blocking(move || TABLES.iter().try_for_each(|table| pair.reached(table).map(drop))).await?;
            }
            self.copy_catalogue().await?;
            for space in &spaces {
                self.copy_space(space).await?;
            }
        }
        let compared = self.compare(&spaces).await;
        // Whatever was found, a source that moved is the reason.
        for Registered { pair, end, .. } in &spaces {
            let (asked, place) = (pair.clone(), pair.place());
            let now = blocking(move || asked.end()).await?;
            if now != *end {
                return Err(Error::Overtaken(format!(
                    "the source was written to while it was copied: the ledger of {place} went from line {end} to {now}; \
                     stop what writes to it and run this again"
                )));
            }
        }
        compared.map(|()| self.done)
    }

    async fn copy_catalogue(&mut self) -> Result<()> {
        for tenant in self.tenants.clone() {
            let (from, to) = (self.from.clone(), self.to.clone());
            self.done.copied += blocking(move || {
                let mut copied = 0;
                for list in &LISTS {
                    let lines = from.ask(|connection| list.lines(connection, tenant.name()))?;
                    copied += to.tell(|connection| {
                        let added = list.put(connection, &lines)?;
                        if list.name == "tenants" {
                            dated(&lines)
                                .try_for_each(|(name, at)| catalogue::date(connection, list, name, name, at))?;
                        }
                        Ok(added)
                    })?;
                    alike(&*to, list, &tenant, lines)?;
                }
                Ok(copied)
            })
            .await?;
        }
        Ok(())
    }

    async fn copy_space(&mut self, space: &Registered<F, T>) -> Result<()> {
        let (pair, created_at) = (space.pair.clone(), space.created_at);
        blocking(move || {
            let at = row::from_micros(created_at).map_err(|error| Error::said(T::place_of(&pair.ours), error))?;
            pair.to.prepare(&pair.tenant, &pair.ours, at)?;
            let (tenant, name) = (pair.tenant.name(), pair.space.name());
            pair.to.tell(|connection| catalogue::date(connection, &SPACES, tenant, &name, created_at))
        })
        .await?;
        for table in TABLES {
            self.copy_table(&space.pair, table).await?;
        }
        let pair = space.pair.clone();
        let given = blocking(move || pair.given()).await?;
        if given.iter().any(|number| *number > 0) {
            let place = T::place_of(&space.pair.ours).to_owned();
            self.to
                .write(&space.pair.ours, move |connection| {
                    numbers::go_on_after(connection, &given).map_err(|error| Error::said(&place, error))
                })
                .await?;
        }
        let pair = space.pair.clone();
        match space.written {
            true => blocking(move || pair.to.note_written(&pair.tenant, &pair.ours)).await,
            false => Ok(()),
        }
    }

    async fn copy_table(&mut self, pair: &Pair<F, T>, table: &'static Table) -> Result<()> {
        let asked = pair.clone();
        let (mut after, there) = blocking(move || asked.reached(table)).await?;
        self.tell(CopyPhase::There, pair, table, there)?;
        let (rows, mut copied) = (self.options.page.max(1), 0);
        loop {
            let asked = pair.clone();
            let Some(page) = blocking(move || asked.page(table, after, rows)).await? else { break };
            let (count, lines) = (page.lines.len() as u64, Arc::new(page.lines));
            let (analyser, place) = (self.to.analyser().clone(), T::place_of(&pair.ours).to_owned());
            self.to
                .write(&pair.ours, move |connection| {
                    page::put(connection, table, &lines, &analyser).map_err(|error| Error::said(&place, error))
                })
                .await
                .map_err(|error| in_table(error, table))?;
            after = page.through;
            self.done.copied += count;
            copied += count;
            self.tell(CopyPhase::Copied, pair, table, count)?;
        }
        if copied == 0 {
            return Ok(());
        }
        let place = T::place_of(&pair.ours).to_owned();
        self.to
            .write(&pair.ours, move |connection| {
                page::look_over(connection, table).map_err(|error| Error::said(&place, error))
            })
            .await
    }

    async fn compare(&mut self, spaces: &[Registered<F, T>]) -> Result<()> {
        for tenant in self.tenants.clone() {
            for list in LISTS.iter().chain([&SPACES]) {
                let (from, to, tenant) = (self.from.clone(), self.to.clone(), tenant.clone());
                let compared = blocking(move || {
                    let lines = from.ask(|connection| list.lines(connection, tenant.name()))?;
                    alike(&*to, list, &tenant, lines)
                })
                .await?;
                self.done.tables.push(compared);
            }
        }
        for Registered { pair, .. } in spaces {
            for table in TABLES {
                let compared = self.compare_table(pair, table).await?;
                self.done.tables.push(compared);
            }
        }
        Ok(())
    }

    async fn compare_table(&mut self, pair: &Pair<F, T>, table: &'static Table) -> Result<CopiedTable> {
        let (mut after, mut rows, mut hasher) = (START, 0, blake3::Hasher::new());
        let page = self.options.page.max(1);
        loop {
            let asked = pair.clone();
            let Some(same) = blocking(move || asked.same(table, after, page)).await? else { break };
            for hash in &same.hashed {
                hasher.update(hash);
            }
            after = same.through;
            rows += same.rows;
            self.tell(CopyPhase::Verified, pair, table, same.rows)?;
        }
        let (tenant, space) = (pair.tenant.name().to_owned(), Some(pair.space.name()));
        Ok(CopiedTable { tenant, space, table: table.name, rows, hash: hasher.finalize().to_hex().to_string() })
    }

    fn tell(&mut self, phase: CopyPhase, pair: &Pair<F, T>, table: &'static Table, rows: u64) -> Result<()> {
        let (tenant, space, whole) = (pair.tenant.name(), pair.space.name(), self.whole);
        (self.progress)(&CopyStep { phase, tenant, space: &space, table: table.name, rows, whole })
    }
}

type Looked<F, T> = (Vec<Tenant>, Vec<Registered<F, T>>, u64);

/// What the source has.
fn look<F: Backend, T: Backend>(from: &Arc<F>, to: &Arc<T>) -> Result<Looked<F, T>> {
    let halves = from.ask(|connection| connection.keeps_half_vectors())?
        || to.ask(|connection| connection.keeps_half_vectors())?;
    let tenants: Vec<Tenant> =
        from.ask(keys::tenants)?.iter().map(|name| Ok(Tenant::new(name)?)).collect::<Result<_>>()?;
    let (mut spaces, mut whole) = (Vec::new(), 0);
    for tenant in &tenants {
        for line in from.ask(|connection| SPACES.lines(connection, tenant.name()))? {
            let [Value::Text(name), _, Value::Integer(created_at), Value::Integer(written)] = &line.values[..] else {
                continue;
            };
            let space: Space = name.parse()?;
            let (theirs, ours) = (from.open(tenant, &space), to.open(tenant, &space));
            if *written != 0 && !from.exists(&theirs)? {
                let path = F::place_of(&theirs).to_owned();
                return Err(Error::Damaged { path, problem: "something was written to it, and it is gone".to_owned() });
            }
            let (from, to, tenant) = (from.clone(), to.clone(), tenant.clone());
            let pair = Pair { from, to, tenant, space, theirs, ours, halves };
            whole += pair.rows()?;
            spaces.push(Registered { end: pair.end()?, pair, created_at: *created_at, written: *written != 0 });
        }
    }
    Ok((tenants, spaces, whole))
}

/// The names and dates of entries that have both first.
fn dated(lines: &[Line]) -> impl Iterator<Item = (&str, i64)> {
    lines.iter().filter_map(|line| match &line.values[..] {
        [Value::Text(name), Value::Integer(at), ..] => Some((name.as_str(), *at)),
        _ => None,
    })
}

/// Names the table in a refusal of the target, such as that of a NUL character.
fn in_table(error: Error, table: &Table) -> Error {
    match error {
        Error::Refused(problem) => Error::Refused(format!("{}: {problem}", table.name)),
        error => error,
    }
}

/// That every entry of the source is in the target alike. The target may have others.
fn alike<T: Backend>(to: &T, list: &List, tenant: &Tenant, mut lines: Vec<Line>) -> Result<CopiedTable> {
    let mut ours = to.ask(|connection| list.lines(connection, tenant.name()))?;
    ours.retain(|ours| lines.iter().any(|line| line.key == ours.key));
    if let Some((key, problem)) = line::difference(lines.clone(), ours) {
        return Err(unlike(tenant.name(), list.name, key, problem));
    }
    lines.sort_by(|one, other| one.key.cmp(&other.key));
    let mut hasher = blake3::Hasher::new();
    for line in &lines {
        hasher.update(blake3::hash(&line.bytes).as_bytes());
    }
    let hash = hasher.finalize().to_hex().to_string();
    Ok(CopiedTable { tenant: tenant.name().to_owned(), space: None, table: list.name, rows: lines.len() as u64, hash })
}
