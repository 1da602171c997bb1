use std::sync::Arc;

use super::*;
use crate::fixture::Fixture;
use crate::pins::{Extent, sites};
use crate::places::Root;
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::vocabulary::Vocabulary;
use expect_test::{Expect, expect};

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    let vocabulary = Vocabulary::built_in();
    Project::read(root, Arc::new(Settings::default()), shelf, &vocabulary, &|_, _| {}, &|| false).unwrap()
}

fn pins(project: &Project) -> Vec<Pin> {
    sites::sites(project, &Extent::All)
        .iter()
        .filter(|site| site.found.framework == "insta")
        .flat_map(|site| Insta.pins(project, site))
        .collect()
}

/// Each pin of a package `tax-core`: its line, its test, and its snapshot without `.snap`.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(&format!("//- Cargo.toml\n[package]\nname = \"tax-core\"\n{notation}"));
    let project = project(&fixture);
    let mut out = String::new();
    for pin in pins(&project) {
        let line = project.unit(&pin.file).unwrap().line(pin.span.start);
        let oracle = &pin.oracle;
        let place = match (&oracle.path, oracle.kind) {
            (_, OracleKind::Inline) => format!("inline {}", oracle.entry.as_deref().unwrap_or("?")),
            (Some(path), _) => path.to_string(),
            (None, _) => format!("one of {:?}", oracle.candidates),
        };
        out.push_str(&format!("{line} {} {place}\n", pin.test));
    }
    expected.assert_eq(&out);
}

#[test]
fn names_come_from_the_function_the_argument_and_the_settings() {
    check(
        r#"
//- src/lib.rs
#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    #[test]
    fn test_auto() {
        assert_snapshot!(a());
        assert_snapshot!(b(), @"x");
        insta::assert_debug_snapshot!(c());
        assert_snapshot!("given/name: 1", d());
        assert_snapshot!(None, e());
    }
    #[test]
    fn settings() {
        insta::with_settings!({ snapshot_suffix => "s" }, { assert_snapshot!(a()); });
        insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false }, {
            assert_snapshot!("flat", a());
        });
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_suffix("bound");
        let _guard = settings.bind_to_scope();
        assert_snapshot!(b());
        insta::assert_binary_snapshot!("pack.tar.gz", c());
    }
    #[test]
    fn repeated() {
        insta::allow_duplicates! { for x in [1, 2] { assert_snapshot!(x); } }
        for name in ["a", "b"] {
            assert_snapshot!(format!("of {name}"), name);
        }
        assert_snapshot!(unknown(), 1);
    }
}
//- src/snapshots/tax_core__tests__of a.snap
---
source: src/lib.rs
---
"#,
        expect![[r#"
            6 lib::tests::test_auto src/snapshots/tax_core__tests__auto.snap
            7 lib::tests::test_auto inline auto-2
            8 lib::tests::test_auto src/snapshots/tax_core__tests__auto-3.snap
            9 lib::tests::test_auto src/snapshots/tax_core__tests__given__name: 1.snap
            10 lib::tests::test_auto src/snapshots/tax_core__tests__auto-4.snap
            14 lib::tests::settings src/snapshots/tax_core__tests__settings@s.snap
            16 lib::tests::settings golden/flat.snap
            21 lib::tests::settings src/snapshots/tax_core__tests__settings@bound.snap
            22 lib::tests::settings src/snapshots/tax_core__tests__pack@bound.snap.tar.gz
            26 lib::tests::repeated src/snapshots/tax_core__tests__repeated.snap
            28 lib::tests::repeated src/snapshots/tax_core__tests__of a.snap
            28 lib::tests::repeated src/snapshots/tax_core__tests__of b.snap
            30 lib::tests::repeated one of ["src/snapshots/tax_core__tests__of a.snap"]
        "#]],
    );
}

#[test]
fn helpers_name_by_themselves_and_macros_by_their_caller() {
    check(
        r#"
//- tests/suite.rs
mod common;
macro_rules! check { ($value:expr) => { insta::assert_snapshot!($value) }; }
#[test]
fn by_macro() { check!(1); check!(2); }
#[test]
fn by_helper() { common::helper(3); }
#[test]
fn by_glob() { insta::glob!("inputs/*.txt", |path| { insta::assert_snapshot!(path.display()); }); }
#[test_case("x"; "first")]
#[test_case("y"; "second")]
fn cases(name: &str) { insta::assert_snapshot!(name, 1); }
//- tests/common/mod.rs
pub fn helper(value: u8) { insta::assert_snapshot!(value); }
//- tests/inputs/a.txt
//- tests/inputs/b.txt
"#,
        expect![[r#"
            4 suite::by_macro tests/snapshots/suite__by_macro.snap
            4 suite::by_macro tests/snapshots/suite__by_macro-2.snap
            6 suite::by_helper tests/common/snapshots/suite__common__helper.snap
            8 suite::by_glob tests/snapshots/suite__by_glob@a.txt.snap
            8 suite::by_glob tests/snapshots/suite__by_glob@b.txt.snap
            11 suite::cases[test_case_1_first] tests/snapshots/suite__x.snap
            11 suite::cases[test_case_2_second] tests/snapshots/suite__y.snap
        "#]],
    );
}

#[test]
fn a_harness_runs_a_test_for_each_file() {
    check(
        r##"
//- tests/fixtures.rs
use datatest_stable::Utf8Path;
fn valid(path: &Utf8Path, content: String) -> datatest_stable::Result<()> {
    pinned(path, &content, "./data/ok");
    Ok(())
}
fn differs(path: &Utf8Path) -> datatest_stable::Result<()> {
    if path.exists() {
        insta::with_settings!({ snapshot_suffix => path.file_stem().unwrap() }, { insta::assert_snapshot!(path); });
    }
    Ok(())
}
fn pinned(path: &Utf8Path, content: &str, root: &str) {
    let name = path.strip_prefix(root).unwrap_or(path).as_str();
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_suffix => name }, {
        insta::assert_snapshot!(content);
    });
}
datatest_stable::harness! {
    { test = valid, root = "./data/ok", pattern = r"\.pyi?$" },
    { test = differs, root = "data/ok" },
}
//- tests/old.rs
use datatest_stable::harness;
fn each(path: &std::path::Path) -> datatest_stable::Result<()> { insta::assert_snapshot!(path.display(), "x"); Ok(()) }
harness!(each, "data/ok", r"^data/ok/[^/]*\.txt$");
//- data/ok/a.py
//- data/ok/deep/b.pyi
//- data/ok/note.txt
//- data/ok/.hidden.py
//- tests/snapshots/fixtures__differs@note.snap
---
source: tests/fixtures.rs
---
"##,
        expect![[r#"
            3 fixtures::valid::a.py tests/snapshots/pinned@a.py.snap
            3 fixtures::valid::deep/b.pyi tests/snapshots/pinned@deep__b.pyi.snap
            8 fixtures::differs::note.txt tests/snapshots/fixtures__differs@note.snap
            2 old::each::note.txt tests/snapshots/old__data__ok__note.txt.snap
        "#]],
    );
}

const PENDING: &str = r#"
//- Cargo.toml
[package]
name = "p"
//- src/lib.rs
#[test]
fn three() {
    insta::assert_snapshot!(f(1), @"old");
    insta::assert_snapshot!(f(2), @"old");
    insta::assert_snapshot!(f(3), @"other");
}
//- src/.lib.rs.pending-snap
{"run_id":"1-1","line":3,"new":{"snapshot_name":"three","metadata":{"expression":"f(1)"},"snapshot":"new1\nx"},"old":{"snapshot":"old"}}
{"run_id":"1-1","line":4,"new":{"snapshot_name":"three-2","metadata":{"expression":"f(2)"},"snapshot":"new2"},"old":{"snapshot":"old"}}
{"run_id":"1-1","line":5,"new":{"snapshot_name":"three-3","metadata":{"expression":"f(3)"},"snapshot":"new3"},"old":{"snapshot":"other"}}
"#;

fn observed(project: &Project) -> Vec<(String, Option<String>)> {
    let text = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    pins(project)
        .iter()
        .map(|pin| {
            let unit = project.unit(&pin.file).unwrap();
            let seen = Insta.artefacts(pin, project);
            let seen: Vec<String> = seen.iter().map(|seen| text(seen.content.as_ref().unwrap())).collect();
            (unit.text.slice(pin.span).to_string(), (!seen.is_empty()).then(|| seen.join(" | ")))
        })
        .collect()
}

#[test]
fn a_pending_value_belongs_to_its_expression_wherever_that_stands_now() {
    let fixture = Fixture::new(PENDING);
    let seen = observed(&project(&fixture));
    assert_eq!(seen[0].1.as_deref(), Some("new1\nx"));
    assert_eq!(seen[1].1.as_deref(), Some("new2"));
    assert_eq!(seen[2].1.as_deref(), Some("new3"));
    // Lines moved, the first two changed places: the values follow their expressions.
    fixture.write(
        "//- src/lib.rs\n\n#[test]\nfn three() {\n\n    insta::assert_snapshot!(f(2), @\"old\");\n    insta::assert_snapshot!(f(1), @\"old\");\n    insta::assert_snapshot!(g(3), @\"other\");\n}\n",
    );
    let seen = observed(&project(&fixture));
    assert_eq!(seen[0], ("insta::assert_snapshot!(f(2), @\"old\")".to_string(), Some("new2".to_string())));
    assert_eq!(seen[1], ("insta::assert_snapshot!(f(1), @\"old\")".to_string(), Some("new1\nx".to_string())));
    // Another expression stands there now: the value is nobody's.
    assert_eq!(seen[2].1, None);
}

#[test]
fn a_line_that_was_cut_is_told_at_its_file() {
    let fixture = Fixture::new(PENDING);
    let path = "src/.lib.rs.pending-snap";
    let whole = fixture.read(path);
    fixture.write(&format!("//- {path}\n{whole}{{\"run_id\":\"9-9\",\"line\":4,\"new\":{{\"mod"));
    let project = project(&fixture);
    let pins = pins(&project);
    let told: Vec<String> =
        pins.iter().flat_map(|pin| Insta.artefacts(pin, &project)).filter_map(|found| found.content.err()).collect();
    assert_eq!(told.len(), pins.len());
    expect![[r#"
        src/.lib.rs.pending-snap: line 4 is cut or damaged, so what a run left there is not known; run the tests again, or remove that line
    "#]].assert_eq(&format!("{}\n", told[0]));
    // What is whole still counts.
    let seen = Insta.artefacts(&pins[2], &project).into_iter().find_map(|found| found.content.ok());
    assert_eq!(seen, Some(Content::Text("new3".into())));
}

#[test]
fn accepting_one_leaves_the_others_on_their_new_lines() {
    let fixture = Fixture::new(PENDING);
    let project = project(&fixture);
    let pins = pins(&project);
    let artefact = Insta.artefacts(&pins[0], &project).remove(0);
    let amended = Insta.amend(&pins[0], artefact.content.as_ref().unwrap(), Some(&artefact), &project).unwrap();
    let source = String::from_utf8(amended.oracle[0].after.clone().unwrap()).unwrap();
    assert!(
        source.contains("f(1), @\"\n    new1\n    x\n    \");\n    insta::assert_snapshot!(f(2), @\"old\")"),
        "{source}"
    );
    let left = String::from_utf8(amended.artefacts[0].after.clone().unwrap()).unwrap();
    let lines: Vec<usize> = pending::read(&left).entries.iter().map(|entry| entry.line).collect();
    assert_eq!(lines, [7, 8]);
}

#[test]
fn an_orphan_is_claimed_only_where_every_name_is_known() {
    let notation = r#"
//- Cargo.toml
[package]
name = "p"
//- src/lib.rs
#[test]
fn one() { insta::assert_snapshot!(1); }
//- src/snapshots/p__one.snap
---
source: src/lib.rs
---
1
//- src/snapshots/p__gone.snap
---
source: src/lib.rs
---
1
"#;
    let fixture = Fixture::new(notation);
    let known = project(&fixture);
    let orphans = Insta.orphans(&pins(&known), &known);
    assert_eq!(orphans.iter().map(|orphan| orphan.path.as_str()).collect::<Vec<_>>(), ["src/snapshots/p__gone.snap"]);
    fixture.write(
        "//- src/more.rs\n#[test]\nfn two() { insta::assert_snapshot!(name(), 1); }\n//- src/lib.rs\nmod more;\n",
    );
    let unknown = project(&fixture);
    assert_eq!(Insta.orphans(&pins(&unknown), &unknown), []);
}
