//! Files that `external("uuid:NAME")` and `external_file("path")` of inline-snapshot name: where they lie, the
//! bytes of an amended one, and those that no test names.

use std::collections::BTreeSet;

use super::{ID, named};
use crate::oracles::{
    Amended, Content, FileChange, Oracle, OracleKind, Orphan, Pin, Refusal, Step, digest_of, reading,
};
use crate::pins::Project;
use crate::places::RelPath;
use crate::shelf::Read;
use crate::text::Span;

/// Folder beside the tests.
const FOLDER: &str = "__inline_snapshot__";

fn steps(suffix: &str) -> Option<Vec<Step>> {
    Some(match suffix {
        ".txt" => Vec::new(),
        ".json" => vec![Step::Json],
        ".bin" => vec![Step::Bytes],
        _ => return None,
    })
}

fn oracle() -> Oracle {
    Oracle {
        kind: OracleKind::File,
        path: None,
        entry: None,
        span: None,
        candidates: Vec::new(),
        steps: Vec::new(),
        shown_only: None,
        key: String::new(),
        tolerance: None,
    }
}

/// `external(name)` in a test of `file`.
pub fn of_name(project: &Project, file: &RelPath, name: &str) -> Oracle {
    let mut found = oracle();
    let (storage, name) = name.split_once(':').unwrap_or(("hash", name));
    let (stem, suffix) = name.rfind('.').map_or((name, ""), |at| name.split_at(at));
    found.steps = steps(suffix).unwrap_or_else(|| vec![Step::Bytes]);
    if stem.is_empty() {
        found.shown_only = Some("nothing is recorded yet; let inline-snapshot create it".to_string());
        return found;
    }
    if storage == "uuid" {
        let mut folder = file.parent().join(FOLDER).into_iter().collect::<Vec<_>>();
        folder.push(RelPath::default());
        for folder in folder {
            let mut fitting = project
                .shelf
                .below(&folder)
                .filter(|path| path.name() == name && path.as_str().split('/').any(|part| part == FOLDER));
            if let (Some(one), None) = (fitting.next(), fitting.next()) {
                found.path = Some(one.clone());
                return found;
            }
        }
        return found;
    }
    let start = stem.trim_end_matches('*');
    let root = RelPath::default();
    let mut fitting = project.shelf.below(&root).filter(|path| {
        path.name().starts_with(start) && path.name().ends_with(suffix) && path.parent().name() == "external"
    });
    if let (Some(one), None) = (fitting.next(), fitting.next()) {
        found.path = Some(one.clone());
    }
    found.shown_only = Some(
        "the file is named by its content: the name in the test would change with it; let inline-snapshot write it"
            .to_string(),
    );
    found
}

/// `external_file(path, format=…)` in `file`.
pub fn of_path(file: &RelPath, path: &str, format: Option<&str>) -> Oracle {
    let mut found = oracle();
    found.path = file.parent().join(path);
    let suffix = format.or_else(|| path.rfind('.').map(|at| &path[at..])).unwrap_or("");
    match steps(suffix) {
        Some(steps) => found.steps = steps,
        None => {
            found.steps = vec![Step::Bytes];
            found.shown_only = Some(format!("how a {suffix} file is written is not known"));
        }
    }
    found
}

pub fn amend(pin: &Pin, path: &RelPath, observed: &Content, project: &Project) -> Result<Amended, Refusal> {
    let old = match project.shelf.read(path) {
        Read::Missing => None,
        Read::Refused(why) => return Err(Refusal(why)),
        Read::Bytes(bytes) => Some(bytes),
    };
    let after = if pin.oracle.steps.contains(&Step::Json) {
        json(observed).ok_or_else(|| {
            Refusal(format!(
                "{path}: how inline-snapshot would write the observed value is not certain; let it write the file, then \
                 explain the change"
            ))
        })?
    } else {
        reading::bytes(observed, &pin.oracle.steps, old.as_deref())
            .map_err(|refusal| Refusal(format!("{path}: {}", refusal.0)))?
    };
    let edits = match (old.as_deref(), std::str::from_utf8(&after)) {
        (Some(old), Ok(text)) => vec![(Span::new(0, old.len()), text.to_string())],
        _ => Vec::new(),
    };
    let before = old.as_deref().map(|old| digest_of(&[old]));
    Ok(Amended {
        oracle: vec![FileChange { path: path.clone(), before, after: Some(after), edits }],
        artefacts: Vec::new(),
        shown_after: None,
    })
}

/// `json.dump(value, indent=2, ensure_ascii=False)` of a value whose order of keys is the one that is compared.
fn json(observed: &Content) -> Option<Vec<u8>> {
    let (Content::Value(text) | Content::Text(text)) = observed else { return None };
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    // Several keys were sorted for the comparison: their own order is not known.
    fn certain(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Object(map) => map.len() < 2 && map.values().all(certain),
            serde_json::Value::Array(items) => items.iter().all(certain),
            serde_json::Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => true,
        }
    }
    certain(&value).then(|| serde_json::to_string_pretty(&value).ok())?.map(String::into_bytes)
}

/// Files of `__inline_snapshot__` whose name no source of the project has.
pub fn orphans(project: &Project) -> Vec<Orphan> {
    let mut names: Option<BTreeSet<String>> = None;
    let mut found = Vec::new();
    for path in project.shelf.files().filter(|path| path.as_str().split('/').any(|part| part == FOLDER)) {
        let stem = path.stem();
        let dashes: Vec<usize> = stem.match_indices('-').map(|(at, _)| at).collect();
        if stem.len() != 36 || dashes != [8, 13, 18, 23] {
            continue;
        }
        // What was not read may name it.
        let module = path.as_str().split('/').skip_while(|part| *part != FOLDER).nth(1).unwrap_or_default();
        let home = path.as_str().split(FOLDER).next().unwrap_or_default();
        let module = RelPath::new(&format!("{home}{module}.py"));
        if module.is_some_and(|module| project.shelf.listed(&module) && project.unit(&module).is_none()) {
            continue;
        }
        if !names.get_or_insert_with(|| named(project)).contains(stem) {
            found.push(Orphan { path: path.clone(), entry: None, line: 1, framework: ID.to_string() });
        }
    }
    found
}
