//! The job queue of a space.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Job, JobKind, JobRecord};

use super::{Connection, Row, Value, params};
use crate::{Error, Result, sql};

/// The condition on a job that can be claimed. Parameters: the current time twice, then the kinds.
pub(crate) const FREE: &str =
    "((state = 'waiting' AND run_after <= ?) OR (state = 'running' AND lease_until <= ?)) AND kind IN ";

/// Whether a job of these kinds can be claimed. It only reads, so that an idle worker does not write.
pub(crate) fn waiting(connection: &dyn Connection, kinds: &[JobKind], now: Timestamp) -> sql::SqlResult<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM jobs WHERE {FREE} {})", connection.dialect().texts);
    let now = now.as_microsecond();
    connection.query_row(&sql, params![now, now, names(kinds)], |row| row.get(0))
}

/// Claims waiting jobs, and running ones whose lease has expired, for the duration of `lease`.
pub(crate) fn claim(
    connection: &dyn Connection,
    path: &Path,
    space: &str,
    kinds: &[JobKind],
    limit: usize,
    now: Timestamp,
    lease: Duration,
) -> Result<Vec<Job>> {
    let (now, until) = (now.as_microsecond(), now.as_microsecond().saturating_add(lease.as_micros() as i64));
    let sql = format!(
        "WITH free AS MATERIALIZED (SELECT id FROM jobs WHERE {FREE} {} ORDER BY run_after, id LIMIT ? {}) \
         UPDATE jobs SET state = 'running', lease_until = ?, attempts = attempts + 1 \
         WHERE id IN (SELECT id FROM free) RETURNING id, kind, payload, attempts",
        connection.dialect().texts,
        connection.dialect().skip_locked
    );
    let values = params![now, now, names(kinds), super::clause::limit(limit), until];
    let read = |row: &dyn Row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, u32>(3)?))
    };
    let taken = connection.query_map(&sql, values, read).map_err(|error| Error::sql(path, error))?;
    let lease_until = Timestamp::from_microsecond(until).unwrap_or(Timestamp::MAX);
    let mut claimed = Vec::with_capacity(taken.len());
    for (id, kind, payload, attempt) in taken {
        let job = serde_json::from_str(&payload).map_err(|error| error.to_string()).and_then(|payload| {
            let kind = kind.parse().map_err(|error: loci_types::Error| error.to_string())?;
            Ok(Job { id, space: space.to_owned(), kind, payload, attempt, lease_until })
        });
        match job {
            Ok(job) => claimed.push(job),
            // No attempt can succeed, and it must not stop the jobs behind it.
            Err(problem) => {
                let dead = "UPDATE jobs SET state = 'dead', lease_until = NULL, last_error = ?2 WHERE id = ?1";
                let problem = format!("the job cannot be read: {problem}");
                connection.execute(dead, params![id, problem]).map_err(|error| Error::sql(path, error))?;
            }
        }
    }
    Ok(claimed)
}

/// Extends the lease of a job. Returns false if this worker no longer holds it.
pub(crate) fn renew(connection: &dyn Connection, job: &Job, until: Timestamp) -> sql::SqlResult<bool> {
    let done = connection.execute(
        "UPDATE jobs SET lease_until = ?4 WHERE id = ?1 AND state = 'running' AND attempts = ?2 AND lease_until = ?3",
        params![job.id, job.attempt, job.lease_until, until],
    )?;
    Ok(done > 0)
}

/// Deletes a finished job. Returns false if this worker no longer holds it.
pub(crate) fn finish(connection: &dyn Connection, job: &Job) -> sql::SqlResult<bool> {
    let done = connection.execute(
        "DELETE FROM jobs WHERE id = ?1 AND state = 'running' AND attempts = ?2 AND lease_until = ?3",
        params![job.id, job.attempt, job.lease_until],
    )?;
    Ok(done > 0)
}

/// Returns a failed job to the queue for `retry_at`, or marks it dead if none. Returns false if this worker no longer
/// holds it.
pub(crate) fn fail(
    connection: &dyn Connection,
    job: &Job,
    error: &str,
    retry_at: Option<Timestamp>,
) -> sql::SqlResult<bool> {
    let state = if retry_at.is_some() { "waiting" } else { "dead" };
    let done = connection.execute(
        "UPDATE jobs SET state = ?4, lease_until = NULL, last_error = ?5, run_after = coalesce(?6, run_after) \
             WHERE id = ?1 AND state = 'running' AND attempts = ?2 AND lease_until = ?3",
        params![job.id, job.attempt, job.lease_until, state, error, retry_at],
    )?;
    Ok(done > 0)
}

/// The jobs in these states, or in all if empty, oldest first.
pub(crate) fn list(
    connection: &dyn Connection,
    space: &str,
    states: &[String],
    limit: usize,
) -> sql::SqlResult<Vec<JobRecord>> {
    let read = |row: &dyn Row| {
        let (kind, payload): (String, String) = (row.get(1)?, row.get(2)?);
        Ok(JobRecord {
            id: row.get(0)?,
            space: space.to_owned(),
            kind: kind.parse().map_err(|error: loci_types::Error| sql::SqlError::unreadable(error))?,
            payload: serde_json::from_str(&payload).unwrap_or_default(),
            state: row.get(3)?,
            attempts: row.get(4)?,
            run_after: row.get(5)?,
            last_error: row.get(6)?,
            created_at: row.get(7)?,
        })
    };
    let mut values = Vec::new();
    let wanted = if states.is_empty() {
        "TRUE".to_owned()
    } else {
        values.push(Value::Texts(states.to_vec()));
        format!("state IN {}", connection.dialect().texts)
    };
    values.push(super::clause::limit(limit));
    connection.query_map(
        &format!(
            "SELECT id, kind, payload, state, attempts, run_after, last_error, created_at FROM jobs \
             WHERE {wanted} ORDER BY id LIMIT ?"
        ),
        values,
        read,
    )
}

/// Returns a job that is not running to the queue with its attempts reset. Refused if another queued or running job has
/// the same key.
pub(crate) fn retry(connection: &dyn Connection, id: i64, at: Timestamp) -> sql::SqlResult<bool> {
    let done = connection.execute(
        "UPDATE jobs SET state = 'waiting', attempts = 0, last_error = NULL, run_after = ?2 \
         WHERE id = ?1 AND state != 'running' AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.unique_key = jobs.unique_key \
         AND o.id != jobs.id AND o.state IN ('waiting', 'running'))",
        params![id, at],
    )?;
    Ok(done > 0)
}

/// Deletes a job that is not running.
pub(crate) fn give_up(connection: &dyn Connection, id: i64) -> sql::SqlResult<bool> {
    Ok(connection.execute("DELETE FROM jobs WHERE id = ?1 AND state != 'running'", params![id])? > 0)
}

/// The names of these kinds, as one SQL value.
pub(crate) fn names(kinds: &[JobKind]) -> Value {
    Value::Texts(kinds.iter().map(|kind| kind.name().to_owned()).collect())
}
