//! The reviewer that a person configured: a program of their own settings that reads one drift as JSON and answers
//! with a proposal. Takes a case and those settings, gives what the program proposes. No file of a workspace can
//! name it, and it runs in a folder of its own. Never decides.

use std::io::{Seek, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::drift;
use crate::ledger::Judgement;
use crate::observe::process::{self, End};
use crate::proposals::{self, Answer, Proposal};
use crate::settings::Personal;
use crate::survey::{Case, Shown};
use crate::text::one_line;

/// How long it may think about one drift.
const LIMIT: Duration = Duration::from_secs(180);
/// Most decisions of the past that it is told.
const PAST: usize = 5;

/// One drift as a program reads it.
pub fn told(case: &Case) -> Option<Value> {
    let (id, found, Shown { before, after }) = (case.drift_id.as_ref()?, case.drift.as_ref()?, case.shown()?);
    let pin = &case.pin;
    let decisions: Vec<Value> = case
        .history
        .iter()
        .take(PAST)
        .map(|entry| {
            let said = &entry.amendment;
            json!({ "at": said.at.to_string(), "kind": said.kind.word(), "verdict": said.verdict, "reason": said.reason })
        })
        .collect();
    Some(json!({
        "schema": 1,
        "drift": id,
        "test": pin.test,
        "file": pin.file.as_str(),
        "oracle": pin.oracle.key,
        "framework": pin.framework,
        "language": pin.language.word(),
        "difference": found.difference_word(),
        "brief": found.brief,
        "change": found.change,
        "judgement": case.judgement().map_or(Judgement::Unjudged, |(judged, _)| judged).word(),
        "before": before.as_ref().map(proposals::text),
        "after": proposals::text(&after),
        "diff": drift::unified(before.as_ref(), &after, Some(("recorded", "observed"))),
        "decisions": decisions,
        "answer": {
            "verdict": proposals::VERDICTS.join(" | "),
            "reason": "one honest sentence",
            "lines": "1-based lines of `after` that look suspicious",
            "oracle": "leave out, or exactly `after`",
        },
    }))
}

/// Asks the configured program about a drift, and ends it once `cancelled`.
pub fn ask(case: &Case, personal: &Personal, cancelled: &dyn Fn() -> bool) -> Result<Proposal, String> {
    let Some((program, arguments)) = personal.reviewer.split_first() else {
        let file = Personal::file().map_or("your settings".into(), |file| file.display().to_string());
        return Err(format!(
            "no reviewer is configured; name a program in {file}: reviewer = [\"python3\", \"/path/to/it\"]"
        ));
    };
    let told = told(case).ok_or("there is no drift here that a program could read")?;
    let failed = |what: &str| format!("the reviewer `{}` {what}", one_line(program, 80));
    // A program by a relative path would be one of the workspace.
    if program.contains('/') && !program.starts_with('/') {
        return Err(failed("is a relative path; give the whole one in your settings"));
    }
    let folder = tempfile::tempdir().map_err(|err| failed(&format!("has no folder to run in: {err}")))?;
    let mut input = tempfile::tempfile().map_err(|err| failed(&format!("cannot be given the drift: {err}")))?;
    let written = input.write_all(told.to_string().as_bytes()).and_then(|()| input.rewind());
    written.map_err(|err| failed(&format!("cannot be given the drift: {err}")))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path());
    let (end, printed) = process::answer(&mut command, input, LIMIT, cancelled)
        .map_err(|err| failed(&format!("does not start: {err}")))?;
    match end {
        End::Exited(status) if status.success() => {}
        End::Exited(status) => return Err(failed(&format!("ended with {status}"))),
        End::TooLong(limit) => return Err(failed(&format!("gave no answer within {} s", limit.as_secs()))),
        End::Cancelled => return Err("cancelled".into()),
    }
    let answer: Answer = serde_json::from_str(printed.trim())
        .map_err(|err| failed(&format!("answered something that is no proposal: {err}")))?;
    let (Some(id), Some(shown)) = (&case.drift_id, case.shown()) else { return Err("there is no drift here".into()) };
    Proposal::of(answer, id, &shown.after, name(program, arguments))
        .map_err(|why| failed(&format!("proposed nothing that will do: {why}")))
}

/// The name that stands in the record: that of the script where the program is given one first, else the
/// program's. Further arguments may be secrets.
fn name<'a>(program: &'a str, arguments: &'a [String]) -> &'a str {
    let script = |word: &&String| {
        let path = Path::new(word.as_str());
        path.is_absolute() && path.is_file()
    };
    let named = arguments.first().filter(script).map_or(program, String::as_str);
    named.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("the reviewer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::pins::Extent;
    use crate::survey::Workspace;

    #[test]
    fn a_reviewer_that_thinks_too_long_can_be_cancelled() {
        let fixture = Fixture::committed(
            "//- tests/test_a.py\nfrom pathlib import Path\n\nHERE = Path(__file__).parent\n\n\ndef test_a():\n    \
             \"\"\"Characterization test: pins what it says.\"\"\"\n    text = make()\n    \
             (HERE / 'actual' / 'a.txt').write_text(text)\n    \
             assert text == (HERE / 'golden' / 'a.txt').read_text()\n\
             //- tests/golden/a.txt\none\n//- tests/actual/a.txt\ntwo\n",
        );
        let workspace = Workspace::open(fixture.path()).expect("a workspace");
        let survey = workspace.states(&Extent::All, &|| false).expect("a survey");
        let case = survey.cases.iter().find(|case| case.drift_id.is_some()).expect("a drift").compared();
        let personal = Personal { reviewer: vec!["sleep".into(), "100".into()], ..Personal::default() };
        assert_eq!(ask(&case, &personal, &|| true).unwrap_err(), "cancelled");
    }

    #[test]
    fn a_reviewer_is_named_by_its_script_and_never_by_what_it_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("look.py");
        std::fs::write(&script, "").expect("written");
        let script = script.display().to_string();
        let of = |program: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|word| word.to_string()).collect();
            name(program, &arguments).to_string()
        };
        assert_eq!(of("python3", &[&script, "--key", "sk-1234"]), "look.py");
        assert_eq!(of("/opt/bin/look", &["sk-1234"]), "look");
        assert_eq!(of("look", &["--key", "sk-1234", &script]), "look");
        assert_eq!(of("look", &[]), "look");
    }
}
