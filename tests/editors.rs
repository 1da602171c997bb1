//! Real editors on the real program. Run by ./tests/run, which installs them below ./.tools.

use std::path::{Path, PathBuf};
use std::process::Command;

fn tools() -> PathBuf {
    let tools = std::env::var_os("PINDRIFT_TOOLS").map(PathBuf::from);
    tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools"))
}

/// PATH with the program that was just built first.
fn path() -> std::ffi::OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_pindrift")).parent().expect("a folder").to_path_buf();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([built, tools().join("bin")].into_iter().chain(std::env::split_paths(&rest))).expect("a PATH")
}

#[test]
fn neovim_tells_the_whole_story() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = folder.path().join("demo");
    let out = Command::new(env!("CARGO_BIN_EXE_pindrift")).arg("demo").arg(&demo).output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let editors = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/nvim");
    let out = Command::new(tools().join("bin/nvim"))
        .args(["--headless", "--clean", "-l"])
        .arg(editors.join("test/story.lua"))
        .args([&demo, &editors])
        .env("PATH", path())
        .env("HOME", folder.path())
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .output()
        .expect("nvim starts; ./tests/run installs it");
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}\n{wrong}\nserver log:\n{}", log(folder.path()));
    assert!(said.matches("ok: ").count() >= 13, "{said}\n{wrong}");
}

fn log(home: &Path) -> String {
    std::fs::read_to_string(home.join("state/nvim/lsp.log")).unwrap_or_default()
}

#[test]
fn neovim_knows_the_plugin() {
    let editors = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/nvim");
    let home = tempfile::tempdir().expect("a folder");
    let report = home.path().join("health.txt");
    let out = Command::new(tools().join("bin/nvim"))
        .args(["--headless", "--clean"])
        .arg("--cmd")
        .arg(format!("set rtp^={}", editors.display()))
        .args(["-c", "checkhealth pindrift", "-c"])
        .arg(format!("write! {}", report.display()))
        .args(["-c", "qa!"])
        .env("PATH", path())
        .env("HOME", home.path())
        .output()
        .expect("nvim starts");
    let said = String::from_utf8_lossy(&out.stderr);
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    assert!(report.contains("pindrift 0.") && !report.contains("ERROR"), "{report}\n{said}");
}

#[test]
fn helix_settings_are_the_ones_that_the_server_takes() {
    let text = include_str!("../editors/helix/languages.toml");
    let settings: toml::Table = text.parse().expect("TOML");
    let server = &settings["language-server"]["pindrift"];
    assert_eq!(server["command"].as_str(), Some("pindrift"));
    let args: Vec<&str> = server["args"].as_array().expect("a list").iter().filter_map(|arg| arg.as_str()).collect();
    let out = Command::new(env!("CARGO_BIN_EXE_pindrift"))
        .args(args)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("it starts");
    assert!(out.stdout.is_empty(), "a server without input says nothing");
}
