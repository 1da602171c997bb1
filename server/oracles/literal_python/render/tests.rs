use expect_test::{Expect, expect};

use super::*;
use crate::code::{StmtKind, python};
use crate::oracles::literal_python;
use crate::places::RelPath;
use crate::syntax::{self, Language};
use crate::text::Text;

fn unit(source: &str) -> Unit {
    let text = Text::new(source);
    let tree = syntax::parse(source, Language::Python, None, syntax::BUDGET).unwrap();
    python::unit(&RelPath::new("tests/test_a.py").unwrap(), &text, &tree)
}

/// The right side of the first assert of the first function.
fn recorded(unit: &Unit) -> Expr {
    for stmt in unit.functions.iter().flat_map(|function| &function.body) {
        if let StmtKind::Assert { cond, .. } = &stmt.kind
            && let ExprKind::Binary(_, _, right) = &cond.kind
        {
            return (**right).clone();
        }
    }
    panic!("no assert")
}

/// The file after the literal got the value of `new`; the file must read back equal.
fn amended(source: &str, new: &str) -> String {
    let unit = unit(source);
    let expr = python::expression(new).unwrap();
    let new = value(&expr, Names::Repr).unwrap();
    match edits(&unit, &recorded(&unit), &new) {
        Ok((edits, _)) => {
            let whole = Span::new(0, source.len());
            let after = applied(source, whole, &edits);
            let back = self::unit(&after);
            assert!(back.errors.is_empty(), "{after}");
            assert_eq!(literal_python::content(&recorded(&back), Names::Of(&back)), Some(new.content()), "{after}");
            after
        }
        Err(refusal) => format!("refused: {refusal}\n"),
    }
}

fn check(source: &str, new: &str, expect: Expect) {
    expect.assert_eq(&amended(source, new));
}

#[test]
fn every_value_reads_back_equal_whatever_stood_there() {
    let olds = [
        "'a'",
        "\"a\"",
        "'''a\nb'''",
        "\"\"\"\\\na\nb\n\"\"\"",
        "r'a\\d'",
        "r\"\"\"a\nb\"\"\"",
        "u'a'",
        "2",
        "2.5",
        "None",
        "[1, 2]",
        "[\n        1,\n        2,\n    ]",
        "(1, 2)",
        "{'a': 1}",
        "{1, 2}",
        "b'a'",
        "(\n        'a\\n'\n        'b\\n'\n    )",
        "()",
        "[]",
        "{}",
    ];
    let news = [
        "''",
        "'\\n'",
        "'a'",
        "\"it's\"",
        "'say \"hi\"'",
        "'both \\' and \"'",
        "'a\\nb'",
        "'a\\nb\\n'",
        "'a\\\\nb\\\\'",
        "'x\\r\\ny\\r\\n'",
        "'\\x1b[0m\\x00\\u202e\\u2028'",
        "'tab\\tü😀'",
        "'\"\"\"'",
        "\"'''\"",
        "'ends with \"'",
        "'trailing  \\nspace '",
        "'\\\\'",
        "'a\\n\\n\\nb'",
        "3",
        "-3",
        "3.5",
        "1e300",
        "True",
        "None",
        "...",
        "[]",
        "[1]",
        "[1, 2, 3]",
        "[0, 1, 2]",
        "['a', ['b']]",
        "()",
        "(1,)",
        "(1, 2, 3)",
        "{'a': 2}",
        "{'b': 1}",
        "{'a': 1, 'b': [1, 2]}",
        "{}",
        "{1, 3}",
        "b'\\xff\\n'",
        "float('-inf')",
        "Decimal('2.6750')",
        "datetime.date(2019, 3, 1)",
        "[UUID('12345678123456781234567812345678')]",
        "Path('a/b')",
        "frozenset({1})",
        "set()",
    ];
    for old in olds {
        for new in news {
            let after = amended(&format!("import os\n\n\ndef test_a():\n    assert f() == {old}\n"), new);
            assert!(!after.starts_with("refused"), "{old} -> {new}: {after}");
        }
    }
}

#[test]
fn a_new_name_is_imported_once_and_in_its_place() {
    check(
        "import pytest\n\n\ndef test_a():\n    assert f() == 2.67\n",
        "Decimal('2.6750')",
        expect![[r#"
            from decimal import Decimal

            import pytest


            def test_a():
                assert f() == Decimal("2.6750")
        "#]],
    );
    check(
        "\"\"\"Doc.\"\"\"\nimport json\nimport re\nfrom pathlib import Path\n\nfrom legacy import f\n\n\ndef test_a():\n    assert f() == 'x'\n",
        "[Decimal('1'), datetime.date(2019, 3, 1), Path('a')]",
        expect![[r#"
            """Doc."""
            import datetime
            import json
            import re
            from decimal import Decimal
            from pathlib import Path

            from legacy import f


            def test_a():
                assert f() == [Decimal('1'), datetime.date(2019, 3, 1), Path('a')]
        "#]],
    );
    check(
        "def test_a():\n    assert f() == 2.67\n",
        "Decimal('1')",
        expect![[r#"
            from decimal import Decimal

            def test_a():
                assert f() == Decimal("1")
        "#]],
    );
}

#[test]
fn names_are_those_of_the_file() {
    check(
        "import datetime as dt\nfrom decimal import Decimal as D\n\n\ndef test_a():\n    assert f() == 0\n",
        "(Decimal('1'), datetime.datetime(2019, 3, 1, 0, 0, tzinfo=datetime.timezone.utc))",
        expect![[r#"
            import datetime as dt
            from decimal import Decimal as D


            def test_a():
                assert f() == (D("1"), dt.datetime(2019, 3, 1, 0, 0, tzinfo=dt.timezone.utc))
        "#]],
    );
    check(
        "from datetime import datetime\n\n\ndef test_a():\n    assert f() == 0\n",
        "datetime.date(2019, 3, 1)",
        expect![[r#"
            refused: tests/test_a.py: the new value needs datetime.date, and `datetime` means something else in this file; import it by hand under another name
        "#]],
    );
}

#[test]
fn lines_items_and_comments_stay_as_they_stand() {
    check(
        "def test_a():\n    assert f() == (\n        'one\\n'  # first\n        \"two\\n\"\n        'three\\n'\n    )\n",
        "'one\\ntwo and a half\\nmore\\nthree\\n'",
        expect![[r#"
            def test_a():
                assert f() == (
                    'one\n'  # first
                    'two and a half\n'
                    'more\n'
                    'three\n'
                )
        "#]],
    );
    check(
        "def test_a():\n    assert f() == [\n        \"\",  # blank\n        \"Closing: 1\",\n        'Terms',\n    ]\n",
        "['', 'Closing: 2', 'Terms', 'End']",
        expect![[r#"
            def test_a():
                assert f() == [
                    "",  # blank
                    "Closing: 2",
                    'Terms',
                    "End",
                ]
        "#]],
    );
    check(
        "def test_a():\n    assert f() == {'a': 1, 'b': {'c': [1, 2]}, 'd': 3}\n",
        "{'d': 3, 'b': {'c': [1, 5]}, 'e': 4}",
        expect![[r#"
            def test_a():
                assert f() == {'b': {'c': [1, 5]}, 'd': 3, 'e': 4}
        "#]],
    );
    check(
        "def test_a():\n    assert f() == [\n        1,  # one\n        2,\n    ]\n",
        "'x'",
        expect![[r#"
            refused: tests/test_a.py:3: the recorded value holds a comment that would be lost; change the value by hand
        "#]],
    );
}

#[test]
fn texts_keep_their_form() {
    check(
        "PAGE = 1\ndef test_a():\n    assert f() == \"\"\"\\\nRent |900\nPost |3\"\"\"\n",
        "'Rent |900  \\nPost \"|3\\\\  '",
        expect![[r#"
            PAGE = 1
            def test_a():
                assert f() == """\
            Rent |900 \x20
            Post "|3\\  """
        "#]],
    );
    check(
        "def test_a():\n    assert f() == 'short'\n",
        "'a long first line of forty characters...\\nand a second one that makes it too long\\n'",
        expect![[r#"
            def test_a():
                assert f() == (
                    'a long first line of forty characters...\n'
                    'and a second one that makes it too long\n'
                )
        "#]],
    );
    check(
        "def test_a():\n    assert f() == 2.5\n",
        "3",
        expect![[r#"
        def test_a():
            assert f() == 3.0
    "#]],
    );
}

#[test]
fn line_endings_of_the_source_stay() {
    let after = amended("def test_a():\r\n    assert f() == [\r\n        1,\r\n    ]\r\n", "[1, 2]");
    assert_eq!(after, "def test_a():\r\n    assert f() == [\r\n        1,\r\n        2,\r\n    ]\r\n");
}
