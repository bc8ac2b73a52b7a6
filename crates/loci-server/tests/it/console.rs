//! The console: its page and files are public, the same for everyone, and may load nothing from elsewhere.

use crate::server::{Answer, TestServer, answer};

/// The names of the files that the page loads.
fn files_of(page: &str) -> Vec<String> {
    let parts = page.split("/console/").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

// Coverage: SPEC-8.7.
#[tokio::test]
async fn the_console_is_open_to_all_and_loads_nothing_from_elsewhere() {
    let server = TestServer::guarded().await;
    let open = server.without_key();
    let page = open.get("/console").await;
    assert_eq!((page.status, header(&page, "content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!(header(&page, "cache-control"), "no-store");
    let files = files_of(&page.text);
    assert!(files.iter().any(|name| name.ends_with(".js")) && files.iter().any(|name| name.ends_with(".css")));
    // Nothing in the page itself runs or styles: the policy would stop it.
    for inside in ["http://", "https://", "<style", "style=", "onload=", "<script>"] {
        assert!(!page.text.contains(inside), "{inside}");
    }
    let mut answers = vec![page];
    for name in files {
        let file = open.get(&format!("/console/{name}")).await;
        assert_eq!(
            (file.status, header(&file, "cache-control")),
            (200, "public, max-age=31536000, immutable"),
            "{name}"
        );
        let kind = match name.rsplit_once('.').unwrap().1 {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(header(&file, "content-type"), kind, "{name}");
        answers.push(file);
    }
    for answer in answers {
        let policy = header(&answer, "content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"));
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        assert_eq!(header(&answer, "referrer-policy"), "no-referrer");
    }
}

// Coverage: SPEC-8.7.
#[tokio::test]
async fn the_console_has_its_own_files_only_and_is_only_read() {
    let server = TestServer::guarded().await;
    let open = server.without_key();
    for unknown in ["index.html", "..%2Ffiles.rs", "%2e%2e", "package.json", "a/b"] {
        let status = open.get(&format!("/console/{unknown}")).await.status;
        assert!(matches!(status, 401 | 404), "{unknown}: {status}");
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        assert_eq!(answer(server.anonymous(method, "/console")).await.status, 401, "{method}");
        assert_eq!(answer(server.request(method, "/console")).await.status, 405, "{method}");
    }
}

// Coverage: SPEC-8.7.
/// A page of another site that found the name of this machine must not read the console, nor what it could ask.
#[tokio::test]
async fn the_console_is_guarded_like_other_routes() {
    let server = TestServer::open().await;
    assert_eq!(answer(server.request("GET", "/console")).await.status, 200);
    answer(server.request("GET", "/console").header("host", "evil.example")).await.refused(403, "Host");
    answer(server.request("GET", "/console").header("origin", "https://evil.example")).await.refused(403, "Origin");
}
