//! Moves the data of users from the space `shared` to the spaces of their shards.

use super::PostgresOptions;
use super::schema::{OF_ALL, OF_SPACES, SEVENTH_OF_SPACES};

/// The sixth migration.
pub(super) fn users(options: &PostgresOptions) -> String {
    let forced = |how: &str| -> String {
        let known = OF_SPACES.iter().filter(|table| !SEVENTH_OF_SPACES.contains(table));
        let tables = known.chain(OF_ALL.iter().map(|(table, _)| table));
        tables.map(|table| format!("ALTER TABLE {table} {how} ROW LEVEL SECURITY;\n")).collect()
    };
    // The migration creates them again at the end.
    let graphs = options.dimensions.iter().map(|size| format!("DROP INDEX IF EXISTS vectors_near_{size};\n"));
    SCRIPT
        .replace("TABLES_OPEN", &forced("NO FORCE"))
        .replace("TABLES_CLOSED", &forced("FORCE"))
        .replace("GRAPHS", &graphs.collect::<String>())
}

/// `TABLES_OPEN`, `TABLES_CLOSED` and `GRAPHS` are replaced by [`users`]. The owner of the tables is exempt from their
/// policies during this migration only. Foreign keys are checked once at the end instead of row by row, and graph
/// indexes are dropped, because building them is faster than updating them.
///
/// Rows and ledger entries keep their numbers, and the ledger of a shard continues after the last number of `shared`.
const SCRIPT: &str = "
-- The shard of a user as `Shard::of` computes it: 64-bit FNV-1a, here in two halves, joined by exclusive or.
CREATE FUNCTION pg_temp.user_shard(name text) RETURNS integer LANGUAGE plpgsql AS $$ DECLARE
    bytes bytea := convert_to(name, 'UTF8');
    low bigint := 2216829733;
    high bigint := 3421674724;
BEGIN
    FOR place IN 0 .. length(bytes) - 1 LOOP
        low := low # get_byte(bytes, place);
        high := (high * 435 + ((low * 435) >> 32) + (low << 8)) & 4294967295;
        low := (low * 435) & 4294967295;
    END LOOP;
    RETURN ((low # high) & 63)::integer;
END $$;
TABLES_OPEN
CREATE TEMP TABLE foreign_keys ON COMMIT DROP AS
    SELECT c.conrelid::regclass::text AS of, c.conname AS name, pg_get_constraintdef(c.oid) AS definition
    FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0
    AND c.connamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema());
DO $$ DECLARE key record; BEGIN
    FOR key IN SELECT * FROM foreign_keys LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.of, key.name);
    END LOOP;
END $$;
GRAPHS

-- The scopes that move, with the space of their shard, and the memories in them.
CREATE TEMP TABLE moving ON COMMIT DROP AS
    SELECT k.tenant, k.space, k.scope, k.key, s.tenant AS owner, s.created_at,
    'users_' || lpad(to_hex(pg_temp.user_shard(split_part(k.key, chr(31), 2))), 2, '0') AS name, 0 AS shard
    FROM scopes k JOIN spaces s ON s.number = k.space WHERE s.name = 'shared' AND k.layer IN ('user', 'session');
INSERT INTO spaces (tenant, name, created_at, written)
    SELECT DISTINCT owner, name, created_at, true FROM moving ON CONFLICT DO NOTHING;
UPDATE moving m SET shard = s.number FROM spaces s WHERE s.tenant = m.owner AND s.name = m.name;
CREATE INDEX ON moving (tenant, space, scope);
CREATE TEMP TABLE moved ON COMMIT DROP AS
    SELECT m.tenant, m.space, m.row, m.id, k.shard FROM memories m JOIN moving k USING (tenant, space, scope);
CREATE INDEX ON moved (tenant, space, row);
CREATE INDEX ON moved (id);
ANALYZE moving, moved;
CREATE TEMP TABLE ends ON COMMIT DROP AS
    SELECT l.tenant, l.space, max(l.sequence) AS sequence, max(l.at) AS at FROM ledger l
    WHERE l.space IN (SELECT space FROM moving) GROUP BY l.tenant, l.space;

INSERT INTO models (tenant, space, model, name, dimensions)
    SELECT o.tenant, k.shard, o.model, o.name, o.dimensions FROM models o
    JOIN (SELECT DISTINCT tenant, space, shard FROM moving) k USING (tenant, space);
-- What belongs to two rows goes where both go; what would belong to rows of two spaces ends.
UPDATE edges t SET space = a.shard FROM moved a, moved b WHERE a.shard = b.shard
    AND (a.tenant, a.space, a.row) = (t.tenant, t.space, t.source) AND (b.tenant, b.space, b.row) = (t.tenant, t.space, t.target);
DELETE FROM edges t USING moved a WHERE (a.tenant, a.space) = (t.tenant, t.space) AND a.row IN (t.source, t.target);
UPDATE mentions t SET space = a.shard FROM moved a, entities e JOIN moving k USING (tenant, space, scope)
    WHERE a.shard = k.shard AND (a.tenant, a.space, a.row) = (t.tenant, t.space, t.memory)
    AND (e.tenant, e.space, e.entity) = (t.tenant, t.space, t.entity);
DELETE FROM mentions t USING moved a WHERE (a.tenant, a.space, a.row) = (t.tenant, t.space, t.memory);
DELETE FROM mentions t USING entities e JOIN moving k USING (tenant, space, scope)
    WHERE (e.tenant, e.space, e.entity) = (t.tenant, t.space, t.entity);
UPDATE fact_sources t SET space = a.shard FROM moved a, facts f JOIN moving k USING (tenant, space, scope)
    WHERE a.shard = k.shard AND (a.tenant, a.space, a.row) = (t.tenant, t.space, t.memory)
    AND (f.tenant, f.space, f.fact) = (t.tenant, t.space, t.fact);
DELETE FROM fact_sources t USING moved a WHERE (a.tenant, a.space, a.row) = (t.tenant, t.space, t.memory);
DELETE FROM fact_sources t USING facts f JOIN moving k USING (tenant, space, scope)
    WHERE (f.tenant, f.space, f.fact) = (t.tenant, t.space, t.fact);
UPDATE names t SET space = k.shard FROM entities e JOIN moving k USING (tenant, space, scope)
    WHERE (e.tenant, e.space, e.entity) = (t.tenant, t.space, t.entity);
UPDATE checkpoint_writes t SET space = k.shard FROM checkpoints c JOIN moving k USING (tenant, space, scope)
    WHERE (c.tenant, c.space, c.checkpoint) = (t.tenant, t.space, t.checkpoint);
UPDATE jobs t SET space = k.shard FROM moving k
    WHERE (k.tenant, k.space) = (t.tenant, t.space) AND k.key = t.payload->>'scope';
UPDATE jobs t SET space = a.shard FROM moved a
    WHERE (a.tenant, a.space) = (t.tenant, t.space) AND a.id::text = t.payload->>'memory';
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['tags', 'vectors'] LOOP
        EXECUTE format('UPDATE %I t SET space = a.shard FROM moved a
            WHERE (a.tenant, a.space, a.row) = (t.tenant, t.space, t.memory)', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['documents', 'words', 'entities', 'facts', 'checkpoints', 'sessions', 'notes', 'ledger',
        'memories', 'scopes'] LOOP
        EXECUTE format('UPDATE %I t SET space = k.shard FROM moving k
            WHERE (k.tenant, k.space, k.scope) = (t.tenant, t.space, t.scope)', t);
    END LOOP;
END $$;
UPDATE entities t SET united_with = NULL WHERE t.united_with IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM entities e WHERE (e.tenant, e.space, e.entity) = (t.tenant, t.space, t.united_with));
-- Tells readers of the ledger, and backups that would continue it, that rows have changed without an entry of their own.
INSERT INTO ledger (tenant, space, sequence, at, event, new, node, reason)
    SELECT e.tenant, k.space, e.sequence + 1, e.at, 'restore', '{\"split\":\"by user\"}', 'operator', 'split by user'
    FROM ends e JOIN (SELECT space AS shared, space FROM moving UNION SELECT space, shard FROM moving) k ON k.shared = e.space;

DO $$ DECLARE key record; BEGIN
    FOR key IN SELECT * FROM foreign_keys LOOP
        EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', key.of, key.name, key.definition);
    END LOOP;
END $$;
TABLES_CLOSED
DROP FUNCTION pg_temp.user_shard(text);

-- A server of an older version must not write what belongs to users where nobody would look for it.
CREATE FUNCTION users_have_shards() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM spaces s WHERE s.number = NEW.space AND s.name = 'shared') THEN
        RAISE EXCEPTION 'this store was split by user; end this server, it is older than the store';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER users_have_shards BEFORE INSERT ON scopes FOR EACH ROW WHEN (NEW.layer IN ('user', 'session'))
    EXECUTE FUNCTION users_have_shards();
";
