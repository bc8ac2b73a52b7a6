//! One transaction at a time on a pooled connection, used by a thread that may block.
//!
//! Waiting for a statement costs a round trip, so round trips are saved: `BEGIN` and the settings of the transaction
//! are sent together with its first statement, statements whose result is not needed are held back until the next one
//! that is waited for, and the end of a read-only transaction is not waited for. The server runs statements in order;
//! the first error is reported.
//!
//! All settings apply to one transaction (`SET LOCAL`), so a pooler in transaction mode works. Every wait has a
//! timeout, so that a server that stops answering blocks no thread.

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

/// The mode of read transactions: one snapshot, no writes.
pub(crate) const READ: &str = "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Number of pooled connections in a row that may turn out to be closed before the caller gets the error.
const CUT_IN_A_ROW: usize = 32;

/// Maximum number of prepared statements of a connection. Beyond it all are dropped when the connection is next taken.
const MOST_PREPARED: usize = 400;

/// How long the client waits for a statement without a timeout, in case the server is gone.
const LONG_WORK: Duration = Duration::from_secs(6 * 3_600);

/// A connection owned by one thread, for one transaction at a time.
pub(crate) struct PgConnection {
    sessions: Sessions,
    /// None after it was discarded.
    client: RefCell<Option<Object>>,
    progress: Cell<RequestState>,
    /// Statements without values that are sent first.
    prefix: RefCell<String>,
    /// Statements that are sent with the next one that is waited for.
    held: RefCell<Vec<(Arc<str>, Vec<Value>)>>,
    patience: Cell<Duration>,
    contended: Cell<bool>,
    silent: Cell<bool>,
    /// Whether a statement before the `COMMIT` failed, so that nothing of the transaction was kept.
    undone: Cell<bool>,
}

/// The state of the transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestState {
    /// No transaction is open.
    Idle,
    /// `BEGIN` is in the prefix and was not sent.
    Announced,
    /// `BEGIN` was sent. A connection in this state never returns to the pool.
    Open,
}

/// The result of a statement.
enum Answer {
    Changed(u64),
    Rows(Vec<Row>),
}

/// A statement to be sent.
struct OutgoingStatement<'s> {
    sql: &'s str,
    values: &'s [Value],
    /// Whether its rows are returned; otherwise the number of changed rows is.
    rows: bool,
}

impl Sessions {
    /// Takes a connection, new or idle. Blocks.
    pub(super) fn take(&self) -> sql::SqlResult<PgConnection> {
        Ok(PgConnection {
            client: RefCell::new(Some(self.connection()?)),
            sessions: self.clone(),
            progress: Cell::new(RequestState::Idle),
            prefix: RefCell::default(),
            held: RefCell::default(),
            patience: Cell::new(self.timeout),
            contended: Cell::new(false),
            silent: Cell::new(false),
            undone: Cell::new(false),
        })
    }

    fn connection(&self) -> sql::SqlResult<Object> {
        let client = self.handle.block_on(self.pool.get()).map_err(lost)?;
        if client.statement_cache.size() > MOST_PREPARED {
            client.statement_cache.clear();
        }
        Ok(client)
    }

    /// Runs `work` in a transaction of its own, which is rolled back if it fails. A connection that cannot roll back is
    /// discarded. Blocks.
    pub(crate) fn within<T>(
        &self,
        how: &str,
        target: Option<SpaceIds>,
        work: impl FnOnce(&PgConnection) -> sql::SqlResult<T>,
    ) -> sql::SqlResult<T> {
        let session = self.take()?;
        session.begin(how, target);
        let reads = how == READ;
        let done = work(&session)
            .and_then(|value| if reads { session.end_read("COMMIT") } else { session.commit("") }.map(|()| value));
        // After a timeout no rollback is sent, or the caller would wait twice.
        if done.as_ref().is_err_and(|error| !matches!(error, sql::SqlError::Lost(_))) {
            drop(if reads { session.end_read("ROLLBACK") } else { session.roll_back() });
        }
        done
    }
}

/// Converts an error of the pool into an error of a statement.
fn lost(error: PoolError) -> sql::SqlError {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
            sql::SqlError::Postgres(error)
        }
        error => sql::SqlError::Lost(error.to_string()),
    }
}

/// Converts an error of the pool into an error of the store.
pub(super) fn refused(error: PoolError) -> Error {
    super::sql_error(lost(error))
}

impl PgConnection {
    /// Runs a statement and returns the number of rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> sql::SqlResult<usize> {
        match self.send(Some(OutgoingStatement { sql, values, rows: false }))? {
            Answer::Changed(changed) => Ok(usize::try_from(changed).unwrap_or(usize::MAX)),
            Answer::Rows(rows) => Ok(rows.len()),
        }
    }

    /// Runs a statement and returns its rows.
    pub(crate) fn query(&self, sql: &str, values: &[Value]) -> sql::SqlResult<Vec<Row>> {
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
    pub(super) fn put_first(&self, sql: &str) -> sql::SqlResult<()> {
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

    /// Sends the held statements and waits for them.
    pub(super) fn flush(&self) -> sql::SqlResult<()> {
        if self.held.borrow().is_empty() && self.prefix.borrow().is_empty() {
            return Ok(());
        }
        self.send(None).map(drop)
    }

    /// Runs statements without values or results, after the held ones.
    pub(super) fn run(&self, sql: &str) -> sql::SqlResult<()> {
        self.put_first(sql)?;
        self.send(None).map(drop)
    }

    /// Begins a transaction on one space, or on the catalogue if none is given.
    pub(super) fn begin(&self, how: &str, target: Option<SpaceIds>) {
        let access = match target {
            // Both are numbers and need no quoting.
            Some(SpaceIds { tenant, space }) => {
                format!("SET LOCAL loci.tenant = {tenant}; SET LOCAL loci.space = {space}")
            }
            None => "SET LOCAL loci.catalogue = on".to_owned(),
        };
        *self.prefix.borrow_mut() = format!("BEGIN {how}; {}{access}", self.sessions.settings);
        self.progress.set(RequestState::Announced);
        self.patience.set(self.sessions.timeout);
    }

    /// Disables the statement timeout for the rest of this transaction.
    pub(super) fn without_timeout(&self) -> sql::SqlResult<()> {
        self.patience.set(LONG_WORK);
        self.put_first("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'")
    }

    /// Commits the transaction. `last` are statements that are sent with the `COMMIT`, after the held ones.
    pub(super) fn commit(&self, last: &str) -> sql::SqlResult<()> {
        if self.progress.get() == RequestState::Open || !self.held.borrow().is_empty() {
            self.send_all(None, &format!("{last}COMMIT"))?;
        }
        self.ended();
        Ok(())
    }

    /// Whether a failed `COMMIT` certainly kept nothing, because a statement before it failed.
    pub(super) fn was_undone(&self) -> bool {
        self.undone.get()
    }

    /// Rolls back the transaction.
    pub(super) fn roll_back(&self) -> sql::SqlResult<()> {
        self.forget();
        if self.progress.get() == RequestState::Open {
            self.run("ROLLBACK")?;
        }
        self.ended();
        Ok(())
    }

    /// Ends a read-only transaction without waiting for the answer: the server processes it before anything that
    /// follows on this connection.
    fn end_read(&self, how: &str) -> sql::SqlResult<()> {
        self.forget();
        if self.progress.get() == RequestState::Open {
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

    /// Whether the server rolled back this transaction because of another one.
    pub(super) fn was_contended(&self) -> bool {
        self.contended.get()
    }

    /// Whether a statement timed out on the client side. Such a transaction is not repeated.
    pub(super) fn fell_silent(&self) -> bool {
        self.silent.get()
    }

    /// Closes the connection instead of returning it to the pool.
    pub(super) fn discard(self) {
        drop(self.client.take().map(Object::take));
    }

    fn forget(&self) {
        self.held.borrow_mut().clear();
        self.prefix.borrow_mut().clear();
    }

    fn ended(&self) {
        self.forget();
        self.progress.set(RequestState::Idle);
    }

    /// Sends the held statements and `last`, and waits for the answers.
    ///
    /// An idle connection may have been closed by the server. If that shows at the first statement of a transaction,
    /// nothing can have been kept, and the transaction begins again on another connection.
    fn send(&self, last: Option<OutgoingStatement<'_>>) -> sql::SqlResult<Answer> {
        self.send_all(last, "")
    }

    fn send_all(&self, last: Option<OutgoingStatement<'_>>, suffix: &str) -> sql::SqlResult<Answer> {
        let (prefix, held) = (self.prefix.take(), self.held.take());
        let begins = self.progress.get() == RequestState::Announced;
        let mut sent: Vec<OutgoingStatement<'_>> =
            held.iter().map(|(sql, values)| OutgoingStatement { sql, values, rows: false }).collect();
        sent.extend(last);
        if begins {
            self.progress.set(RequestState::Open);
        }
        let mut tries = 0;
        loop {
            let answer = self.exchange(&prefix, &sent, suffix);
            match &answer {
                Err(sql::SqlError::Postgres(error)) if is_undone(error) => self.contended.set(true),
                Err(sql::SqlError::Postgres(error))
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

    fn exchange(&self, prefix: &str, sent: &[OutgoingStatement<'_>], suffix: &str) -> sql::SqlResult<Answer> {
        let client = self.client.borrow();
        let client = client.as_ref().ok_or_else(discarded)?;
        // The server's own timeout ends a second earlier; this one is for a server that does not answer.
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
                Err(sql::SqlError::Lost(format!("no answer within {} s", patience.as_secs())))
            }
        }
    }
}

/// The result of the statements, and that of the suffix.
type Ends = (Result<Answer, tokio_postgres::Error>, Result<(), tokio_postgres::Error>);

/// Sends the prefix, the statements and the suffix in a pipeline and waits for all answers. Returns the first error of
/// prefix and statements or the last result, and the outcome of the suffix. New statements are prepared first, all at
/// once.
async fn talk(client: &Object, prefix: &str, sent: &[OutgoingStatement<'_>], suffix: &str) -> Ends {
    let batch = async |sql: &str| if sql.is_empty() { Ok(()) } else { client.batch_execute(sql).await };
    let asked = async {
        let prepared = in_order(sent.iter().map(|sent| client.prepare_cached(sent.sql))).await;
        let statements = match prepared.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(statements) => statements,
            // The suffix may be a COMMIT, which must not be sent if a statement was not.
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
    // Statements are sent in the order in which their futures are first polled.
    let (begun, (asked, ended)) = tokio::join!(batch(prefix), asked);
    (begun.and(asked), ended)
}

/// Runs futures concurrently; they are first polled in their order.
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

fn discarded() -> sql::SqlError {
    sql::SqlError::Lost("the connection was discarded".into())
}

impl Drop for PgConnection {
    /// Closes a connection with an open transaction, which would otherwise leak to the next caller with its access
    /// rights.
    fn drop(&mut self) {
        if self.progress.get() == RequestState::Open {
            drop(self.client.take().map(Object::take));
        }
    }
}

fn given(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
