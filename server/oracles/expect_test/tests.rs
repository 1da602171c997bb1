use super::*;
use crate::fixture::Fixture;
use crate::oracles::origin::tests::project;
use crate::pins::{Extent, sites};
use expect_test::{Expect, expect};

fn pins(project: &Project) -> Vec<Pin> {
    let all = sites::sites(project, &Extent::All);
    let mine = all.iter().filter(|site| site.found.framework == "expect-test");
    mine.flat_map(|site| ExpectTest.pins(project, site)).collect()
}

fn shown(content: &Baseline) -> String {
    match content {
        Baseline::Present(Recorded { content: Content::Text(text), first_line, .. }) => {
            format!("{first_line} {text:?}")
        }
        Baseline::Missing => "missing".to_string(),
        other => format!("{other:?}"),
    }
}

/// Each pin of a package: its line, its test, where it is recorded and what.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(&format!("//- Cargo.toml\n[package]\nname = \"p\"\n{notation}"));
    let project = project(&fixture);
    let mut out = String::new();
    for pin in pins(&project) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let place = match (&pin.oracle.path, pin.oracle.kind) {
            (_, OracleKind::Inline) => "inline".to_string(),
            (Some(path), _) => path.to_string(),
            (None, _) => format!("one of {:?}", pin.oracle.candidates),
        };
        let why = pin.oracle.shown_only.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        out.push_str(&format!("{line} {} {place} {}{why}\n", pin.test, shown(&ExpectTest.baseline(&pin, &project))));
    }
    expected.assert_eq(&out);
}

#[test]
fn every_shape_is_found_where_it_stands() {
    check(
        r####"
//- tests/it.rs
use expect_test::{expect as pin, expect_file, Expect};
mod common;
fn check(input: &str, want: Expect) { want.assert_eq(input); }
macro_rules! through { ($a:expr, $b:expr) => { check($a, $b) }; }
#[test]
fn shapes() {
    pin!["one\ttab"].assert_eq("");
    pin![[r#"
        two
          lines
    "#]].assert_debug_eq(&2);
    expect_test::expect! { "curly" }.assert_eq("");
    pin![].assert_eq("");
    pin![[]].assert_eq("");
    check(
        "a",
        pin![["given"]],
    );
    through!("a", pin!["inside another"]);
    pin![
        "below"
    ].assert_eq("");
    other::expect!["not this crate's"].assert_eq("");
}
#[test]
fn files() {
    for name in ["a", "b"] {
        expect_file![format!("./data/{name}.txt")].assert_eq("");
    }
    expect_file!["../src/gone.txt"].assert_eq("");
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/a.txt")].assert_eq("");
    expect_file![unknown()].assert_eq("");
}
//- tests/data/a.txt
a
//- tests/data/b.txt
b
//- src/lib.rs
macro_rules! expect { ($x:expr) => { $x } }
#[test]
fn own_macro() { expect!["x"]; }
//- tests/common/mod.rs
"####,
        expect![[r#"
            7 it::shapes inline 7 "one\ttab"
            8 it::shapes inline 9 "two\n  lines\n"
            12 it::shapes inline 12 "curly"
            13 it::shapes inline 0 ""
            14 it::shapes inline 0 "" (expect-test cannot fill `expect![[]]`; write `expect![[""]]`, then accept)
            17 it::shapes inline 17 "given"
            19 it::shapes inline 19 "inside another"
            20 it::shapes inline 21 "below" (expect-test finds its literal only where it begins on the line of `expect!`; put it there, then accept)
            28 it::files tests/data/a.txt 1 "a\n"
            28 it::files tests/data/b.txt 1 "b\n"
            30 it::files src/gone.txt missing
            31 it::files tests/data/a.txt 1 "a\n"
            32 it::files one of [] missing
        "#]],
    );
}

#[test]
fn the_literal_loses_its_common_indentation() {
    let cases: &[(&str, &str)] = &[
        ("a\\n", "a\\n"),
        ("\n    a\n      b\n", "a\n  b\n"),
        ("\n\n    a\n  ", "\na\n"),
        ("    a\n    b", "a\nb"),
        ("\n    \n        a", "\na"),
        ("\n\u{a0}a\n b", "\u{a0}a\nb"),
        ("\n", ""),
    ];
    for (value, want) in cases {
        assert_eq!(literal::content(value), *want, "{value:?}");
    }
}

#[test]
fn a_value_is_written_as_the_updater_writes_it() {
    let written = |text: &str, indent| literal::patch(text, indent).unwrap_or_else(|refusal| format!("! {refusal}"));
    assert_eq!(written("plain", Some(4)), "\"plain\"");
    assert_eq!(written("say \"#hi\"#", Some(0)), "[r##\"say \"#hi\"#\"##]");
    assert_eq!(written("#\"", Some(0)), "[r##\"#\"\"##]");
    assert_eq!(written("back\\slash", Some(8)), "[r#\"back\\slash\"#]");
    assert_eq!(written("a\n\n  b\n", Some(4)), "[r#\"\n        a\n\n          b\n    \"#]");
    assert_eq!(written("a\nb", Some(0)), "[r#\"\n    a\n    b\"#]");
    assert_eq!(written("a\nb\n", None), "[r#\"\na\nb\n\"#]");
    assert_eq!(written("", Some(4)), "\"\"");
    assert!(written("a\r\nb", Some(4)).starts_with("! the new value has carriage returns"));
    assert!(written("  a\n  b\n", None).starts_with("! the new value would not read back"));
    assert!(written("a\n   \nb", Some(4)).starts_with("! the new value would not read back"));
    assert!(written("x\u{202e}y", Some(4)).starts_with("! the new value has characters that turn"));
}

fn accepted(source: &str, nth: usize, value: &str) -> String {
    let fixture = Fixture::new(&format!("//- Cargo.toml\n[package]\nname = \"p\"\n//- src/lib.rs\n{source}"));
    let project = project(&fixture);
    match ExpectTest.amend(&pins(&project)[nth], &Content::Text(value.to_string()), None, &project) {
        Ok(amended) => String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap(),
        Err(refusal) => format!("refused: {refusal}"),
    }
}

#[test]
fn an_accept_replaces_the_literal_and_nothing_else() {
    let source = "use expect_test::{expect, Expect};\n#[test]\nfn t() {\n    expect![\"a\"].assert_eq(f());\n    let mut flat = \
                  expect![[ r#\"\nx\n\"# ]];\n    flat.indent(false);\n    check(expect![[\"p\"]]);\n    let e = \
                  expect![];\n}\nfn check(mut want: Expect) { want.indent(false); want.assert_eq(f()); }\n";
    assert_eq!(accepted(source, 0, "b\n"), source.replace("expect![\"a\"]", "expect![[r#\"\n        b\n    \"#]]"));
    assert_eq!(accepted(source, 1, "y\n"), source.replace("expect![[ r#\"\nx\n\"# ]]", "expect![[r#\"\ny\n\"#]]"));
    assert_eq!(accepted(source, 2, "q\n"), source.replace("expect![[\"p\"]]", "expect![[r#\"\nq\n\"#]]"));
    assert_eq!(accepted(source, 3, "\"\""), source.replace("expect![]", "expect![[r#\"\"\"\"#]]"));
}

#[test]
fn the_line_ends_of_the_source_stay() {
    let source = "use expect_test::expect;\r\n#[test]\r\nfn t() {\r\n    expect![\"a\"].assert_eq(f());\r\n}\r\n";
    let fixture = Fixture::new("//- Cargo.toml\n[package]\nname = \"p\"\n//- src/lib.rs\n");
    std::fs::write(fixture.path().join("src/lib.rs"), source).unwrap();
    let project = project(&fixture);
    let amended = ExpectTest.amend(&pins(&project)[0], &Content::Text("b\nc".into()), None, &project).unwrap();
    assert_eq!(
        String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap(),
        source.replace("expect![\"a\"]", "expect![[r#\"\r\n        b\r\n        c\"#]]")
    );
}
