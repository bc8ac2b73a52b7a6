//! Reads the credential of a request from its headers.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use crate::failure::Failure;

/// Maximum length of a credential, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The credential of `Authorization: Bearer`, `Authorization: Token` or `X-API-Key`. A malformed one is an error, never
/// treated as absent.
pub(super) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let unreadable = || Failure::unknown_caller("malformed credential", "send exactly one `Authorization: Bearer KEY`");
    let named = headers.get_all(AUTHORIZATION).iter().chain(headers.get_all("x-api-key").iter());
    let mut found = None;
    for value in named {
        let text = value.to_str().map_err(|_| unreadable())?;
        let shown = match text.split_once(' ') {
            Some((sort, shown)) if sort.eq_ignore_ascii_case("bearer") || sort.eq_ignore_ascii_case("token") => shown,
            Some(_) => return Err(unreadable()),
            None => text,
        };
        let shown = shown.trim();
        let again = found.is_some_and(|first| first != shown);
        if shown.is_empty() || shown.len() > MAX_BYTES || again {
            return Err(unreadable());
        }
        found = Some(shown);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn credentials_are_found_where_clients_put_them() {
        let check = |given: &[(&str, &str)], expect: Result<Option<&str>, ()>| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(bearer(&headers).map_err(drop), expect, "{given:?}");
        };
        check(&[], Ok(None));
        check(&[("authorization", "Bearer abc")], Ok(Some("abc")));
        check(&[("authorization", "bearer  abc ")], Ok(Some("abc")));
        check(&[("authorization", "Token abc")], Ok(Some("abc")));
        check(&[("x-api-key", "abc")], Ok(Some("abc")));
        check(&[("authorization", "Bearer abc"), ("x-api-key", "abc")], Ok(Some("abc")));
        check(&[("authorization", "Bearer abc"), ("x-api-key", "other")], Err(()));
        check(&[("authorization", "Basic YTpi")], Err(()));
        check(&[("authorization", "Bearer ")], Err(()));
        check(&[("authorization", "")], Err(()));
        check(&[("authorization", &format!("Bearer {}", "a".repeat(20_000)))], Err(()));
    }
}
