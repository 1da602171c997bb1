//! `.<file>.rs.pending-snap`, one JSON object a line (insta 1.49): the entries of the last run, and the file
//! after one of them was accepted and lines of the source moved. Pure functions of texts.

use serde_json::Value;

use crate::places::RelPath;

/// One entry of the last run.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// 1-based line of the macro's start, as compiled.
    pub line: usize,
    /// Name that insta gave the snapshot, with suffix and counter.
    pub name: Option<String>,
    /// The asserted expression as `stringify!` prints it.
    pub expression: Option<String>,
    /// `None`: that line passed.
    pub new: Option<String>,
    pub old: Option<String>,
    /// 0-based line of the pending file.
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pending {
    pub entries: Vec<Entry>,
    /// 1-based lines of the pending file that are not whole.
    pub broken: Vec<usize>,
}

/// Where the entries of a source file lie.
pub fn path_of(source: &RelPath) -> Option<RelPath> {
    source.parent().join(&format!(".{}.pending-snap", source.name()))
}

/// Only the entries of the last run count; a line that is cut or damaged is left out.
pub fn read(text: &str) -> Pending {
    let mut pending = Pending::default();
    let mut run: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let Some((id, entry)) = entry(line, at) else {
            pending.broken.push(at + 1);
            continue;
        };
        if run.as_ref() != Some(&id) {
            pending.entries.clear();
            run = Some(id);
        }
        pending.entries.push(entry);
    }
    pending
}

fn entry(line: &str, at: usize) -> Option<(String, Entry)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let id = value.get("run_id")?.as_str()?.to_string();
    let number = usize::try_from(value.get("line")?.as_u64()?).ok()?;
    let part = |side: &str, path: &[&str]| -> Option<String> {
        let mut at = value.get(side)?;
        for key in path {
            at = at.get(key)?;
        }
        at.as_str().map(str::to_string)
    };
    // Before 1.40 the content stood under another key.
    let content = |side: &str| part(side, &["snapshot"]).or_else(|| part(side, &["snapshot", "contents"]));
    let entry = Entry {
        line: number,
        name: part("new", &["snapshot_name"]),
        expression: part("new", &["metadata", "expression"]),
        new: content("new"),
        old: content("old"),
        at,
    };
    Some((id, entry))
}

/// The pending file after the entries on `drop` (0-based lines of it) are done with and the source went from
/// `before` to `now`: remaining entries name the lines on which their macros then start. `None`: nothing is
/// left to accept, insta removes the file.
pub fn after(text: &str, drop: &[usize], before: &str, now: &str) -> Option<String> {
    let left = read(text).entries.iter().any(|entry| entry.new.is_some() && !drop.contains(&entry.at));
    if !left {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let same_end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let first_moved = old.len() - same_end;
    let by = new.len() as isize - old.len() as isize;
    let moved = |line: usize| if line > first_moved { line.saturating_add_signed(by) } else { line };
    let mut out = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if drop.contains(&at) {
            continue;
        }
        out.push_str(&renumbered(line, &moved).unwrap_or_else(|| line.to_string()));
    }
    Some(out)
}

/// One line of the file with its `"line":N` replaced, everything else as it stands.
fn renumbered(line: &str, moved: &dyn Fn(usize) -> usize) -> Option<String> {
    let (_, entry) = entry(line, 0)?;
    let key = line.find("\"line\":")? + "\"line\":".len();
    let rest = line[key..].trim_start();
    let start = line.len() - rest.len();
    let end = start + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some(format!("{}{}{}", &line[..start], moved(entry.line), &line[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = concat!(
        "{\"run_id\":\"1-1\",\"line\":3,\"new\":{\"snapshot_name\":\"old\",\"metadata\":{},\"snapshot\":\"x\"},\"old\":null}\n",
        "{\"run_id\":\"2-1\",\"line\":3,\"new\":{\"snapshot_name\":\"a\",\"metadata\":{\"expression\":\"f()\"},\"snapshot\":\"2\"},\"old\":{\"snapshot\":\"1\"}}\n",
        "{\"run_id\":\"2-1\",\"line\":5,\"new\":null,\"old\":null}\n",
        "{\"run_id\":\"2-1\",\"line\":7,\"new\":{\"snapshot_name\":\"b\",\"metadata\":{},\"snapshot\":\"4\"},\"old\":{\"snapshot\":\"3\"}}\n",
    );

    #[test]
    fn only_the_last_run_counts_and_a_cut_line_is_left_out() {
        let cut = &format!("{TEXT}{{\"run_id\":\"2-1\",\"line\":9,\"new\":{{\"snap");
        let pending = read(cut);
        let seen: Vec<_> = pending.entries.iter().map(|e| (e.line, e.name.as_deref(), e.new.as_deref())).collect();
        assert_eq!(seen, [(3, Some("a"), Some("2")), (5, None, None), (7, Some("b"), Some("4"))]);
        assert_eq!(pending.broken, [5]);
    }

    #[test]
    fn remaining_entries_name_the_lines_on_which_their_macros_then_start() {
        let before = "1\n2\nassert_snapshot!(f(), @\"1\");\n4\n5\n6\nassert_snapshot!(g(), @\"3\");\n";
        let now =
            "1\n2\n// old\n// new\nassert_snapshot!(f(), @\"\n1\n2\n\");\n4\n5\n6\nassert_snapshot!(g(), @\"3\");\n";
        let left = after(TEXT, &[1], before, now).unwrap();
        let seen: Vec<_> = read(&left).entries.iter().map(|entry| entry.line).collect();
        assert_eq!(seen, [10, 12]);
        assert!(left.contains("\"line\":12,\"new\":{\"snapshot_name\":\"b\""), "{left}");
        assert_eq!(after(TEXT, &[1, 3], before, now), None);
        // A comment right above a macro moves it.
        let commented = before.replace("assert_snapshot!(g", "// x\nassert_snapshot!(g");
        assert_eq!(read(&after(TEXT, &[], before, &commented).unwrap()).entries.last().unwrap().line, 8);
    }
}
