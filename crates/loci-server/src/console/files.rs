//! The built files of the console. Written by the build of `console/`; do not edit.

/// The page.
pub(super) const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index.html"));

/// The files that the page loads, by name.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("curve-CnsZ1jie.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-CnsZ1jie.css"))),
    ("curve-DhCTt6ym.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-DhCTt6ym.js"))),
    ("entities-CLJ-f-Y4.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/entities-CLJ-f-Y4.js"))),
    ("graph-DwxXdwYs.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/graph-DwxXdwYs.js"))),
    ("icon-U0XPGTrQ.svg", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/icon-U0XPGTrQ.svg"))),
    ("index-Bb1pWJu3.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-Bb1pWJu3.js"))),
    ("index-eTEhggZx.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-eTEhggZx.css"))),
    ("run-D82iYhzS.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/run-D82iYhzS.js"))),
    ("sessions--5Og49Pq.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/sessions--5Og49Pq.js"))),
    ("text-C62XtNVW.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/text-C62XtNVW.js"))),
    ("timeline-DXcgqrS6.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/timeline-DXcgqrS6.js"))),
];
