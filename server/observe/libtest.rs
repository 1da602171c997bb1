//! What a Rust test binary printed, rustc 1.73 and later: which tests passed, and of those that did not what they
//! compared, by the exact forms of std, similar-asserts 2 and expect-test 1.5. Takes the text, gives tests in
//! the form of the other runners. Never takes for a value what may have been cut.

use std::sync::LazyLock;

use regex::Regex;

use super::events::{At, Event, Side, Test};
use crate::code::rust::literal;
use crate::text::one_line;

static PANIC: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^thread '[^\n]*' (?:\(\d+\) )?panicked at ([^\n]+?):(\d+):\d+:\n").ok());

static EXPECT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        "(?s)expect test failed\x1b\\[0m\n   \x1b\\[1m\x1b\\[34m-->\x1b\\[0m ([^\n]+)\n.*?\x1b\\[1mExpect\x1b\\[0m:\n----\n(.*?)\n----\n\n\x1b\\[1mActual\x1b\\[0m:\n----\n(.*?)\n----\n\n\x1b\\[1mDiff\x1b\\[0m:\n",
    )
    .ok()
});

/// Tests of one binary. `target` is the first part of their ids, `place` turns a printed path into one from the
/// root.
pub fn tests(output: &str, target: &str, place: &dyn Fn(&str) -> Option<String>) -> Vec<Test> {
    let blocks = blocks(output);
    let mut tests = Vec::new();
    for line in output.lines() {
        let Some((name, outcome)) = result(line) else { continue };
        let mut test = Test { id: format!("{target}::{name}"), events: Vec::new(), ended: true };
        match outcome {
            "ok" if !line.contains(" - should panic ") => test.events.push(report("passed", Vec::new(), false)),
            "FAILED" => {
                let block = blocks.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text);
                let (events, at) = failed(block, place);
                let asserted =
                    block.contains("note: test did not panic as expected") || events.iter().any(is_assertion);
                test.events.extend(events);
                test.events.push(report("failed", at, asserted));
            }
            _ => continue,
        }
        tests.push(test);
    }
    tests
}

fn report(outcome: &str, at: Vec<At>, asserted: bool) -> Event {
    Event::Report { when: "call".into(), outcome: outcome.into(), at, asserted }
}

/// A comparison that prints its sides, or a panic that calls itself an assertion. One with a message of its own is
/// not known from another panic.
fn is_assertion(event: &Event) -> bool {
    match event {
        Event::Cmp { ok, .. } => !ok,
        Event::Broke { message, .. } => message.contains("assertion"),
        _ => false,
    }
}

/// `test a::b ... ok`, whatever the test printed before it on the line.
fn result(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("test ")?;
    let (name, outcome) = rest.rsplit_once(" ... ")?;
    let outcome = outcome.split([',', ' ']).next()?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    matches!(outcome, "ok" | "FAILED" | "ignored").then_some((name, outcome))
}

/// `---- name stdout ----` and what follows, up to the next one or the list of failures.
fn blocks(output: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let Some(from) = output.find("\nfailures:\n") else { return found };
    let text = output.get(from..).unwrap_or_default();
    let heads: Vec<(usize, usize, &str)> = {
        let mut heads = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let name = line.trim_end().strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
            if let Some(name) = name {
                heads.push((at, at + line.len(), name));
            }
            at += line.len();
        }
        heads
    };
    for (nth, (_, from, name)) in heads.iter().enumerate() {
        let to = match heads.get(nth + 1) {
            Some((next, _, _)) => *next,
            None => text.rfind("\nfailures:\n").filter(|end| end >= from).unwrap_or(text.len()),
        };
        found.push((name, text.get(*from..to).unwrap_or_default()));
    }
    found
}

/// What a failing test compared, and where it stopped.
fn failed(block: &str, place: &dyn Fn(&str) -> Option<String>) -> (Vec<Event>, Vec<At>) {
    let mut events = Vec::new();
    let mut stops: Vec<At> = Vec::new();
    if let Some(pattern) = EXPECT.as_ref() {
        for captures in pattern.captures_iter(block) {
            let part = |nth: usize| captures.get(nth).map_or("", |part| part.as_str());
            let mut words = part(1).rsplitn(3, ':');
            let line = words.nth(1).and_then(|line| line.parse().ok());
            let at = words.next().and_then(place).zip(line);
            events.push(Event::Cmp {
                op: "==".into(),
                ok: false,
                left: Box::new(Side::of_text(part(2))),
                right: Box::new(Side::of_text(part(3))),
                at: at.clone().into_iter().collect(),
                opened: match &at {
                    Some(_) => Vec::new(),
                    None => vec![part(1).to_string()],
                },
            });
            stops.extend(at);
        }
    }
    let Some(pattern) = PANIC.as_ref() else { return (events, stops) };
    let heads: Vec<_> = pattern.captures_iter(block).collect();
    for (nth, head) in heads.iter().enumerate() {
        let Some(whole) = head.get(0) else { continue };
        let to = heads.get(nth + 1).and_then(|next| next.get(0)).map_or(block.len(), |next| next.start());
        let message = message(block.get(whole.end()..to).unwrap_or_default());
        let file = head.get(1).and_then(|file| place(file.as_str()));
        let line = head.get(2).and_then(|line| line.as_str().parse().ok());
        let Some(at) = file.zip(line) else { continue };
        stops.push(at.clone());
        let event = match sides(message) {
            Some((op, left, right)) => Event::Cmp {
                op: op.into(),
                ok: false,
                left: Box::new(left),
                right: Box::new(right),
                at: vec![at],
                opened: Vec::new(),
            },
            None => Event::Broke { message: one_line(message, 200), at: vec![at] },
        };
        events.push(event);
    }
    (events, stops)
}

/// The message of a panic, without what the runtime says behind it.
fn message(text: &str) -> &str {
    let cut =
        ["\nnote: run with `RUST_BACKTRACE", "\nstack backtrace:\n"].iter().filter_map(|end| text.find(end)).min();
    text.get(..cut.unwrap_or(text.len())).unwrap_or(text).trim_end_matches('\n')
}

/// Operator and both sides of a comparison that prints them.
fn sides(message: &str) -> Option<(&'static str, Side, Side)> {
    let op = match message {
        text if text.starts_with("assertion `left == right` failed") => "==",
        text if text.starts_with("assertion `left != right` failed") => "!=",
        text if text.starts_with("assertion failed: `(left != right)`") => {
            return Some(("!=", Side::default(), Side::default()));
        }
        text if text.starts_with("assertion failed: `(") => return similar(text).or_else(|| pretty(text)),
        _ => return None,
    };
    // A message of the test's own may hold such lines too: the last pair is the real one.
    let right = message.rfind("\n right: ")?;
    let head = message.get(..right)?;
    let left = head.rfind("\n  left: ")?;
    let left = Side::of_source(head.get(left + "\n  left: ".len()..)?);
    Some((op, left, Side::of_source(message.get(right + "\n right: ".len()..)?)))
}

/// similar-asserts 2: both values in backquotes, then the differences.
fn similar(message: &str) -> Option<(&'static str, Side, Side)> {
    let head = message.get(..message.find("\n\nDifferences (")?)?;
    let mut lines = head.rsplit('\n');
    let (right, left) = (lines.next()?, lines.next()?);
    let value = |line: &str| {
        let quoted = line.get(line.find(": `")? + 3..line.len().checked_sub(1)?).filter(|_| line.ends_with('`'))?;
        literal::text(quoted).map(|inner| Side::of_quoted(&inner))
    };
    Some(("==", value(left)?, value(right)?))
}

/// pretty_assertions 1.4: a diff of lines in colours, without carriage returns.
fn pretty(message: &str) -> Option<(&'static str, Side, Side)> {
    let from = message.find("\x1b[1mDiff\x1b[0m ")?;
    let diff = message.get(from..)?;
    let diff = diff.get(diff.find(" :\n")? + 3..)?;
    let plain = COLOURS.as_ref()?.replace_all(diff, "");
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for line in plain.trim_end_matches('\n').lines() {
        let (mark, rest) = line.split_at_checked(1)?;
        match mark {
            " " => {
                left.push(rest);
                right.push(rest);
            }
            "<" => left.push(rest),
            ">" => right.push(rest),
            _ => return None,
        }
    }
    Some(("==", Side::of_diff(&left.join("\n")), Side::of_diff(&right.join("\n"))))
}

static COLOURS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("\x1b\\[[0-9;]*m").ok());

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(output: &str, expected: Expect) {
        let place = |path: &str| (!path.starts_with('/')).then(|| format!("ws/{path}"));
        let shown: String = tests(output, "lib", &place)
            .iter()
            .map(|test| {
                let events: String = test
                    .events
                    .iter()
                    .map(|event| match event {
                        Event::Cmp { op, left, right, at, opened, .. } => {
                            format!("  {op} {:?} {:?} {at:?} {opened:?}\n", left.value(), right.value())
                        }
                        Event::Broke { message, at } => format!("  broke {message} {at:?}\n"),
                        Event::Report { outcome, at, .. } => format!("  {outcome} {at:?}\n"),
                        _ => String::new(),
                    })
                    .collect();
                format!("{}\n{events}", test.id)
            })
            .collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn comparisons_are_read_whole() {
        check(
            "
running 5 tests
test a::good ... ok
test a::slow ... ignored, too slow
test a::panics - should panic ... ok
test a::plain ... FAILED
test a::fake ... FAILED

failures:

---- a::plain stdout ----
printed

thread 'a::plain' (77) panicked at src/lib.rs:12:5:
assertion `left == right` failed: price
  left: \"a\\n\\\"b\\\"\"
 right: \"a\"
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- a::fake stdout ----

thread 'a::fake' (78) panicked at src/lib.rs:20:5:
assertion `left != right` failed: was
  left: fake
 right: fake
  left: [1, 2]
 right: [1, 2]

thread 'a::fake' (78) panicked at /rustc/x.rs:1:1:
called `Result::unwrap()` on an `Err` value: Any { .. }


failures:
    a::fake
    a::plain

test result: FAILED.
",
            expect![[r#"
                lib::a::good
                  passed []
                lib::a::plain
                  == Some(Literal("\"a\\n\\\"b\\\"\"")) Some(Literal("\"a\"")) [("ws/src/lib.rs", 12)] []
                  failed [("ws/src/lib.rs", 12)]
                lib::a::fake
                  != Some(Literal("[1, 2]")) Some(Literal("[1, 2]")) [("ws/src/lib.rs", 20)] []
                  failed [("ws/src/lib.rs", 20)]
            "#]],
        );
    }

    #[test]
    fn what_prints_no_values_broke_at_its_place() {
        check(
            "
test x ... FAILED
test s ... FAILED

failures:

---- x stdout ----

thread 'x' panicked at tests/x.rs:3:9:
assertion failed: total == 3

---- s stdout ----

thread 's' panicked at tests/x.rs:9:9:
assertion failed: `(got == want)`

thread 's' panicked at tests/x.rs:9:9:
assertion failed: `(left == right)`'
  left: `\"a\\r\"`
 right: `\"a\"`

Differences (-left|+right):
-a␍
+a


failures:
    s
",
            expect![[r#"
                lib::x
                  broke assertion failed: total == 3 [("ws/tests/x.rs", 3)]
                  failed [("ws/tests/x.rs", 3)]
                lib::s
                  broke assertion failed: `(got == want)` [("ws/tests/x.rs", 9)]
                  == Some(Text("a\r")) Some(Text("a")) [("ws/tests/x.rs", 9)] []
                  failed [("ws/tests/x.rs", 9), ("ws/tests/x.rs", 9)]
            "#]],
        );
    }

    #[test]
    fn expectations_are_taken_as_they_are_printed() {
        check(
            "
test e ... FAILED

failures:

---- e stdout ----



$[1m$[91merror$[97m: expect test failed$[0m
   $[1m$[34m-->$[0m tests/e.rs:4:13

You can update all `expect!` tests by running: x

$[1mExpect$[0m:
----
a
----
----

$[1mActual$[0m:
----
b

----

$[1mDiff$[0m:
----
ab
----



failures:
    e
"
            .replace('$', "\x1b")
            .as_str(),
            expect![[r#"
                lib::e
                  == Some(Text("a\n----")) Some(Text("b\n")) [("ws/tests/e.rs", 4)] []
                  failed [("ws/tests/e.rs", 4)]
            "#]],
        );
    }
}
