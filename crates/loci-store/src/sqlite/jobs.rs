//! Which work waits, and who has it?

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Job, JobKind, JobRecord};
use rusqlite::{Connection, params};

use crate::{Error, Result};

/// Whether any job of these kinds could be taken. Asked by readers, so that a worker at rest
/// writes nothing.
pub(super) fn waiting(connection: &Connection, kinds: &[JobKind], now: Timestamp) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs WHERE ((state = 'waiting' AND run_after <= ?1) \
             OR (state = 'running' AND lease_until <= ?1)) AND kind IN (SELECT value FROM json_each(?2)))",
        )?
        .query_row(params![now.as_microsecond(), super::row::json(&kinds)], |row| row.get(0))
}

/// Takes waiting jobs, and those whose lease has run out, for `lease`.
pub(super) fn claim(
    connection: &Connection,
    path: &Path,
    space: &str,
    kinds: &[JobKind],
    limit: usize,
    now: Timestamp,
    lease: Duration,
) -> Result<Vec<Job>> {
    let until = now.as_microsecond().saturating_add(lease.as_micros() as i64);
    let kinds = super::row::json(&kinds);
    let taken = connection
        .prepare_cached(
            "UPDATE jobs SET state = 'running', lease_until = ?1, attempts = attempts + 1 WHERE id IN (SELECT id FROM jobs \
             WHERE ((state = 'waiting' AND run_after <= ?2) OR (state = 'running' AND lease_until <= ?2)) \
             AND kind IN (SELECT value FROM json_each(?3)) ORDER BY run_after, id LIMIT ?4) \
             RETURNING id, kind, payload, attempts",
        )
        .and_then(|mut statement| {
            statement
                .query_map(params![until, now.as_microsecond(), kinds, super::clause::limit(limit)], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, u32>(3)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })
        .map_err(|error| Error::sqlite(path, error))?;
    let lease_until = Timestamp::from_microsecond(until).unwrap_or(Timestamp::MAX);
    taken
        .into_iter()
        .map(|(id, kind, payload, attempt)| {
            let payload = serde_json::from_str(&payload)
                .map_err(|error| Error::Damaged { path: path.to_owned(), problem: format!("job {id}: {error}") })?;
            Ok(Job { id, space: space.to_owned(), kind: kind.parse()?, payload, attempt, lease_until })
        })
        .collect()
}

/// Ends a job that is still ours. False if it is not.
pub(super) fn finish(connection: &Connection, job: &Job) -> rusqlite::Result<bool> {
    let done = connection
        .prepare_cached("DELETE FROM jobs WHERE id = ?1 AND state = 'running' AND attempts = ?2 AND lease_until = ?3")?
        .execute(params![job.id, job.attempt, job.lease_until.as_microsecond()])?;
    Ok(done > 0)
}

/// Puts a job back until `retry_at`, or lays it aside for good.
pub(super) fn fail(
    connection: &Connection,
    job: &Job,
    error: &str,
    retry_at: Option<Timestamp>,
) -> rusqlite::Result<bool> {
    let state = if retry_at.is_some() { "waiting" } else { "dead" };
    let done = connection
        .prepare_cached(
            "UPDATE jobs SET state = ?4, lease_until = NULL, last_error = ?5, run_after = coalesce(?6, run_after) \
             WHERE id = ?1 AND state = 'running' AND attempts = ?2 AND lease_until = ?3",
        )?
        .execute(params![
            job.id,
            job.attempt,
            job.lease_until.as_microsecond(),
            state,
            error,
            retry_at.map(Timestamp::as_microsecond)
        ])?;
    Ok(done > 0)
}

/// The jobs in these states, oldest first; none: in all.
pub(super) fn list(
    connection: &Connection,
    space: &str,
    states: &[String],
    limit: usize,
) -> rusqlite::Result<Vec<JobRecord>> {
    let time = |micros: i64| Timestamp::from_microsecond(micros).unwrap_or_default();
    let read = |row: &rusqlite::Row<'_>| {
        let (kind, payload): (String, String) = (row.get(1)?, row.get(2)?);
        Ok(JobRecord {
            id: row.get(0)?,
            space: space.to_owned(),
            kind: kind.parse().map_err(|error: loci_types::Error| {
                rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
            })?,
            payload: serde_json::from_str(&payload).unwrap_or_default(),
            state: row.get(3)?,
            attempts: row.get(4)?,
            run_after: time(row.get(5)?),
            last_error: row.get(6)?,
            created_at: time(row.get(7)?),
        })
    };
    connection
        .prepare_cached(
            "SELECT id, kind, payload, state, attempts, run_after, last_error, created_at FROM jobs \
             WHERE ?1 = '[]' OR state IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT ?2",
        )?
        .query_map(params![super::row::json(&states), super::clause::limit(limit)], read)?
        .collect()
}

/// Lets a job that nobody has in hand wait anew. A second one with its key stays as it is.
pub(super) fn retry(connection: &Connection, id: i64, at: Timestamp) -> rusqlite::Result<bool> {
    let done = connection.execute(
        "UPDATE OR IGNORE jobs SET state = 'waiting', attempts = 0, last_error = NULL, run_after = ?2 \
         WHERE id = ?1 AND state != 'running'",
        params![id, at.as_microsecond()],
    )?;
    Ok(done > 0)
}

/// Gives up a job that nobody has in hand.
pub(super) fn give_up(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    Ok(connection.execute("DELETE FROM jobs WHERE id = ?1 AND state != 'running'", [id])? > 0)
}
