//! A crate of hard values, changed and run: one copy accepted by `cargo insta accept`, the other by
//! `pindrift accept` one by one and without comments. The trees are equal, and the tests are green then.
//! Run by ./tests/run, which installs cargo-insta.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[path = "identity/mod.rs"]
mod identity;

use identity::{commit, copy, different, put, run, tool, tree};

/// The values that a snapshot may hold: old and new of each.
const HARD: &[(&str, &str)] = &[
    ("plain", "changed"),
    ("a \"quoted\" word", "two \"quoted\" \"words\""),
    ("hash \"# end", "hashes \"## and \"### end"),
    ("back\\slash", "back\\\\slash \\n no line"),
    ("tab\there", "tab\t\there"),
    ("one\ntwo", "one\n2\nthree"),
    ("one\r\ntwo", "one\r\n2"),
    ("bell \u{1b}[31mred", "bell \u{1b}[32mgreen"),
    ("something", ""),
    ("x", "   "),
    ("---\nfront matter", "---\nfront matter\n---\nagain"),
    ("smile", "smile 😀 ünï"),
    ("  indented\n    more", "    indented\n  less"),
    ("ends with newline\n", "ends with two\n\n"),
    ("brace { and }", "brace {} {{}}"),
    ("nul", "nul \0 inside"),
];

const FILES: usize = 100;
const INLINE: usize = 300;

fn value(i: usize, new: bool) -> String {
    let (old, changed) = HARD[i % HARD.len()];
    let text = if new { changed } else { old };
    match i / HARD.len() {
        0 => text.to_string(),
        // The rare shapes stay as they are; most get a number of their own.
        round if text.is_empty() || text.trim().is_empty() => text.repeat(round.min(1) + 1),
        round if round % 7 == 3 && !text.contains('\r') => (0..200).map(|line| format!("{text} {line}\n")).collect(),
        round => format!("{text} {round}"),
    }
}

/// The crate, its values old or new, its snapshots as yet unwritten.
fn sources(new: bool) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let manifest = "[package]\nname = \"hard\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\n\
                    insta = \"=1.49.0\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\n";
    files.insert("Cargo.toml".into(), manifest.into());
    files.insert("pindrift.toml".into(), "comment = \"never\"\n".into());
    let mut lib = "pub fn value(i: usize) -> &'static str {\n    match i {\n".to_string();
    for i in 0..FILES + INLINE {
        let _ = writeln!(lib, "        {i} => {:?},", value(i, new));
    }
    lib.push_str("        _ => \"\",\n    }\n}\n");
    files.insert("src/lib.rs".into(), lib);
    files
}

fn tests() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut file = "use hard::value;\n".to_string();
    for i in 0..FILES {
        let _ = write!(file, "\n#[test]\nfn file_{i}() {{\n    insta::assert_snapshot!(value({i}));\n}}\n");
    }
    files.insert("tests/files.rs".into(), file);
    let mut inline = "use hard::value;\n".to_string();
    for i in FILES..FILES + INLINE {
        let _ = write!(inline, "\n#[test]\nfn inline_{i}() {{\n    insta::assert_snapshot!(value({i}), @\"\");\n}}\n");
    }
    files.insert("tests/inline.rs".into(), inline);
    files
}

#[test]
fn accepted_by_either_tool_the_trees_are_equal() {
    let base = tempfile::tempdir().expect("a folder");
    let target = base.path().join("target");
    let theirs = base.path().join("theirs");
    std::fs::create_dir(&theirs).expect("made");
    let cargo = PathBuf::from(env!("CARGO"));
    let insta = tool("cargo-insta");
    let test = |folder: &Path| run(folder, &target, &cargo, &["test", "--quiet", "--no-fail-fast"]);

    put(&theirs, &sources(false));
    put(&theirs, &tests());
    test(&theirs);
    let out = run(&theirs, &target, &insta, &["insta", "accept", "--quiet"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let out = test(&theirs);
    assert!(out.status.success(), "the recorded state is not green: {}", String::from_utf8_lossy(&out.stdout));
    commit(&theirs, &target);

    put(&theirs, &sources(true));
    assert!(!test(&theirs).status.success(), "the change is seen");
    let ours = base.path().join("ours");
    copy(&theirs, &ours);

    let out = run(&theirs, &target, &insta, &["insta", "accept", "--quiet"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));

    let pindrift = PathBuf::from(env!("CARGO_BIN_EXE_pindrift"));
    let mut refused: Vec<String> = Vec::new();
    let out = run(&ours, &target, &pindrift, &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let drifts: Vec<(&str, &str)> = report["assertions"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| Some((row["drift"].as_str()?, row["test"].as_str()?)))
        .collect();
    assert!(drifts.len() >= FILES + INLINE - 10, "only {} drifts: {}", drifts.len(), report["summary"]);
    for (id, test) in &drifts {
        let out = run(&ours, &target, &pindrift, &["accept", id, "--reason", "the values are harder now, on purpose"]);
        if !out.status.success() {
            refused.push(format!("{test}: {}", String::from_utf8_lossy(&out.stderr).trim()));
        }
    }
    let (theirs_now, ours_now) = (tree(&theirs), tree(&ours));
    let different = different(&theirs_now, &ours_now);
    assert!(
        refused.is_empty() && different.is_empty(),
        "refused {}:\n{}\ndifferent {}:\n{}",
        refused.len(),
        refused.join("\n"),
        different.len(),
        different.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    let out = test(&ours);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
}

/// Three pending snapshots of one function: the first is accepted with its comment, the others by
/// `cargo insta accept`, whose places are lines.
#[test]
fn the_rest_may_be_accepted_by_the_other_tool() {
    let base = tempfile::tempdir().expect("a folder");
    let folder = base.path().join("three");
    let line = |n: usize| format!("    insta::assert_snapshot!(\"new{n}\", @\"old{n}\");\n");
    let source = format!("#[test]\nfn three() {{\n{}{}{}}}\n", line(1), line(2), line(3));
    let entry = |n: usize| {
        let name = if n == 1 { "three".to_string() } else { format!("three-{n}") };
        format!(
            "{{\"run_id\":\"1-1\",\"line\":{0},\"new\":{{\"module_name\":\"three\",\"snapshot_name\":\"{name}\",\"metadata\":{{\
             \"source\":\"tests/three.rs\",\"assertion_line\":{0},\"expression\":\"\\\"new{n}\\\"\"}},\"snapshot\":\"new{n}\"}},\
             \"old\":{{\"module_name\":\"three\",\"metadata\":{{}},\"snapshot\":\"old{n}\"}}}}\n",
            n + 2
        )
    };
    let mut files = sources(false);
    files.remove("pindrift.toml");
    files.insert("tests/three.rs".into(), source);
    put(&folder, &files);
    let target = base.path().join("target");
    for args in [
        ["init", "-q", "-b", "main"].as_slice(),
        &["add", "-A"],
        &["-c", "user.name=Test Person", "-c", "user.email=test@example.org", "commit", "-q", "-m", "recorded"],
    ] {
        assert!(run(&folder, &target, Path::new("git"), args).status.success(), "git {args:?}");
    }
    put(&folder, &BTreeMap::from([("tests/.three.rs.pending-snap".to_string(), entry(1) + &entry(2) + &entry(3))]));
    let pindrift = Path::new(env!("CARGO_BIN_EXE_pindrift"));
    let out = run(&folder, &target, pindrift, &["check", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = report["assertions"].as_array().expect("rows");
    let id = rows.iter().find(|row| row["line"] == 3).and_then(|row| row["drift"].as_str()).expect("the first drift");
    let out = run(&folder, &target, pindrift, &["accept", id, "--reason", "the texts are the new ones since rule 7"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let out = run(&folder, &target, &tool("cargo-insta"), &["insta", "accept", "--quiet"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let now = std::fs::read_to_string(folder.join("tests/three.rs")).expect("there");
    let pinned: Vec<&str> = now.lines().filter(|line| line.contains("assert_snapshot!")).map(str::trim).collect();
    let want: Vec<String> = (1..4).map(|n| format!("insta::assert_snapshot!(\"new{n}\", @\"new{n}\");")).collect();
    assert_eq!(pinned, want, "{now}");
    assert!(now.contains("Reason: the texts are the new ones since rule 7"), "{now}");
}
