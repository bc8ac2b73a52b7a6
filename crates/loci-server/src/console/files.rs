//! The built files of the console. Written by the build of `console/`; do not edit.

/// The page.
pub(super) const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index.html"));

/// The files that the page loads, by name.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("curve-CnsZ1jie.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-CnsZ1jie.css"))),
    ("curve-DLzDxahi.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-DLzDxahi.js"))),
    ("entities-CRCtsfXp.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/entities-CRCtsfXp.js"))),
    ("graph-DW8ZiMuy.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/graph-DW8ZiMuy.js"))),
    ("icon-U0XPGTrQ.svg", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/icon-U0XPGTrQ.svg"))),
    ("index-CapDLSDl.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-CapDLSDl.js"))),
    ("index-eTEhggZx.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-eTEhggZx.css"))),
    ("run-CIj30zeM.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/run-CIj30zeM.js"))),
    ("sessions-q9qnT9Hy.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/sessions-q9qnT9Hy.js"))),
    ("text-C62XtNVW.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/text-C62XtNVW.js"))),
    ("timeline-CTsqIlht.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/timeline-CTsqIlht.js"))),
];
