//! Which Python runs the tests. Takes the root, the person's own settings and the environment, gives the program
//! and why it was chosen. Starts nothing.
//!
//! In this order: the person's setting, the active environment, `.venv` or `venv` of the project, the project's
//! tool (uv, poetry, pdm), `python3`.

use std::path::{Path, PathBuf};

use crate::settings::Personal;

/// A program that is Python, with the arguments that come before Python's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    pub program: PathBuf,
    pub before: Vec<String>,
    /// Why this one, for the person.
    pub why: String,
}

impl Interpreter {
    fn plain(program: PathBuf, why: impl Into<String>) -> Interpreter {
        Interpreter { program, before: Vec::new(), why: why.into() }
    }
}

impl std::fmt::Display for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.before.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

/// Variables of the environment.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The interpreter for the tests of `folder`, which lies in `root`; an error says what to do.
pub fn interpreter(
    root: &Path,
    folder: &Path,
    personal: &Personal,
    variable: Variables,
) -> Result<Interpreter, String> {
    if let Some(program) = &personal.python {
        let chosen = if program.contains('/') { Some(PathBuf::from(program)) } else { on_path(program, variable) };
        return match chosen.filter(|path| path.is_file()) {
            Some(path) => Ok(Interpreter::plain(path, "your setting `python`")),
            None => Err(format!("your setting `python` names {program}, which is no program here; mend {}", file())),
        };
    }
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        let python = variable(name).filter(|value| !value.is_empty()).map(|value| Path::new(&value).join("bin/python"));
        if let Some(python) = python.filter(|python| python.is_file()) {
            return Ok(Interpreter::plain(python, format!("the active environment, {name}")));
        }
    }
    let above: Vec<&Path> = folder.ancestors().take_while(|above| above.starts_with(root)).collect();
    for above in &above {
        for name in [".venv", "venv"] {
            let python = above.join(name).join("bin/python");
            if python.is_file() {
                let from = above.strip_prefix(root).unwrap_or(above).join(name);
                return Ok(Interpreter::plain(python, format!("the environment {} of the project", from.display())));
            }
        }
    }
    for (lock, tool, words) in [
        ("uv.lock", "uv", &["run", "--frozen", "--no-sync", "python"][..]),
        ("poetry.lock", "poetry", &["run", "python"]),
        ("pdm.lock", "pdm", &["run", "python"]),
    ] {
        if above.iter().any(|above| above.join(lock).is_file())
            && let Some(program) = on_path(tool, variable)
        {
            let before = words.iter().map(|word| word.to_string()).collect();
            return Ok(Interpreter { program, before, why: format!("the project has {lock}") });
        }
    }
    ["python3", "python"]
        .iter()
        .find_map(|name| on_path(name, variable))
        .map(|program| Interpreter::plain(program, "found on PATH"))
        .ok_or_else(|| format!("no Python was found; name one: `python = \"/path/to/python\"` in {}", file()))
}

fn file() -> String {
    Personal::file().map_or("your settings".into(), |path| path.display().to_string())
}

/// A program on the search path.
pub fn on_path(name: &str, variable: Variables) -> Option<PathBuf> {
    let folders = variable("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn chosen(fixture: &Fixture, folder: &str, personal: &Personal, variables: &[(&str, String)]) -> String {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        let root = fixture.path();
        match interpreter(root, &root.join(folder), personal, &variable) {
            Ok(found) => format!("{found} ({})", found.why).replace(&root.display().to_string(), ""),
            Err(why) => why,
        }
    }

    #[test]
    fn the_nearest_choice_of_the_person_wins() {
        let fixture = Fixture::new(
            "//- bin/python3\nx\n//- bin/uv\nx\n//- env/bin/python\nx\n//- .venv/bin/python\nx\n\
             //- part/venv/bin/python\nx\n//- mine\nx\n",
        );
        let at = |path: &str| fixture.path().join(path).display().to_string();
        let mine = Personal { python: Some(at("mine")), ..Personal::default() };
        let path = ("PATH", at("bin"));
        let active = ("VIRTUAL_ENV", at("env"));
        let none = Personal::default();
        assert_eq!(chosen(&fixture, "", &mine, &[path.clone(), active.clone()]), "/mine (your setting `python`)");
        assert_eq!(
            chosen(&fixture, "", &none, &[path.clone(), active]),
            "/env/bin/python (the active environment, VIRTUAL_ENV)"
        );
        assert_eq!(
            chosen(&fixture, "", &none, std::slice::from_ref(&path)),
            "/.venv/bin/python (the environment .venv of the project)"
        );
        assert_eq!(
            chosen(&fixture, "part", &none, std::slice::from_ref(&path)),
            "/part/venv/bin/python (the environment part/venv of the project)"
        );
        std::fs::remove_dir_all(fixture.at(".venv")).unwrap();
        assert_eq!(chosen(&fixture, "", &none, std::slice::from_ref(&path)), "/bin/python3 (found on PATH)");
        fixture.write("//- uv.lock\n\n");
        assert_eq!(
            chosen(&fixture, "", &none, &[path]),
            "/bin/uv run --frozen --no-sync python (the project has uv.lock)"
        );
        assert!(chosen(&fixture, "", &none, &[]).starts_with("no Python was found; name one"));
    }
}
