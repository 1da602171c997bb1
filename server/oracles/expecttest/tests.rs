use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const TESTS: &str = r#"//- tests/test_a.py
import expecttest
class T(expecttest.TestCase):
    def test_below(self):
        self.assertExpectedInline(run(), """\
a
b
""")
    def test_raw(self):
        self.assertExpectedInline(run(), r'''a\n''')
    def test_new(self):
        self.assertExpectedRaisesInline(KeyError, lambda: run(), """""")
    def test_plain(self):
        self.assertExpectedInline(run(), "a")
    def check(self, text, expect):
        self.assertExpectedInline(text, expect, skip=1)
    def test_helper(self):
        self.check(run(), """c""")
    def test_file(self):
        self.assertExpected(run())
        self.assertExpected(run(), 'more')
    def test_other(self):
        other.assertExpectedInline(run(), """c""")
//- tests/expect/T.test_file-more.expect
x
"#;

#[test]
fn literals_and_files_are_found() {
    expect![[r#"
        4 T::test_below tests/test_a.py = "a\nb\n" at 5
        9 T::test_raw tests/test_a.py = "a\\n" at 9
        11 T::test_new tests/test_a.py missing
        13 T::test_plain tests/test_a.py = "a" at 13
        17 T::test_helper tests/test_a.py = "c" at 17
        20 T::test_file tests/expect/T.test_file-more.expect = "x\n" at 1
    "#]]
    .assert_eq(&listing(&Expecttest, TESTS));
}

#[test]
fn literals_are_written_as_the_library_writes_them() {
    // Each second text was written by expecttest 0.3.0 in place of `"""x"""` or `r'''x'''`.
    for (source, text, want) in [
        ("\"\"\"x\"\"\"", "a", "\"\"\"a\"\"\""),
        ("\"\"\"x\"\"\"", "a\nb", "\"\"\"\\\na\nb\"\"\""),
        ("\"\"\"x\"\"\"", "\\ \"\"\" '''\n", "\"\"\"\\\n\\\\ \\\"\\\"\\\" '''\n\"\"\""),
        ("\"\"\"x\"\"\"", "say \"no\"", "\"\"\"say \"no\\\"\"\"\""),
        ("r'''x'''", "a\n\\d", "r'''a\n\\d'''"),
        ("r'''x'''", "it's '", "'''it's \\''''"),
    ] {
        assert_eq!(written(source, text).as_deref(), Ok(want), "{text:?}");
        assert_eq!(text_of(want).as_deref(), Some(text));
    }
    let text = |text: &str| Some(Content::Text(text.to_string()));
    let refused =
        |test, value| accepted(&Expecttest, TESTS, test, text(value)).lines().next().unwrap_or("").to_string();
    assert!(refused("test_below", "a\r\n").contains("carriage return"));
    assert!(refused("test_below", "é").contains("printable ASCII only"));
    assert!(refused("test_plain", "b").contains("three quotes"));
    assert!(accepted(&Expecttest, TESTS, "test_new", text("k")).contains("lambda: run(), \"\"\"k\"\"\")"));
}
