//! The cursor of a feed: one position per space.
//!
//! It is opaque to callers and safe in URLs and headers.
//!
//! A space that the cursor does not contain is handled in one of two ways. For a caller who follows the whole tenant
//! it is new, and is followed from its first entry. For a caller who follows some spaces it was not followed before,
//! and is followed from its current end.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use loci_types::{Error, Reach, Space, Visible};
use serde::{Deserialize, Serialize};

use super::FeedEntry;

/// Maximum length of the text form of a cursor, in bytes.
const MAX_CURSOR_BYTES: usize = 1 << 20;

/// What a cursor that follows the whole begins with, and all that it says at the start.
const WHOLE: &str = "all";
/// What a cursor that names nothing says: from here on.
const NOW: &str = "now";

/// A place in the feed of several spaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FeedCursor {
    whole: bool,
    positions: BTreeMap<Space, i64>,
}

impl Default for FeedCursor {
    fn default() -> Self {
        Self::start()
    }
}

impl FeedCursor {
    /// Before the first line of every space.
    pub fn start() -> Self {
        Self { whole: true, positions: BTreeMap::new() }
    }

    /// After the last line of every space, wherever that is when it is first read.
    pub fn now() -> Self {
        Self { whole: false, positions: BTreeMap::new() }
    }

    /// The end of every visible space.
    pub(super) fn end(visible: &Visible, ends: &BTreeMap<Space, i64>) -> Self {
        let mut cursor = Self { whole: *visible.reach() == Reach::Whole, positions: BTreeMap::new() };
        for (space, end) in spaces(visible, ends) {
            cursor.put(space, end);
        }
        cursor
    }

    /// The same cursor with a place in every visible space that there is.
    pub(super) fn completed(&self, visible: &Visible, ends: &BTreeMap<Space, i64>) -> Self {
        let mut cursor = self.clone();
        if *visible.reach() == Reach::Whole {
            // A space that was dropped may be created again, and then begins at its first entry.
            cursor.positions.retain(|space, _| ends.contains_key(space));
        }
        for (space, end) in spaces(visible, ends) {
            let place = match self.positions.get(&space) {
                Some(position) if *position <= end => *position,
                // It ends before the position that was reached: it was created again.
                Some(_) => 0,
                None if self.whole => 0,
                None => match (&space, self.positions.get(&Space::Shared)) {
                    // Before users had shards their lines lay in `shared`; they have kept their numbers.
                    (Space::Users(_), Some(position)) => end.min(*position),
                    _ => end,
                },
            };
            cursor.put(space, place);
        }
        cursor
    }

    /// The place in one space.
    pub(super) fn position(&self, space: &Space) -> i64 {
        self.positions.get(space).copied().unwrap_or(0)
    }

    /// Moves the place in one space.
    pub(super) fn put(&mut self, space: Space, position: i64) {
        // The start needs no words where it is understood.
        if self.whole && position == 0 {
            self.positions.remove(&space);
        } else {
            self.positions.insert(space, position);
        }
    }

    /// Goes on to right after an entry, which must come next.
    pub fn pass(&mut self, entry: &FeedEntry) {
        if let Ok(space) = entry.space.parse() {
            self.put(space, entry.sequence);
        }
    }
}

/// The visible spaces with their ends; one that was never written to ends at 0.
fn spaces(visible: &Visible, ends: &BTreeMap<Space, i64>) -> BTreeMap<Space, i64> {
    let end = |space: Space| (space.clone(), ends.get(&space).copied().unwrap_or(0));
    match visible.spaces() {
        Some(spaces) => spaces.into_iter().map(end).collect(),
        None => ends.clone(),
    }
}

impl fmt::Display for FeedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = match (self.whole, self.positions.is_empty()) {
            (true, _) => Some(WHOLE),
            (false, true) => Some(NOW),
            (false, false) => None,
        };
        let places = self.positions.iter().map(|(space, position)| format!("{space}.{position}"));
        f.write_str(&head.map(str::to_owned).into_iter().chain(places).collect::<Vec<_>>().join("~"))
    }
}

impl FromStr for FeedCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let shown: String = text.chars().take(60).collect();
            Error::invalid("cursor", format!("`{shown}` is not a valid cursor"))
                .hint("use a cursor of an earlier answer, `all` (from the beginning) or `now`")
        };
        if text.len() > MAX_CURSOR_BYTES {
            return Err(wrong());
        }
        let (mut cursor, places) = match text.split_once('~') {
            _ if text == WHOLE => return Ok(Self::start()),
            _ if text == NOW => return Ok(Self::now()),
            Some((WHOLE, places)) => (Self::start(), places),
            _ => (Self::now(), text),
        };
        for place in places.split('~') {
            let (space, position) = read(place).ok_or_else(wrong)?;
            if cursor.positions.contains_key(&space) {
                return Err(wrong());
            }
            cursor.put(space, position);
        }
        Ok(cursor)
    }
}

/// A space and the place in it. A slug may hold dots, so the last one counts.
fn read(place: &str) -> Option<(Space, i64)> {
    let (space, position) = place.rsplit_once('.')?;
    let digits = position.bytes().all(|byte| byte.is_ascii_digit());
    Some((space.parse().ok()?, position.parse().ok().filter(|_| digits)?))
}

impl TryFrom<String> for FeedCursor {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<FeedCursor> for String {
    fn from(cursor: FeedCursor) -> Self {
        cursor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::policy::{self, Caller};

    fn seen(given: &[(&str, &str)]) -> Visible {
        let object = given.iter().map(|(field, value)| ((*field).to_owned(), (*value).into())).collect();
        let caller = match given {
            [] => Caller::operator(),
            _ => Caller::new(serde_json::from_value(serde_json::Value::Object(object)).unwrap()),
        };
        policy::visible(&caller, None).unwrap()
    }

    fn ends(places: &str) -> BTreeMap<Space, i64> {
        places.split('~').filter_map(read).collect()
    }

    #[test]
    fn a_cursor_reads_back_and_a_wrong_one_says_so() {
        for text in [
            "all",
            "now",
            "shared.120",
            "shared.0",
            "agent_memory_a.33~shared.120",
            "all~agent_memory_a.1.33~shared.9223372036854775807~pool_p-1.2",
        ] {
            let cursor: FeedCursor = text.parse().unwrap();
            let again: FeedCursor = cursor.to_string().parse().unwrap();
            assert_eq!(cursor, again, "{text}");
            let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
            assert!(cursor.to_string().chars().all(safe), "{cursor}");
        }
        for bad in [
            "",
            "~",
            "all~",
            "all~all",
            "now~shared.1",
            "shared",
            "shared.",
            "shared.-1",
            "shared.+1",
            "shared.x",
            "shared.1.1",
            "shared.9223372036854775808",
            "shared.1~shared.2",
            "elsewhere.1",
            "agent_memory_.1",
            "agent_memory_a/b.1",
            "shared.1 ",
            "Ω",
            &"x".repeat(2 << 20),
        ] {
            let error = bad.parse::<FeedCursor>().unwrap_err();
            assert_eq!(error.field(), Some("cursor"), "{bad}");
            assert!(error.to_string().len() < 200);
        }
    }

    #[test]
    fn a_space_that_is_not_named_begins_where_it_should() {
        let ann = [("userId", "ann")];
        let with_agent = [("userId", "ann"), ("agentId", "a")];
        let check = |cursor: &str, given: &[(&str, &str)], there: &str, expect: &str| {
            let cursor: FeedCursor = cursor.parse().unwrap();
            assert_eq!(cursor.completed(&seen(given), &ends(there)).to_string(), expect, "{cursor} {there}");
        };
        check("all", &[], "shared.9", "all");
        check("all~shared.5", &[], "shared.9~agent_memory_a.4", "all~shared.5");
        check("all~shared.5~agent_memory_a.7", &[], "shared.9", "all~shared.5");
        check("all~agent_memory_a.7", &[], "agent_memory_a.4", "all");
        check("shared.5", &[], "shared.9~agent_memory_a.4", "agent_memory_a.4~shared.5");
        check("users_21.5", &ann, "users_21.9", "users_21.5");
        check("users_21.5", &with_agent, "users_21.9~agent_memory_a.4", "agent_memory_a.4~users_21.5");
        check("agent_memory_a.0~users_21.5", &with_agent, "users_21.9~agent_memory_a.4", "agent_memory_a.0~users_21.5");
        check("agent_memory_a.2~users_21.5", &ann, "users_21.9", "agent_memory_a.2~users_21.5");
        check("agent_memory_a.2", &with_agent, "users_21.9", "agent_memory_a.0~users_21.9");
        check("now", &with_agent, "", "agent_memory_a.0~users_21.0");
        check("all", &with_agent, "users_21.9", "all");
        // Made before users had spaces of their own.
        check("shared.5", &ann, "users_21.9", "shared.5~users_21.5");
        check("shared.5", &ann, "users_21.3", "shared.5~users_21.3");
        check("all~shared.5", &[], "shared.9~users_21.9", "all~shared.5");
    }

    #[test]
    fn the_end_names_what_was_never_written() {
        let with_agent = seen(&[("userId", "ann"), ("agentId", "a")]);
        assert_eq!(FeedCursor::end(&with_agent, &ends("users_21.9")).to_string(), "agent_memory_a.0~users_21.9");
        assert_eq!(FeedCursor::end(&seen(&[]), &ends("shared.9")).to_string(), "all~shared.9");
        assert_eq!(FeedCursor::end(&seen(&[]), &ends("")).to_string(), "all");
    }
}
