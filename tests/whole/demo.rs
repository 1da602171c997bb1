//! What the demo says that its code produces is what its code produces: its tests are run for real.
//! Needs pytest, which ./tests/run installs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Fixture, pindrift};

#[test]
fn the_demo_shows_what_its_tests_really_produce() {
    let fixture = Fixture::new("//- README\n");
    pindrift(&fixture, &["demo", "d"]).with(0);
    let written = fixture.read("d/tests/actual/month.csv");

    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    let tools = tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools"));
    let run = |command: &mut Command| {
        let out = command.env("RUST_BACKTRACE", "0").output().expect("it starts");
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
    };
    let python = tools.join("venv/bin/python");
    let said = run(Command::new(python).current_dir(fixture.at("d")).args([
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]));
    assert!(said.contains("2 failed, 2 passed"), "{said}");
    assert!(said.contains("assert 2.68 == 2.67"), "{said}");
    assert_eq!(fixture.read("d/tests/actual/month.csv"), written);

    let mut cargo = Command::new(env!("CARGO"));
    let said = run(cargo.current_dir(fixture.at("d/rates")).args(["test", "--offline"]));
    assert!(said.contains("left: 0.20000000000000004") && said.contains("right: 0.19999999999999998"), "{said}");
}
