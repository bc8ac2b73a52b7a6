//! The command line and its server over HTTPS, with a certificate of a private authority.

use loci_testkit::certificates::{Authority, Validity};

use crate::run::Home;
use crate::serve::Server;

// doors H4
#[test]
fn commands_reach_a_server_over_https_if_they_know_its_authority() {
    let home = Home::local();
    let authority = Authority::new("Loci test");
    let ca = authority.write(home.path()).display().to_string();
    let (certificate, key) = authority.issue(&["localhost"], Validity::Now).write(home.path());
    let config = home.path().join("server.toml");
    let text = format!("[server]\ntls_cert = {certificate:?}\ntls_key = {key:?}\n");
    std::fs::write(&config, text).unwrap();
    let config = config.display().to_string();
    let mut command = home.command(&["--config", &config, "--json", "serve", "--listen=127.0.0.1:0"]);
    command.env_remove("LOCI_SERVER");
    let server = Server::run(command);
    // It says how it is reached.
    let port = server.address().strip_prefix("https://127.0.0.1:").unwrap().to_owned();
    let url = format!("https://localhost:{port}");
    assert_eq!(home.count(&["--server", &url, "--ca", &ca]), 0);
    let by_variable = Home::local().set("LOCI_SERVER", &url).set("LOCI_CA", &ca);
    assert_eq!(by_variable.count(&[]), 0);
    let check = |args: &[&str], expect: &str| {
        let run = home.run(&[args, &["--json", "list"]].concat());
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.err.contains(expect), "{expect}: {run:?}");
    };
    check(&["--server", &url], "--ca");
    check(&["--server", &format!("https://127.0.0.1:{port}"), "--ca", &ca], "not valid for name");
    check(&["--server", &format!("http://localhost:{port}")], "speaks HTTPS");
    check(&["--server", &url, "--ca", "/nowhere.pem"], "/nowhere.pem");
    server.kill();
    // And the other way round.
    let plain = Server::start(&home);
    check(&["--server", &format!("https://{}", plain.address()), "--ca", &ca], "clear text");
    plain.kill();
}
