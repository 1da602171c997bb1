use expect_test::{Expect, expect};

use super::*;
use crate::code::{Op, Piece};
use crate::syntax;

fn lowered(source: &str) -> Unit {
    let text = Text::new(source);
    let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).expect("parsed in time");
    unit(&RelPath::new("tests/test_a.py").unwrap(), &text, &tree)
}

/// One expression in a short notation: atoms as `kind value`, everything else in parentheses.
fn expr(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(self::expr).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        ExprKind::Int(text) | ExprKind::Float(text) | ExprKind::Name(text) => text.clone(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::None => "None".into(),
        ExprKind::Ellipsis => "...".into(),
        ExprKind::Attr(base, name) => format!("{}.{name}", self::expr(base)),
        ExprKind::Index(base, key) => format!("{}[{}]", self::expr(base), self::expr(key)),
        ExprKind::Neg(inner) => format!("(neg {})", self::expr(inner)),
        ExprKind::Not(inner) => format!("(not {})", self::expr(inner)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", self::expr(a), self::expr(b)),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Tuple(items) => format!("({})", list(items)),
        ExprKind::Set(items) => format!("{{{}}}", list(items)),
        ExprKind::Dict(items) => {
            let items = items.iter().map(|(k, v)| format!("{}: {}", self::expr(k), self::expr(v)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Cond(a, b, c) => format!("(if {} {} {})", self::expr(a), self::expr(b), self::expr(c)),
        ExprKind::Call { callee, args } => {
            let args = args.iter().map(|arg| {
                let name = arg.name.as_ref().map_or(String::new(), |name| format!("{name}="));
                format!("{}{name}{}", if arg.spread { "*" } else { "" }, self::expr(&arg.value))
            });
            format!("{}({})", self::expr(callee), args.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Format(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => format!("{text:?}"),
                Piece::Hole(hole, format) => format!("<{}{format}>", self::expr(hole)),
            });
            format!("f({})", pieces.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Closure { params, body } => format!("(lambda {params:?} {})", stmts(body)),
        ExprKind::Block(body) => format!("(block {})", stmts(body)),
        ExprKind::Opaque => "opaque".into(),
        other => format!("{other:?}"),
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Name(name, _) => name.clone(),
        Target::Tuple(items) => format!("({})", items.iter().map(self::target).collect::<Vec<_>>().join(" ")),
        Target::Member(name) => format!("self.{name}"),
        Target::Other => "?".into(),
    }
}

fn stmts(body: &[Stmt]) -> String {
    body.iter().map(stmt).collect::<Vec<_>>().join("; ")
}

fn stmt(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Bind { target, value } => format!("{} = {}", self::target(target), expr(value)),
        StmtKind::Expr(value) => expr(value),
        StmtKind::Assert { cond, message } => {
            format!("assert {}{}", expr(cond), message.as_ref().map_or(String::new(), |m| format!(", {}", expr(m))))
        }
        StmtKind::Return(value) => format!("return {}", value.as_ref().map_or(String::new(), expr)),
        StmtKind::For { target, iter, body } => {
            format!("for {} in {} {{ {} }}", self::target(target), expr(iter), stmts(body))
        }
        StmtKind::While { cond, body } => format!("while {} {{ {} }}", expr(cond), stmts(body)),
        StmtKind::If { cond, then, otherwise } => {
            format!("if {} {{ {} }} else {{ {} }}", expr(cond), stmts(then), stmts(otherwise))
        }
        StmtKind::With { items, body } => {
            let items = items
                .iter()
                .map(|(value, name)| {
                    format!("{}{}", expr(value), name.as_ref().map_or(String::new(), |n| format!(" as {}", target(n))))
                })
                .collect::<Vec<_>>();
            format!("with {} {{ {} }}", items.join(", "), stmts(body))
        }
        StmtKind::Block(parts) => {
            format!("block {{ {} }}", parts.iter().map(|part| stmts(part)).collect::<Vec<_>>().join(" | "))
        }
        StmtKind::Raise => "raise".to_string(),
        StmtKind::Break => "break".to_string(),
        StmtKind::Continue => "continue".to_string(),
        StmtKind::Def(name) => format!("def {name}"),
        StmtKind::Other => "other".into(),
    }
}

fn shown(unit: &Unit) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    for import in &unit.imports {
        line(format!("import {} = {} {:?}", import.local, import.path, import.scope));
    }
    for global in &unit.globals {
        line(format!(
            "{}{} = {}",
            global.path.iter().map(|p| format!("{p}.")).collect::<String>(),
            global.name,
            expr(&global.value)
        ));
    }
    for scope in &unit.scopes {
        line(format!(
            "class {} {:?} bases [{}] marks [{}]",
            scope.name,
            scope.path,
            scope.bases.iter().map(expr).collect::<Vec<_>>().join(" "),
            scope.marks.iter().map(expr).collect::<Vec<_>>().join(" ")
        ));
    }
    for function in &unit.functions {
        for mark in &function.marks {
            line(format!("@{}", expr(mark)));
        }
        let params = function.params.iter().map(|param| {
            param.default.as_ref().map_or(param.name.clone(), |default| format!("{}={}", param.name, expr(default)))
        });
        line(format!(
            "def {} {:?} ({}) indent {:?} doc {:?}",
            function.name,
            function.path,
            params.collect::<Vec<_>>().join(", "),
            function.indent,
            function.doc.as_ref().map(|doc| doc.text.as_str())
        ));
        for stmt in &function.body {
            line(format!("    {}", self::stmt(stmt)));
        }
    }
    if !unit.top.is_empty() {
        line(format!("top {}", stmts(&unit.top)));
    }
    out
}

fn check(source: &str, expect: Expect) {
    expect.assert_eq(&shown(&lowered(source)));
}

#[test]
fn nesting_without_end_is_cut_and_never_overflows() {
    for source in [
        format!("x = {}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("x = {}1{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("x = {}1", "-".repeat(10_000)),
        format!("x = a{}", ".b()".repeat(10_000)),
        format!("x = 1{}", " + 1".repeat(10_000)),
        format!("{}y", "x = ".repeat(10_000)),
        format!("x = {}1", "lambda: ".repeat(5_000)),
        (0..340).fold(String::new(), |text, depth| format!("{text}{}if x:\n", " ".repeat(depth)))
            + &" ".repeat(340)
            + "y",
        (0..340).fold(String::new(), |text, depth| format!("{text}{}class A:\n", " ".repeat(depth)))
            + &" ".repeat(340)
            + "y = 1",
        format!("if x:\n  a\n{}", "elif y:\n  b\n".repeat(5_000)),
        format!("with {}a{} as b:\n  c", "(".repeat(5_000), ")".repeat(5_000)),
        format!("{}a{} = 1", "(".repeat(5_000), ",)".repeat(5_000)),
        "(".repeat(10_000),
    ] {
        let unit = lowered(&source);
        let mut seen = 0;
        unit.top.iter().for_each(|stmt| stmt.walk(&mut |_| seen += 1));
        unit.globals.iter().for_each(|global| global.value.walk(&mut |_| seen += 1));
        assert!(seen < 100_000);
    }
}

#[test]
fn nothing_is_taken_from_inside_a_syntax_error() {
    let unit = lowered("def test_a():\n    assert f(1 2 == 3\n\ndef test_b():\n    assert g() == 4\n");
    let inside: Vec<_> = unit.errors.iter().map(|span| unit.text.slice(*span)).collect();
    assert!(!inside.is_empty());
    let mut calls = Vec::new();
    for function in &unit.functions {
        function.body.iter().for_each(|stmt| stmt.walk(&mut |e| calls.push(expr(e))));
    }
    assert!(!calls.iter().any(|call| call.starts_with("f(")), "{calls:?}");
    for global in &unit.globals {
        assert!(unit.errors.iter().all(|error| !error.contains(global.span)));
    }
}

#[test]
fn functions_classes_and_what_they_bind() {
    check(
        r#"
"""Module."""
import os.path, sys as system
from . import near
from ..far import (thing as other, *)
from a.b import c

LIMIT: int = 3
A, B = 1, "x"
C = D = [1, *B]
LIMIT += 1
if system:
    E = 1

@pytest.mark.parametrize("a, b", [(1, 2)])
async def test_a(a, b: int = 2, *args, c, **kw):
    """Doc
    string."""
    from x import y
    def inner(z=None): return z
    inner()
    total += check(1)
    p = q = 3

@mark
class TestB(Base, metaclass=M):
    limit = 3
    def test_c(self, /, *, key="k"):
        pass
"#,
        expect![[r#"
            import os = os []
            import system = sys []
            import near = .near []
            import c = a.b.c []
            import y = x.y ["test_a"]
            LIMIT = 3
            A = 1
            B = "x"
            C = (block 1; (block B))
            D = (block 1; (block B))
            LIMIT = (block 1)
            E = opaque
            TestB.limit = 3
            class TestB [] bases [Base] marks [mark]
            @pytest.mark.parametrize("a, b", [(1 2)])
            def test_a [] (a, b=2, *args, c, **kw) indent "    " doc Some("Doc\n    string.")
                "Doc\n    string."
                def inner
                inner()
                total = (block check(1))
                p = 3
                q = 3
            def inner ["test_a"] (z=None) indent "        " doc None
                return z
            def test_c ["TestB"] (self, *, key="k") indent "        " doc None
                other
            top "Module."; if system { E = 1 } else {  }
        "#]],
    );
}

#[test]
fn statements_keep_what_may_run() {
    check(
        r#"
def test_a():
    for i, (x, y) in enumerate(ROWS):
        assert f(x) == y, f"row {i}"
    else:
        done()
    while more():
        step()
    if a:
        b()
    elif c:
        d()
    else:
        e()
    with open(p) as fh, (lock):
        fh.read()
    with (open(p) as a, open(q) as b):
        pass
    try:
        one()
    except E as err:
        two()
    finally:
        three()
    match v:
        case 1:
            m()
        case _:
            n()
    yield value
    raise E("no")
"#,
        expect![[r#"
            def test_a [] () indent "    " doc None
                for (i (x y)) in enumerate(ROWS) { assert (Eq f(x) y), f("row " <i>) }
                done()
                while more() { step() }
                if a { b() } else { if c { d() } else { e() } }
                with open(p) as fh, lock { fh.read() }
                with open(p) as a, open(q) as b { other }
                block { one() | two() | three() }
                block { v | m() | n() }
                yield(value)
                E("no")
                raise
        "#]],
    );
}

#[test]
fn expressions_are_as_python_groups_them() {
    let of = |source: &str| expression(source).map_or("none".into(), |e| expr(&e));
    for (source, want) in [
        ("1 == a == 2", "(And (Eq 1 a) (Eq a 2))"),
        ("a not in b", "(NotIn a b)"),
        ("a is not None and b or c", "(Or (And (IsNot a None) b) c)"),
        ("not a", "(not a)"),
        ("-1.5e3", "(neg 1.5e3)"),
        ("1_000 + 0x_ff", "(Add 1000 0xff)"),
        ("a / 'b' // c", "(Other (Div a \"b\") c)"),
        ("x if c else y", "(if c x y)"),
        ("f(*a, k=1, **kw)(2)", "f(*a, k=1, *kw)(2)"),
        ("a[1, 'x'].b[1:2]", "a[(1 \"x\")].b[slice(1, 2)]"),
        ("a[:-4]", "a[slice(None, (neg 4))]"),
        ("{1: 'a', 'b': [None, True, ...]}", "{1: \"a\" \"b\": [None true ...]}"),
        ("{1, 2}", "{1 2}"),
        ("{**a, 'b': 1}", "(block (block a); 1)"),
        ("()", "()"),
        ("(1,)", "(1)"),
        ("(1)", "1"),
        ("1, 2", "(1 2)"),
        ("[f(x) for x in y if g(x)]", "(block for x in y { if g(x) { yield(f(x)) } else {  } })"),
        ("f(x for x in y)", "f((block for x in y { yield(x) }))"),
        ("{k: v for k in y}", "dict((block for k in y { yield((k v)) }))"),
        ("await f(1)", "f(1)"),
        ("(n := f()) == 2", "(Eq (block n = f()) 2)"),
        ("lambda x: x", "(lambda [Name(\"x\", Span { start: 7, end: 8 })] return x)"),
        ("+1", "(block 1)"),
        ("1j", "opaque"),
        ("f(", "none"),
        ("a; b", "none"),
    ] {
        assert_eq!(of(source), want, "{source}");
    }
}

#[test]
fn string_literals_have_their_value() {
    let of = |source: &str| expression(source).map_or("none".into(), |e| expr(&e));
    for (source, want) in [
        (r#""a\n" 'b' r"\n""#, r#""a\nb\\n""#),
        ("(\n  'a'  # one\n  'b'\n)", "\"ab\""),
        ("'''a\n\"b\"\\\n'''", "\"a\\n\\\"b\\\"\""),
        (r#"b"a\xff" b'z'"#, r#"b"a\xffz""#),
        (r#""a" b"b""#, "opaque"),
        (r#"f"a{x!r:>{w}}b{{}}""#, r#"f("a" <x!r:>{w}> "b{}")"#),
        (r#"f"{x=}" "y""#, r#"f("x=" <x!r> "y")"#),
        (r#""a" f"{b}""#, r#"f("a" <b>)"#),
        (r#"rf"\d{n}""#, r#"f("\\d" <n>)"#),
        (r#""\N{BULLET}""#, "opaque"),
        (r#"u"\u00e9""#, "\"é\""),
        (r#""""#, "\"\""),
    ] {
        assert_eq!(of(source), want, "{source}");
    }
}

#[test]
fn spans_are_exact() {
    let source = "def test_a():\n    assert f(x) == (\n        'ü'\n        'b'\n    )\n";
    let unit = lowered(source);
    let StmtKind::Assert { cond, .. } = &unit.functions[0].body[0].kind else { panic!("an assert") };
    assert_eq!(unit.text.slice(cond.span), "f(x) == (\n        'ü'\n        'b'\n    )");
    let ExprKind::Binary(Op::Eq, _, right) = &cond.kind else { panic!("a comparison") };
    assert_eq!(unit.text.slice(right.span), "'ü'\n        'b'");
    assert_eq!(unit.text.slice(unit.functions[0].name_span), "test_a");
}

#[test]
fn comments_are_found_wherever_they_stand() {
    let unit =
        lowered("# a\nx = [  # b\n    1,  # c\n]\ndef f(a,  # d\n      b):\n    # e\n    return (  # f\n        1)\n");
    let comments: Vec<_> = unit.comments.iter().map(|span| unit.text.slice(*span)).collect();
    assert_eq!(comments, ["# a", "# b", "# c", "# d", "# e", "# f"]);
}
