use expect_test::{Expect, expect};

use super::*;

fn check(before: &str, after: &str, want: Expect) {
    let shown = match read(before, after) {
        None => "no structure\n".to_string(),
        Some(reading) => {
            let mut out = format!("{}, {} values\n", reading.format.word(), reading.values);
            for change in &reading.changes {
                out.push_str(&format!("{}\n", change.line()));
            }
            out
        }
    };
    want.assert_eq(&shown);
}

#[test]
fn json_names_the_path_and_both_values() {
    let before = r#"{"orders": [{"id": 1, "tax": 0.10}, {"id": 2, "tax": 0.38, "a note": null}], "total": 7.48}"#;
    let after = r#"{"orders": [{"id": 1, "tax": 0.10}, {"id": 2, "tax": 0.39, "a note": "x"}], "total": 7.48}"#;
    check(
        before,
        after,
        expect![[r#"
            JSON, 6 values
            orders[1].tax: 0.38 → 0.39
            orders[1]["a note"]: null → "x"
        "#]],
    );
    check(
        r#"{"a": [1, 2, 3], "b": {}}"#,
        r#"{"a": [1, 3], "c": {}}"#,
        expect![[r#"
            JSON, 3 values
            a[1]: removed 2
            b: removed {}
            c: added {}
        "#]],
    );
}

#[test]
fn literals_of_both_languages_are_read() {
    check(
        "{'total': Decimal('2.67'), 'tags': ('a', 'b')}",
        "{'total': Decimal('2.68'), 'tags': ('a', 'c')}",
        expect![[r#"
            literal, 3 values
            total[0]: '2.67' → '2.68'
            tags[1]: 'b' → 'c'
        "#]],
    );
    check(
        "Invoice { lines: [Line { net: 1.0, of: Some(3) }], paid: false }",
        "Invoice {\n    lines: [\n        Line {\n            net: 1.5,\n            of: Some(3),\n        },\n    ],\n    paid: true,\n}",
        expect![[r#"
            literal, 3 values
            lines[0].net: 1.0 → 1.5
            paid: false → true
        "#]],
    );
}

#[test]
fn marked_up_texts_are_read_by_their_own_rules() {
    check(
        "[shop]\nname = \"x\"\n[[shop.lines]]\nnet = 2.50\n",
        "[shop]\nname = \"x\"\n[[shop.lines]]\nnet = 2.5\n",
        expect![[r#"
            TOML, 2 values
            shop.lines[0].net: 2.50 → 2.5
        "#]],
    );
    check(
        "name: x\nlines:\n  - net: 2\n    to: '1'\n",
        "name: x\nlines:\n  - net: 3\n    to: 1\n",
        expect![[r#"
            YAML, 3 values
            lines[0].net: 2 → 3
            lines[0].to: "1" → 1
        "#]],
    );
    check(
        "<o id='1'><l>a</l><l>b</l></o>",
        "<o id='2'>\n  <l>a</l>\n  <l>c</l>\n</o>",
        expect![[r#"
            XML, 3 values
            o/@id: 1 → 2
            o/l[2]: b → c
        "#]],
    );
    check(
        "id,due\n1,2024-12-03\n2,2024-12-04\n",
        "id,due\n1,2024-12-03\n2,2024-12-05\n",
        expect![[r#"
            CSV, 6 values
            row 3, due: 2024-12-04 → 2024-12-05
        "#]],
    );
}

#[test]
fn what_is_no_structure_is_none() {
    check("hello\nworld\n", "hello\nthere\n", expect![["no structure\n"]]);
    check("5", "6", expect![["no structure\n"]]);
    check("{\"a\": 1", "{\"a\": 2", expect![["no structure\n"]]);
    check(&"[".repeat(10_000), &"{".repeat(10_000), expect![["no structure\n"]]);
    check(&format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000)), "[1]", expect![["no structure\n"]]);
    check(
        "a: &x [1]\nb: *x\nc: [*x, *x, *x]\n",
        "a: &x [1]\nb: *x\nc: [*x, *x]\n",
        expect![[r#"
        YAML, 5 values
        c[2]: removed *1
    "#]],
    );
}

#[test]
fn the_same_value_written_differently() {
    for (before, after) in [
        (r#"{"a":1,"b":[1.50,"é"]}"#, "{\n  \"a\": 1,\n  \"b\": [1.50, \"\\u00e9\"]\n}\n"),
        ("a = 'x'\n", "a   = \"x\"\n"),
        ("a: [1, two]\n", "a:\n- 1\n- 'two'\n"),
        ("<a><b>1</b></a>", "<a>\n  <b>1</b>\n</a>\n"),
        ("a,b\n1,x\n", "a,b\n1,\"x\"\n"),
    ] {
        assert!(same_value(before, after), "{before} and {after}");
        assert!(same_value(after, before), "{after} and {before}");
    }
    for (before, after) in [
        (r#"{"a":1.5}"#, r#"{ "a": 1.50 }"#),
        (r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1 }"#),
        (r#"{"a":"x y"}"#, r#"{ "a": "x  y" }"#),
        ("a: '1'\n", "a: 1\n"),
        ("a: 1 # one\n", "a: 1 # two\n"),
        ("<a>x y</a>", "<a>x  y</a>"),
        ("<a><!-- one --><b>1</b></a>", "<a><!-- two --><b>1</b></a>"),
        ("a,b\n1,x\n", "a,b\n1,\"x \"\n"),
    ] {
        assert!(!same_value(before, after), "{before} and {after}");
    }
}
