//! The key of this machine: a file in the data folder that `loci serve --with-key` writes and `loci --server` reads.
//!
//! Whoever may read the file may read the data folder too, so the key opens nothing to its reader that was closed before.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use anyhow::{Context as _, Result};
use loci_engine::{Caller, Engine, NewKey};
use loci_types::{Grant, Tenant};

/// The name of the file in the data folder.
const FILE: &str = "local.key";

/// What the key is for.
const NAME: &str = "local (loci serve --with-key)";

/// Makes the key unless the file has one that counts.
pub(crate) async fn provide(engine: &Engine, data: &Path) -> Result<()> {
    if let Some(key) = read(data)
        && engine.authenticate(&key).await?.is_some()
    {
        return Ok(());
    }
    let new = NewKey { name: NAME.to_owned(), grant: Grant::whole(Tenant::default()), expires_at: None };
    let made = engine.create_key(&Caller::operator(), new).await?;
    let path = data.join(FILE);
    write(&path, &made.secret).with_context(|| path.display().to_string())
}

/// Notes the address that the server has bound, behind the key: the key is sent nowhere else.
pub(crate) fn note_address(data: &Path, address: SocketAddr) -> Result<()> {
    let path = data.join(FILE);
    let Some(key) = read(data) else { return Ok(()) };
    write(&path, &format!("{key}\n{address}")).with_context(|| path.display().to_string())
}

/// The key of the folder, if it has one.
fn read(data: &Path) -> Option<String> {
    let text = std::fs::read_to_string(data.join(FILE)).ok()?;
    text.lines().next().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
}

/// The key for the server at a URL, if it is the address that the server of this folder has bound. A host name such as
/// `localhost` gets none, because it may lead to another program.
pub(crate) fn for_server(url: &str, data: &Path) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).parse::<IpAddr>().ok()?;
    let text = std::fs::read_to_string(data.join(FILE)).ok()?;
    let address = text.lines().nth(1)?.trim().parse::<SocketAddr>().ok()?;
    let same = host.is_loopback() && address == SocketAddr::new(host, url.port_or_known_default()?);
    if same { read(data) } else { None }
}

/// Writes a file that only its owner may read. It takes the place of an older one at once.
fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    drop(std::fs::remove_file(&new));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_for_its_owner_and_for_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(for_server("http://127.0.0.1:7077", folder.path()), None);
        write(&folder.path().join(FILE), "first").unwrap();
        write(&folder.path().join(FILE), "loci_a_b").unwrap();
        assert_eq!(for_server("http://127.0.0.1:7077", folder.path()), None, "no server has bound an address");
        note_address(folder.path(), "127.0.0.1:7077".parse().unwrap()).unwrap();
        for here in ["http://127.0.0.1:7077", "https://127.0.0.1:7077/"] {
            assert_eq!(for_server(here, folder.path()).as_deref(), Some("loci_a_b"), "{here}");
        }
        // Another program may have bound these.
        for elsewhere in [
            "http://127.0.0.1:1",
            "http://[::1]:7077",
            "http://localhost:7077",
            "http://127.0.0.1.example.com:7077",
            "nonsense",
        ] {
            assert_eq!(for_server(elsewhere, folder.path()), None, "{elsewhere}");
        }
        #[cfg(unix)]
        {
            let mode = std::fs::metadata(folder.path().join(FILE)).unwrap();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
        }
    }
}
