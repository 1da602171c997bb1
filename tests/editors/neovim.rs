//! Neovim of three versions, without a screen and in a terminal.

use std::process::Command;

use super::demo::{Demo, ROUNDING, editors, path, python, tools};
use super::terminal::Terminal;

/// The program of each version, from the folder of tools.
const VERSIONS: [(&str, &str); 3] =
    [("0.10", "debian/trixie/run/nvim"), ("0.11", "bin/nvim"), ("0.12", "debian/forky/run/nvim")];

fn program(version: &str) -> std::path::PathBuf {
    let found = VERSIONS.iter().find(|(name, _)| *name == version).expect("a version");
    tools().join(found.1)
}

/// The story of editors/nvim/test/story.lua.
fn headless(version: &str) {
    let demo = Demo::new();
    let out = Command::new(program(version))
        .args(["--headless", "--clean", "-l"])
        .arg(editors().join("nvim/test/story.lua"))
        .args([demo.path(), editors().join("nvim")])
        .env("PATH", path())
        .envs([python()])
        .env("HOME", demo.home())
        .env("XDG_STATE_HOME", demo.home().join("state"))
        .output()
        .expect("nvim starts; ./tests/run installs it");
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let log = std::fs::read_to_string(demo.home().join("state/nvim/lsp.log")).unwrap_or_default();
    assert!(out.status.success(), "{said}\n{wrong}\nserver log:\n{log}");
    assert_eq!(demo.end(), Demo::by_command_line());
}

#[test]
fn neovim_0_10_tells_the_whole_story() {
    headless("0.10");
}

#[test]
fn neovim_0_11_tells_the_whole_story() {
    headless("0.11");
}

#[test]
fn neovim_0_12_tells_the_whole_story() {
    headless("0.12");
}

/// What a person sees and types.
fn in_a_terminal(version: &str) {
    let demo = Demo::new();
    let program = format!(
        "{} --clean --cmd 'set rtp^={} shortmess+=I' --cmd 'set signcolumn=yes' tests/test_discount.py",
        program(version).display(),
        editors().join("nvim").display()
    );
    let nvim = Terminal::open(&format!("nvim-{version}"), &program, &demo.path(), &demo.home(), &[]);
    nvim.shows(&["assert apply_discount(2.675, 0.0) == 2.67"]);
    nvim.until("the sign of a warning", || {
        let screen = nvim.screen();
        screen.lines().any(|line| line.starts_with("W ") && line.contains("2.675"))
    });
    nvim.text("6Gf(").keys(&[]).text(":lua vim.lsp.buf.hover()").keys(&["Enter"]);
    nvim.shows(&["-2.67", "+2.68", "Drifted from the value recorded here"]).keep("hover");
    nvim.keys(&["Escape"]).text(":Pindrift diff").keys(&["Enter"]);
    nvim.shows(&["recorded: tests/test_discount.py", "a accept", "w why · q close"]).keep("diff");
    nvim.keys(&["a"]).shows(&["Why may this recorded value change?"]);
    nvim.text("wip").keys(&["Enter"]).shows(&["does not tell the next reader"]).keep("refused");
    nvim.until("the prompt with what was typed, again", || {
        nvim.keys(&["Enter"]);
        nvim.screen().contains("Why may this recorded value change? wip")
    });
    nvim.keys(&["C-u"]).text(ROUNDING).keep("reason").keys(&["Enter"]);
    nvim.shows(&["== 2.68", &format!("# Reason: {ROUNDING}")]);
    nvim.text(":w").keys(&["Enter"]);
    nvim.until("the record", || demo.via("nvim") == 1).keep("accepted");
    nvim.text("u:w").keys(&["Enter"]);
    nvim.until("no record after an undo", || demo.via("nvim") == 0);
    assert!(demo.read("tests/test_discount.py").contains("== 2.67\n"));
    nvim.text(":Pindrift drifts").keys(&["Enter"]);
    nvim.shows(&["[Quickfix List]", "2 lines in another order", "2.67 → 2.68"]).keep("drifts");
}

#[test]
fn neovim_0_11_in_a_terminal() {
    in_a_terminal("0.11");
}

#[test]
fn neovim_0_12_in_a_terminal() {
    in_a_terminal("0.12");
}

#[test]
fn neovim_0_10_in_a_terminal() {
    in_a_terminal("0.10");
}

#[test]
fn neovim_knows_the_plugin() {
    let home = tempfile::tempdir().expect("a folder");
    let plugin = home.path().join("nvim");
    let copied = Command::new("cp").arg("-r").arg(editors().join("nvim")).arg(&plugin).status().expect("cp");
    assert!(copied.success());
    for (version, _) in VERSIONS {
        let report = home.path().join("report.txt");
        let out = Command::new(program(version))
            .args(["--headless", "--clean", "--cmd"])
            .arg(format!("set rtp^={}", plugin.display()))
            .args(["-c", "checkhealth pindrift", "-c"])
            .arg(format!("write! {}", report.display()))
            .arg("-c")
            .arg(format!("helptags {}", plugin.join("doc").display()))
            .args(["-c", "help :Pindrift", "-c"])
            .arg(format!(".write! >> {}", report.display()))
            .args(["-c", "qa!"])
            .env("PATH", path())
            .env("HOME", home.path())
            .output()
            .expect("nvim starts");
        let said = String::from_utf8_lossy(&out.stderr);
        let report = std::fs::read_to_string(&report).unwrap_or_default();
        assert!(report.contains("pindrift 0.") && !report.contains("ERROR"), "{version}: {report}\n{said}");
        assert!(report.contains("*:Pindrift*"), "{version}: {report}\n{said}");
    }
}
