//! Tests of redaction: texts that match, texts that must not match, and properties that hold for all texts.

use proptest::prelude::*;

use super::*;

fn redactor(mask: &[&str], refuse: &[&str], patterns: &[(&str, &str)]) -> Redactor {
    Redactor::new(&rules(mask, refuse, patterns)).unwrap()
}

fn rules(mask: &[&str], refuse: &[&str], patterns: &[(&str, &str)]) -> Redaction {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let pattern = |(name, regex): &(&str, &str)| RedactionPattern { name: (*name).into(), regex: (*regex).into() };
    Redaction { mask: names(mask), refuse: names(refuse), patterns: patterns.iter().map(pattern).collect() }
}

fn everything() -> Redactor {
    redactor(&["secret", "card", "iban", "email", "phone"], &[], &[])
}

fn masked(redactor: &Redactor, text: &str) -> String {
    redactor.masked(text, DetectorFilter::Masked).map_or_else(|| text.to_owned(), |(masked, _)| masked)
}

/// Each text with what becomes of it. Keys are put together here so that no scanner of sources takes
/// them for real ones.
fn check(sort: &str, cases: &[(&str, &str)]) {
    let redactor = redactor(&[sort], &[], &[]);
    for (text, expect) in cases {
        let text = text.replace('¦', "");
        assert_eq!(masked(&redactor, &text), *expect, "{text}");
        assert_eq!(masked(&redactor, expect), *expect, "{text}");
    }
}

fn unchanged(sort: &str, cases: &[&str]) {
    let redactor = redactor(&[sort], &[], &[]);
    for text in cases {
        assert_eq!(masked(&redactor, text), *text);
    }
}

#[test]
fn keys_are_known_by_their_beginning() {
    check(
        "secret",
        &[
            ("the key is AK¦IAIOSFODNN7EXAMPLE.", "the key is [secret]."),
            ("use gh¦p_0123456789abcdefghijABCDEFGHIJ012345 there", "use [secret] there"),
            ("gith¦ub_pat_11ABCDEFG0abcdefghijkl_mnop", "[secret]"),
            ("glp¦at-abcdefghij0123456789", "[secret]"),
            ("slack xo¦xb-123456789012-abcdefGHIJ", "slack [secret]"),
            ("s¦k-abcdefghijklmnop0123456789", "[secret]"),
            ("(s¦k-ant-api03-abcdefghij0123456789_xyz)", "([secret])"),
            ("s¦k-proj-abcdefghij0123456789", "[secret]"),
            ("AI¦zaSyA0123456789abcdefghijklmnopqrstuv", "[secret]"),
            ("s¦k_live_0123456789abcdef", "[secret]"),
            ("npm¦_0123456789abcdefghijABCDEFGHIJ012345", "[secret]"),
            ("lo¦ci_abcdefghij234567_abcdefghijklmnopqrstuvwxyz234567 is mine", "[secret] is mine"),
            ("ключ AK¦IAIOSFODNN7EXAMPLE", "ключ [secret]"),
            ("ey¦JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123", "[secret]"),
            ("-----BEGIN RSA PRIV¦ATE KEY-----\nMIIE\nabc=\n-----END RSA PRIV¦ATE KEY----- tail", "[secret] tail"),
            ("-----BEGIN PRIV¦ATE KEY-----\nMIIE cut off", "[secret]"),
        ],
    );
    unchanged(
        "secret",
        &[
            "sk-folding-cube-container-wrapper is a class",
            "AKIA is a prefix",
            "the task-force-of-the-northern-region met",
            "ghp_short",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "loci_types::Memory is a record",
            "eyJ is how it starts",
        ],
    );
}

#[test]
fn what_is_assigned_to_a_secret_name_is_secret() {
    check(
        "secret",
        &[
            ("password=hunter2", "password=[secret]"),
            ("Password: swordfish.", "Password: [secret]."),
            ("password = \"correct horse battery\"", "password = \"[secret]\""),
            ("DB_PASSWORD='s3cr3t'; next", "DB_PASSWORD='[secret]'; next"),
            ("{\"api_key\": \"abc123def\"}", "{\"api_key\": \"[secret]\"}"),
            ("token: x7KqP0", "token: [secret]"),
            ("https://h.example/?token=abcdef", "https://h.example/?token=[secret]"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[secret]"),
            ("postgres://ana:pa55@db.example/x", "postgres://ana:[secret]@db.example/x"),
            ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [secret]"),
            ("the password is hunter2, do not tell", "the password is [secret], do not tell"),
            ("пароль: собака7", "пароль: [secret]"),
            ("password=[hunter2]", "password=[secret]]"),
        ],
    );
    unchanged(
        "secret",
        &[
            "the secret: patience",
            "a token: something small",
            "max_tokens=512 and tokens: 500",
            "password: required",
            "fn login(password: String, token: Option<String>)",
            "password: str",
            "token = get_token()",
            "password=$DB_PASSWORD and password=${DB_PASSWORD}",
            "password=<your password>",
            "password: ********",
            "the password is wrong",
            "Basic responsibilities of the team",
            "password=[secret]",
        ],
    );
}

#[test]
fn a_long_list_of_numbers_is_gone_through_once() {
    // With every pair of ends looked at this would not end within the life of the machine.
    for list in ["1 ".repeat(100_000), "4111-".repeat(50_000), "1".repeat(200_000)] {
        assert!(number::cards(&list).is_empty());
    }
}

#[test]
fn cards_pass_their_checksum() {
    check(
        "card",
        &[
            ("card 4111111111111111", "card [card]"),
            ("4111 1111 1111 1111.", "[card]."),
            ("4111-1111-1111-1111", "[card]"),
            ("3782 822463 10005", "[card]"),
            ("on 2024-05-06 4111 1111 1111 1111 was used", "on 2024-05-06 [card] was used"),
            ("5555555555554444, 6011111111111117", "[card], [card]"),
            ("MIR 2200 0000 0000 0004", "MIR [card]"),
            ("visa:4222222222222", "visa:[card]"),
        ],
    );
    unchanged(
        "card",
        &[
            "4111111111111112",
            "0.4111111111111111",
            "1700000000000000",
            "0000 0000 0000 0000",
            "id_4111111111111111",
            "abc4111111111111111def",
            "550e8400-e29b-41d4-a716-446655440000",
            "2026-06-01 12:00:00.123456",
            "[card]",
        ],
    );
}

#[test]
fn account_numbers_pass_theirs() {
    check(
        "iban",
        &[
            ("DE89370400440532013000", "[iban]"),
            ("IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [iban] please"),
            ("GB29 NWBK 6016 1331 9268 19, thanks", "[iban], thanks"),
            ("fr1420041010050500013m02606", "[iban]"),
            ("NO9386011117947", "[iban]"),
        ],
    );
    unchanged("iban", &["DE89370400440532013001", "DE89 3704", "ZZ89370400440532013000", "XDE89370400440532013000"]);
}

#[test]
fn addresses_and_numbers_of_people() {
    check(
        "email",
        &[
            ("write to ana.b+x@mail.example.com.", "write to [email]."),
            ("<ana@example.org>", "<[email]>"),
            ("ана@пример.рф", "[email]"),
        ],
    );
    unchanged("email", &["@ana said", "ana@localhost", "package@1.2.3", "logo@2x.png", "a @ b.c", "[email]"]);
    check(
        "phone",
        &[
            ("call +49 30 123456 now", "call [phone] now"),
            ("+14155552671", "[phone]"),
            ("+1 (415) 555-2671.", "[phone]."),
            ("tel:+7 916 123-45-67", "tel:[phone]"),
            ("(415) 555-2671", "[phone]"),
            ("415-555-2671", "[phone]"),
            ("1-415-555-2671", "[phone]"),
            ("030 1234 5678", "[phone]"),
            ("06 12 34 56 78", "[phone]"),
            ("8 (916) 123-45-67", "[phone]"),
            ("8-800-555-35-35", "[phone]"),
            ("0049 30 1234567", "[phone]"),
        ],
    );
    unchanged(
        "phone",
        &[
            "2026-06-01",
            "01.06.2026 12",
            "2026-06-01T12:00:00+02:00",
            "2026-06-01 12:00:00",
            "01.06.2026 12:30",
            "20260601120000",
            "version 10.15.7.2031",
            "192.168.100.200",
            "order 0412-556-889",
            "ORD-2024-123456789",
            "ORD-0415-555-2671",
            "112-3456789-1234567",
            "550e8400-e29b-41d4-a716-446655440000",
            "1234567890",
            "1 000 000 000",
            "ISBN 978-3-16-148410-0",
            "#0415-555-2671",
            "3.14159265358",
            "[phone]",
        ],
    );
}

#[test]
fn several_sorts_in_one_text() {
    let found = everything().masked("ana@example.org paid 4111111111111111, password=hunter2", DetectorFilter::Masked);
    let (text, names) = found.unwrap();
    assert_eq!(text, "[email] paid [card], password=[secret]");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["card", "email", "secret"]);
    // Where two sorts overlap there is one mask.
    assert_eq!(masked(&everything(), "password: 4111111111111111"), "password: [secret]");
    assert_eq!(masked(&everything(), "ftp://ana:x1@example.org"), "ftp://ana:[secret]");
}

#[test]
fn own_patterns_have_their_names_and_wrong_ones_are_refused() {
    let own = redactor(&["badge"], &[], &[("badge", "B-[0-9]{4}")]);
    assert_eq!(masked(&own, "badge B-1234 of 4111111111111111"), "badge [badge] of 4111111111111111");
    for (rules, field, expected) in [
        (rules(&["bagde"], &[], &[]), "redaction.mask", "bagde"),
        (rules(&[], &["x"], &[]), "redaction.refuse", "`x`"),
        (rules(&["a"], &[], &[("a", "(")]), "redaction.patterns", "`a`"),
        (rules(&["a"], &[], &[("a", "x*")]), "redaction.patterns", "empty string"),
        (rules(&["A b"], &[], &[("A b", "x")]), "redaction.patterns", "`A b`"),
        (rules(&[], &[], &[("a", "x")]), "redaction.patterns", "neither masked nor refused"),
    ] {
        let error = rules.validate().unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Configuration, Some(field)));
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(Redaction::default().validate(), Ok(()));
}

#[test]
fn what_is_refused_is_named_and_never_repeated() {
    let strict = redactor(&["secret"], &["card"], &[]);
    let mut text = "password=hunter2 and 4111111111111111".to_owned();
    let error = Pass::strict(&strict).text("content", &mut text).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidInput, Some("content")));
    assert!(error.to_string().contains("`card`") && !error.to_string().contains("4111"), "{error}");
    // The house itself is not refused, but keeps to it.
    Pass::quiet(&strict).text("content", &mut text).unwrap();
    assert_eq!(text, "password=[secret] and [card]");
}

#[test]
fn metadata_is_looked_through_to_the_bottom() {
    let redactor = everything();
    let mut new: crate::NewMemory = serde_json::from_value(serde_json::json!({
        "content": "x",
        "metadata": {
            "password": "hunter", "who": ["ana@example.org", { "deep": "+14155552671" }],
            "a@example.org": 1, "b@example.org": 2, "token": "none", "count": 4111111111111111_u64,
        },
    }))
    .unwrap();
    let mut pass = Pass::strict(&redactor);
    pass.new_memory(&mut new).unwrap();
    let expect = serde_json::json!({
        "password": "[secret]", "who": ["[email]", { "deep": "[phone]" }],
        "[email]": 1, "[email] 2": 2, "token": "none", "count": 4111111111111111_u64,
    });
    assert_eq!(serde_json::json!(new.metadata), expect);
    assert_eq!(pass.found(), ["email", "phone", "secret"]);
    Pass::strict(&redactor).new_memory(&mut new).unwrap();
    assert_eq!(serde_json::json!(new.metadata), expect);
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => any::<String>(),
        3 => "[0-9 .()/+-]{1,30}",
        2 => "(password|token|пароль)[=: ]{1,2}[a-z0-9\\[\\].]{1,12}",
        2 => "[a-z]{1,5}@[a-z]{1,5}\\.[a-z]{1,3}",
        1 => "\\[(secret|card|phone|word|email)\\]?",
        1 => Just("4111 1111 1111 1111".to_owned()),
        1 => Just("DE89 3704 0044 0532 0130 00".to_owned()),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    // Coverage: SPEC-5.4.
    #[test]
    fn masking_twice_is_masking_once(text in text()) {
        let own = [("word", "[a-z]{4}"), ("tail", r"\][a-z]"), ("any", r"(?s)^.{30}.*$")];
        for redactor in [
            everything(),
            redactor(&["secret", "word", "tail"], &[], &own[..2]),
            redactor(&["any", "phone", "tail"], &[], &own[1..]),
        ] {
            let once = masked(&redactor, &text);
            prop_assert_eq!(masked(&redactor, &once), once);
        }
    }
}
