//! One transaction on a pooled connection, driven by a thread that may block.
//!
//! A statement that is waited for is a round trip to the server, so as few as possible are: `BEGIN` and the settings of the
//! transaction go out together with its first statement, statements whose result nobody needs are held back until the next
//! one that is waited for, and the end of a read-only transaction is not waited for at all. The server runs what it is sent
//! in order; the first error is reported.
//!
//! Everything a connection is told holds for one transaction (`SET LOCAL`), so a pooler in transaction mode may stand in
//! between. Every wait has an end, so that a server that fell silent holds nobody.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::{HookError, Object, PoolError};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::Sessions;
use super::commit::{SpaceIds, is_cut, is_undone};
use crate::sql::{self, Value};
use crate::{Error, Result};

/// Reads see one snapshot and cannot write.
pub(crate) const READ: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Number of connections in a row that may turn out to be cut before the caller gets the error.
const CUT_IN_A_ROW: usize = 32;

/// Number of prepared statements that a connection keeps. One with more forgets them all and prepares what it still needs.
const MOST_PREPARED: usize = 400;

/// How long the client waits for a statement without a timeout. It ends the wait for a server that is gone.
const LONG_WORK: Duration = Duration::from_secs(6 * 3_600);

/// A connection in one thread's hands, for one transaction at a time.
pub(crate) struct PgConnection {
    sessions: Sessions,
    /// None once it was discarded.
    client: RefCell<Option<Object>>,
    progress: Cell<Progress>,
    /// Statements without values that go out before anything else.
    prefix: RefCell<String>,
    /// Statements that go out with the next one that is waited for.
    held: RefCell<Vec<(Arc<str>, Vec<Value>)>>,
    patience: Cell<Duration>,
    contended: Cell<bool>,
    silent: Cell<bool>,
    /// Whether a statement before the `COMMIT` was refused, so that nothing of the transaction was kept.
    undone: Cell<bool>,
}

/// How far the transaction of a session is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There is none.
    Idle,
    /// Its beginning is in the prefix; the server has not heard of it.
    Announced,
    /// The server was told. Such a connection never returns to the pool.
    Open,
}

/// What a statement gave.
enum Answer {
    Changed(u64),
    Rows(Vec<Row>),
}

/// A statement to be sent.
struct OutgoingStatement<'s> {
    sql: &'s str,
    values: &'s [Value],
    /// Whether its rows are wanted, or how many rows it changed.
    rows: bool,
}

impl Sessions {
    /// A connection, new or idle. Blocks.
    pub(super) fn take(&self) -> sql::Result<PgConnection> {
        Ok(PgConnection {
            client: RefCell::new(Some(self.connection()?)),
            sessions: self.clone(),
            progress: Cell::new(Progress::Idle),
            prefix: RefCell::default(),
            held: RefCell::default(),
            patience: Cell::new(self.timeout),
            contended: Cell::new(false),
            silent: Cell::new(false),
            undone: Cell::new(false),
        })
    }

    fn connection(&self) -> sql::Result<Object> {
        let client = self.handle.block_on(self.pool.get()).map_err(lost)?;
        if client.statement_cache.size() > MOST_PREPARED {
            client.statement_cache.clear();
        }
        Ok(client)
    }

    /// Runs `work` in a transaction of its own. A transaction that failed is undone; a connection that cannot even do
    /// that is discarded. Blocks.
    pub(crate) fn within<T>(
        &self,
        how: &str,
        target: Option<SpaceIds>,
        work: impl FnOnce(&PgConnection) -> sql::Result<T>,
    ) -> sql::Result<T> {
        let session = self.take()?;
        session.begin(how, target);
        let reads = how == READ;
        let done = work(&session)
            .and_then(|value| if reads { session.end_read("COMMIT") } else { session.commit("") }.map(|()| value));
        // A server that fell silent is not asked once more, or the caller would wait twice.
        if done.as_ref().is_err_and(|error| !matches!(error, sql::Error::Lost(_))) {
            drop(if reads { session.end_read("ROLLBACK") } else { session.roll_back() });
        }
        done
    }
}

/// What the pool said, for statements.
fn lost(error: PoolError) -> sql::Error {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => sql::Error::Postgres(error),
        error => sql::Error::Lost(error.to_string()),
    }
}

/// What the pool said, for callers.
pub(super) fn refused(error: PoolError) -> Error {
    super::said(lost(error))
}

impl PgConnection {
    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> sql::Result<usize> {
        match self.send(Some(OutgoingStatement { sql, values, rows: false }))? {
            Answer::Changed(changed) => Ok(usize::try_from(changed).unwrap_or(usize::MAX)),
            Answer::Rows(rows) => Ok(rows.len()),
        }
    }

    /// Runs a statement. Returns its answer.
    pub(crate) fn query(&self, sql: &str, values: &[Value]) -> sql::Result<Vec<Row>> {
        match self.send(Some(OutgoingStatement { sql, values, rows: true }))? {
            Answer::Changed(_) => Ok(Vec::new()),
            Answer::Rows(rows) => Ok(rows),
        }
    }

    /// Holds a statement back until the next one that is waited for.
    pub(crate) fn hold(&self, sql: Arc<str>, values: Vec<Value>) {
        self.held.borrow_mut().push((sql, values));
    }

    /// Puts statements without values in front of the next one that is waited for.
    pub(super) fn put_first(&self, sql: &str) -> sql::Result<()> {
        if !self.held.borrow().is_empty() {
            self.flush()?;
        }
        let mut prefix = self.prefix.borrow_mut();
        if !prefix.is_empty() {
            prefix.push_str("; ");
        }
        prefix.push_str(sql);
        Ok(())
    }

    /// Sends what was held back and waits for it.
    pub(super) fn flush(&self) -> sql::Result<()> {
        if self.held.borrow().is_empty() && self.prefix.borrow().is_empty() {
            return Ok(());
        }
        self.send(None).map(drop)
    }

    /// Runs statements without values or answers, after everything that was held back.
    pub(super) fn run(&self, sql: &str) -> sql::Result<()> {
        self.put_first(sql)?;
        self.send(None).map(drop)
    }

    /// Begins a transaction that speaks for one space; if it is none, for the catalogue.
    pub(super) fn begin(&self, how: &str, target: Option<SpaceIds>) {
        let speaks_for = match target {
            // Both are numbers: there is nothing to quote.
            Some(SpaceIds { tenant, space }) => {
                format!("SET LOCAL loci.tenant = {tenant}; SET LOCAL loci.space = {space}")
            }
            None => "SET LOCAL loci.catalogue = on".to_owned(),
        };
        *self.prefix.borrow_mut() = format!("BEGIN {how}; {}{speaks_for}", self.sessions.settings);
        self.progress.set(Progress::Announced);
        self.patience.set(self.sessions.timeout);
    }

    /// Lets the statements of this transaction take as long as they need from here on.
    pub(super) fn without_timeout(&self) -> sql::Result<()> {
        self.patience.set(LONG_WORK);
        self.put_first("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'")
    }

    /// Ends a transaction well; `last` are statements that go out with the `COMMIT`, after everything that was held back.
    pub(super) fn commit(&self, last: &str) -> sql::Result<()> {
        if self.progress.get() == Progress::Open || !self.held.borrow().is_empty() {
            self.send_all(None, &format!("{last}COMMIT"))?;
        }
        self.ended();
        Ok(())
    }

    /// Whether the `COMMIT` that failed cannot have kept anything, since something before it was refused.
    pub(super) fn was_undone(&self) -> bool {
        self.undone.get()
    }

    /// Undoes a transaction.
    pub(super) fn roll_back(&self) -> sql::Result<()> {
        self.forget();
        if self.progress.get() == Progress::Open {
            self.run("ROLLBACK")?;
        }
        self.ended();
        Ok(())
    }

    /// Ends a transaction that only read. The server hears of it before anything that follows on this connection, so its
    /// answer is not waited for.
    fn end_read(&self, how: &str) -> sql::Result<()> {
        self.forget();
        if self.progress.get() == Progress::Open {
            let client = self.client.borrow();
            let client = client.as_ref().ok_or_else(discarded)?;
            self.sessions.handle.block_on(async {
                let mut ending = pin!(client.batch_execute(how));
                poll_fn(|context| {
                    drop(ending.as_mut().poll(context));
                    Poll::Ready(())
                })
                .await;
            });
        }
        self.ended();
        Ok(())
    }

    /// Whether the server undid something here for the sake of another transaction.
    pub(super) fn was_contended(&self) -> bool {
        self.contended.get()
    }

    /// Whether an answer did not come in time. Whoever waited that long is not made to wait again.
    pub(super) fn fell_silent(&self) -> bool {
        self.silent.get()
    }

    /// A session that failed is not used again.
    pub(super) fn discard(self) {
        drop(self.client.take().map(Object::take));
    }

    fn forget(&self) {
        self.held.borrow_mut().clear();
        self.prefix.borrow_mut().clear();
    }

    fn ended(&self) {
        self.forget();
        self.progress.set(Progress::Idle);
    }

    /// Sends everything that was held back and `last`, and waits for the answers.
    ///
    /// A connection that rested in the pool may have been cut without anyone noticing. As long as a transaction has only
    /// begun nothing of it can have been kept, and it begins again on another connection.
    fn send(&self, last: Option<OutgoingStatement<'_>>) -> sql::Result<Answer> {
        self.send_all(last, "")
    }

    fn send_all(&self, last: Option<OutgoingStatement<'_>>, suffix: &str) -> sql::Result<Answer> {
        let (prefix, held) = (self.prefix.take(), self.held.take());
        let begins = self.progress.get() == Progress::Announced;
        let mut sent: Vec<OutgoingStatement<'_>> =
            held.iter().map(|(sql, values)| OutgoingStatement { sql, values, rows: false }).collect();
        sent.extend(last);
        if begins {
            self.progress.set(Progress::Open);
        }
        let mut tries = 0;
        loop {
            let answer = self.exchange(&prefix, &sent, suffix);
            match &answer {
                Err(sql::Error::Postgres(error)) if is_undone(error) => self.contended.set(true),
                Err(sql::Error::Postgres(error))
                    if begins && suffix.is_empty() && is_cut(error) && tries < CUT_IN_A_ROW =>
                {
                    drop(self.client.take().map(Object::take));
                    self.client.replace(Some(self.sessions.connection()?));
                    tries += 1;
                    continue;
                }
                _ => {}
            }
            return answer;
        }
    }

    fn exchange(&self, prefix: &str, sent: &[OutgoingStatement<'_>], suffix: &str) -> sql::Result<Answer> {
        let client = self.client.borrow();
        let client = client.as_ref().ok_or_else(discarded)?;
        // The server gives up by itself a little sooner; this is for one that fell silent.
        let patience = self.patience.get() + Duration::from_secs(1);
        let prepared = client.statement_cache.size();
        let answer = self
            .sessions
            .handle
            .block_on(async { tokio::time::timeout(patience, talk(client, prefix, sent, suffix)).await });
        let waits = 1 + u64::from(client.statement_cache.size() > prepared);
        self.sessions.round_trips.fetch_add(waits, Ordering::Relaxed);
        match answer {
            Ok((answer, ended)) => {
                self.undone.set(answer.as_ref().is_err_and(|error| error.as_db_error().is_some() && !is_cut(error)));
                let answer = answer?;
                ended?;
                Ok(answer)
            }
            Err(_) => {
                self.silent.set(true);
                Err(sql::Error::Lost(format!("no answer within {} s", patience.as_secs())))
            }
        }
    }
}

/// How the statements ended, and how what came after them did.
type Ends = (Result<Answer, tokio_postgres::Error>, Result<(), tokio_postgres::Error>);

/// Sends the prefix, the statements and the suffix one behind the other and waits for all answers: the first error of the
/// prefix and the statements or the last answer, and what became of the suffix. Statements that the connection does not know
/// yet are prepared first, all at once.
async fn talk(client: &Object, prefix: &str, sent: &[OutgoingStatement<'_>], suffix: &str) -> Ends {
    let batch = async |sql: &str| if sql.is_empty() { Ok(()) } else { client.batch_execute(sql).await };
    let asked = async {
        let prepared = in_order(sent.iter().map(|sent| client.prepare_cached(sent.sql))).await;
        let statements = match prepared.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(statements) => statements,
            // The suffix may be a COMMIT; it is not sent after a statement that was not.
            Err(error) => return (Err(error), Ok(())),
        };
        let answers = in_order(sent.iter().zip(&statements).map(async |(sent, statement)| {
            let values = given(sent.values);
            match sent.rows {
                true => client.query(statement, &values).await.map(Answer::Rows),
                false => client.execute(statement, &values).await.map(Answer::Changed),
            }
        }));
        let (answers, ended) = tokio::join!(answers, batch(suffix));
        (answers.into_iter().try_fold(Answer::Changed(0), |_, answer| answer), ended)
    };
    // The first to be polled is the first to be sent.
    let (begun, (asked, ended)) = tokio::join!(batch(prefix), asked);
    (begun.and(asked), ended)
}

/// Runs futures at once; they are first polled in their order.
async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut waits = false;
        for (future, done) in running.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            match future.as_mut().poll(context) {
                Poll::Ready(output) => *done = Some(output),
                Poll::Pending => waits = true,
            }
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}

fn discarded() -> sql::Error {
    sql::Error::Lost("the session was discarded".into())
}

impl Drop for PgConnection {
    /// A connection within a transaction would carry it, and whom it speaks for, to the next caller.
    fn drop(&mut self) {
        if self.progress.get() == Progress::Open {
            drop(self.client.take().map(Object::take));
        }
    }
}

fn given(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
