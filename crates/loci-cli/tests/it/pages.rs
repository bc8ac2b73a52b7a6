//! Do the examples on our pages work as they stand?

use std::process::Command;

use crate::run::Home;
use crate::serve::Server;

/// The fenced blocks of shell on a page.
fn blocks(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_examples_of_http_run() {
    let home = Home::new();
    let id = home.remember(&["Ana likes plain words", "--user", "ana"]);
    let server = Server::start(&home);
    let mut blocks = blocks("docs/http.md");
    assert!(blocks.len() >= 8, "the page lost its examples");
    for page in ["README.md", "docs/concepts.md", "docs/admin.md"] {
        blocks.extend(self::blocks(page).into_iter().filter(|block| block.contains("curl")));
    }
    for block in blocks {
        // Whatever is not a success ends the block.
        let script = format!(
            "set -euo pipefail\ncurl() {{ command curl --silent --show-error --fail-with-body \"$@\"; }}\n{}",
            block.replace("http://127.0.0.1:7077", &format!("http://{}", server.address()))
        );
        let run = Command::new("bash").args(["-c", &script]).env("ID", &id).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{block}\n{said}\n{}", String::from_utf8_lossy(&run.stderr));
    }
    server.stop();
}
