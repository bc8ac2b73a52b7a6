//! The built files of the console. Written by the build of `console/`; do not edit.

/// The page.
pub(super) const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index.html"));

/// The files that the page loads, by name.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("curve-BsAsr5H5.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-BsAsr5H5.js"))),
    ("curve-CnsZ1jie.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-CnsZ1jie.css"))),
    ("entities-Dc9RutyK.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/entities-Dc9RutyK.js"))),
    ("graph-CTH8vPAP.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/graph-CTH8vPAP.js"))),
    ("icon-U0XPGTrQ.svg", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/icon-U0XPGTrQ.svg"))),
    ("index-CzuYvMqH.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-CzuYvMqH.js"))),
    ("index-eTEhggZx.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-eTEhggZx.css"))),
    ("run-BQHS-hlI.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/run-BQHS-hlI.js"))),
    ("sessions-w5XTXZdU.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/sessions-w5XTXZdU.js"))),
    ("text-C62XtNVW.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/text-C62XtNVW.js"))),
    ("timeline-Cv4YhR2D.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/timeline-Cv4YhR2D.js"))),
];
