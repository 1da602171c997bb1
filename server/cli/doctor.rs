//! `doctor`: what was found here, and why. Looks for programs on the search path; starts none of them.

use std::fmt::Write;

use super::{FINE, Outcome, Place, UNUSABLE, render};
use crate::observe::interpreter;
use crate::places::{Root, RootKind};
use crate::settings::Personal;
use crate::survey::{SETTINGS, Workspace};

pub fn doctor(place: &Place) -> Outcome {
    let root = match Root::of(&place.cwd, &place.cwd) {
        Ok(root) => root,
        Err(err) => return Outcome::refused(format_args!("{} cannot be opened: {err}", place.cwd.display()), UNUSABLE),
    };
    let mut text = format!("pindrift {}\n\n", env!("CARGO_PKG_VERSION"));
    let why = match root.kind {
        RootKind::Settings => format!("it holds {SETTINGS}"),
        RootKind::Git => "the top of the git work tree".into(),
        RootKind::Opened => format!("the current folder: no {SETTINGS} and no git work tree above it"),
    };
    let _ = writeln!(text, "root       {} ({why})", root.path.display());
    let workspace = match Workspace::open(&place.cwd) {
        Ok(workspace) => workspace,
        Err(message) => return Outcome::refused(message, UNUSABLE),
    };
    let settings = match (workspace.project.settings.present, workspace.opted_in()) {
        (true, _) => SETTINGS.to_string(),
        (false, true) => format!("no {SETTINGS}; opted in by the amendments in .pindrift/"),
        (false, false) => format!("no {SETTINGS}: only drifts that fresh artefacts prove are shown"),
    };
    let _ = writeln!(text, "settings   {settings}");
    let git = match (&workspace.git, &root.git_top) {
        (Some(git), Some(top)) => match git.usable() {
            Ok(()) => format!("work tree {}", top.display()),
            Err(why) => why.0,
        },
        (None, Some(top)) => format!("work tree {}, but git cannot be asked: accepting refuses", top.display()),
        _ => "no work tree: there is no history, so accepting refuses; `git init` and commit first".into(),
    };
    let _ = writeln!(text, "git        {git}");
    let _ = writeln!(
        text,
        "record     {} in .pindrift/amendments",
        render::count(workspace.ledger.entries.len(), "amendment")
    );
    let sources = workspace.project.files.len();
    let all = workspace.project.shelf.files().count();
    let _ = writeln!(text, "files      {all}, of them {sources} sources that may hold pins");
    text.push('\n');
    let personal = Personal::read();
    let variable = |name: &str| std::env::var(name).ok();
    let python = match interpreter::interpreter(&root.path, &root.path, &personal, &variable) {
        Ok(python) => format!("{python} ({})", python.why),
        Err(why) => why,
    };
    let _ = writeln!(text, "python     {python}");
    for (what, names) in [
        ("cargo", &["cargo"][..]),
        ("git", &["git"]),
        ("neovim", &["nvim"]),
        ("helix", &["hx", "helix"]),
        ("vs code", &["code", "codium", "code-server"]),
    ] {
        let found = names.iter().find_map(|name| interpreter::on_path(name, &variable));
        let found = found.map_or("not found on PATH".to_string(), |path| path.display().to_string());
        let _ = writeln!(text, "{what:<10} {found}");
    }
    for trouble in &personal.troubles {
        let _ = writeln!(text, "\n{}", render::plain(trouble));
    }
    let survey = workspace.survey(&crate::pins::Extent::All, &|| false).unwrap_or_default();
    if !survey.troubles.is_empty() {
        text.push_str("\nnot read:\n");
    }
    for trouble in &survey.troubles {
        let at = trouble.at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let _ = writeln!(text, "  {}{at}  {}", trouble.file, render::plain(&trouble.message));
    }
    Outcome::new(text, FINE)
}
