//! The built files of the console. Written by the build of `console/`; do not edit.

/// The page.
pub(super) const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index.html"));

/// The files that the page loads, by name.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("curve-CnsZ1jie.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-CnsZ1jie.css"))),
    ("curve-u20ydGIZ.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/curve-u20ydGIZ.js"))),
    ("entities-KSkoaWvZ.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/entities-KSkoaWvZ.js"))),
    ("graph-CksECUCH.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/graph-CksECUCH.js"))),
    ("icon-U0XPGTrQ.svg", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/icon-U0XPGTrQ.svg"))),
    ("index-CmCTAL9f.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-CmCTAL9f.js"))),
    ("index-DB15fu9Z.css", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/index-DB15fu9Z.css"))),
    ("run-D9NoQJHo.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/run-D9NoQJHo.js"))),
    ("sessions-vV3kNO5r.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/sessions-vV3kNO5r.js"))),
    ("text-C62XtNVW.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/text-C62XtNVW.js"))),
    ("timeline-IeUJo7ah.js", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/dist/timeline-IeUJo7ah.js"))),
];
