//! The HTTP client of model services and of the command line: its certificate authorities, and why a connection failed.

use reqwest::{Certificate, Client, ClientBuilder};

/// A client that trusts these certificate authorities (PEM) and no others, or those of the system.
///
/// The error says what is wrong with the authorities.
pub fn client_builder(authorities: Option<&[u8]>) -> Result<ClientBuilder, String> {
    let builder = Client::builder();
    let Some(pem) = authorities else { return Ok(builder) };
    let certificates = Certificate::from_pem_bundle(pem).map_err(|error| error.to_string())?;
    match certificates.is_empty() {
        true => Err("the file holds no certificate in PEM form".to_owned()),
        false => Ok(builder.tls_certs_only(certificates)),
    }
}

/// The innermost cause of a network error, in plain words where TLS is the reason. It names no address.
pub fn cause_of(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let cause = cause.to_string();
    match cause.contains("InvalidContentType") {
        true => "TLS was asked for by https://, but the server answers in clear text".to_owned(),
        false => cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_must_be_certificates() {
        assert!(client_builder(None).is_ok());
        assert!(client_builder(Some(b"")).unwrap_err().contains("no certificate"));
        assert!(client_builder(Some(b"nothing")).is_err());
    }
}
