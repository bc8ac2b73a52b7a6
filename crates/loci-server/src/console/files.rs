//! The built files of the console. Written by the build of `console/`; do not edit.

/// The page.
pub(super) const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index.html"));

/// The files that the page loads, by name.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("curve-1rU2Oawt.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-1rU2Oawt.js"))),
    ("curve-CnsZ1jie.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-CnsZ1jie.css"))),
    ("entities-BgvOHv-q.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/entities-BgvOHv-q.js"))),
    ("graph-B3_7Zv3e.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/graph-B3_7Zv3e.js"))),
    ("icon-U0XPGTrQ.svg", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/icon-U0XPGTrQ.svg"))),
    ("index-Lml2WMX6.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-Lml2WMX6.js"))),
    ("index-eTEhggZx.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-eTEhggZx.css"))),
    ("run-DPhxFqeu.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/run-DPhxFqeu.js"))),
    ("sessions-DV2uE2qh.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/sessions-DV2uE2qh.js"))),
    ("text-C62XtNVW.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/text-C62XtNVW.js"))),
    ("timeline-D2aXP9Oe.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/timeline-D2aXP9Oe.js"))),
];
