//! Texts and paths of which only parts are known: joined, cut and matched as the languages do it.
//! Takes and gives [`Value`]s, never looks at a file.

use super::Value;
use crate::places::RelPath;

/// Most parts of one pattern; a longer one is unknown.
const LONGEST: usize = 64;

/// A text in parts; `rooted`: it is an absolute path that begins with the workspace's root, which is left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub rooted: bool,
    pub parts: Vec<Option<String>>,
}

impl Parts {
    pub fn unknown() -> Parts {
        Parts { rooted: false, parts: vec![None] }
    }

    pub fn text(text: impl Into<String>) -> Parts {
        Parts { rooted: false, parts: vec![Some(text.into())] }
    }

    /// The value as a text or path; what is neither is an unknown part.
    pub fn of(value: &Value) -> Parts {
        match value {
            Value::Str(text) => Parts::text(text.clone()),
            Value::Int(number) => Parts::text(number.to_string()),
            Value::Float(text) => Parts::text(text.clone()),
            Value::Path(path) => Parts { rooted: true, parts: vec![Some(path.to_string())] },
            Value::Pattern(parts) => Parts { rooted: false, parts: parts.clone() },
            Value::Paths(parts) => Parts { rooted: true, parts: parts.clone() },
            _ => Parts::unknown(),
        }
    }

    pub fn value(self) -> Value {
        let mut merged: Vec<Option<String>> = Vec::new();
        for part in self.parts {
            match (merged.last_mut(), part) {
                (Some(Some(last)), Some(part)) => last.push_str(&part),
                (Some(None), None) => {}
                (_, part) => merged.push(part),
            }
        }
        merged.retain(|part| part.as_deref() != Some(""));
        if merged.len() > LONGEST {
            return Value::Unknown;
        }
        match (self.rooted, merged.as_slice()) {
            (false, []) => Value::Str(String::new()),
            (false, [Some(text)]) => Value::Str(text.clone()),
            (false, [None]) => Value::Unknown,
            (false, _) => Value::Pattern(merged),
            (true, []) => Value::Path(RelPath::default()),
            (true, [Some(text)]) => RelPath::new(text).map_or(Value::Unknown, Value::Path),
            (true, [None, ..]) => Value::Unknown,
            (true, _) => match normal(merged) {
                Some(parts) => Value::Paths(parts),
                None => Value::Unknown,
            },
        }
    }

    /// Plain concatenation of texts.
    pub fn then(mut self, more: Parts) -> Parts {
        if more.rooted {
            let nothing = self.parts.iter().all(|part| part.as_deref() == Some(""));
            return if nothing && !self.rooted { more } else { Parts::unknown() };
        }
        let root_itself = self.rooted && self.parts.iter().all(|part| part.as_deref() == Some(""));
        let slashed =
            more.parts.first().is_some_and(|part| part.as_deref().is_some_and(|p| p.starts_with('/') || p.is_empty()));
        if root_itself && !slashed {
            return Parts::unknown();
        }
        self.parts.extend(more.parts);
        self
    }

    /// Joined as a path.
    pub fn join(mut self, more: Parts) -> Parts {
        if more.rooted {
            return more;
        }
        match more.parts.first() {
            Some(Some(first)) if first.starts_with('/') => return Parts::unknown(),
            _ => {}
        }
        let empty = !self.rooted && self.parts.iter().all(|part| part.as_deref() == Some(""));
        if !empty && !self.parts.last().is_some_and(|part| part.as_deref().is_some_and(|p| p.ends_with('/'))) {
            self.parts.push(Some("/".into()));
        }
        self.parts.extend(more.parts);
        self
    }

    /// The whole text, when all of it is known.
    pub fn known(&self) -> Option<String> {
        self.parts.iter().map(|part| part.as_deref()).collect()
    }
}

/// `.` and `..` taken out of the known beginning; `None` when that climbs out of the root, or when `..`
/// stands behind an unknown part.
fn normal(mut parts: Vec<Option<String>>) -> Option<Vec<Option<String>>> {
    let dotted = |text: &str| text.split('/').any(|part| part == "..");
    if parts.iter().skip(1).flatten().any(|text| dotted(text)) {
        return None;
    }
    if let Some(Some(first)) = parts.first_mut() {
        let (folder, rest) = first.rsplit_once('/').map_or(("", first.as_str()), |(folder, rest)| (folder, rest));
        let folder = RelPath::new(folder)?;
        if rest == ".." {
            return None;
        }
        *first = if folder.as_str().is_empty() { rest.to_string() } else { format!("{folder}/{rest}") };
        if first.is_empty() {
            parts.remove(0);
        }
    }
    let mut inner = parts.clone();
    for text in inner.iter_mut().flatten() {
        while text.contains("//") {
            *text = text.replace("//", "/");
        }
    }
    Some(inner)
}

/// Whether `text` is made of these parts.
pub fn fits(parts: &[Option<String>], text: &str) -> bool {
    fn within(parts: &[Option<String>], text: &str, fuel: &mut usize) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        match parts.split_first() {
            None => text.is_empty(),
            Some((Some(part), rest)) => text.strip_prefix(part.as_str()).is_some_and(|left| within(rest, left, fuel)),
            Some((None, [])) => true,
            Some((None, rest)) => {
                text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| within(rest, &text[at..], fuel))
            }
        }
    }
    within(parts, text, &mut 10_000)
}

/// The last component changed by `change`, where it is known: `with_name`, `with_suffix` …
pub(super) fn last_component(value: &Value, change: impl Fn(&str) -> Option<String>) -> Value {
    let of = Parts::of(value);
    let Some((Some(last), before)) = of.parts.split_last() else { return Value::Unknown };
    let (folder, name) = match last.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None if before.is_empty() => (String::new(), last.as_str()),
        None => {
            // The component begins in an unknown part: only its end can be changed.
            let changed = if last.contains('.') { change(&format!("x{last}")) } else { None };
            let Some(changed) = changed.as_deref().and_then(|new| new.strip_prefix('x')) else { return Value::Unknown };
            let mut parts = before.to_vec();
            parts.push(Some(changed.to_string()));
            return Parts { rooted: of.rooted, parts }.value();
        }
    };
    let Some(name) = change(name) else { return Value::Unknown };
    let mut parts = before.to_vec();
    parts.push(Some(format!("{folder}{name}")));
    Parts { rooted: of.rooted, parts }.value()
}

/// The folder that holds a path.
pub(super) fn parent(value: &Value) -> Value {
    let of = Parts::of(value);
    if let (true, Value::Path(path)) = (of.rooted, value) {
        return if path.as_str().is_empty() { Value::Unknown } else { Value::Path(path.parent()) };
    }
    let Some((last, before)) = of.parts.split_last() else { return Value::Unknown };
    let Some(folder) = last.as_deref().and_then(|last| last.rsplit_once('/')).map(|(folder, _)| folder) else {
        return match value {
            Value::Str(text) if !text.is_empty() => Value::Str(String::new()),
            _ if before.last().is_some_and(|b| b.as_deref().is_some_and(|b| b.ends_with('/'))) => {
                let mut parts = before.to_vec();
                if let Some(Some(end)) = parts.last_mut() {
                    end.pop();
                }
                Parts { rooted: of.rooted, parts }.value()
            }
            _ => Value::Unknown,
        };
    };
    let mut parts = before.to_vec();
    parts.push(Some(folder.to_string()));
    Parts { rooted: of.rooted, parts }.value()
}

/// Name of the last component.
pub(super) fn name(value: &Value) -> Value {
    let of = Parts::of(value);
    match of.known() {
        Some(text) => Value::Str(text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_string()),
        None => {
            let cut = of.parts.iter().rposition(|part| part.as_deref().is_some_and(|part| part.contains('/')));
            let mut parts = of.parts[cut.unwrap_or(0)..].to_vec();
            if cut.is_some()
                && let Some(Some(first)) = parts.first_mut()
            {
                *first = first.rsplit('/').next().unwrap_or_default().to_string();
            }
            Parts { rooted: false, parts }.value()
        }
    }
}

/// `name` without its last extension, and that extension with its dot.
pub(super) fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(0) | None => (name, ""),
        Some(at) => name.split_at(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Value {
        Value::Path(RelPath::new(text).unwrap())
    }

    #[test]
    fn patterns_keep_what_is_known() {
        let joined =
            Parts::of(&path("tests")).join(Parts::text("golden")).join(Parts::unknown().then(Parts::text(".txt")));
        assert_eq!(joined.value(), Value::Paths(vec![Some("tests/golden/".into()), None, Some(".txt".into())]));
        assert!(fits(&[Some("tests/".into()), None, Some(".txt".into())], "tests/a/b.txt"));
        assert!(!fits(&[Some("tests/".into()), None, Some(".txt".into())], "tests/a/b.csv"));
    }

    #[test]
    fn a_path_that_leaves_the_root_is_unknown() {
        assert_eq!(Parts::of(&path("tests")).join(Parts::text("../../x")).value(), Value::Unknown);
        assert_eq!(Parts::of(&path("tests")).join(Parts::text("/etc/x")).value(), Value::Unknown);
        assert_eq!(Parts::of(&path("tests")).join(Parts::text("../data")).value(), path("data"));
        assert_eq!(Parts::of(&path("")).then(Parts::text("/tests/x")).value(), path("tests/x"));
        assert_eq!(Parts::of(&path("")).then(Parts::text("x")).value(), Value::Unknown);
    }

    #[test]
    fn parts_of_a_path() {
        assert_eq!(parent(&path("a/b.txt")), path("a"));
        assert_eq!(parent(&path("")), Value::Unknown);
        assert_eq!(name(&path("a/b.txt")), Value::Str("b.txt".into()));
        assert_eq!(last_component(&path("a/b.txt"), |_| Some("c".into())), path("a/c"));
        let pattern = Parts::of(&path("a")).join(Parts::unknown().then(Parts::text(".txt"))).value();
        let changed = last_component(&pattern, |name| Some(format!("{}.md", split_extension(name).0)));
        assert_eq!(changed, Value::Paths(vec![Some("a/".into()), None, Some(".md".into())]));
    }
}
