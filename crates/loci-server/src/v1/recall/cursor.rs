//! The cursor of a ranked list.
//!
//! An offset would not do: a page deeper in the list is ranked among more candidates, and what the page before returned
//! has been counted as used, so that the order may differ a little from page to page. The cursor therefore holds the
//! ids that earlier pages returned: pages never repeat a memory and skip none.

use data_encoding::BASE64URL_NOPAD;
use loci_types::MemoryId;
use uuid::Uuid;

use crate::failure::Failure;
use crate::v1::page::bad_cursor;

/// What every cursor of a ranked list begins with.
const MARK: &[u8] = b"ranked:";
/// Bytes of an id.
const ID: usize = 16;

/// The pages of a question that were read so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cursor(Vec<MemoryId>);

impl Cursor {
    /// Parses a cursor of an earlier answer. Without one it is the first page.
    pub(crate) fn read(given: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = given else { return Ok(Self::default()) };
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| bad_cursor())?;
        let ids = bytes.strip_prefix(MARK).filter(|ids| !ids.is_empty()).ok_or_else(bad_cursor)?;
        let (ids, []) = ids.as_chunks::<ID>() else { return Err(bad_cursor()) };
        Ok(Self(ids.iter().map(|id| MemoryId(Uuid::from_bytes(*id))).collect()))
    }

    /// Whether the first page is asked for.
    pub(crate) fn is_first(&self) -> bool {
        self.0.is_empty()
    }

    /// The ids that earlier pages returned.
    pub(crate) fn returned(&self) -> &[MemoryId] {
        &self.0
    }

    /// The cursor behind this page, if there is more.
    pub(crate) fn next(&self, more: bool, page: impl Iterator<Item = MemoryId>) -> Option<String> {
        let ids = self.0.iter().copied().chain(page).flat_map(|id| id.0.into_bytes());
        more.then(|| BASE64URL_NOPAD.encode(&MARK.iter().copied().chain(ids).collect::<Vec<u8>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_grows_by_what_each_page_returned() {
        let id = |number: u128| MemoryId(Uuid::from_u128(number));
        let first = Cursor::read(None).unwrap();
        assert!(first.is_first() && first.next(false, [id(1)].into_iter()).is_none());
        let second = Cursor::read(first.next(true, [id(1), id(2)].into_iter()).as_deref()).unwrap();
        assert_eq!((second.is_first(), second.returned()), (false, &[id(1), id(2)][..]));
        let third = Cursor::read(second.next(true, [id(3)].into_iter()).as_deref()).unwrap();
        assert_eq!(third.returned(), [id(1), id(2), id(3)]);
        let half = BASE64URL_NOPAD.encode(b"ranked:half an id");
        for wrong in ["", "x", "b2Zmc2V0OjE", &BASE64URL_NOPAD.encode(MARK), &half] {
            let failure = Cursor::read(Some(wrong)).unwrap_err();
            assert_eq!(failure.problem().details["field"], "cursor", "{wrong}");
        }
    }
}
