//! Where a run may have left what it produced for a golden file: the pairs of the settings, a folder beside
//! the recorded one, a name beside the file. Takes a path, gives paths; looks only whether they exist.

use super::held::{PRODUCED, RECORDED};
use crate::pins::Project;
use crate::places::RelPath;

/// Existing observed twins of a golden file, those of the settings first.
pub fn twins(path: &RelPath, project: &Project) -> Vec<RelPath> {
    let mut names: Vec<RelPath> = Vec::new();
    for (golden, twin) in &project.settings.pairs {
        if let Some(stars) = stars(golden, path.as_str()) {
            names.extend(filled(twin, &stars).and_then(|twin| RelPath::new(&twin)));
        }
    }
    let parts: Vec<&str> = path.as_str().split('/').collect();
    let folders = parts.len().saturating_sub(1);
    if let Some(at) = (0..folders).rev().find(|at| RECORDED.contains(&parts[*at])) {
        for produced in PRODUCED {
            let mut parts = parts.clone();
            parts[at] = produced;
            names.extend(RelPath::new(&parts.join("/")));
        }
    }
    for end in ["actual", "new", "received"] {
        names.extend(RelPath::new(&format!("{path}.{end}")));
    }
    let mut found: Vec<RelPath> = Vec::new();
    for name in names {
        if name != *path && !found.contains(&name) && project.shelf.stamp(&name).is_some() {
            found.push(name);
        }
    }
    found
}

/// What each `*` of a pattern stands for.
fn stars(pattern: &str, text: &str) -> Option<Vec<String>> {
    let mut parts = pattern.split('*');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let parts: Vec<&str> = parts.collect();
    let mut found = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        let cut = if last {
            rest.len().checked_sub(part.len()).filter(|cut| rest.get(*cut..) == Some(part))?
        } else {
            rest.find(part)?
        };
        found.push(rest.get(..cut)?.to_string());
        rest = rest.get(cut + part.len()..)?;
    }
    rest.is_empty().then_some(found)
}

fn filled(pattern: &str, stars: &[String]) -> Option<String> {
    let mut parts = pattern.split('*');
    let mut all = parts.next()?.to_string();
    for (at, part) in parts.enumerate() {
        all.push_str(stars.get(at)?);
        all.push_str(part);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_the_same_text_on_both_sides() {
        assert_eq!(stars("tests/golden/*", "tests/golden/a/b.txt"), Some(vec!["a/b.txt".into()]));
        assert_eq!(stars("*/golden/*.txt", "x/golden/b.txt"), Some(vec!["x".into(), "b".into()]));
        assert_eq!(stars("tests/golden/*.csv", "tests/golden/b.txt"), None);
        assert_eq!(stars("a.txt", "a.txt"), Some(Vec::new()));
        assert_eq!(filled("out/*-*.txt", &["x".into(), "b".into()]), Some("out/x-b.txt".into()));
        assert_eq!(filled("out/*", &[]), None);
    }
}
