//! `pindrift review` in a real terminal, narrow without colour and wide: what is on the screen at each step and
//! on the disk at the end.

use super::fixture::Fixture;
use super::terminal::Terminal;

const PAYROLL: &str = "\
//- pindrift.toml
//- tests/test_payroll.py
\"\"\"Characterization tests: they pin what the payroll run writes.\"\"\"
from pathlib import Path

HERE = Path(__file__).parent


def same(name):
    text = run(name)
    (HERE / 'actual' / name).write_text(text)
    assert text == (HERE / 'golden' / name).read_text()


def test_april():
    same('april.txt')


def test_march():
    same('march.txt')


def test_order():
    same('order.json')


def test_raw():
    same('raw.txt')
//- tests/golden/april.txt
net: 10.24 EUR for Ito, paid by the bank of the house
//- tests/actual/april.txt
net: 10.25 EUR for Ito, paid by the bank of the house
//- tests/golden/march.txt
net: 10.38 EUR
//- tests/actual/march.txt
net: 10.39 EUR
//- tests/golden/order.json
{
  \"due\": \"soon\",
  \"a\": 1, \"b\": 2, \"c\": 3,
  \"note\": \"kept\",
  \"d\": 4,
  \"e\": 5,
  \"f\": 6,
  \"g\": 7,
  \"owner\": \"Ito\"
}
//- tests/actual/order.json
{
  \"due\": \"later\",
  \"a\": 1, \"b\": 2, \"c\": 3,
  \"note\": \"kept\",
  \"d\": 4,
  \"e\": 5,
  \"f\": 6,
  \"g\": 7,
  \"owner\": \"Vega\"
}
//- tests/golden/raw.txt
plain
//- tests/actual/raw.txt
pl$ESC[31main
";

fn payroll() -> Fixture {
    let lines: String = (1..=40).map(|nth| format!("line {nth} of the old list\n")).collect();
    let files =
        PAYROLL.replace("//- tests/golden/raw.txt\nplain\n", &format!("//- tests/golden/raw.txt\nplain\n{lines}"));
    let fixture = Fixture::committed(&(files + &lines.replace("old", "new")));
    fixture.git(&["config", "user.name", "Ann Reader"]);
    fixture.git(&["config", "user.email", "ann@example.org"]);
    fixture
}

fn review(fixture: &Fixture, size: (usize, usize), name: &str, colour: bool) -> Terminal {
    let mut environment = vec![("GIT_CONFIG_GLOBAL", "/dev/null".to_string())];
    if !colour {
        environment.push(("NO_COLOR", "1".into()));
    }
    let program = format!("{} review; echo \"status $?\"; sleep 600", env!("CARGO_BIN_EXE_pindrift"));
    Terminal::sized(size, name, &program, fixture.path(), fixture.path(), &environment)
}

/// The amendments, by their paths.
fn records(fixture: &Fixture) -> Vec<String> {
    let mut records = Vec::new();
    let mut folders = vec![fixture.at(".pindrift/amendments")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => records.push(std::fs::read_to_string(path).expect("an amendment")),
            }
        }
    }
    records.sort();
    records
}

fn golden(fixture: &Fixture, name: &str) -> String {
    fixture.read(&format!("tests/golden/{name}"))
}

#[test]
fn review_decides_one_by_one_in_80_columns_without_colour() {
    let fixture = payroll();
    let terminal = review(&fixture, (80, 24), "review-80", false);
    terminal.shows(&[
        "drift 1 of 4: 4 open, 0 accepted, 0 unintended, 0 noise, 0 skipped",
        "tests/test_payroll.py::test_april",
        "tests/golden/april.txt:1  behaviour",
        "1 more drift is the same change",
        "    1- net: 10.24 EUR for Ito",
        "            ^^^^^",
        "    1+ net: 10.25 EUR for Ito",
        "all 5 lines were shown",
    ]);
    let screen = terminal.screen();
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert!(!terminal.painted().contains("\u{1b}[3"), "no colour: {}", terminal.painted());

    // A filler is refused where it is typed; a reason accepts this drift and no other.
    terminal.keys(&["a"]).shows(&["Why may the recorded value change?", "Reason:"]);
    terminal.text("update snapshot").keys(&["Enter"]).shows(&["\"update snapshot\" does not tell"]);
    terminal.keys(&["C-u"]).text("net rounds half up since rule 7").keys(&["Enter"]);
    terminal.shows(&["drift 2 of 4: 3 open, 1 accepted", "test_march", "accepted; recorded in"]);
    assert_eq!(golden(&fixture, "april.txt"), "net: 10.25 EUR for Ito, paid by the bank of the house\n");
    assert_eq!(golden(&fixture, "march.txt"), "net: 10.38 EUR\n");

    // The next of the same change: its reason stands there, and Enter confirms it.
    terminal.keys(&["a"]).shows(&["Enter confirms it here too", "Reason: net rounds half up since rule 7"]);
    terminal.keys(&["Enter"]).shows(&["drift 3 of 4: 2 open, 2 accepted", "test_order"]);
    assert_eq!(golden(&fixture, "march.txt"), "net: 10.39 EUR\n");

    // Two places, two verdicts; the values by their paths.
    terminal.shows(&["2 of 10 values (JSON)", "place 1 of 2: behaviour", "place 2 of 2: behaviour"]);
    terminal.keys(&["v"]).shows(&["due: \"soon\" → \"later\"", "owner: \"Ito\" → \"Vega\""]);
    terminal.keys(&["v", "n", "u"]).shows(&["What shows that place 2 is unintended?"]);
    terminal.text("the owner must stay").keys(&["Enter"]);
    terminal.shows(&["place 2 of 2: behaviour, judged unintended", "1 unintended", "place 1 is not judged yet"]);
    terminal.keys(&["a"]).shows(&["judged unintended; w takes it back"]);
    terminal.keys(&["]"]).shows(&["drift 4 of 4: 1 open, 2 accepted, 1 unintended", "test_raw"]);

    // What was not shown is not accepted, and nothing of a value steers the terminal.
    terminal.shows(&["more below"]);
    terminal.keys(&["a"]).shows(&["accept takes what was shown whole", "lines are left"]);
    terminal.keys(&["s"]).shows(&["drift 4 of 4: 0 open, 2 accepted, 1 unintended, 0 noise, 1 skipped", "skipped"]);
    terminal.keys(&["Space"; 5]).shows(&["    1+ pl\\u{1b}[31main", "more below"]);
    terminal.keys(&["Space"; 6]).shows(&["lines were shown"]);
    terminal.keys(&["a"]).text("the list is the new one").keys(&["Escape"]).shows(&["nothing was decided"]);
    terminal.keys(&["a", "C-u"]).text("the list is the new one").keys(&["Enter"]);
    terminal.shows(&["0 open, 3 accepted, 1 unintended, 0 noise, 0 skipped"]);
    assert!(golden(&fixture, "raw.txt").starts_with("pl\u{1b}[31main\nline 1 of the new list\n"));

    // Back to the first one: it is taken back.
    terminal.keys(&["]", "]", "["]);
    terminal.until("the first drift", || {
        terminal.keys(&["["]);
        terminal.screen().contains("test_april")
    });
    terminal.shows(&["accepted"]).keys(&["w"]).shows(&["Why is the decision taken back?"]);
    terminal.text("rule 7 starts next year").keys(&["Enter"]).shows(&["taken back", "2 accepted"]);
    assert_eq!(golden(&fixture, "april.txt"), "net: 10.24 EUR for Ito, paid by the bank of the house\n");
    terminal.keys(&["q"]).shows(&["4 drifts:", "status 1"]);

    let records = records(&fixture);
    let of = |kind: &str| records.iter().filter(|record| record.contains(&format!("kind = \"{kind}\""))).count();
    assert_eq!((of("drift"), of("verdict"), of("withdraw"), records.len()), (3, 1, 1, 5), "{records:#?}");
    assert_eq!(records.iter().filter(|record| record.contains("net rounds half up since rule 7")).count(), 2);
    assert!(records.iter().all(|record| record.contains("via = \"review\"")), "{records:#?}");
}

#[test]
fn review_shows_both_sides_in_200_columns() {
    let fixture = payroll();
    let terminal = review(&fixture, (200, 40), "review-200", true);
    terminal.shows(&["drift 1 of 4", "net: 10.24 EUR for Ito", "net: 10.25 EUR for Ito"]);
    let screen = terminal.screen();
    let both = screen.lines().find(|line| line.contains("10.24")).expect("the changed line");
    assert!(
        both.contains("    1- net: 10.24") && both.contains("│     1+ net: 10.25"),
        "both sides in one line: {both}"
    );
    // The word that changed stands out of its line.
    let painted = terminal.painted();
    let word = painted.split("10.25").next().expect("what stands before the word");
    assert!(word.rsplit('m').next().is_some_and(str::is_empty) && word.contains("\u{1b}[1"), "{painted}");
    terminal.keys(&["]", "]", "]"]).shows(&["test_raw", "pl\\u{1b}[31main"]);
    assert!(terminal.screen().lines().all(|line| line.chars().count() <= 200));
    terminal.keys(&["Space", "X"]).text("the list comes from another machine").keys(&["Enter"]);
    terminal.shows(&["1 noise"]).keys(&["q"]).shows(&["1 noise", "status 1"]);
    assert_eq!(records(&fixture).len(), 1);
    assert!(golden(&fixture, "raw.txt").starts_with("plain\n"), "a verdict leaves the recorded value");
}

#[test]
fn review_wants_a_terminal() {
    let fixture = payroll();
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_pindrift"))
        .arg("review")
        .current_dir(fixture.path())
        .stdin(std::process::Stdio::null())
        .output()
        .expect("it starts");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("use `check`, `diff` and `accept` here"));
}
