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
    "foo",
    "bar",
    "asdf",
    "qwerty",
    "x",
    "xx",
    "xxx",
    "y",
    "n",
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
    "accept drift",
    "drift",
    "intended",
    "intentional",
    "intentional drift",
    "expected",
    "new",
    "new value",
    "new output",
    "new behaviour",
    "new behavior",
    "lgtm",
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
    "make it pass",
    "make it green",
    "make ci green",
    "make ci pass",
    "make test pass",
    "make tests pass",
    "make tests green",
    "make the tests pass",
    "make the test pass",
    "it changed",
    "output changed",
    "value changed",
    "the value changed",
    "the output changed",
    "snapshot changed",
    "snapshots changed",
];

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:update[ds]?|updating|regenerate[ds]?|regenerating|regen|refresh(?:ed|ing)?|accept(?:ed|ing)?|bump(?:ed)?",
        r"|fix(?:ed|es|ing)?|re ?record(?:ed)?|re ?baselined?|adjust(?:ed)?|correct(?:ed)?)",
        r"(?: the| all| some| failing| broken| old| new| my| our| unit)*",
        r" (?:snapshots?|snaps?|baselines?|goldens?(?: files?)?|tests?|expectations?|expected(?: values?| outputs?| results?)?",
        r"|pins?|oracles?|approvals?|approved files?|literals?|assert(?:ion)?s?|values?|drifts?|ci|build)$",
    ))
    .ok()
});

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
    let filler = FILLERS.contains(&plain.as_str()) || PATTERN.as_ref().is_some_and(|pattern| pattern.is_match(&plain));
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
        ] {
            assert_eq!(refuse_reason(reason), None, "{reason:?}");
        }
    }
}
