//! Whether a function is code of tests or of the product: an assertion in the product's own code is a rule of
//! the product and pins nothing, however many tests run through it. Takes facts, gives yes or no. When in doubt
//! it is code of tests.

use super::Project;
use crate::code::{Expr, ExprKind, Function, Unit};
use crate::places::RelPath;
use crate::syntax::Language;

/// Words in the name of a package, folder, file, module, type or function that say that it serves tests.
const WORDS: &[&str] = &[
    "test",
    "assert",
    "check",
    "verif",
    "expect",
    "golden",
    "snap",
    "compare",
    "fixture",
    "bench",
    "mock",
    "harness",
    "roundtrip",
    "round_trip",
];

fn says_so(name: &str) -> bool {
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// `#[cfg(test)]`, `#[cfg(any(test, feature = "testing"))]`.
fn only_in_tests(unit: &Unit, marks: &[Expr]) -> bool {
    marks.iter().any(|mark| match &mark.kind {
        ExprKind::Macro { name, tokens, .. } => name == "cfg" && unit.text.slice(*tokens).contains("test"),
        _ => false,
    })
}

/// Code that only tests run, or that is made for them, as far as its place and names say.
pub fn of_tests(project: &Project, unit: &Unit, function: &Function) -> bool {
    unit.language != Language::Rust
        || says_so(&function.name)
        || function.path.iter().any(|around| says_so(around))
        || only_in_tests(unit, &function.marks)
        || unit.scopes_at(function.span).any(|scope| only_in_tests(unit, &scope.marks))
        || file_of_tests(project, &unit.path)
}

fn file_of_tests(project: &Project, file: &RelPath) -> bool {
    let package = project.crates.package_of(file).map(|package| &package.dir);
    if package.is_some_and(|dir| says_so(dir.name())) {
        return true;
    }
    let inside = package.map_or(0, |dir| dir.as_str().len());
    if file.as_str().get(inside..).is_some_and(says_so) {
        return true;
    }
    // `#[cfg(test)] mod helpers;` in the file of the module around it.
    let folder = file.parent();
    let (module, folder) = match file.stem() {
        "mod" => (folder.name().to_string(), folder.parent()),
        stem => (stem.to_string(), folder),
    };
    let above = folder.parent().join(&format!("{}.rs", folder.name()));
    let beside = ["mod.rs", "lib.rs", "main.rs"].iter().filter_map(|name| folder.join(name));
    beside.chain(above).filter_map(|path| project.unit(&path)).any(|unit| {
        let scopes = unit.scopes.iter().filter(|scope| scope.elsewhere && scope.name == module);
        scopes.into_iter().any(|scope| only_in_tests(unit, &scope.marks))
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::pins::{Extent, Project, sites};
    use crate::places::Root;
    use crate::shelf::Shelf;
    use crate::vocabulary::Vocabulary;
    use expect_test::expect;

    #[test]
    fn a_rule_of_the_product_is_no_pin_of_the_tests_that_run_through_it() {
        let fixture = Fixture::new(
            r#"
//- Cargo.toml
[package]
name = "product"
//- src/lib.rs
mod stock;
#[cfg(test)]
mod support;
pub fn push(level: usize) -> usize {
    assert_eq!(level % 2, 0);
    stock::hold(level)
}
pub fn check_total(total: usize, wanted: usize) {
    assert_eq!(total, wanted);
}
#[cfg(test)]
mod tests {
    #[test]
    fn pushed() {
        let total = super::push(2);
        super::check_total(total, 3);
        crate::support::like(total, 3);
        same(total, 4);
    }
    fn same(a: usize, b: usize) {
        assert_eq!(a, b);
    }
}
//- src/stock.rs
pub fn hold(level: usize) -> usize {
    debug_assert_eq!(level, 2);
    level + 1
}
//- src/support.rs
pub fn like(a: usize, b: usize) {
    assert_eq!(a, b);
}
"#,
        );
        let root = Root::of(fixture.path(), fixture.path()).unwrap();
        let shelf = Shelf::new(root.clone());
        let project =
            Project::read(root, Default::default(), shelf, &Vocabulary::built_in(), &|_, _| {}, &|| false).unwrap();
        let mut out = String::new();
        for site in sites::sites(&project, &Extent::All) {
            let line = |file, byte| project.unit(file).unwrap().line(byte);
            let last = site.comparing();
            let seen = site.seen();
            out.push_str(&format!(
                "{}:{} in {}:{}\n",
                seen.0,
                line(seen.0, seen.1.start),
                last.file,
                line(&last.file, last.at.start)
            ));
        }
        expect![[r#"
            src/lib.rs:16 in src/lib.rs:9
            src/lib.rs:17 in src/support.rs:2
            src/lib.rs:18 in src/lib.rs:21
        "#]]
        .assert_eq(&out);
    }
}
