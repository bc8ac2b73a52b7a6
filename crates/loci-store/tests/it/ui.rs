//! What must not compile?

#[test]
fn a_read_without_a_visible_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
