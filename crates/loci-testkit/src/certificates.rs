//! Certificates for tests: a private authority, and certificates that it issues for names and addresses.
//!
//! They are built from their DER form, so that no program is needed and the dates are those of the test. Keys are P-256.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

/// A private authority.
pub struct Authority {
    key: EcdsaKeyPair,
    name: String,
    certificate: Vec<u8>,
}

/// A certificate with its key, as PEM.
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

/// When a certificate is valid.
#[derive(Debug, Clone, Copy)]
pub enum Validity {
    /// Until 2049.
    Now,
    /// Until 2001.
    Expired,
}

impl Authority {
    /// A new authority, valid until 2049.
    ///
    /// # Panics
    /// If the key cannot be made.
    pub fn new(name: &str) -> Self {
        let (key, _) = new_key();
        let extensions = sequence(&[&basic_constraints(true)]);
        let certificate = certificate(name, name, &key, &key, Validity::Now, &extensions);
        Self { key, name: name.to_owned(), certificate }
    }

    /// The certificate of the authority, as PEM.
    pub fn pem(&self) -> String {
        pem("CERTIFICATE", &self.certificate)
    }

    /// Writes the certificate of the authority to `ca.pem` in this folder.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("ca.pem");
        std::fs::write(&path, self.pem()).expect("to write the certificate");
        path
    }

    /// A certificate for these host names and addresses.
    ///
    /// # Panics
    /// If the key cannot be made.
    pub fn issue(&self, names: &[&str], validity: Validity) -> Issued {
        let (key, document) = new_key();
        let alternatives: Vec<Vec<u8>> = names
            .iter()
            .map(|name| match name.parse::<IpAddr>() {
                Ok(IpAddr::V4(address)) => tagged(0x87, &address.octets()),
                Ok(IpAddr::V6(address)) => tagged(0x87, &address.octets()),
                Err(_) => tagged(0x82, name.as_bytes()),
            })
            .collect();
        let alternatives = sequence(&alternatives.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let names_of = sequence(&[&oid(&[0x55, 0x1d, 0x11]), &tagged(0x04, &alternatives)]);
        let extensions = sequence(&[&basic_constraints(false), &names_of]);
        let issued = certificate(&self.name, "Loci test server", &self.key, &key, validity, &extensions);
        Issued { certificate: pem("CERTIFICATE", &issued), key: pem("PRIVATE KEY", &document) }
    }
}

impl Issued {
    /// Writes both to `server.pem` and `server.key` in this folder; only the owner may read the key. A file that exists is
    /// replaced at once.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> (PathBuf, PathBuf) {
        let write = |name: &str, text: &str| {
            let (path, new) = (folder.join(name), folder.join(format!("{name}.new")));
            std::fs::write(&new, text).expect("to write the file");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600)).expect("to set its mode");
            }
            std::fs::rename(&new, &path).expect("to put the file in its place");
            path
        };
        (write("server.pem", &self.certificate), write("server.key", &self.key))
    }
}

fn new_key() -> (EcdsaKeyPair, Vec<u8>) {
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).expect("a key");
    let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref()).expect("the key");
    (key, document.as_ref().to_vec())
}

fn certificate(
    issuer: &str,
    subject: &str,
    signer: &EcdsaKeyPair,
    key: &EcdsaKeyPair,
    validity: Validity,
    extensions: &[u8],
) -> Vec<u8> {
    // ecdsa-with-SHA256
    let algorithm = sequence(&[&oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])]);
    let (from, until) = match validity {
        Validity::Now => ("200101000000Z", "491231000000Z"),
        Validity::Expired => ("000101000000Z", "010101000000Z"),
    };
    let validity = sequence(&[&tagged(0x17, from.as_bytes()), &tagged(0x17, until.as_bytes())]);
    // id-ecPublicKey, prime256v1
    let sort = sequence(&[
        &oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]),
        &oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]),
    ]);
    let public = sequence(&[&sort, &bits(key.public_key().as_ref())]);
    // The serial number begins with a byte below 0x80, so that it is positive.
    let mut serial = [0; 9];
    aws_lc_rs::rand::fill(&mut serial[1..]).expect("a random number");
    serial[0] = 1;
    let body = sequence(&[
        &tagged(0xa0, &tagged(0x02, &[2])),
        &tagged(0x02, &serial),
        &algorithm,
        &distinguished_name(issuer),
        &validity,
        &distinguished_name(subject),
        &public,
        &tagged(0xa3, extensions),
    ]);
    let signature = signer.sign(&SystemRandom::new(), &body).expect("a signature");
    sequence(&[&body, &algorithm, &bits(signature.as_ref())])
}

fn basic_constraints(authority: bool) -> Vec<u8> {
    let value = if authority { sequence(&[&tagged(0x01, &[0xff])]) } else { sequence(&[]) };
    sequence(&[&oid(&[0x55, 0x1d, 0x13]), &tagged(0x01, &[0xff]), &tagged(0x04, &value)])
}

fn distinguished_name(name: &str) -> Vec<u8> {
    let common = sequence(&[&oid(&[0x55, 0x04, 0x03]), &tagged(0x0c, name.as_bytes())]);
    sequence(&[&tagged(0x31, &common)])
}

fn oid(bytes: &[u8]) -> Vec<u8> {
    tagged(0x06, bytes)
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    tagged(0x03, &[&[0], bytes].concat())
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(0x30, &parts.concat())
}

/// A value of DER: its tag, its length and its content.
fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short value").to_be_bytes();
    let mut value = vec![tag];
    match (length, content.len()) {
        ([_, short], ..128) => value.push(short),
        ([0, byte], _) => value.extend([0x81, byte]),
        (bytes, _) => value.extend([0x82, bytes[0], bytes[1]]),
    }
    value.extend_from_slice(content);
    value
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = data_encoding::BASE64.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    for start in (0..text.len()).step_by(64) {
        pem.push_str(&text[start..text.len().min(start + 64)]);
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}
