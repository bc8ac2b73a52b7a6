//! Pages: the one shape of every list.
//!
//! A list answers `{"data": […], "nextCursor": …}` and takes `limit` and `cursor`. A cursor is opaque to callers and
//! belongs to the list, the scope and the filter that it came from.

use data_encoding::BASE64URL_NOPAD;
use loci_types::ErrorKind;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::failure::Failure;

/// Number of entries of a page if the caller gives none.
const DEFAULT_LIMIT: usize = 50;
/// Maximum number of entries of a page.
pub(crate) const MAX_LIMIT: usize = 1_000;

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    /// The entries of this page, in the order of the list.
    pub(crate) data: Vec<T>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The same page of other entries.
    pub(crate) fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { data: self.data.into_iter().map(change).collect(), next_cursor: self.next_cursor }
    }
}

/// The part of a list that is asked for, as query parameters.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct PageParams {
    /// Maximum number of entries of the page.
    #[param(nullable = false, minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
    /// Where the page starts: `nextCursor` of the page before. Default: the first page.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// The part of a list that is asked for, checked.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    /// Maximum number of entries, 1 to [`MAX_LIMIT`].
    pub(crate) limit: usize,
    /// The cursor as it was given out.
    pub(crate) cursor: Option<String>,
}

impl PageRequest {
    /// Checks the parameters of a page.
    pub(crate) fn new(params: PageParams) -> Result<Self, Failure> {
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let message = format!("limit is {limit}, but must be between 1 and {MAX_LIMIT}");
            return Err(Failure::new(ErrorKind::InvalidInput, message, "read the request").field("limit"));
        }
        Ok(Self { limit, cursor: params.cursor })
    }

    /// The part of a list that a body asks for, checked.
    pub(crate) fn of(limit: Option<usize>, cursor: Option<String>) -> Result<Self, Failure> {
        Self::new(PageParams { limit, cursor })
    }

    /// The number of entries before the page, for lists whose cursor is an offset.
    pub(crate) fn offset(&self) -> Result<usize, Failure> {
        let Some(cursor) = &self.cursor else { return Ok(0) };
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.and_then(|text| text.strip_prefix("offset:")?.parse().ok()).ok_or_else(bad_cursor)
    }

    /// The page of entries that were read from [`PageRequest::offset`] on, up to `limit + 1` of them:
    /// the last one only shows that there is another page.
    pub(crate) fn read<T>(&self, mut data: Vec<T>) -> Result<Page<T>, Failure> {
        let more = data.len() > self.limit;
        data.truncate(self.limit);
        let next = self.offset()?.saturating_add(data.len());
        let next_cursor = more.then(|| BASE64URL_NOPAD.encode(format!("offset:{next}").as_bytes()));
        Ok(Page { data, next_cursor })
    }

    /// The page of a list that is at hand as a whole.
    pub(crate) fn slice<T>(&self, all: Vec<T>) -> Result<Page<T>, Failure> {
        let from = self.offset()?;
        self.read(all.into_iter().skip(from).take(self.limit.saturating_add(1)).collect())
    }
}

/// The failure of a cursor that this list did not give out.
pub(crate) fn bad_cursor() -> Failure {
    Failure::new(ErrorKind::InvalidInput, "cursor is not one that this list gave out", "read the request")
        .field("cursor")
        .hint("send the nextCursor of the page before, or leave it out for the first page")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(limit: usize, cursor: Option<String>) -> PageRequest {
        PageRequest::new(PageParams { limit: Some(limit), cursor }).unwrap()
    }

    #[test]
    fn pages_join_to_the_whole_list() {
        for (length, limit) in [(0, 1), (1, 1), (5, 2), (6, 2), (7, 1000)] {
            let all: Vec<usize> = (0..length).collect();
            let (mut seen, mut cursor) = (Vec::new(), None);
            loop {
                let page = request(limit, cursor).slice(all.clone()).unwrap();
                assert!(page.data.len() <= limit && (page.next_cursor.is_none() || page.data.len() == limit));
                seen.extend(page.data);
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, all, "{length} by {limit}");
        }
    }

    #[test]
    fn bad_limits_and_cursors_are_named() {
        for (limit, cursor, field) in [(0, None, "limit"), (1001, None, "limit"), (1, Some("x"), "cursor")] {
            let params = PageParams { limit: Some(limit), cursor: cursor.map(str::to_owned) };
            let failure = PageRequest::new(params).and_then(|page| page.slice(vec![1])).unwrap_err();
            assert_eq!(failure.problem().details["field"], field);
        }
    }
}
