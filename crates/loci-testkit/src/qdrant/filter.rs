//! Filters of the stand-in.
//!
//! Supported are `must`, `should` and `must_not` with the conditions `match` (`value`, `any`), `is_null`, `is_empty`
//! and `has_id`. A field without a payload index is refused.

use std::collections::BTreeMap;

use serde_json::Value;

use super::strict::{Rejection, bad, field, id, object};

/// A parsed filter.
#[derive(Debug, Default)]
pub(super) struct PointFilter {
    must: Vec<Condition>,
    should: Vec<Condition>,
    must_not: Vec<Condition>,
}

#[derive(Debug)]
enum Condition {
    Any { key: String, values: Vec<Value> },
    IsNull(String),
    IsEmpty(String),
    HasId(Vec<String>),
    All(PointFilter),
}

impl PointFilter {
    /// Parses a filter. Every field in it must have a payload index.
    pub(super) fn read(value: Option<&Value>, indexes: &BTreeMap<String, Value>) -> Result<Self, Rejection> {
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Self::default()) };
        let object = object(value, "filter", &["must", "should", "must_not"])?;
        let conditions = |name: &str| -> Result<Vec<Condition>, Rejection> {
            let Some(list) = object.get(name) else { return Ok(Vec::new()) };
            let list =
                list.as_array().ok_or_else(|| bad(format!("Format error in JSON body: {name} is not a list")))?;
            list.iter().map(|condition| Condition::read(condition, indexes)).collect()
        };
        Ok(Self { must: conditions("must")?, should: conditions("should")?, must_not: conditions("must_not")? })
    }

    /// Returns true if a point matches the filter.
    pub(super) fn passes(&self, id: &str, payload: &Value) -> bool {
        let holds = |condition: &Condition| condition.holds(id, payload);
        self.must.iter().all(holds)
            && (self.should.is_empty() || self.should.iter().any(holds))
            && !self.must_not.iter().any(holds)
    }
}

impl Condition {
    fn read(value: &Value, indexes: &BTreeMap<String, Value>) -> Result<Self, Rejection> {
        let known = ["key", "match", "is_null", "is_empty", "has_id", "must", "should", "must_not"];
        let object = object(value, "condition", &known)?;
        let keyed = |name: &str| -> Result<String, Rejection> {
            let inner = super::strict::object(field(object, name)?, name, &["key"])?;
            indexed(field(inner, "key")?, indexes)
        };
        if object.contains_key("must") || object.contains_key("should") || object.contains_key("must_not") {
            return PointFilter::read(Some(value), indexes).map(Self::All);
        }
        if object.contains_key("is_null") {
            return keyed("is_null").map(Self::IsNull);
        }
        if object.contains_key("is_empty") {
            return keyed("is_empty").map(Self::IsEmpty);
        }
        if let Some(ids) = object.get("has_id") {
            let ids = ids.as_array().ok_or_else(|| bad("Format error in JSON body: has_id is not a list"))?;
            return Ok(Self::HasId(ids.iter().map(id).collect::<Result<_, _>>()?));
        }
        let matched = super::strict::object(field(object, "match")?, "match", &["value", "any"])?;
        let values = match (matched.get("value"), matched.get("any")) {
            // As in the real server, null is not a valid value, because nothing equals null.
            (Some(value), None) if value.is_string() || value.is_i64() || value.is_boolean() => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => {
                let error = "Format error in JSON body: data did not match any variant of untagged enum Condition";
                return Err(bad(error));
            }
        };
        Ok(Self::Any { key: indexed(field(object, "key")?, indexes)?, values })
    }

    fn holds(&self, id: &str, payload: &Value) -> bool {
        match self {
            Self::Any { key, values } => match payload.get(key) {
                Some(Value::Array(held)) => held.iter().any(|one| values.contains(one)),
                Some(held) => values.contains(held),
                None => false,
            },
            Self::IsNull(key) => payload.get(key).is_some_and(Value::is_null),
            Self::IsEmpty(key) => match payload.get(key) {
                None | Some(Value::Null) => true,
                Some(Value::Array(held)) => held.is_empty(),
                Some(_) => false,
            },
            Self::HasId(ids) => ids.iter().any(|one| one == id),
            Self::All(filter) => filter.passes(id, payload),
        }
    }
}

fn indexed(key: &Value, indexes: &BTreeMap<String, Value>) -> Result<String, Rejection> {
    let Some(key) = key.as_str() else { return Err(bad("Format error in JSON body: key is not a text")) };
    if indexes.contains_key(key) {
        return Ok(key.to_owned());
    }
    Err(bad(format!(
        "Bad request: Index required but not found for \"{key}\" of one of the following types: [keyword]. Help: \
         Create an index for this key or use a different filter."
    )))
}
