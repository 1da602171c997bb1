use super::*;
use crate::fixture::Fixture;
use crate::places::Root;
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::vocabulary::{Vocabulary, known_macro};
use expect_test::{Expect, expect};

fn project(fixture: &Fixture) -> Project {
    let root = Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = Shelf::new(root.clone());
    let vocabulary = Vocabulary::built_in();
    Project::read(root, Arc::new(Settings::default()), shelf, &vocabulary, &|_, _| {}, &|| false).unwrap()
}

/// Every macro call of the files' functions that expands to a comparison.
fn check(notation: &str, expected: Expect) {
    let fixture = Fixture::new(notation);
    let project = project(&fixture);
    let wrappers = Wrappers::of(&project, &known_macro);
    let mut out = String::new();
    for (file, facts) in project.files.iter() {
        let unit = &facts.unit;
        for found in &facts.matches {
            out.push_str(&format!("{file}:{} {}\n", unit.line(found.span.start), unit.text.slice(found.span)));
        }
        let mut calls = Vec::new();
        let bodies = unit.functions.iter().flat_map(|function| &function.body);
        bodies.chain(&unit.top).for_each(|stmt| stmt.walk(&mut |expr| calls.push(expr)));
        for call in calls {
            for one in wrappers.expand(unit, call) {
                out.push_str(&format!("{file}:{} {}", unit.line(call.span.start), unit.text.slice(call.span)));
                let mut text = unit.text.clone();
                for frame in &one.frames {
                    let home = project.unit(&frame.file).unwrap();
                    let given: Vec<String> =
                        frame.given.iter().map(|(name, value)| format!("{name}={}", text.slice(value.span))).collect();
                    text = home.text.clone();
                    out.push_str(&format!("\n    > {} [{}]", text.slice(frame.at), given.join(" ")));
                    if let Some(name) = function_around(&project, frame) {
                        out.push_str(&format!(" in fn {name}"));
                    }
                }
                out.push('\n');
            }
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn wrappers_are_followed_through_files_and_arms() {
    check(
        r#"
//- Cargo.toml
[package]
name = "p"
//- src/lib.rs
#[macro_use]
mod test;
#[cfg(test)]
mod tests {
    #[test]
    fn a() {
        check!("name", run(1, 2));
        check!(run(3), @"x");
        outer!(run(4));
        other!(1);
    }
}
//- src/test.rs
macro_rules! check {
    ($value:expr, @$snapshot:literal) => { insta::assert_snapshot!($value, @$snapshot) };
    ($name:expr, $value:expr $(,)?) => {{
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($name, show(&$value)); });
    }};
}
macro_rules! outer { ($v:expr) => { let v = $v; check!("fixed", v); } }
macro_rules! other { ($v:expr) => { println!("{}", $v) } }
"#,
        expect![[r#"
            src/lib.rs:7 check!("name", run(1, 2))
                > insta::assert_snapshot!($name, show(&$value)) [$name="name" $value=run(1, 2)]
            src/lib.rs:8 check!(run(3), @"x")
                > insta::assert_snapshot!($value, @$snapshot) [$snapshot="x" $value=run(3)]
            src/lib.rs:9 outer!(run(4))
                > check!("fixed", v) [$v=run(4)]
                > insta::assert_snapshot!($name, show(&$value)) [$name="fixed" $value=v]
        "#]],
    );
}

#[test]
fn a_macro_that_makes_tests_gives_one_for_each_round() {
    check(
        r#"
//- Cargo.toml
[package]
name = "p"
//- src/lib.rs
macro_rules! cases {
    ($($name:ident: $input:expr,)*) => {
        $(
            #[test]
            fn $name() { insta::assert_snapshot!(run($input)); }
        )*
    };
}
cases! {
    empty: "",
    one: "1",
}
"#,
        expect![[r#"
            src/lib.rs:9 cases! {
                empty: "",
                one: "1",
            }
                > insta::assert_snapshot!(run($input)) [$input="" $name=empty] in fn empty
            src/lib.rs:9 cases! {
                empty: "",
                one: "1",
            }
                > insta::assert_snapshot!(run($input)) [$input="1" $name=one] in fn one
        "#]],
    );
}

#[test]
fn calls_inside_macros_and_under_other_names_are_found() {
    check(
        r#"
//- Cargo.toml
[package]
name = "p"
//- src/lib.rs
use insta::assert_snapshot as pin;
#[test]
fn a() {
    insta::allow_duplicates! { for x in [1] { pin!(x, @"1"); } }
    insta::glob!("*.txt", |p| { insta::assert_debug_snapshot!(read(p)); });
    pin!(2);
    println!("{}", 3);
}
"#,
        expect![[r#"
            src/lib.rs:4 pin!(x, @"1")
            src/lib.rs:5 insta::assert_debug_snapshot!(read(p))
            src/lib.rs:6 pin!(2)
        "#]],
    );
}
