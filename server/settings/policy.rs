//! `[policy]` of `pindrift.toml`: what a change has to keep to. Takes the values as read, gives the rules and
//! what is wrong with them. Whose revision counts is not decided here.

use toml::Value;

/// The rules of one revision. Empty: everything is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Who may confirm that what is recorded changes, by name or mail address; empty: everybody.
    pub confirm: Vec<String>,
    /// Globs of baselines and test files whose changes need a proof.
    pub proof: Vec<String>,
    /// Words that no reason may hold, in any case of letters.
    pub forbidden: Vec<String>,
    /// Globs of baselines and test files that the rules hold for; empty: all.
    pub paths: Vec<String>,
    /// What is wrong with the rules: so far they are not held against a change.
    pub troubles: Vec<String>,
}

pub(super) const KEYS: &[&str] = &["confirm", "proof", "forbidden", "paths"];

impl Policy {
    /// Takes one key. The error says what the key takes.
    pub(super) fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let items = match value {
            Value::String(one) => vec![one.clone()],
            Value::Array(items) => {
                let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_string)).collect();
                texts.ok_or_else(|| format!("`{key}` takes a list of texts; it is left out"))?
            }
            _ => return Err(format!("`{key}` takes a list of texts; it is left out")),
        };
        let mut items: Vec<String> =
            items.iter().map(|item| item.trim().to_string()).filter(|item| !item.is_empty()).collect();
        let mut wrong = Vec::new();
        if matches!(key, "proof" | "paths") {
            let (globs, others) = items.into_iter().partition(|glob| globset::Glob::new(glob).is_ok());
            (items, wrong) = (globs, others);
        }
        match key {
            "confirm" => self.confirm = items,
            "proof" => self.proof = items,
            "forbidden" => self.forbidden = items,
            _ => self.paths = items,
        }
        match wrong.first() {
            Some(wrong) => Err(format!("{wrong:?} of `{key}` is not a glob; it is left out")),
            None => Ok(()),
        }
    }

    /// The rules hold for a decision about these files.
    pub fn holds_for<'a>(&self, mut files: impl Iterator<Item = &'a str>) -> bool {
        self.paths.is_empty() || files.any(|file| fits(&self.paths, file))
    }

    /// A change of one of these files needs a proof.
    pub fn wants_proof<'a>(&self, mut files: impl Iterator<Item = &'a str>) -> bool {
        files.any(|file| fits(&self.proof, file))
    }

    /// The word of a reason that is not allowed.
    pub fn forbids(&self, reason: &str) -> Option<&str> {
        let reason = reason.to_lowercase();
        self.forbidden.iter().map(String::as_str).find(|word| reason.contains(&word.to_lowercase()))
    }
}

fn fits(globs: &[String], file: &str) -> bool {
    globs.iter().filter_map(|glob| globset::Glob::new(glob).ok()).any(|glob| glob.compile_matcher().is_match(file))
}
