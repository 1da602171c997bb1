//! From which crate a Rust macro or type comes, by the imports of its file and, behind a glob, of its
//! package; and the folder that a macro finds by `file!()`. Never looks into the crates themselves.

use crate::code::Unit;
use crate::pins::Project;
use crate::places::RelPath;
use crate::text::Span;

fn is_of(path: &str, krate: &str) -> bool {
    path.strip_prefix(krate).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether `written` (with `::` or `.` between its parts) at that place of a file means something of the crate.
pub fn comes_from(project: &Project, unit: &Unit, written: &str, at: Span, krate: &str) -> bool {
    let written = written.trim_start_matches("::").replace("::", ".");
    if let Some((first, rest)) = written.split_once('.') {
        let own = matches!(first, "crate" | "self" | "super" | "$crate");
        return is_of(&written, krate)
            || (!own && unit.imports_named(first).any(|import| is_of(&import.path, krate)))
            || (own && handed_on(project, unit, rest.rsplit('.').next().unwrap_or(rest), krate));
    }
    let mut imports = unit.imports_named(&written).peekable();
    if imports.peek().is_some() {
        return imports.any(|import| {
            let root = import.path.split('.').next().unwrap_or_default();
            is_of(&import.path, krate)
                || (matches!(root, "crate" | "self" | "super") && handed_on(project, unit, &written, krate))
        });
    }
    if unit.macros.iter().any(|own| own.name == written && own.span.end <= at.start) {
        return false;
    }
    let mut globs = unit.imports_named("*").peekable();
    let any = globs.peek().is_some();
    globs.any(|glob| is_of(&glob.path, krate)) || (any && handed_on(project, unit, &written, krate)) || {
        let external = format!("extern crate {krate}");
        let files = project.files.values().map(|facts| &facts.unit);
        files.filter(|other| other.text.as_str().contains(&external)).any(|other| same_package(project, unit, other))
    }
}

/// Another file of the package imports the name from the crate, and may hand it on.
fn handed_on(project: &Project, unit: &Unit, name: &str, krate: &str) -> bool {
    project.files.values().any(|facts| {
        facts.unit.imports_named(name).any(|import| is_of(&import.path, krate))
            && same_package(project, unit, &facts.unit)
    })
}

fn same_package(project: &Project, one: &Unit, other: &Unit) -> bool {
    let package = |unit: &Unit| project.crates.package_of(&unit.path).map(|package| &package.dir);
    package(one) == package(other)
}

/// Folder of a source file as crates find it that join `file!()` to the outermost folder with a manifest
/// (expect-test 1.5, snapbox 1.2): `file!()` is relative to the workspace.
pub fn source_folder(project: &Project, file: &RelPath) -> Option<RelPath> {
    let folder = file.parent();
    let Some(package) = project.crates.package_of(file) else { return Some(folder) };
    let mut outermost = package.dir.clone();
    let mut at = package.dir.clone();
    while !at.as_str().is_empty() {
        at = at.parent();
        if at.join("Cargo.toml").is_some_and(|manifest| project.shelf.listed(&manifest)) {
            outermost = at.clone();
        }
    }
    let rest = match package.workspace.as_str() {
        "" => folder.as_str(),
        workspace => folder.as_str().strip_prefix(workspace)?.trim_start_matches('/'),
    };
    outermost.join(rest)
}

#[cfg(test)]
pub(super) mod tests;
