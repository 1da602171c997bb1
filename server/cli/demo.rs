//! `demo`: a small workspace with a history, one decision of the past and three fresh drifts. Written to an
//! empty folder, with a git identity of its own; the past decision is made by the product itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::{FINE, Outcome, Place, UNUSABLE, WANTS_A_PERSON};
use crate::amendment::{self, Request};
use crate::observations::{self, Record};
use crate::oracles::Baseline;
use crate::pins::Extent;
use crate::places::RelPath;
use crate::survey::{Case, Survey, Workspace};

/// The workspace as it was first committed, the rounding change, a refactor, and what a run of its tests
/// then left: files opened by `//- path`.
const START: &str = include_str!("demo/start.txt");
const ROUNDING: &str = include_str!("demo/rounding.txt");
const REFACTOR: &str = include_str!("demo/refactor.txt");
const RUN: &str = include_str!("demo/run.txt");

/// What the two plain literals' code produces now, as a run of the tests records it.
const OBSERVED: &[(&str, &str, &str)] = &[
    ("tests/test_discount.py::test_apply_discount_pins_legacy_output", "2.68", "python -m pytest"),
    ("pinned::mean_rate_pins_current_output", "0.20000000000000004", "cargo test"),
];

const PERSON: (&str, &str) = ("Dana Demo", "dana@example.org");

/// Writes the workspace, shows what `check` finds in it.
pub fn demo(dir: &Path, place: &Place) -> Outcome {
    let dir = place.cwd.join(dir);
    match std::fs::read_dir(&dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => {
            return Outcome::refused(
                format_args!("{} is not empty; name a new folder: pindrift demo DIR", dir.display()),
                UNUSABLE,
            );
        }
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            return Outcome::refused(format_args!("{} cannot be used: {err}", dir.display()), UNUSABLE);
        }
        _ => {}
    }
    if let Err(message) = build(&dir) {
        return Outcome::refused(format_args!("the demo could not be written: {message}"), UNUSABLE);
    }
    let inside = Place { cwd: dir.clone(), colour: place.colour };
    let found = super::look::check(&[], false, false, super::args::Format::Text, &inside);
    let mut out = format!("A small workspace stands in {}. `pindrift check` says there:\n\n", dir.display());
    out.push_str(&found.out);
    out.push_str(&next_steps(&dir));
    let fine = matches!(found.status, FINE | WANTS_A_PERSON);
    Outcome { out, err: found.err, status: if fine { FINE } else { found.status } }
}

fn build(dir: &Path) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|err| format!("{}: {err}", dir.display()))?;
    let dir = &dir.canonicalize().map_err(|err| format!("{}: {err}", dir.display()))?;
    write(dir, START)?;
    git(dir, None, &["init", "-q", "-b", "main", "--template="])?;
    for (key, value) in [("user.name", PERSON.0), ("user.email", PERSON.1), ("commit.gpgsign", "false")] {
        git(dir, None, &["config", key, value])?;
    }
    commit(dir, "2026-01-12T09:00:00Z", "Pin what the billing system does today")?;

    write(dir, ROUNDING)?;
    let workspace = Workspace::open(dir)?;
    let survey = everything(&workspace);
    let drifted = find(&survey, "tests/test_export.py::test_export_of_a_month")?;
    let request = Request {
        drift: drifted.drift_id.clone(),
        reason: "VAT is rounded half up, not down".into(),
        authority: Some("accounting rule 7".into()),
        proof: None,
        verdict: None,
        via: "cli".into(),
        author: format!("{} <{}>", PERSON.0, PERSON.1),
        proposed_by: None,
        confirmed_by: None,
        at: "2026-02-03T10:30:00Z".parse().map_err(|err: jiff::Error| err.to_string())?,
    };
    amendment::plan_accept(drifted, &workspace, &request)
        .and_then(|plan| amendment::apply(&workspace.project.root, &plan, &|_| false))
        .map_err(|refusal| refusal.to_string())?;
    std::fs::remove_dir_all(dir.join("tests/actual")).map_err(|err| format!("tests/actual: {err}"))?;
    commit(dir, "2026-02-03T10:31:00Z", "Round VAT half up")?;

    write(dir, REFACTOR)?;
    commit(dir, "2026-03-18T16:45:00Z", "Compute discounts with Decimal, sort the export, sum in one pass")?;

    write(dir, RUN)?;
    observe(dir)
}

fn everything(workspace: &Workspace) -> Survey {
    workspace.survey(&Extent::All, &|| false).unwrap_or_default()
}

fn find<'a>(survey: &'a Survey, test: &str) -> Result<&'a Arc<Case>, String> {
    survey.cases.iter().find(|case| case.pin.test == test).ok_or_else(|| format!("the pin of {test} was not found"))
}

/// Records what the literals' code produces now.
fn observe(dir: &Path) -> Result<(), String> {
    let workspace = Workspace::open(dir)?;
    let survey = everything(&workspace);
    let mut lines = String::new();
    for (test, literal, command) in OBSERVED {
        let case = find(&survey, test)?;
        let record = Record {
            path: RelPath::default(),
            file: case.pin.file.clone(),
            test: case.pin.test_base().to_string(),
            nth: case.pin.nth,
            oracle: case.pin.oracle.key.clone(),
            oracle_digest: match &case.baseline {
                Baseline::Present(recorded) => Some(recorded.content.digest()),
                _ => None,
            },
            assertion: None,
            outcome: observations::Outcome::Differs,
            value: Some(observations::records::Value::Literal((*literal).to_string())),
            preimage: None,
            aged: false,
            lossy: false,
            at: Some(jiff::Timestamp::now()),
            run: None,
            command: Some((*command).to_string()),
            revision: None,
            dirty: Vec::new(),
            environment: Default::default(),
        };
        lines.push_str(&record.to_line());
        lines.push('\n');
    }
    let folder = dir.join(observations::records::FOLDER);
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(".gitignore"), "*\n"))
        .and_then(|()| std::fs::write(folder.join("demo.jsonl"), lines));
    written.map_err(|err| format!("{}: {err}", folder.display()))
}

/// Writes the files of one step.
fn write(dir: &Path, files: &str) -> Result<(), String> {
    for part in files.split("//- ").skip(1) {
        let (path, text) = part.split_once('\n').unwrap_or((part, ""));
        let path = dir.join(path.trim());
        let folder = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|err| format!("{}: {err}", path.display()))?;
    }
    Ok(())
}

fn commit(dir: &Path, date: &str, message: &str) -> Result<(), String> {
    git(dir, None, &["add", "-A"])?;
    git(dir, Some(date), &["commit", "-q", "-m", message])
}

/// Runs git in the demo's folder, apart from the person's own settings and hooks.
fn git(dir: &Path, date: Option<&str>, args: &[&str]) -> Result<(), String> {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null"]).args(args);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"] {
        command.env_remove(name);
    }
    for name in ["GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
    if let Some(date) = date {
        command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    }
    let done = command.output().map_err(|err| format!("git cannot be started: {err}; install git"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("git {}: {}", args.first().unwrap_or(&""), said.lines().next().unwrap_or("it failed")))
}

/// How to go on, in a terminal and in each editor.
fn next_steps(dir: &Path) -> String {
    let program = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_else(|_| "pindrift".into());
    let editors = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors");
    let editors = if editors.is_dir() { editors } else { PathBuf::from("editors") };
    let (dir, editors) = (dir.display(), editors.display());
    format!(
        "
In a terminal:
    cd {dir}
    {program} diff ID
    {program} accept ID --reason \"…\"
    {program} log

In Neovim (0.11 or later):
    cd {dir} && PATH=\"$(dirname {program}):$PATH\" nvim --cmd 'set rtp^={editors}/nvim' \\
        --cmd \"lua vim.lsp.enable('pindrift')\" tests/test_discount.py
    the drift is underlined; `K` shows it, `gra` accepts it and asks for the reason

In VS Code:
    (cd {editors}/vscode && npm ci && npm run package) && code --install-extension {editors}/vscode/pindrift.vsix
    PINDRIFT_SERVER={program} code {dir}

In Helix: see {editors}/helix/README.md
"
    )
}
