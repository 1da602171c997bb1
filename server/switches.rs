//! What would make a run rewrite baselines: options in a test runner's configuration, flags of a plugin, forced
//! variables, variables of the environment. Takes a project and an environment, gives each with its place. What
//! is found here is kept away from the runs. Never runs anything.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::pins::Project;
use crate::places::RelPath;
use crate::syntax::Language;

/// The word of the reports for a switch.
pub const CODE: &str = "updating-switch";

/// One switch that makes runs rewrite what is recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Switch {
    /// Where it stands, or where it is asked for; `None`: only in the environment of this run.
    pub at: Option<(RelPath, usize)>,
    pub message: String,
}

/// Names of variables that make a run rewrite what is recorded. The plugin reads them as Python's expressions.
pub const VARIABLES: &[&str] = &[
    r"^(UPDATE|REGEN|REGENERATE|ACCEPT|BLESS|REFRESH|OVERWRITE|REWRITE|RECORD)$",
    r"^([A-Z0-9]+_)*(UPDATE|REGEN|REGENERATE|ACCEPT|BLESS|REFRESH|OVERWRITE|REWRITE|RECORD)_([A-Z0-9]+_)*(GOLDENS?|SNAPSHOTS?|SNAPS?|EXPECT|EXPECTED|EXPECTATIONS?|BASELINES?|REFERENCES?|FIXTURES?|APPROVED|APPROVALS?|TESTDATA|OUTPUTS?|RESULTS?|FILES?|ALL)(_[A-Z0-9]+)*$",
    r"^([A-Z0-9]+_)*(GOLDENS?|GOLDIE|GOLDENFILES?|SNAPSHOTS?|SNAPS?|SNAPBOX|EXPECT|EXPECTED|EXPECTTEST|BASELINES?|REFERENCES?|FIXTURES?|APPROVED|APPROVALS?|INSTA)_([A-Z0-9]+_)*(UPDATE|REGEN|REGENERATE|ACCEPT|BLESS|REFRESH|OVERWRITE|REWRITE|RECORD)(_[A-Z0-9]+)*$",
    r"^(SNAPSHOTS|TRYCMD|TRYBUILD|INSTA_FORCE_UPDATE_SNAPSHOTS|REGENERATE_GOLDENFILES|INLINE_SNAPSHOT_DEFAULT_FLAGS)$",
];

static NAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| VARIABLES.iter().filter_map(|it| Regex::new(it).ok()).collect());

/// Options of pytest plugins, as they stand on a command line.
static OPTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"--(snapshot-update(-new-only)?|allow-snapshot-deletion|force-regen|regen-all|update[-_](goldens?|snapshots?|baselines?|expected|references?)|image-snapshot-update|inline-snapshot[= ][a-z,]*(create|fix|trim|update|review)|insta[= ](record|update|update-new|review|clear)|accept)\b"#,
    )
    .ok()
});

/// A variable that a source reads.
static READ: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:environ(?:\.get)?\s*[\[(]|getenv\s*\(|\bvar(?:_os)?\s*\(|\benv!?\s*\()\s*["']([A-Z][A-Z0-9_]*)["']"#,
    )
    .ok()
});

static VERB: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(^|_)(UPDATE|REGEN|REGENERATE|ACCEPT|BLESS|OVERWRITE|REWRITE)(_|$)").ok());

/// The variable is one of those.
pub fn rewrites(name: &str) -> bool {
    NAMES.iter().any(|pattern| pattern.is_match(name))
}

/// Names of [`VARIABLES`] and those of that kind that the tests of this project read, as expressions.
pub fn patterns(project: &Project) -> Vec<String> {
    let own = read_by(project).into_iter().map(|(name, _)| format!("^{name}$"));
    VARIABLES.iter().map(|it| it.to_string()).chain(own).collect()
}

/// Variables with a verb of rewriting that sources read, each with its first place.
pub fn read_by(project: &Project) -> Vec<(String, (RelPath, usize))> {
    let mut found: Vec<(String, (RelPath, usize))> = Vec::new();
    let (Some(read), Some(verb)) = (READ.as_ref(), VERB.as_ref()) else { return found };
    for (path, facts) in project.files.iter() {
        let text = &facts.unit.text;
        for captures in read.captures_iter(text.as_str()) {
            let Some(name) = captures.get(1) else { continue };
            let known = found.iter().any(|(known, _)| known == name.as_str());
            if !known && (verb.is_match(name.as_str()) || rewrites(name.as_str())) {
                found.push((name.as_str().to_string(), (path.clone(), text.line_of(name.start()) + 1)));
            }
        }
    }
    found
}

/// The expression reads a variable of that kind.
pub fn asks(source: &str) -> bool {
    let (Some(read), Some(verb)) = (READ.as_ref(), VERB.as_ref()) else { return false };
    let named = |name: &str| rewrites(name) || verb.is_match(name);
    read.captures_iter(source).filter_map(|found| found.get(1)).any(|name| named(name.as_str()))
}

/// Every switch that stands in the project's configuration.
pub fn configured(project: &Project) -> BTreeSet<Switch> {
    let mut found = BTreeSet::new();
    for path in project.shelf.files() {
        let cargo = matches!(path.name(), "config.toml" | "config") && path.parent().name() == ".cargo";
        let pytest = matches!(
            path.name(),
            "pytest.ini" | ".pytest.ini" | "pytest.toml" | "pyproject.toml" | "tox.ini" | "setup.cfg"
        );
        if !cargo && !pytest {
            continue;
        }
        let Some(text) = project.shelf.text(path) else { continue };
        if text.len() > 1 << 20 {
            continue;
        }
        let lines = if cargo { forced(text.as_str()) } else { of_pytest(text.as_str()) };
        found.extend(lines.into_iter().map(|(line, message)| Switch { at: Some((path.clone(), line)), message }));
    }
    found
}

/// Those of the environment: names to keep from a run, and each with the place that asks for it.
pub fn of_environment(project: &Project, names: impl Iterator<Item = String>) -> Vec<(String, Switch)> {
    let read = read_by(project);
    names
        .filter_map(|name| {
            let place = read.iter().find(|(known, _)| *known == name).map(|(_, place)| place.clone());
            (place.is_some() || rewrites(&name)).then(|| {
                let message = format!(
                    "{name} is set in the environment; a run with it rewrites what is recorded, so it was taken out"
                );
                (name, Switch { at: place, message })
            })
        })
        .collect()
}

/// The place of a variable that the project itself sets, or reads.
pub fn place_of(project: &Project, name: &str) -> Option<(RelPath, usize)> {
    let mentions = |path: &RelPath| {
        let text = project.shelf.text(path)?;
        let line = text.as_str().lines().position(|line| line.contains(name) && !line.trim_start().starts_with('#'))?;
        Some((path.clone(), line + 1))
    };
    let set_in = |path: &&RelPath| {
        matches!(path.name(), "conftest.py" | "pytest.ini" | "pyproject.toml" | "tox.ini" | "setup.cfg" | ".env")
    };
    let configuration = project.shelf.files().filter(set_in).find_map(mentions);
    configuration.or_else(|| read_by(project).into_iter().find(|(known, _)| known == name).map(|(_, place)| place))
}

/// `addopts` and the flags of inline-snapshot, in any of pytest's configuration files.
fn of_pytest(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let Some(options) = OPTIONS.as_ref() else { return found };
    let (mut section, mut open) = (String::new(), None);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') || trimmed.starts_with(';') {
            continue;
        }
        if open.is_none() && trimmed.starts_with('[') && trimmed.ends_with(']') {
            section = trimmed.trim_matches(['[', ']']).trim().to_string();
            continue;
        }
        let key = trimmed.split_once(['=', ':']).map_or("", |(key, _)| key.trim());
        let begins = !line.starts_with([' ', '\t']) || open.is_none();
        match (begins, key) {
            (true, "addopts") => open = Some(trimmed.contains('[') && !trimmed.contains(']')),
            // An ini value goes on in indented lines, a list of TOML until its bracket.
            (true, _) if open == Some(true) => {}
            (true, _) => open = None,
            (false, _) => {}
        }
        if open.is_some()
            && let Some(option) = options.find(trimmed)
        {
            let what = option.as_str();
            found.push((
                number + 1,
                format!("`{what}` in addopts rewrites what is recorded on every run, unread; `pindrift observe` runs without it"),
            ));
        }
        if open == Some(true) && trimmed.contains(']') {
            open = None;
        }
        let flags = ["create", "fix", "trim", "update", "review"];
        if section == "tool.inline-snapshot"
            && key.starts_with("default-flags")
            && flags.iter().any(|flag| trimmed.contains(flag))
        {
            found.push((
                number + 1,
                format!(
                    "`{key}` of inline-snapshot rewrites tests on every run, unread; `pindrift observe` runs without it"
                ),
            ));
        }
    }
    found
}

/// `[env]` of cargo.
fn forced(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut section = String::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') && trimmed.ends_with(']') {
            section = trimmed.trim_matches(['[', ']']).trim().to_string();
            continue;
        }
        let key = trimmed.split_once('=').map_or("", |(key, _)| key.trim()).trim_matches('"');
        let name = match section.as_str() {
            "env" => key.split('.').next().unwrap_or(key),
            other => other.strip_prefix("env.").unwrap_or(""),
        };
        if !name.is_empty() && rewrites(name) && !key.is_empty() {
            found.push((
                number + 1,
                format!("`{name}` in cargo's [env] rewrites what is recorded on every run, unread; `pindrift observe` runs without it"),
            ));
        }
    }
    found
}

/// Whether a file is one that tests come from.
pub fn is_source(path: &RelPath) -> bool {
    Language::of(path.name()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_switches_are_told_from_others() {
        for name in [
            "UPDATE_GOLDEN",
            "UPDATE_GOLDENS",
            "REGEN",
            "REGEN_ALL",
            "BLESS",
            "ACCEPT",
            "UPDATE_EXPECT",
            "INSTA_UPDATE",
            "EXPECTTEST_ACCEPT",
            "SNAPSHOTS",
            "TRYCMD",
            "MYAPP_UPDATE_SNAPSHOTS",
            "GOLDIE_UPDATE",
            "SNAPSHOT_UPDATE",
            "REGENERATE_GOLDENFILES",
            "UPDATE",
        ] {
            assert!(rewrites(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "UPDATE_INTERVAL",
            "ACCEPT_LANGUAGE",
            "RECORD_ID",
            "GOLDEN_RATIO",
            "NO_UPDATE_NOTIFIER",
            "HOMEBREW_NO_AUTO_UPDATE",
            "GIT_ACCEPT_LICENSE",
            "RUST_LOG",
        ] {
            assert!(!rewrites(name), "{name}");
        }
    }

    #[test]
    fn options_are_found_at_their_line() {
        let lines = |text: &str| of_pytest(text).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(lines("[pytest]\naddopts = -q --snapshot-update\ntestpaths = tests\n"), [2]);
        assert_eq!(lines("[tool:pytest]\naddopts =\n    -q\n    --force-regen\nx = --regen-all\n"), [4]);
        assert_eq!(
            lines("[tool.pytest.ini_options]\naddopts = [\n  \"-q\",\n  \"--regen-all\",\n]\nx = \"--accept\"\n"),
            [4]
        );
        assert_eq!(lines("[tool.inline-snapshot]\ndefault-flags = [\"report\"]\ndefault-flags-tui = [\"fix\"]\n"), [3]);
        assert_eq!(lines("[testenv]\ncommands = pytest --snapshot-update\n"), [0usize; 0]);
        assert_eq!(lines("[pytest]\n# addopts = --snapshot-update\naddopts = --snapshot-details\n"), [0usize; 0]);
        let cargo = "[env]\nINSTA_UPDATE = { value = \"always\", force = true }\nRUST_LOG = \"x\"\n";
        assert_eq!(forced(cargo).into_iter().map(|(line, _)| line).collect::<Vec<_>>(), [2]);
    }
}
