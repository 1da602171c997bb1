//! VS Code as code-server in a browser without a screen, with the extension as it is packaged.

use std::process::Command;

use super::demo::{Demo, editors, path, python, tools};

#[test]
fn vs_code_tells_the_whole_story() {
    let demo = Demo::new();
    let extension = editors().join("vscode");
    let package = extension.join("pindrift.vsix");
    assert!(package.is_file(), "`npm run package` in editors/vscode makes it; ./tests/run does that first");
    let out = Command::new("node")
        .arg(extension.join("test/story.mjs"))
        .args([demo.path(), package, tools()])
        .env("PATH", path())
        .envs([python()])
        .env("PINDRIFT_SERVER", env!("CARGO_BIN_EXE_pindrift"))
        .output()
        .expect("node starts; ./tests/run installs it");
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}\n{wrong}");
    assert_eq!(demo.end(), Demo::by_command_line());
}
