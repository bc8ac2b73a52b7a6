//! The tables and statements of the pgvector index.

use loci_types::MemoryId;
use uuid::Uuid;

use crate::outside::index::{Mark, PointFilter};
use crate::outside::point::VectorPoint;
use crate::postgres::{Distance, LOCK, look_further, quoted};
use crate::sql::clause;
use crate::sql::{self, Connection, OptionalExtension, Value, params};

/// One collection and the table of its points.
pub(super) struct Tables {
    /// The schema of all tables.
    pub(super) schema: String,
    /// The name of the collection.
    pub(super) name: String,
    /// Size and precision of its vectors.
    pub(super) distance: Distance,
}

impl Tables {
    /// The table for vectors of this size and precision. Its name needs no quoting.
    fn points(&self) -> String {
        format!("{}s_{}", self.distance.sort(), self.distance.size)
    }

    /// Creates the tables that do not exist.
    pub(super) fn make(&self, connection: &dyn Connection) -> sql::SqlResult<()> {
        let points = self.points();
        // Other processes may do the same, and the migrations of a PostgreSQL store create the same extension.
        connection.execute("SELECT pg_advisory_xact_lock(?1::bigint)", params![LOCK])?;
        let there = "SELECT to_regclass('collections') IS NOT NULL AND to_regclass(?1) IS NOT NULL";
        if connection.query_row(there, params![&points], |row| row.get(0))? {
            return Ok(());
        }
        let (schema, sort, size) = (quoted(&self.schema), self.distance.sort(), self.distance.size);
        let mut script = vec![
            "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public".to_owned(),
            format!("CREATE SCHEMA IF NOT EXISTS {schema}"),
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.collections (number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, \
                 name text NOT NULL UNIQUE, points text NOT NULL, sequence bigint NOT NULL DEFAULT 0, at bigint)"
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.{points} ( \
                 collection bigint NOT NULL REFERENCES {schema}.collections (number) ON DELETE CASCADE, \
                 id uuid NOT NULL, scope text NOT NULL, state text NOT NULL, kind text NOT NULL, user_id text, \
                 superseded boolean NOT NULL, tags text[] NOT NULL, stamp bigint NOT NULL, \
                 vector {sort}({size}) NOT NULL, PRIMARY KEY (collection, id))"
            ),
            format!("ALTER TABLE {schema}.{points} ALTER COLUMN vector SET STORAGE MAIN"),
            format!("CREATE INDEX IF NOT EXISTS {points}_by_scope ON {schema}.{points} (collection, scope)"),
        ];
        if self.distance.has_graph() {
            let graph = self.distance.graph("vector");
            script.push(format!("CREATE INDEX IF NOT EXISTS {points}_near ON {schema}.{points} USING {graph}"));
        }
        script.iter().try_for_each(|statement| connection.execute(statement, []).map(drop))
    }

    /// Creates an empty collection with mark 0, replacing an existing one.
    pub(super) fn begin(&self, connection: &dyn Connection) -> sql::SqlResult<()> {
        connection.execute("DELETE FROM collections WHERE name = ?1", params![&self.name])?;
        let sql = "INSERT INTO collections (name, points) VALUES (?1, ?2)";
        connection.execute(sql, params![&self.name, self.points()]).map(drop)
    }

    /// The mark of the collection; none if it does not exist or has vectors of another size or precision.
    pub(super) fn mark(&self, connection: &dyn Connection) -> sql::SqlResult<Option<Mark>> {
        let sql = "SELECT sequence, at FROM collections WHERE name = ?1 AND points = ?2";
        let read = |row: &dyn sql::Row| Ok(Mark { sequence: row.get(0)?, at: row.get(1)? });
        connection.query_row(sql, params![&self.name, self.points()], read).optional()
    }

    /// The number of the collection; none if it does not exist.
    fn number(&self, connection: &dyn Connection) -> sql::SqlResult<Option<i64>> {
        let sql = "SELECT number FROM collections WHERE name = ?1 AND points = ?2";
        connection.query_row(sql, params![&self.name, self.points()], |row| row.get(0)).optional()
    }

    /// Inserts points, replacing those of the same memories. Returns false if the collection does not exist.
    pub(super) fn put(&self, connection: &dyn Connection, points: &[VectorPoint]) -> sql::SqlResult<bool> {
        let Some(number) = self.number(connection)? else { return Ok(false) };
        let texts = |of: fn(&VectorPoint) -> String| Value::Texts(points.iter().map(of).collect());
        let ids = points.iter().map(|point| point.memory.id.0.into_bytes()).collect();
        let superseded = points.iter().map(|point| i64::from(point.memory.superseded_by_id.is_some())).collect();
        let stamps = points.iter().map(|point| point.stamp().cast_signed()).collect();
        let (mut tags, mut bearers) = (Vec::new(), Vec::new());
        for (place, point) in (1..).zip(points) {
            tags.extend(point.memory.tags.iter().cloned());
            bearers.resize(tags.len(), place);
        }
        let vectors = points.iter().map(|point| point.direction().unwrap_or_default()).collect();
        let points = self.points();
        let sql = format!(
            "WITH tagged AS (SELECT bearer, array_agg(tag) AS tags FROM unnest(?8::text[], ?9::bigint[]) t(tag, bearer) \
             GROUP BY bearer) \
             INSERT INTO {points} (collection, id, scope, state, kind, user_id, superseded, stamp, tags, vector) \
             SELECT ?1, p.id, p.scope, p.state, p.kind, nullif(p.user_id, ''), p.superseded != 0, p.stamp, \
             coalesce(t.tags, '{{}}'), p.vector FROM unnest(?2::uuid[], ?3::text[], ?4::text[], ?5::text[], ?6::text[], \
             ?7::bigint[], ?10::bigint[], ?11::vector[]) WITH ORDINALITY \
             p(id, scope, state, kind, user_id, superseded, stamp, vector, place) LEFT JOIN tagged t ON t.bearer = p.place \
             ON CONFLICT ON CONSTRAINT {points}_pkey DO UPDATE SET scope = excluded.scope, state = excluded.state, \
             kind = excluded.kind, user_id = excluded.user_id, superseded = excluded.superseded, \
             stamp = excluded.stamp, tags = excluded.tags, vector = excluded.vector"
        );
        connection.execute(
            &sql,
            vec![
                Value::Integer(number),
                Value::Ids(ids),
                texts(|point| point.scope.clone()),
                texts(|point| point.memory.state.name().to_owned()),
                texts(|point| point.memory.kind.name().to_owned()),
                texts(|point| point.memory.identifiers.user_id.clone().unwrap_or_default()),
                Value::Integers(superseded),
                Value::Texts(tags),
                Value::Integers(bearers),
                Value::Integers(stamps),
                Value::Vectors(vectors),
            ],
        )?;
        Ok(true)
    }

    /// Deletes points.
    pub(super) fn take(&self, connection: &dyn Connection, ids: Vec<[u8; 16]>) -> sql::SqlResult<()> {
        let Some(number) = self.number(connection)? else { return Ok(()) };
        let sql = format!("DELETE FROM {} WHERE collection = ?1 AND id = ANY(?2::uuid[])", self.points());
        connection.execute(&sql, vec![Value::Integer(number), Value::Ids(ids)]).map(drop)
    }

    /// Number of points; none if the collection does not exist.
    pub(super) fn count(&self, connection: &dyn Connection) -> sql::SqlResult<Option<u64>> {
        let Some(number) = self.number(connection)? else { return Ok(None) };
        let sql = format!("SELECT count(*) FROM {} WHERE collection = ?1", self.points());
        connection.query_row(&sql, params![number], |row| row.get(0)).map(Some)
    }

    /// A page of the points after an id, with their stamps.
    pub(super) fn ids(
        &self,
        connection: &dyn Connection,
        after: Uuid,
        limit: usize,
    ) -> sql::SqlResult<Vec<(MemoryId, Option<u64>)>> {
        let Some(number) = self.number(connection)? else { return Ok(Vec::new()) };
        let sql =
            format!("SELECT id, stamp FROM {} WHERE collection = ?1 AND id > ?2 ORDER BY id LIMIT ?3", self.points());
        let read = |row: &dyn sql::Row| Ok((id(row)?, Some(row.get::<_, i64>(1)?.cast_unsigned())));
        let values = vec![Value::Integer(number), Value::from(after.into_bytes()), clause::limit(limit)];
        connection.query_map(&sql, values, read)
    }

    /// The nearest matching points, best first; none if the collection does not exist.
    pub(super) fn search(
        &self,
        connection: &dyn Connection,
        wanted: &PointFilter,
        query: Vec<f32>,
        limit: usize,
        exact_up_to: usize,
    ) -> sql::SqlResult<Option<Vec<(MemoryId, f32)>>> {
        let Some(number) = self.number(connection)? else { return Ok(None) };
        let query = Value::Floats(query);
        if self.distance.has_graph() && self.has_more_than(connection, number, wanted, exact_up_to)? {
            look_further(connection, limit)?;
            // The planner underestimates the cost of a vector comparison and would sort the whole table.
            connection.execute("SELECT set_config('enable_sort', 'off', true)", [])?;
            let order = self.distance.by_graph("p.vector");
            let found = self.nearest(connection, number, wanted, &query, limit, &order)?;
            // An HNSW scan stops after a bounded number of tuples, so fewer hits than `limit` may not be all there are.
            if found.len() >= limit {
                return Ok(Some(found));
            }
        }
        let order = self.distance.one_by_one("p.vector");
        self.nearest(connection, number, wanted, &query, limit, &order).map(Some)
    }

    /// Whether the scopes of the filter hold more than `most` points.
    fn has_more_than(
        &self,
        connection: &dyn Connection,
        number: i64,
        wanted: &PointFilter,
        most: usize,
    ) -> sql::SqlResult<bool> {
        let mut values = params![number];
        let scopes = wanted.scopes.as_ref().map_or("", |scopes| {
            values.push(Value::Texts(scopes.clone()));
            " AND p.scope = ANY(?::text[])"
        });
        values.push(clause::limit(most.saturating_add(1)));
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} p WHERE p.collection = ?{scopes} LIMIT ?) c",
            self.points()
        );
        Ok(connection.query_row(&sql, values, |row| row.get::<_, usize>(0))? > most)
    }

    fn nearest(
        &self,
        connection: &dyn Connection,
        number: i64,
        wanted: &PointFilter,
        query: &Value,
        limit: usize,
        order: &str,
    ) -> sql::SqlResult<Vec<(MemoryId, f32)>> {
        let (condition, wanted) = conditions(wanted);
        let sql = format!(
            "SELECT p.id, {order} AS distance FROM {} p WHERE p.collection = ? AND {condition} ORDER BY distance LIMIT ?",
            self.points()
        );
        let mut values = vec![query.clone(), Value::Integer(number)];
        values.extend(wanted);
        values.push(clause::limit(limit));
        let read = |row: &dyn sql::Row| Ok((id(row)?, (1.0 - row.get::<_, f64>(1)?) as f32));
        connection.query_map(&sql, values, read)
    }
}

/// The SQL condition of a filter, and its values.
fn conditions(wanted: &PointFilter) -> (String, Vec<Value>) {
    let states = wanted.states.iter().map(|state| state.name().to_owned()).collect();
    let mut conditions = vec!["p.state = ANY(?::text[])"];
    let mut values = vec![Value::Texts(states)];
    if let Some(scopes) = &wanted.scopes {
        conditions.push("p.scope = ANY(?::text[])");
        values.push(Value::Texts(scopes.clone()));
    }
    if wanted.heads_only {
        conditions.push("NOT p.superseded");
    }
    for (condition, list) in [
        ("p.kind = ANY(?::text[])", &wanted.kinds),
        ("p.tags && ?::text[]", &wanted.tags),
        ("p.user_id = ANY(?::text[])", &wanted.users),
    ] {
        if !list.is_empty() {
            conditions.push(condition);
            values.push(Value::Texts(list.clone()));
        }
    }
    (conditions.join(" AND "), values)
}

fn id(row: &dyn sql::Row) -> sql::SqlResult<MemoryId> {
    row.get(0)
}
