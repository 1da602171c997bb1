use crate::code::{Expr, ExprKind, Piece, Stmt, StmtKind, Target, Unit};
use crate::places::RelPath;
use crate::syntax::{self, Language};
use crate::text::Text;
use expect_test::{Expect, expect};

pub(crate) fn lowered(source: &str) -> Unit {
    let text = Text::new(source);
    let tree = syntax::parse(source, Language::Rust, None, syntax::BUDGET).unwrap();
    super::unit(&RelPath::new("src/lib.rs").unwrap(), &text, &tree)
}

/// A short spelling of the code tree, so that a test can be read.
fn show(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(show).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Bytes(bytes) => format!("b{bytes:?}"),
        ExprKind::Format(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => format!("{text:?}"),
                Piece::Hole(expr, spec) if spec.is_empty() => format!("{{{}}}", show(expr)),
                Piece::Hole(expr, spec) => format!("{{{}:{spec}}}", show(expr)),
            });
            format!("f[{}]", pieces.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Int(text) | ExprKind::Float(text) | ExprKind::Name(text) => text.clone(),
        ExprKind::Char(c) => format!("{c:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Attr(base, name) => format!("{}.{name}", show(base)),
        ExprKind::Index(base, index) => format!("{}[{}]", show(base), show(index)),
        ExprKind::Call { callee, args } => format!("{}({})", show(callee), show_args(args)),
        ExprKind::Macro { name, args, .. } => format!("{name}!({})", show_args(args)),
        ExprKind::At(inner) => format!("@{}", show(inner)),
        ExprKind::Neg(inner) => format!("-{}", show(inner)),
        ExprKind::Not(inner) => format!("!{}", show(inner)),
        ExprKind::Binary(op, a, b) => format!("({:?} {} {})", op, show(a), show(b)),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Tuple(items) => format!("({})", list(items)),
        ExprKind::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}=>{}", show(key), show(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Struct { name, fields } => {
            let fields = fields.iter().map(|(name, value)| format!("{name}: {}", show(value)));
            format!("{name}{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Closure { params, body } => {
            let params = params.iter().map(show_target).collect::<Vec<_>>().join(" ");
            format!("|{params}| {{{}}}", show_body(body))
        }
        ExprKind::Cond(a, b, c) => format!("({} ? {} : {})", show(a), show(b), show(c)),
        ExprKind::Block(body) => format!("{{{}}}", show_body(body)),
        ExprKind::Opaque => "?".to_string(),
        other => format!("{other:?}"),
    }
}

fn show_args(args: &[crate::code::Arg]) -> String {
    let args = args.iter().map(|arg| match &arg.name {
        Some(name) => format!("{name}={}", show(&arg.value)),
        None => show(&arg.value),
    });
    args.collect::<Vec<_>>().join(", ")
}

fn show_target(target: &Target) -> String {
    match target {
        Target::Name(name, _) => name.clone(),
        Target::Tuple(parts) => format!("({})", parts.iter().map(show_target).collect::<Vec<_>>().join(" ")),
        Target::Member(_) | Target::Other => "_".to_string(),
    }
}

fn show_body(body: &[Stmt]) -> String {
    body.iter().map(show_stmt).collect::<Vec<_>>().join("; ")
}

fn show_stmt(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Bind { target, value } => format!("{} := {}", show_target(target), show(value)),
        StmtKind::Expr(expr) => show(expr),
        StmtKind::Return(None) => "return".to_string(),
        StmtKind::Return(Some(expr)) => format!("return {}", show(expr)),
        StmtKind::For { target, iter, body } => {
            format!("for {} in {} {{{}}}", show_target(target), show(iter), show_body(body))
        }
        StmtKind::While { cond, body } => format!("while {} {{{}}}", show(cond), show_body(body)),
        StmtKind::If { cond, then, otherwise } => {
            format!("if {} {{{}}} else {{{}}}", show(cond), show_body(then), show_body(otherwise))
        }
        StmtKind::Block(parts) => {
            format!("{{{}}}", parts.iter().map(|part| show_body(part)).collect::<Vec<_>>().join(" | "))
        }
        StmtKind::Raise => "raise".to_string(),
        StmtKind::Break => "break".to_string(),
        StmtKind::Continue => "continue".to_string(),
        StmtKind::Def(name) => format!("fn {name}"),
        other => format!("{other:?}"),
    }
}

fn check(source: &str, expected: Expect) {
    let unit = lowered(source);
    let mut out = String::new();
    for import in &unit.imports {
        out.push_str(&format!("use {} = {} in {:?}\n", import.local, import.path, import.scope));
    }
    for scope in &unit.scopes {
        out.push_str(&format!("mod {}{}\n", scope.name, if scope.elsewhere { ";" } else { "" }));
    }
    for global in &unit.globals {
        out.push_str(&format!("const {} = {}\n", global.name, show(&global.value)));
    }
    for rules in &unit.macros {
        for arm in &rules.arms {
            let calls = arm.calls.iter().map(show).collect::<Vec<_>>().join("; ");
            out.push_str(&format!("macro {} ({}) {calls}\n", rules.name, unit.text.slice(arm.matcher)));
        }
    }
    for stmt in &unit.top {
        out.push_str(&format!("top {}\n", show_stmt(stmt)));
    }
    for function in &unit.functions {
        for mark in &function.marks {
            out.push_str(&format!("#[{}]\n", show(mark)));
        }
        let params = function.params.iter().map(|param| {
            let marks: String = param.marks.iter().map(|mark| format!("#[{}] ", show(mark))).collect();
            format!("{marks}{}", param.name)
        });
        let params = params.collect::<Vec<_>>().join(", ");
        out.push_str(&format!("fn {}({params}) in {:?}\n", function.name, function.path));
        for stmt in &function.body {
            out.push_str(&format!("  {}\n", show_stmt(stmt)));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn statements_and_expressions() {
    check(
        r##"
fn f(name: &str, (a, b): (u8, u8)) -> PathBuf {
    let mut p = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (x, y) = (1_000u64, -2.5);
    for (name, want) in [("a", 1), ("b", 2)] { check(name, want)?; }
    if a == b { return p; } else if let Some(z) = q { g(z); }
    match a { 1 => g(), _ => { h(&*x) } }
    let k = if a { "1" } else { "2" };
    let c = |v| v + 1;
    p = p.join(format!("{name}-{}.{x:>3}{{}}", ext, x = 4));
    p.with_extension("txt")
}
"##,
        expect![[r#"
            fn f(name, _) in []
              p := Path.new(env!("CARGO_MANIFEST_DIR")).join("tests")
              (x y) := (1000 -2.5)
              for (name want) in [("a" 1) ("b" 2)] {check(name, want)}
              if (Eq a b) {return p} else {if {q} {g(z)} else {}}
              a
              {g() | {h(x)}}
              k := (a ? "1" : "2")
              c := |v| {return (Add v 1)}
              p := p.join(f[{name} "-" {ext} "." {4:>3} "{}"])
              return p.with_extension("txt")
        "#]],
    );
}

#[test]
fn macro_calls_are_read_as_far_as_they_are_expressions() {
    check(
        r##"
fn f() {
    insta::assert_snapshot!("name", render(&x, vec![1, 2]), @r#"a"b"#,);
    assert_eq!(got: a(), want: b"x\xff");
    with_settings!({ snapshot_suffix => "a", sort_maps => true }, { assert_snapshot!(g()); });
    allow_duplicates! { for x in ["a"] { assert_snapshot!(x, @"1"); } }
    assert_yaml_snapshot!(user, { ".id" => "[id]" });
    assert!(matches!(v, Some(x) if x > 1), "m {}", 1);
    weird!(a b => assert_snapshot!("deep"));
    println!("{}", x);
}
"##,
        expect![[r#"
            fn f() in []
              insta::assert_snapshot!("name", render(x, [1 2]), @"a\"b")
              assert_eq!(got=a(), want=b[120, 255])
              with_settings!({snapshot_suffix=>"a", sort_maps=>true}, {assert_snapshot!(g())})
              allow_duplicates!({for x in ["a"] {assert_snapshot!(x, @"1")}})
              assert_yaml_snapshot!(user, {".id"=>"[id]"})
              assert!(matches!(v, ?), "m {}", 1)
              weird!({?=>assert_snapshot!("deep")})
              println!()
        "#]],
    );
}

#[test]
fn items_imports_and_marks() {
    check(
        r##"
use a::b::{self, c as d, e::*};
use insta::assert_snapshot;
const C: &str = concat!("a", 1, "b");
mod other;
#[cfg(test)]
mod tests {
    use super::*;
    #[rstest]
    #[case(1, "x")]
    #[case::neg(2, "y")]
    fn t(#[case] n: u8, #[values(1, 2)] s: &str) {}
    #[test_case(1 => 2; "one")]
    #[tokio::test(flavor = "x")]
    async fn u() { fn inner() {} }
}
impl Foo { fn m(&self) {} }
macro_rules! snap {
    ($name:expr, $($x:tt)*) => {{ let r = run($($x)*); insta::assert_snapshot!($name, render(&r)) }};
    ($x:expr) => { $crate::snap!("a", $x) };
}
"##,
        expect![[r#"
            use b = a.b in []
            use d = a.b.c in []
            use * = a.b.e in []
            use assert_snapshot = insta.assert_snapshot in []
            use * = super in ["tests"]
            mod other;
            mod tests
            const C = "a1b"
            macro snap ($name:expr, $($x:tt)*) insta::assert_snapshot!($name, render(r))
            macro snap ($x:expr) $crate::snap!("a", $x)
            #[rstest]
            #[case!(1, "x")]
            #[case::neg!(2, "y")]
            fn t(#[case] n, #[values!(1, 2)] s) in ["tests"]
            #[test_case!({1=>2}, ;="one")]
            #[tokio::test!(flavor="x")]
            fn u() in ["tests"]
              fn inner
            fn inner() in ["tests", "u"]
            fn m(self) in ["Foo"]
        "#]],
    );
}

#[test]
fn a_span_inside_a_macro_is_that_of_the_file() {
    let source = "fn f() {\n    with_settings!({}, {\n        assert_snapshot!(g(1), @\"é\"); // ü\n    });\n}\n";
    let unit = lowered(source);
    let mut found = Vec::new();
    unit.functions[0].body.iter().for_each(|stmt| {
        stmt.walk(&mut |expr| {
            if matches!(expr.kind, ExprKind::Str(_) | ExprKind::Call { .. } | ExprKind::At(_)) {
                found.push(unit.text.slice(expr.span).to_string());
            }
        })
    });
    assert_eq!(found, ["g(1)", "@\"é\"", "\"é\""]);
    assert_eq!(unit.comments.iter().map(|span| unit.text.slice(*span)).collect::<Vec<_>>(), ["// ü"]);
}

#[test]
fn nothing_is_taken_from_an_error_and_nesting_is_bounded() {
    let unit = lowered("fn good() { g(1) }\nfn bad( { assert_eq!(a, 1) ]\n#[test]\nfn after() {}\n");
    assert!(unit.functions.iter().any(|function| function.name == "good"));
    assert!(!unit.errors.is_empty());
    for deep in [
        format!("fn f() {{ {}1{} }}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("fn f() {{ {}1{} }}", "m!(a+".repeat(10_000), ")".repeat(10_000)),
        format!("fn f() {{ {}{} }}", "{".repeat(10_000), "}".repeat(10_000)),
        format!("fn f() {{ x({}1) }}", "1+".repeat(10_000)),
        format!("{}{}", "mod a {".repeat(10_000), "}".repeat(10_000)),
        format!("use a::{{{}b{}}};", "c::{".repeat(1_000), "}".repeat(1_000)),
    ] {
        lowered(&deep);
    }
}

#[test]
fn literals_have_the_value_that_the_compiler_sees() {
    let cases: [(&str, &str); 12] = [
        (r#""a\n\"\\\t\u{1F600}\x41\0""#, "\"a\\n\\\"\\\\\\t😀A\\0\""),
        ("\"a\\\n     b\"", "\"ab\""),
        ("\"a\r\nb\"", "\"a\\nb\""),
        ("r\"a\\n\"", "\"a\\\\n\""),
        ("r##\"a\"#b\"##", "\"a\\\"#b\""),
        ("b\"\\xff\"", "b[255]"),
        ("'\\''", "'\\''"),
        ("'é'", "'é'"),
        ("1_000u64", "1000"),
        ("0xffu8", "0xff"),
        ("1f64", "1"),
        ("2.5e-3", "2.5e-3"),
    ];
    for (source, want) in cases {
        let kind = super::literal::value(source).unwrap_or_else(|| panic!("{source}"));
        let expr = Expr::new(crate::text::Span::default(), kind);
        assert_eq!(show(&expr), want, "{source}");
    }
}

#[test]
fn modules_are_found_by_their_declarations() {
    let fixture = crate::fixture::Fixture::new(
        r#"
//- Cargo.toml
[workspace]
members = ["crates/*"]
exclude = ["crates/lone"]
//- crates/tax-core/Cargo.toml
[package]
name = "tax-core"
[[test]]
name = "records"
path = "tests/it/all.rs"
//- crates/tax-core/src/lib.rs
mod rates;
#[path = "odd/file.rs"]
pub(crate) mod renamed;
mod inline { mod deep; }
//- crates/tax-core/src/rates.rs
/// mod not_this;
mod eu;
//- crates/tax-core/src/rates/eu.rs
//- crates/tax-core/src/odd/file.rs
mod beside;
//- crates/tax-core/src/odd/beside.rs
//- crates/tax-core/src/inline/deep.rs
//- crates/tax-core/src/unused.rs
//- crates/tax-core/tests/it/all.rs
mod common;
//- crates/tax-core/tests/it/common/mod.rs
//- crates/tax-core/tests/suite-a.rs
//- crates/lone/Cargo.toml
[package]
name = "lone"
//- crates/lone/src/main.rs
//- crates/lone/tests/auto/main.rs
automod::dir!("tests/auto");
//- crates/lone/tests/auto/one.rs
"#,
    );
    let root = crate::places::Root::of(fixture.path(), fixture.path()).unwrap();
    let shelf = crate::shelf::Shelf::new(root);
    let crates = super::Crates::of(&shelf);
    let mut out = String::new();
    for file in shelf.files().filter(|file| file.name().ends_with(".rs")) {
        let package = crates.package_of(file).unwrap();
        let ids: Vec<String> = crates
            .modules(&shelf, file)
            .into_iter()
            .map(|module| format!("{} {}", module.crate_name, module.test_id(&["tests".to_string()], "t")))
            .collect();
        out.push_str(&format!("{file} ({:?}): {}\n", package.workspace, ids.join(", ")));
    }
    expect![[r#"
        crates/lone/src/main.rs ("crates/lone"): lone lone::tests::t
        crates/lone/tests/auto/main.rs ("crates/lone"): auto auto::tests::t
        crates/lone/tests/auto/one.rs ("crates/lone"): auto auto::one::tests::t
        crates/tax-core/src/inline/deep.rs (""): tax_core lib::inline::deep::tests::t
        crates/tax-core/src/lib.rs (""): tax_core lib::tests::t
        crates/tax-core/src/odd/beside.rs (""): tax_core lib::renamed::beside::tests::t
        crates/tax-core/src/odd/file.rs (""): tax_core lib::renamed::tests::t
        crates/tax-core/src/rates.rs (""): tax_core lib::rates::tests::t
        crates/tax-core/src/rates/eu.rs (""): tax_core lib::rates::eu::tests::t
        crates/tax-core/src/unused.rs (""): 
        crates/tax-core/tests/it/all.rs (""): records records::tests::t
        crates/tax-core/tests/it/common/mod.rs (""): records records::common::tests::t
        crates/tax-core/tests/suite-a.rs (""): suite_a suite-a::tests::t
    "#]]
    .assert_eq(&out);
}
