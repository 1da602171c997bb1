//! The person's own settings, `$XDG_CONFIG_HOME/pindrift/config.toml`. Takes its text, gives settings and what is
//! wrong with it. No file of a workspace can say the same.

use std::path::PathBuf;
use std::time::Duration;

/// What only the person decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Personal {
    /// The Python that runs tests: a path, or a name on the search path.
    pub python: Option<String>,
    /// How long a run of the tests may take.
    pub time_limit: Option<Duration>,
    /// Tests of a saved file are run without being asked for.
    pub run_on_save: bool,
    /// The program that proposes verdicts, with its arguments; empty without one.
    pub reviewer: Vec<String>,
    /// What is wrong, for the person.
    pub troubles: Vec<String>,
}

const KEYS: &[&str] = &["python", "time-limit", "run-on-save", "reviewer"];

impl Personal {
    /// Where they are kept.
    pub fn file() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
        Some(folder.join("pindrift/config.toml"))
    }

    /// Reads the file; without one nothing is set.
    pub fn read() -> Personal {
        let Some(file) = Personal::file() else { return Personal::default() };
        match std::fs::read_to_string(&file) {
            Ok(text) => Personal::parse(&text),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Personal::default(),
            Err(err) => {
                Personal { troubles: vec![format!("{} cannot be read: {err}", file.display())], ..Default::default() }
            }
        }
    }

    pub fn parse(text: &str) -> Personal {
        let mut personal = Personal::default();
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(err) => {
                personal.troubles.push(format!("your settings are no TOML: {}", err.message()));
                return personal;
            }
        };
        for (key, value) in &table {
            let wrong = |what: &str| format!("your setting `{key}` takes {what}; it is left out");
            match (key.as_str(), value) {
                ("python", toml::Value::String(program)) => personal.python = Some(program.clone()),
                ("python", _) => personal.troubles.push(wrong("a path")),
                ("time-limit", toml::Value::Integer(seconds @ 1..)) => {
                    personal.time_limit = Some(Duration::from_secs(seconds.unsigned_abs()));
                }
                ("time-limit", _) => personal.troubles.push(wrong("a number of seconds")),
                ("run-on-save", toml::Value::Boolean(yes)) => personal.run_on_save = *yes,
                ("run-on-save", _) => personal.troubles.push(wrong("true or false")),
                ("reviewer", toml::Value::String(program)) => personal.reviewer = vec![program.clone()],
                ("reviewer", toml::Value::Array(words)) if words.iter().all(toml::Value::is_str) => {
                    personal.reviewer = words.iter().filter_map(toml::Value::as_str).map(str::to_string).collect();
                }
                ("reviewer", _) => personal.troubles.push(wrong("a program, or a list of a program and its arguments")),
                _ => personal.troubles.push(format!("there is no setting `{key}`; known are {}", KEYS.join(", "))),
            }
        }
        personal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_setting_costs_only_itself() {
        let read = Personal::parse("python = \"python3.12\"\ntime-limit = 0\nrun-on-save = true\npyhton = 1\n");
        assert_eq!(read.python.as_deref(), Some("python3.12"));
        assert_eq!((read.time_limit, read.run_on_save), (None, true));
        assert_eq!(
            read.troubles,
            [
                "there is no setting `pyhton`; known are python, time-limit, run-on-save, reviewer",
                "your setting `time-limit` takes a number of seconds; it is left out",
            ]
        );
    }
}
