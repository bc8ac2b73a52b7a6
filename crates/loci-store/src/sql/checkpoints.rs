//! Stores the checkpoints of agent programs.
//!
//! Checkpoints are not memories: they have no ledger entries and no category, and stay until they are removed. The
//! newest is the one inserted last; replacing one keeps its position. Writers of a space run one at a time, so a put
//! may read before it writes.

use loci_types::{
    Change, Checkpoint, CheckpointFilter, CheckpointPlace, CheckpointStep, CheckpointThread, Error as Wrong, ErrorKind,
    Outcome, PendingWrite, Scope,
};
use serde_json::{Map, Value as Json};

use super::apply::{Applier, nothing};
use super::clause::Clause;
use super::row::json;
use super::{Connection, OptionalExtension, Row, Value, params, params_from_iter};
use crate::{Applied, KeptCheckpoint, Result, sql};

/// Maximum number of ancestors that one query follows.
const LONGEST: usize = 10_000;

impl Applier<'_> {
    /// Applies a change of checkpoints.
    pub(crate) fn checkpoint(&self, change: &Change, step: &CheckpointStep) -> Result<Applied> {
        match step {
            CheckpointStep::Put { checkpoint, expect_parent, replace } => {
                self.put_checkpoint(checkpoint, expect_parent.as_deref(), *replace)
            }
            CheckpointStep::Write { of, writes } => self.put_writes(change, of, writes),
            CheckpointStep::Remove(place) => {
                let scope = self.scope(&place.scope)?;
                self.removed(
                    "DELETE FROM checkpoints WHERE scope = ?1 AND thread_id = ?2 AND namespace = ?3 AND id = ?4",
                    params![scope, &place.thread_id, &place.namespace, &place.id],
                )
            }
            CheckpointStep::RemoveThread { scope, thread_id } => {
                let scope = self.scope(scope)?;
                self.removed("DELETE FROM checkpoints WHERE scope = ?1 AND thread_id = ?2", params![scope, thread_id])
            }
            CheckpointStep::Prune { scope, thread_id, keep } => {
                let scope = self.scope(scope)?;
                self.removed(
                    "DELETE FROM checkpoints WHERE checkpoint IN (SELECT checkpoint FROM (SELECT checkpoint, row_number() \
                     OVER (PARTITION BY namespace ORDER BY checkpoint DESC) AS place FROM checkpoints WHERE scope = ?1 \
                     AND thread_id = ?2) old WHERE place > ?3)",
                    params![scope, thread_id, *keep],
                )
            }
        }
    }

    fn removed(&self, sql: &str, values: Vec<Value>) -> Result<Applied> {
        let gone = self.sql(self.connection.execute(sql, values))?;
        // The version field carries the number of removed rows.
        let outcome = if gone == 0 { Outcome::None } else { Outcome::Erased };
        Ok(Applied { version: gone as u64, ..nothing(outcome) })
    }

    fn put_checkpoint(&self, new: &Checkpoint, expect: Option<&str>, replace: bool) -> Result<Applied> {
        let scope = self.scope(&new.scope)?;
        let place = params![scope, &new.thread_id, &new.namespace, &new.id];
        if let Some(number) = self.checkpoint_number(place)? {
            let there = self.sql(whole(self.connection, &new.scope, number, true))?.0;
            if there.parent_id == new.parent_id
                && there.format == new.format
                && there.data == new.data
                && there.metadata == new.metadata
            {
                return Ok(nothing(Outcome::None));
            }
            if !replace {
                return Err(id_conflict(&new.id).into());
            }
            self.sql(self.connection.execute(
                "UPDATE checkpoints SET parent_id = ?2, format = ?3, data = ?4, metadata = ?5, created_at = ?6 \
                 WHERE checkpoint = ?1",
                params![
                    number,
                    &new.parent_id,
                    &new.format,
                    new.data.clone().unwrap_or_default(),
                    (!new.metadata.is_empty()).then(|| json(&new.metadata)),
                    new.created_at,
                ],
            ))?;
            return Ok(nothing(Outcome::Updated));
        }
        if let Some(expect) = expect {
            self.expect_newest(scope, new, expect)?;
        }
        let put = "INSERT INTO checkpoints (scope, thread_id, namespace, id, parent_id, format, data, metadata, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        self.sql(self.connection.execute(
            put,
            params![
                scope,
                &new.thread_id,
                &new.namespace,
                &new.id,
                &new.parent_id,
                &new.format,
                new.data.clone().unwrap_or_default(),
                (!new.metadata.is_empty()).then(|| json(&new.metadata)),
                new.created_at,
            ],
        ))?;
        Ok(nothing(Outcome::Created))
    }

    /// Fails with a conflict unless `expect` is the newest checkpoint of the thread and namespace; empty means none.
    fn expect_newest(&self, scope: i64, new: &Checkpoint, expect: &str) -> Result<()> {
        let newest: Option<String> = self.sql(
            self.connection
                .query_row(
                    "SELECT id FROM checkpoints WHERE checkpoint = (SELECT max(checkpoint) FROM checkpoints \
                     WHERE scope = ?1 AND thread_id = ?2 AND namespace = ?3)",
                    params![scope, &new.thread_id, &new.namespace],
                    |row| row.get(0),
                )
                .optional(),
        )?;
        if newest.as_deref().unwrap_or_default() == expect {
            return Ok(());
        }
        let found = newest.map_or_else(|| "it has none".to_owned(), |id| format!("its newest is `{id}`"));
        let message = format!("thread `{}` has changed: {found}, not `{expect}`", new.thread_id);
        Err(Wrong::new(ErrorKind::Conflict, message)
            .at("expectParent")
            .hint("read the newest checkpoint and continue from it")
            .into())
    }

    fn put_writes(&self, change: &Change, of: &CheckpointPlace, writes: &[PendingWrite]) -> Result<Applied> {
        let scope = self.scope(&of.scope)?;
        let found = self.checkpoint_number(params![scope, &of.thread_id, &of.namespace, &of.id])?;
        let number = found.ok_or_else(|| missing(&of.thread_id, &of.id))?;
        for write in writes {
            let sql = format!(
                "INSERT INTO checkpoint_writes (checkpoint, task_id, position, task_path, channel, format, data, \
                 created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) {} \
                 DO UPDATE SET task_path = excluded.task_path, channel = excluded.channel, format = excluded.format, \
                 data = excluded.data, created_at = excluded.created_at",
                self.connection.dialect().on_conflict("checkpoint, task_id, position")
            );

            self.sql(self.connection.execute(
                &sql,
                params![
                    number,
                    &write.task_id,
                    write.position,
                    &write.task_path,
                    &write.channel,
                    &write.format,
                    &write.data,
                    change.at,
                ],
            ))?;
        }
        Ok(nothing(Outcome::Updated))
    }

    fn checkpoint_number(&self, place: Vec<Value>) -> Result<Option<i64>> {
        let found = self
            .connection
            .query_row(
                "SELECT checkpoint FROM checkpoints WHERE scope = ?1 AND thread_id = ?2 AND namespace = ?3 AND id = ?4",
                place,
                |row| row.get(0),
            )
            .optional();
        self.sql(found)
    }
}

fn id_conflict(id: &str) -> Wrong {
    Wrong::new(ErrorKind::Conflict, format!("checkpoint `{id}` exists with different content"))
        .at("id")
        .hint("use another id, or set `replace` to overwrite it")
}

fn missing(thread: &str, id: &str) -> Wrong {
    Wrong::new(ErrorKind::NotFound, format!("thread `{thread}` has no checkpoint `{id}`"))
        .at("id")
        .hint("`loci checkpoint list` lists them")
}

/// The number of the scope; none if the caller may not read its checkpoints.
fn seen(connection: &dyn Connection, clause: &Clause, scope: &Scope) -> sql::SqlResult<Option<i64>> {
    if clause.category_limited {
        return Ok(None);
    }
    let (seen, of_scopes) = clause.scope_condition("scope");
    let mut values = params![scope.key()];
    values.extend(of_scopes);
    connection
        .query_row(&format!("SELECT scope FROM scopes WHERE key = ? AND {seen}"), values, |row| row.get(0))
        .optional()
}

/// The checkpoints that match the filter, newest first. Their numbers are selected first, so that only the data of the
/// returned ones is read.
pub(crate) fn list(
    connection: &dyn Connection,
    clause: &Clause,
    filter: &CheckpointFilter,
    limit: usize,
) -> sql::SqlResult<Vec<KeptCheckpoint>> {
    let Some(scope) = seen(connection, clause, &filter.scope)? else { return Ok(Vec::new()) };
    // The metadata condition of the dialect refers to the table as `m`.
    let mut sql = "SELECT m.checkpoint FROM checkpoints m WHERE m.scope = ? AND m.thread_id = ?".to_owned();
    let mut values = params![scope, &filter.thread_id];
    for (column, wanted) in [("namespace", &filter.namespace), ("id", &filter.id)] {
        if let Some(wanted) = wanted {
            sql.push_str(&format!(" AND m.{column} = ?"));
            values.push(wanted.into());
        }
    }
    if let Some(before) = &filter.before {
        sql.push_str(
            " AND m.checkpoint < (SELECT max(b.checkpoint) FROM checkpoints b WHERE b.scope = m.scope \
             AND b.thread_id = m.thread_id AND b.id = ?",
        );
        values.push(before.into());
        if let Some(namespace) = &filter.namespace {
            sql.push_str(" AND b.namespace = ?");
            values.push(namespace.into());
        }
        sql.push(')');
    }
    for (key, value) in &filter.metadata {
        sql.push_str(" AND ");
        sql.push_str(connection.dialect().metadata);
        values.extend([Value::Text(key.clone()), Value::Text(value.to_string())]);
    }
    sql.push_str(" ORDER BY m.checkpoint DESC LIMIT ?");
    values.push(super::clause::limit(limit));
    let numbers: Vec<i64> = connection.query_map(&sql, params_from_iter(values), |row| row.get(0))?;
    numbers.into_iter().map(|number| whole(connection, &filter.scope, number, filter.data)).collect()
}

/// The newest checkpoint that matches the filter, followed by its ancestors.
pub(crate) fn line(
    connection: &dyn Connection,
    clause: &Clause,
    filter: &CheckpointFilter,
    limit: usize,
) -> sql::SqlResult<Vec<KeptCheckpoint>> {
    let mut line = list(connection, clause, filter, 1)?;
    while line.len() < limit.min(LONGEST) {
        let Some((last, _)) = line.last() else { break };
        let Some(parent) = last.parent_id.clone() else { break };
        // Ids are chosen by the client, so parents may form a cycle.
        if line.iter().any(|(known, _)| known.id == parent) {
            break;
        }
        let up = CheckpointFilter {
            namespace: Some(last.namespace.clone()),
            id: Some(parent),
            data: filter.data,
            ..CheckpointFilter::of(filter.scope.clone(), &filter.thread_id)
        };
        match list(connection, clause, &up, 1)?.pop() {
            Some(before) => line.push(before),
            None => break,
        }
    }
    line.truncate(limit);
    Ok(line)
}

/// The threads of a scope, most recently changed first.
pub(crate) fn threads(
    connection: &dyn Connection,
    clause: &Clause,
    scope: &Scope,
    limit: usize,
) -> sql::SqlResult<Vec<CheckpointThread>> {
    let Some(scope) = seen(connection, clause, scope)? else { return Ok(Vec::new()) };
    let thread = |row: &dyn Row| {
        Ok(CheckpointThread {
            thread_id: row.get(0)?,
            checkpoints: row.get(1)?,
            latest_id: row.get(2)?,
            latest_namespace: row.get(3)?,
            updated_at: row.get(4)?,
        })
    };
    connection.query_map(
        "SELECT t.thread_id, t.many, c.id, c.namespace, c.created_at FROM (SELECT thread_id, count(*) AS many, \
             max(checkpoint) AS latest FROM checkpoints WHERE scope = ?1 GROUP BY thread_id) t \
             JOIN checkpoints c ON c.checkpoint = t.latest ORDER BY t.latest DESC LIMIT ?2",
        params![scope, limit],
        thread,
    )
}

/// One checkpoint; its data and pending writes are included if `data` is set.
fn whole(connection: &dyn Connection, scope: &Scope, number: i64, data: bool) -> sql::SqlResult<KeptCheckpoint> {
    let bytes = if data { "data" } else { "NULL" };
    let sql = format!(
        "SELECT thread_id, namespace, id, parent_id, format, {bytes}, length(data), metadata, created_at \
         FROM checkpoints WHERE checkpoint = ?1"
    );
    let read = |row: &dyn Row| {
        Ok(Checkpoint {
            scope: scope.clone(),
            thread_id: row.get(0)?,
            namespace: row.get(1)?,
            id: row.get(2)?,
            parent_id: row.get(3)?,
            format: row.get(4)?,
            data: if data { Some(row.get(5)?) } else { None },
            bytes: row.get(6)?,
            metadata: metadata(row.get(7)?),
            created_at: row.get(8)?,
        })
    };
    let checkpoint = connection.query_row(&sql, params![number], read)?;
    let writes = if data { writes(connection, number)? } else { Vec::new() };
    Ok((checkpoint, writes))
}

fn metadata(text: Option<String>) -> Map<String, Json> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn writes(connection: &dyn Connection, number: i64) -> sql::SqlResult<Vec<PendingWrite>> {
    let read = |row: &dyn Row| {
        Ok(PendingWrite {
            task_id: row.get(0)?,
            position: row.get(1)?,
            task_path: row.get(2)?,
            channel: row.get(3)?,
            format: row.get(4)?,
            data: row.get(5)?,
        })
    };
    connection.query_map(
        "SELECT task_id, position, task_path, channel, format, data FROM checkpoint_writes WHERE checkpoint = ?1 \
             ORDER BY task_path, task_id, position",
        params![number],
        read,
    )
}
