//! Reasons that say nothing. Never judged by length or language: `fix VAT` and `修正四舍五入` are reasons.

use std::sync::LazyLock;

use regex::Regex;

use super::PLACEHOLDER;
use crate::text::one_line;

/// Whole reasons that are none, in lower case without punctuation.
const FILLERS: &[&str] = &[
    "wip",
    "todo",
    "tbd",
    "fixme",
    "fix",
    "fixes",
    "fixed",
    "fix it",
    "bugfix",
    "bug fix",
    "update",
    "updates",
    "updated",
    "change",
    "changes",
    "changed",
    "test",
    "tests",
    "testing",
    "misc",
    "stuff",
    "temp",
    "tmp",
    "no",
    "yes",
    "ok",
    "okay",
    "none",
    "na",
    "n a",
    "null",
    "nothing",
    "because",
    "reason",
    "no reason",
    "the reason",
    "accept",
    "accepted",
    "approve",
    "approved",
    "accept drift",
    "drift",
    "intended",
    "intentional",
    "intentional drift",
    "expected",
    "new",
    "lgtm",
    "looks good",
    "looks good to me",
    "looks right",
    "good",
    "fine",
    "done",
    "sure",
    "correct",
    "works",
    "works now",
    "works for me",
    "refactor",
    "refactoring",
    "refactored",
    "failing test",
    "failing tests",
    "green",
    "ci",
    "code review",
    "review comments",
    "see above",
    "see diff",
    "see commit",
    "see pr",
    "as discussed",
    "minor",
    "minor changes",
    "cleanup",
    "clean up",
    "regenerate",
    "regenerated",
    "regen",
    "refresh",
    "rerecord",
];

/// What is done to what, what is to pass, and what is said of it, in whole reasons without a why.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let hurried = r"(?:please |just |only |quick |quickly |small |minor |to |need to |needed to |had to |re )*";
    let which = r"(?: the| all| some| a| failing| broken| old| new| my| our| unit| recorded| expected| test)*";
    let pinned = concat!(
        r"(?:snapshots?|snaps?|baselines?|goldens?(?: files?)?|tests?(?: suite| data| cases?| files?)?|expectations?",
        r"|expected(?: values?| outputs?| results?)?|pins?|oracles?|approvals?|approved files?|literals?",
        r"|assert(?:ion)?s?|values?|outputs?|results?|references?(?: files?)?|recordings?|drifts?|diffs?",
        r"|fixtures?|ci|build|pipeline|suite|it|changes?|this|that|these|them|all|everything)"
    );
    let then = concat!(
        r"(?: again| now| too| accordingly| as expected| as needed)?",
        r"(?: (?:to|for|with|after|to match|to reflect|to fit)(?: the| new| current| latest| changed| actual)*",
        r"(?: (?:code|outputs?|results?|values?|behaviou?rs?|changes?|reality|tests?))?)?"
    );
    let does = concat!(
        r"(?:update[ds]?|updating|regenerate[ds]?|regenerating|regen|refresh(?:ed|ing)?|accept(?:ed|ing)?",
        r"|bump(?:ed)?|fix(?:ed|es|ing)?|re ?record(?:ed)?|re ?baselined?|adjust(?:ed)?|correct(?:ed)?",
        r"|overwrite|overwrote|overwritten|replaced?|sync(?:ed)?|change[ds]?|approved?)"
    );
    let passes = r"(?:pass|passes|passing|green|work|works|happy|succeed|ok)";
    let been = r"(?: has| have| is| are| was| were| had| been| now| looks?| just)*";
    let said = r"(?:changed|different|updated|new|failing|failed|broken|pass|passes|passing|green|ok|fine|good|expected|intended|intentional)";
    [
        format!(r"^{hurried}{does}{which} {pinned}{then}$"),
        format!(r"^{hurried}(?:make|makes|making|get|let|have){which} {pinned} {passes}(?: again| now)?$"),
        format!(r"^(?:because )?(?:the |all |some |my |our |new |old |recorded |test )*(?:code|behaviou?rs?|{pinned}){been} {said}(?: now| as expected)?$"),
        format!(
            r"^(?:as|works as|is|looks|all|seems|it's|its)(?: as)? (?:{said}|right|correct|intended|designed)(?: now)?$"
        ),
        format!(
            r"^(?:new|current|latest|actual|expected|intended|correct)(?: {pinned}| changes?| behaviou?rs?| code)+$"
        ),
        // Fingers on the keys.
        r"^(?:(?:asdf?|qwer?t?y?|hjkl?|jkl|yxcv|zxcv|lorem|ipsum|bla|blah|foo|bar|baz|test|123|abc)+ ?)+$".to_string(),
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Letters of one kind: `xxx`, `aaa aaa`.
fn is_one_letter(plain: &str) -> bool {
    let mut letters = plain.chars().filter(|c| *c != ' ');
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() && letters.all(|c| c == first))
}

/// Why the name of a test is no reason for it; `None` when it is something else.
pub fn refuse_name(reason: &str, test: &str) -> Option<String> {
    let reason = reason.trim().trim_matches(['`', '\'', '"', '.']);
    let bare = |test: &str| test.split('[').next().unwrap_or_default().to_string();
    let name = bare(test).rsplit("::").next().unwrap_or_default().to_string();
    // A name of one word may be a reason.
    let is_name = reason.contains(['_', ':']) && [test.to_string(), bare(test), name].iter().any(|name| name == reason);
    is_name.then(|| {
        format!(
            "\"{}\" is only the test's name; say in one sentence why what it records may change",
            one_line(reason, 60)
        )
    })
}

/// Why this is no reason, in words for the person; `None` when it may stand.
pub fn refuse_reason(reason: &str) -> Option<String> {
    let words: Vec<String> = reason
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let plain = words.join(" ");
    if plain.is_empty() {
        return Some("the reason is missing; say in one sentence why what is recorded may change".into());
    }
    if reason.contains(PLACEHOLDER) || plain == "why may the recorded value change" {
        return Some(format!(
            "the reason is still the template's {PLACEHOLDER}; write why what is recorded may change"
        ));
    }
    let filler = FILLERS.contains(&plain.as_str())
        || is_one_letter(&plain)
        || PATTERNS.iter().any(|pattern| pattern.is_match(&plain));
    filler.then(|| {
        format!(
            "\"{}\" does not tell the next reader why what is recorded may change; name the fix, the rule or the \
             decision behind it",
            one_line(reason.trim(), 60)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_refused_and_short_reasons_are_not() {
        for filler in [
            "",
            "  \t\n",
            "...",
            "-",
            "wip",
            "WIP.",
            "fix",
            "Fix tests",
            "update snapshot",
            "Updated the snapshots!",
            "update snapshots",
            "regenerate golden files",
            "fix failing tests",
            "accept new baseline",
            "todo",
            "tbd",
            "n/a",
            "make tests pass",
            PLACEHOLDER,
            "Reason: <why may the recorded value change?>",
            "why may the recorded value change?",
            "fix the build",
            "update",
            "updated snapshot",
            "fix test",
            "make ci pass",
            "make all tests pass again",
            "as expected",
            "works as expected",
            "regenerate",
            "regenerate it",
            "just update the golden file",
            "new output",
            "New expected output.",
            "the output changed",
            "tests are failing",
            "snapshot is different now",
            "update tests to match new behavior",
            "update snapshots after changes",
            "update the expected values",
            "aaaa",
            "x x x",
            "asdf",
            "asdfasdf",
            "blah blah",
            "looks good",
            "accept the change",
            "tests pass now",
            "because the output is different",
        ] {
            assert!(refuse_reason(filler).is_some(), "{filler:?}");
        }
        for reason in [
            "fix VAT",
            "VAT",
            "修正四舍五入",
            "рефакторинг 42",
            "#42",
            "update snapshot: VAT rounds half up",
            "fix tests of VAT rounding",
            "fix banker's rounding; use Decimal (refactor 42)",
            "ΦΠΑ",
            "new tax table 2027",
            "test clock was wrong by an hour",
            "update to Unicode 16",
            "fix rounding",
            "new fixture for leap years",
            "snapshot had the wrong year",
            "expected order is by date",
            "sorted output",
            "output is sorted now",
            "values are in cents now",
            "update results for the 2027 tax table",
            "tests were written against the old API",
            "accept negative values",
            "new values from the ECB",
            "make it pass through the proxy",
            "fix CI-1234",
            "aha",
        ] {
            assert_eq!(refuse_reason(reason), None, "{reason:?}");
        }
    }

    #[test]
    fn the_name_of_the_test_is_no_reason() {
        let test = "tests/test_a.py::TestTax::test_rounding[half up]";
        for name in ["test_rounding", "`test_rounding`", test, "tests/test_a.py::TestTax::test_rounding"] {
            assert!(refuse_name(name, test).is_some(), "{name:?}");
        }
        assert_eq!(refuse_name("rounding", test), None);
        assert_eq!(refuse_name("test_rounding covers VAT now", test), None);
    }
}
