//! Helix of two versions, in a terminal: there is no other way to drive it. The reason is given in a comment.

use std::path::PathBuf;

use super::demo::{Demo, ROUNDING, SORTED, editors, python, tools};
use super::terminal::Terminal;

fn program(suite: &str) -> PathBuf {
    tools().join("debian").join(suite).join("run/hx")
}

/// Opens the demo with the settings that editors/helix offers.
fn open(name: &str, suite: &str, demo: &Demo, file: &str) -> Terminal {
    let settings = demo.home().join(".config/helix");
    std::fs::create_dir_all(&settings).expect("a folder");
    for file in ["languages.toml", "config.toml"] {
        std::fs::copy(editors().join("helix").join(file), settings.join(file)).expect("copied");
    }
    let program = format!("{} {file}", program(suite).display());
    let (name_of, environment) = python();
    Terminal::open(name, &program, &demo.path(), &demo.home(), &[(name_of, environment.display().to_string())])
}

/// To the first place that a search from the top finds.
fn go(hx: &Terminal, what: &str) {
    hx.keys(&["Escape", "g", "g"]).text(&format!("/{what}")).keys(&["Enter"]);
}

fn pick(hx: &Terminal, title: &str) {
    hx.keys(&["Space", "a"]).shows(&[title]);
    // The first entry is the one chosen, in both versions.
    let menu: Vec<String> = hx.screen().lines().map(str::to_string).collect();
    let first = ["Accept drift:", "Withdraw this", "Insert dated", "Reclassify as", "Label as", "Run this test"];
    let entries: Vec<&String> = menu.iter().filter(|line| first.iter().any(|entry| line.contains(entry))).collect();
    let at = entries.iter().position(|line| line.contains(title)).expect("it is in the menu");
    hx.keys(&vec!["Down"; at]).keys(&["Enter"]);
}

/// The comment flow: the placeholder is selected, `c` replaces it.
fn write_reason(hx: &Terminal, reason: &str) {
    hx.keys(&["c"]).text(reason).keys(&["Escape"]).shows(&[" NOR "]).text(":w").keys(&["Enter"]);
    hx.shows(&[&format!("# Reason: {reason}"), "written"]);
}

fn story(suite: &str, name: &str) {
    let demo = Demo::new();
    let hx = open(name, suite, &demo, "tests/test_discount.py");
    hx.shows(&["2.67 → 2.68 (behaviour)"]).keep("drift");
    go(&hx, "== 2");
    hx.keys(&["Space", "k"]);
    hx.shows(&["-2.67", "+2.68", "Drifted from the value recorded here"]).keep("hover");
    hx.keys(&["Escape"]);

    pick(&hx, "Accept drift: 2.67 → 2.68");
    hx.shows(&["# Reason: <why may the recorded value change?>"]).keep("comment");
    write_reason(&hx, "wip");
    pick(&hx, "Accept drift: 2.67 → 2.68");
    hx.shows(&["\"wip\" does not tell the next reader"]).keep("refused");
    assert_eq!(demo.via("helix"), 0, "nothing is accepted");

    // In the line of the reason, that word is selected and changed.
    hx.text(":7").keys(&["Enter", "x", "s"]).text("wip").keys(&["Enter", "c"]).text(ROUNDING).keys(&["Escape"]);
    hx.shows(&[" NOR "]);
    hx.text(":w").keys(&["Enter"]).shows(&[&format!("# Reason: {ROUNDING}"), "written"]).keep("reason");
    go(&hx, "== 2");
    pick(&hx, "Accept drift: 2.67 → 2.68");
    hx.shows(&["== 2.68"]).text(":w").keys(&["Enter"]);
    hx.until("the record", || demo.via("helix") == 1).keep("accepted");

    hx.text("u:w").keys(&["Enter"]);
    hx.until("no record after an undo", || demo.via("helix") == 0);
    hx.text("U:w").keys(&["Enter"]).shows(&["== 2.68", "written"]);
    // A redo is text and no decision: what it says is accepted once more.
    hx.text("u:w").keys(&["Enter"]).shows(&["== 2.67", "written"]);
    go(&hx, "== 2");
    pick(&hx, "Accept drift: 2.67 → 2.68");
    hx.shows(&["== 2.68"]).text(":w").keys(&["Enter"]);
    hx.until("the record", || demo.via("helix") == 1);

    go(&hx, "== 2");
    pick(&hx, "Run this test and record what it produces");
    hx.until("what the run saw", || demo.observed().contains("\"outcome\":\"match\""));

    hx.text(":o tests/test_export.py").keys(&["Enter"]);
    hx.shows(&["2 lines in another order"]);
    go(&hx, "month.csv");
    pick(&hx, "Accept drift: 2 lines in another order");
    hx.shows(&["# Reason: <why may the recorded value change?>"]);
    write_reason(&hx, SORTED);
    go(&hx, "month.csv");
    pick(&hx, "Accept drift: 2 lines in another order");
    hx.until("the baseline", || demo.read("tests/golden/month.csv") == demo.read("tests/actual/month.csv"));
    hx.text(":w").keys(&["Enter"]);
    hx.until("its record", || demo.via("helix") == 2);

    hx.text(":o rates/tests/pinned.rs").keys(&["Enter"]);
    hx.shows(&["0.19999999999999998 → "]);
    go(&hx, "assert_eq");
    pick(&hx, "Reclassify as specification test");
    hx.shows(&["Specification test: <which authority says so?>"]).text(":w").keys(&["Enter"]);
    hx.until("its record", || demo.via("helix") == 3 && demo.read("rates/tests/pinned.rs").contains("Specification"));
    assert_eq!(demo.end(), Demo::by_command_line());
}

#[test]
fn helix_25_01_tells_the_story() {
    story("trixie", "helix-25.01");
}

#[test]
fn helix_of_today_tells_the_story() {
    story("forky", "helix-current");
}

/// The keys of editors/helix/config.toml, for versions whose commands take arguments.
#[test]
fn helix_of_today_takes_the_reason_at_the_prompt() {
    let demo = Demo::new();
    let hx = open("helix-prompt", "forky", &demo, "tests/test_discount.py");
    hx.shows(&["2.67 → 2.68 (behaviour)"]);
    go(&hx, "== 2");
    hx.keys(&["Space", "i", "d"]).shows(&["--- recorded", "-2.67", "+2.68"]).keep("diff");
    hx.text(":o tests/test_discount.py").keys(&["Enter"]).shows(&["def test_apply_discount_pins_legacy_output"]);
    go(&hx, "== 2");
    hx.keys(&["Space", "i", "a"]).shows(&["\"reason\":\"\"}"]).text(ROUNDING).keep("prompt").keys(&["Enter"]);
    hx.shows(&["== 2.68", &format!("# Reason: {ROUNDING}")]).text(":w").keys(&["Enter"]);
    hx.until("the record", || demo.via("helix") == 1 && demo.read("tests/test_discount.py").contains("== 2.68"));
}

#[test]
fn the_settings_start_the_server() {
    let text = include_str!("../../editors/helix/languages.toml");
    let settings: toml::Table = text.parse().expect("TOML");
    let server = &settings["language-server"]["pindrift"];
    assert_eq!(server["command"].as_str(), Some("pindrift"));
    let args: Vec<&str> = server["args"].as_array().expect("a list").iter().filter_map(|arg| arg.as_str()).collect();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_pindrift"))
        .args(args)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("it starts");
    assert!(out.stdout.is_empty(), "a server without input says nothing");
}
