use expect_test::expect;

use super::*;
use crate::oracles::pytest::listing::{accepted, listing};

const TESTS: &str = "//- t/a.t
Totals:

  $ run 1 \\
  > 2
  rows 2
  run [0-9a-f]+ (re)
  gone

Nothing:

  $ run
  run * (glob)
  $ quiet
//- t/a.t.err
Totals:

  $ run 1 \\
  > 2
  rows: 2
  run 8f3a
  [1]

Nothing:

  $ run
  run all
  $ quiet
//- t/perl.t
use Test::More;
ok(1);
//- t/b.t
  $ old
  a
//- t/b.t.err
  $ other
  b
";

#[test]
fn each_command_is_held_against_what_it_printed() {
    expect![[r#"
        3  t/a.t = "rows 2\nrun [0-9a-f]+ (re)\ngone\n" at 5
            t/a.t.err: "rows: 2\nrun [0-9a-f]+ (re)\n[1]\n"
        11  t/a.t = "run * (glob)\n" at 12
            t/a.t.err: "run * (glob)\n"
        13  t/a.t = "" at 14
            t/a.t.err: ""
        1  t/b.t = "a\n" at 2
    "#]]
    .assert_eq(&listing(&Prysk, TESTS));
}

#[test]
fn an_accepted_block_keeps_the_patterns_that_match() {
    expect![[r#"
        t/a.t
        Totals:

          $ run 1 \
          > 2
          rows: 2
          run [0-9a-f]+ (re)
          [1]

        Nothing:

          $ run
          run * (glob)
          $ quiet
    "#]]
    .assert_eq(&accepted(&Prysk, TESTS, "t/a.t", None));
    let refused = accepted(&Prysk, TESTS, "t/a.t", Some(Content::Text("$ rm\n".into())));
    assert!(refused.contains("looks like a command"), "{refused}");
}
