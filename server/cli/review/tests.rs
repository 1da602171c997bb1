use super::*;
use crate::fixture::Fixture;

const PROJECT: &str = "\
//- tests/test_a.py
\"\"\"Characterization test: pins what it says.\"\"\"
from pathlib import Path

HERE = Path(__file__).parent


def test_a():
    text = make()
    (HERE / 'actual' / 'a.txt').write_text(text)
    assert text == (HERE / 'golden' / 'a.txt').read_text()
//- tests/golden/a.txt
one
//- tests/actual/a.txt
two
";

fn opened(fixture: &Fixture) -> Desk {
    let place = Place { cwd: fixture.path().to_path_buf(), colour: false };
    let Ok(scope) = Scope::of(&[], &place) else { panic!("no scope") };
    Desk {
        queue: Queue::of(scope),
        mode: Mode::Reading,
        values: false,
        top: 0,
        hunk: 0,
        seen: Vec::new(),
        laid_out: 0,
        whole: true,
        message: String::new(),
        colour: false,
        given: Vec::new(),
    }
}

fn golden(fixture: &Fixture) -> String {
    std::fs::read_to_string(fixture.path().join("tests/golden/a.txt")).expect("a golden file")
}

#[test]
fn a_value_that_is_not_produced_any_more_is_not_accepted() {
    let fixture = Fixture::committed(PROJECT);
    let mut desk = opened(&fixture);
    assert_eq!(desk.queue.open(), 1);
    fixture.write("//- tests/actual/a.txt\nthree\n");
    desk.decide(Ask::Accept, "the wording is the new one".into());
    assert!(desk.message.contains("changed since this was shown; nothing was accepted"), "{}", desk.message);
    assert_eq!(golden(&fixture), "one\n");
    assert_eq!(desk.queue.fate(), Fate::Gone);

    let mut desk = opened(&fixture);
    desk.decide(Ask::Accept, "the wording is the new one".into());
    assert!(desk.message.starts_with("accepted"), "{}", desk.message);
    assert_eq!(golden(&fixture), "three\n");
}
