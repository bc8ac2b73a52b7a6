//! Counts the ledger entries per time bucket. The database aggregates; only sums are read.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use loci_types::{Space, TimeRange, Visible};

use super::clause::Clause;
use super::{Connection, Value, params_from_iter};
use crate::sql;
use crate::{Error, OperationCounts, Result};

/// The start of a bucket, the node and the event.
type BucketKey = (i64, String, String);

/// The length of a bucket in microseconds.
pub(crate) fn micros(bucket: Duration) -> Result<i64> {
    if bucket.as_micros() == 0 {
        return Err(Error::from(loci_types::Error::invalid("bucket", "it must be longer than zero")));
    }
    Ok(i64::try_from(bucket.as_micros()).unwrap_or(i64::MAX))
}

/// The counts of one space.
pub(crate) fn count(
    connection: &dyn Connection,
    space: &Space,
    visible: &Visible,
    range: TimeRange,
    bucket: i64,
) -> sql::SqlResult<Vec<(BucketKey, u64)>> {
    let Some(clause) = Clause::visible(connection, space, visible)? else { return Ok(Vec::new()) };
    // The remainder of a time before 1970 is negative, so it is shifted to find the start of the bucket.
    let sql = format!(
        "SELECT l.at - CASE WHEN l.at % ?1 < 0 THEN l.at % ?1 + ?1 ELSE l.at % ?1 END, coalesce(l.node, ''), l.event, \
         count(*) FROM ledger l LEFT JOIN memories m ON m.row = l.memory \
         WHERE l.at >= ?2 AND l.at < ?3 AND {} GROUP BY 1, 2, 3",
        clause.ledger_condition()
    );
    let mut values = vec![
        Value::Integer(bucket),
        Value::Integer(range.from.map_or(i64::MIN, Timestamp::as_microsecond)),
        Value::Integer(range.until.map_or(i64::MAX, Timestamp::as_microsecond)),
    ];
    values.extend(clause.values);
    connection
        .query_map(&sql, params_from_iter(values), |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?)))
}

/// The sums over all spaces, ordered by time.
pub(crate) fn together(found: Vec<Vec<(BucketKey, u64)>>) -> Vec<OperationCounts> {
    let mut sums: BTreeMap<BucketKey, u64> = BTreeMap::new();
    for (place, count) in found.into_iter().flatten() {
        *sums.entry(place).or_default() += count;
    }
    let tally = |((start, node, op), count): (BucketKey, u64)| {
        // The start of a very long bucket may lie outside the range of timestamps.
        let start = Timestamp::from_microsecond(start).unwrap_or(Timestamp::MIN);
        OperationCounts { start, node, op, count }
    };
    sums.into_iter().map(tally).collect()
}
