use super::*;
use crate::fixture::Fixture;
use crate::oracles::origin::tests::project;
use crate::pins::{Extent, sites};
use expect_test::{Expect, expect};

fn pins(project: &Project) -> Vec<Pin> {
    let all = sites::sites(project, &Extent::All);
    let mine = all.iter().filter(|site| site.found.framework == "snapbox");
    mine.flat_map(|site| Snapbox.pins(project, site)).collect()
}

const MANIFEST: &str = "//- Cargo.toml\n[package]\nname = \"my-app\"\n\n[dev-dependencies]\nsnapbox = { version = \"1\", \
                        features = [\"json\"] }\n";

/// Each pin: its line, its test, where it is recorded and what.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(&format!("{MANIFEST}{notation}"));
    let project = project(&fixture);
    let mut out = String::new();
    for pin in pins(&project) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let place = match (&pin.oracle.path, pin.oracle.kind) {
            (_, OracleKind::Inline) => "inline".to_string(),
            (Some(path), _) => path.to_string(),
            (None, _) => format!("one of {:?}", pin.oracle.candidates),
        };
        let recorded = match Snapbox.baseline(&pin, &project) {
            Baseline::Present(Recorded { content: Content::Text(text), .. }) => format!("{text:?}"),
            Baseline::Present(Recorded { content: Content::Value(value), .. }) => format!("value {value}"),
            Baseline::Missing => "missing".to_string(),
            other => format!("{other:?}"),
        };
        let why = if pin.oracle.shown_only.is_some() { " shown only" } else { "" };
        out.push_str(&format!("{line} {} {place} {recorded}{why}\n", pin.test));
    }
    expected.assert_eq(&out);
}

#[test]
fn every_shape_is_found_where_it_stands() {
    check(
        r####"
//- tests/testsuite/main.rs
mod common;
mod other;
use snapbox::{assert_data_eq, file, str, prelude::*};
macro_rules! page { ($name:literal, $file:literal) => { assert_data_eq!(render($name), file![$file]); }; }
#[test]
fn inline() {
    assert_data_eq!(a(), str![["x"]]);
    assert_data_eq!(
        a(),
        str![[r#"
two
  lines

"#]].raw()
    );
    assert_data_eq!(str!["given"], b());
    command().assert().stdout_eq(str![""]).stderr_eq(str![]);
    common::check(a(), snapbox::str!["far"]);
    assert_data_eq!(j(), str![[r#"{"b":1,"a":2}"#]].is_json());
    let of = std::file!();
}
#[test]
fn files() {
    assert_data_eq!(
        a(),
        file!["../data/a.txt"]
    );
    common::check(a(), file!["../data/b.svg": TermSvg]);
    assert_data_eq!(j(), file!["../data/c.json"]);
    assert_data_eq!(j(), file!["../data/d.jsonl"]);
    page!("p", "../data/gone.txt");
    let want = snapbox::Data::read_from(std::path::Path::new("tests/data/a.txt"), None);
    command().assert().stdout_eq(want);
    let input = snapbox::Data::read_from(std::path::Path::new("tests/data/input.txt"), None);
}
#[test]
fn by_function() {
    assert_data_eq!(a(), file![_]);
    assert_data_eq!(a(), file![_: Json]);
    for x in [1, 2] { assert_data_eq!(x, file![_]); }
}
//- tests/testsuite/common.rs
pub fn check(actual: String, expected: snapbox::Data) { snapbox::assert_data_eq!(actual, expected.raw()); }
//- tests/testsuite/other.rs
#[test]
fn std_macros() { let x = str!["not snapbox's"]; file!(); }
//- tests/data/a.txt
a
//- tests/data/b.svg
<svg/>
//- tests/data/c.json
{"a": [1]}
//- tests/snapshots/testsuite__by_function@2.txt
x
"####,
        expect![[r#"
            7 testsuite::inline inline "x"
            10 testsuite::inline inline "two\n  lines\n"
            17 testsuite::inline inline ""
            17 testsuite::inline inline ""
            18 testsuite::inline inline "far"
            19 testsuite::inline inline value {
              "a": 2,
              "b": 1
            }
            24 testsuite::files tests/data/a.txt "a\n"
            28 testsuite::files tests/data/b.svg "<svg/>\n"
            29 testsuite::files tests/data/c.json value {
              "a": [
                1
              ]
            }
            30 testsuite::files tests/data/d.jsonl missing shown only
            31 testsuite::files tests/data/gone.txt missing
            32 testsuite::files tests/data/a.txt "a\n"
            38 testsuite::by_function tests/snapshots/testsuite__by_function.txt missing
            39 testsuite::by_function tests/snapshots/testsuite__by_function@1.json missing
            40 testsuite::by_function one of ["tests/snapshots/testsuite__by_function@2.txt"] missing
        "#]],
    );
}

fn accepted(source: &str, nth: usize, value: &str) -> String {
    let fixture = Fixture::new(&format!("{MANIFEST}//- src/lib.rs\n{source}//- data/a.json\n{{\n  \"a\": 1\n}}\n"));
    let project = project(&fixture);
    match Snapbox.amend(&pins(&project)[nth], &Content::Text(value.to_string()), None, &project) {
        Ok(amended) => String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap(),
        Err(refusal) => format!("refused: {refusal}"),
    }
}

#[test]
fn an_accept_writes_what_the_updater_writes() {
    let source = "use snapbox::{assert_data_eq, file, str, prelude::*};\n#[test]\nfn t() {\n    \
                  assert_data_eq!(a(), str![\"a\"]);\n    assert_data_eq!(a(), str![]);\n    \
                  assert_data_eq!(a(), str![[ \"[1]\" ]].is_json());\n    assert_data_eq!(a(), \
                  file![\"../data/a.json\"]);\n}\n";
    let instead = |old: &str, new: &str| source.replacen(old, new, 1);
    assert_eq!(accepted(source, 0, "b\n"), instead("str![\"a\"]", "str![[r#\"\nb\n\n\"#]]"));
    assert_eq!(accepted(source, 0, "x\r\ny"), instead("str![\"a\"]", "str![[r#\"\nx\ny\n\"#]]"));
    assert_eq!(accepted(source, 0, "say \"#\""), instead("str![\"a\"]", "str![[r##\"say \"#\"\"##]]"));
    assert_eq!(accepted(source, 1, "c"), instead("str![]", "str![\"c\"]"));
    assert_eq!(
        accepted(source, 2, "{\"b\":1,\"a\":[]}"),
        instead("str![[ \"[1]\" ]]", "str![[r#\"\n{\n  \"a\": [],\n  \"b\": 1\n}\n\"#]]")
    );
    assert_eq!(accepted(source, 3, "{\"b\":1.5,\"a\":[true]}"), "{\n  \"a\": [\n    true\n  ],\n  \"b\": 1.5\n}");
    assert!(accepted(source, 0, "x\u{202e}y").starts_with("refused: the new value has characters that turn"));
}
