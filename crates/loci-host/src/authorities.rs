//! Certificate authorities of the services that Loci calls.

use std::path::Path;

use loci_types::{Error, ErrorKind};

/// The contents of a file of certificates in PEM form, which the setting `field` names; `None` if it names none.
pub fn read(field: &'static str, file: Option<&Path>) -> Result<Option<Vec<u8>>, Error> {
    let Some(file) = file else { return Ok(None) };
    let wrong = |problem: String| {
        Error::new(ErrorKind::Configuration, format!("{field} {}: {problem}", file.display()))
            .at(field)
            .hint("name a file with the certificates of the authorities, in PEM form")
    };
    let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let marker = b"-----BEGIN CERTIFICATE-----";
    match pem.windows(marker.len()).any(|window| window == marker) {
        true => Ok(Some(pem)),
        false => Err(wrong("it holds no certificate in PEM form".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused_by_its_setting() {
        assert_eq!(read("llm.ca_file", None).unwrap(), None);
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/nowhere/ca.pem")] {
            let error = read("llm.ca_file", Some(path)).unwrap_err();
            assert_eq!(error.field(), Some("llm.ca_file"));
        }
        std::fs::write(file.path(), "-----BEGIN CERTIFICATE-----\n").unwrap();
        assert!(read("llm.ca_file", Some(file.path())).unwrap().is_some());
    }
}
