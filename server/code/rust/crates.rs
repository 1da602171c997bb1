//! Packages, targets and module paths: what a test is called, and which crate a file belongs to.
//! Takes the shelf, reads `Cargo.toml` files at once and source files when a package is first asked about
//! (only for their `mod` lines). Never runs cargo. Rules of cargo 1.95.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use dashmap::DashMap;

use super::tokens::{Kind, Token, closing, tokens};
use crate::places::RelPath;
use crate::shelf::Shelf;
use crate::text::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    Lib,
    Bin,
    Test,
    Bench,
    Example,
}

/// One crate that cargo builds of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub kind: TargetKind,
    /// As cargo names it.
    pub name: String,
    /// Source file of the crate's root module.
    pub root: RelPath,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub dir: RelPath,
    pub name: String,
    /// Folder of the workspace's manifest.
    pub workspace: RelPath,
    pub targets: Vec<Target>,
}

/// Where a file stands in a crate. A file can stand in several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Module {
    /// As `module_path!()` begins: `-` is `_`.
    pub crate_name: String,
    /// First part of a test id: `lib` for the library, else the target's name.
    pub target: String,
    pub kind: TargetKind,
    /// Modules from the crate's root to the file, without the crate.
    pub path: Vec<String>,
}

impl Module {
    /// Test id of a function in this file: target, modules (those of the file and `scopes` inside it), name.
    pub fn test_id(&self, scopes: &[String], name: &str) -> String {
        let parts = std::iter::once(&self.target).chain(&self.path).chain(scopes).map(String::as_str);
        parts.chain([name]).collect::<Vec<_>>().join("::")
    }
}

type Places = Arc<HashMap<RelPath, Vec<Module>>>;

/// Packages of the repository's Cargo manifests. Cheap to clone; module paths are found when first asked for.
#[derive(Debug, Clone, Default)]
pub struct Crates {
    packages: Arc<Vec<Package>>,
    by_dir: Arc<BTreeMap<RelPath, usize>>,
    places: Arc<DashMap<usize, Places>>,
}

impl Crates {
    /// Reads every `Cargo.toml` of the listing. One that cannot be read gives no package.
    pub fn of(shelf: &Shelf) -> Crates {
        let manifests: BTreeMap<RelPath, toml::Table> = shelf
            .files()
            .filter(|path| path.name() == "Cargo.toml")
            .filter_map(|path| Some((path.parent(), shelf.text(path)?.as_str().parse().ok()?)))
            .collect();
        let mut packages = Vec::new();
        for (dir, manifest) in &manifests {
            let Some(package) = manifest.get("package").and_then(toml::Value::as_table) else { continue };
            let Some(name) = package.get("name").and_then(toml::Value::as_str) else { continue };
            packages.push(Package {
                dir: dir.clone(),
                name: name.to_string(),
                workspace: workspace(dir, package, &manifests),
                targets: targets(dir, name, package, manifest, shelf),
            });
        }
        let by_dir = packages.iter().enumerate().map(|(nth, package)| (package.dir.clone(), nth)).collect();
        Crates { packages: Arc::new(packages), by_dir: Arc::new(by_dir), places: Arc::default() }
    }

    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    fn index_of(&self, file: &RelPath) -> Option<usize> {
        let mut dir = file.parent();
        loop {
            if let Some(nth) = self.by_dir.get(&dir) {
                return Some(*nth);
            }
            if dir.as_str().is_empty() {
                return None;
            }
            dir = dir.parent();
        }
    }

    /// The package in whose folder a file lies.
    pub fn package_of(&self, file: &RelPath) -> Option<&Package> {
        self.packages.get(self.index_of(file)?)
    }

    /// Every place of a file in the crates of its package, by following `mod` declarations from each
    /// target's root; empty when no crate holds it.
    pub fn modules(&self, shelf: &Shelf, file: &RelPath) -> Vec<Module> {
        let Some(nth) = self.index_of(file) else { return Vec::new() };
        let known = self.places.get(&nth).map(|places| places.clone());
        let places = known.unwrap_or_else(|| {
            let places = Arc::new(places_of(&self.packages[nth], shelf));
            self.places.insert(nth, places.clone());
            places
        });
        places.get(file).cloned().unwrap_or_default()
    }
}

fn workspace(dir: &RelPath, package: &toml::Table, manifests: &BTreeMap<RelPath, toml::Table>) -> RelPath {
    if let Some(named) = package.get("workspace").and_then(toml::Value::as_str)
        && let Some(named) = dir.join(named)
    {
        return named;
    }
    let mut at = dir.clone();
    loop {
        if let Some(table) = manifests.get(&at).and_then(|m| m.get("workspace")).and_then(toml::Value::as_table) {
            let excluded = table.get("exclude").and_then(toml::Value::as_array).is_some_and(|list| {
                list.iter().filter_map(|e| at.join(e.as_str()?)).any(|excluded| dir.starts_with(&excluded))
            });
            return if excluded { dir.clone() } else { at };
        }
        if at.as_str().is_empty() {
            return dir.clone();
        }
        at = at.parent();
    }
}

fn targets(dir: &RelPath, name: &str, package: &toml::Table, manifest: &toml::Table, shelf: &Shelf) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    let text = |table: &toml::Table, key: &str| table.get(key).and_then(toml::Value::as_str).map(str::to_string);
    let listed = |path: &str| dir.join(path).filter(|path| shelf.listed(path));
    let lib = manifest.get("lib").and_then(toml::Value::as_table);
    let lib_root = match lib.and_then(|lib| text(lib, "path")) {
        Some(path) => dir.join(&path),
        None => listed("src/lib.rs"),
    };
    if let Some(root) = lib_root {
        let name = lib.and_then(|lib| text(lib, "name")).unwrap_or_else(|| name.replace('-', "_"));
        targets.push(Target { kind: TargetKind::Lib, name, root });
    }
    let kinds = [
        (TargetKind::Bin, "bin", "src/bin", "autobins"),
        (TargetKind::Test, "test", "tests", "autotests"),
        (TargetKind::Bench, "bench", "benches", "autobenches"),
        (TargetKind::Example, "example", "examples", "autoexamples"),
    ];
    for (kind, key, folder, auto) in kinds {
        let mut add = |name: String, root: RelPath| {
            if !targets.iter().any(|t| t.kind == kind && (t.root == root || t.name == name)) {
                targets.push(Target { kind, name, root });
            }
        };
        for table in manifest.get(key).and_then(toml::Value::as_array).into_iter().flatten() {
            let Some(table) = table.as_table() else { continue };
            let Some(target) = text(table, "name") else { continue };
            let root = match text(table, "path") {
                Some(path) => dir.join(&path),
                None => listed(&format!("{folder}/{target}.rs"))
                    .or_else(|| listed(&format!("{folder}/{target}/main.rs")))
                    .or_else(|| listed("src/main.rs").filter(|_| kind == TargetKind::Bin)),
            };
            if let Some(root) = root {
                add(target, root);
            }
        }
        if package.get(auto).and_then(toml::Value::as_bool) == Some(false) {
            continue;
        }
        if kind == TargetKind::Bin
            && let Some(root) = listed("src/main.rs")
        {
            add(name.to_string(), root);
        }
        let Some(folder) = dir.join(folder) else { continue };
        for path in shelf.below(&folder) {
            let rest = &path.as_str()[folder.as_str().len() + 1..];
            match rest.split_once('/') {
                None => {
                    if let Some(stem) = rest.strip_suffix(".rs") {
                        add(stem.to_string(), path.clone());
                    }
                }
                Some((stem, "main.rs")) => add(stem.to_string(), path.clone()),
                Some(_) => {}
            }
        }
    }
    targets
}

/// `mod name;` with the inline modules around it.
#[derive(Debug, PartialEq)]
struct Declared {
    inside: Vec<String>,
    name: String,
    path: Option<String>,
}

fn declared(source: &str) -> Vec<Declared> {
    // Most files declare no module; they need no tokens.
    let may = source.match_indices("mod ").any(|(at, _)| {
        let rest = source[at + 4..].trim_start();
        rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '#').trim_start().starts_with(';')
    });
    if !may {
        return Vec::new();
    }
    let tokens = tokens(source, Span::new(0, source.len()));
    let word = |nth: usize| -> &str {
        tokens.get(nth).filter(|t| t.kind == Kind::Ident).map_or("", |t| &source[t.span.start..t.span.end])
    };
    let mut found = Vec::new();
    let mut inside: Vec<(String, usize)> = Vec::new();
    let (mut depth, mut path) = (0usize, None);
    let mut at = 0;
    while at < tokens.len() {
        let plain = inside.last().map_or(depth == 0, |(_, open)| depth == *open);
        match tokens[at].kind {
            Kind::Punct(b'#') if plain => {
                let open = at + 1;
                if let Some(close) = closing(&tokens, open).filter(|_| is_open(&tokens, open)) {
                    if word(open + 1) == "path"
                        && let Some(text) = tokens.get(open + 3).filter(|token| token.kind == Kind::Str)
                        && let Some(crate::code::ExprKind::Str(value)) =
                            super::literal::value(&source[text.span.start..text.span.end])
                    {
                        path = Some(value);
                    }
                    at = close + 1;
                    continue;
                }
            }
            Kind::Open(_) => {
                depth += 1;
            }
            Kind::Close(_) => {
                depth = depth.saturating_sub(1);
                if inside.last().is_some_and(|(_, open)| depth < *open) {
                    inside.pop();
                }
            }
            Kind::Ident if plain && word(at) == "mod" && !word(at + 1).is_empty() => {
                let name = word(at + 1).trim_start_matches("r#").to_string();
                match tokens.get(at + 2).map(|token| token.kind) {
                    Some(Kind::Punct(b';')) => {
                        let inside = inside.iter().map(|(name, _)| name.clone()).collect();
                        found.push(Declared { inside, name, path: path.take() });
                    }
                    Some(Kind::Open(b'{')) => {
                        depth += 1;
                        inside.push((path.take().unwrap_or(name), depth));
                        at += 2;
                    }
                    _ => {}
                }
            }
            Kind::Punct(b';') => path = None,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Modules that a file names one by one, and the folder of which it takes every file.
type Modules = (Vec<Declared>, Option<RelPath>);

/// `automod::dir!("tests/derive")` of automod 1.0: every file of that folder of the package is a module.
fn folder_of_modules(source: &str) -> Option<String> {
    let at = source.find("automod::dir!(")? + "automod::dir!(".len();
    let inner = source.get(at..)?.split(')').next()?;
    let (_, named) = inner.split_once('"')?;
    Some(named.split_once('"')?.0.to_string()).filter(|named| !named.contains('\\'))
}

fn is_open(tokens: &[Token], nth: usize) -> bool {
    tokens.get(nth).is_some_and(|token| token.kind == Kind::Open(b'['))
}

fn places_of(package: &Package, shelf: &Shelf) -> HashMap<RelPath, Vec<Module>> {
    let mut read: HashMap<RelPath, Arc<Modules>> = HashMap::new();
    let mut places: HashMap<RelPath, Vec<Module>> = HashMap::new();
    for target in &package.targets {
        let crate_name = target.name.replace('-', "_");
        let id = if target.kind == TargetKind::Lib { "lib".to_string() } else { target.name.clone() };
        let mut seen: HashSet<RelPath> = HashSet::new();
        // File, its modules, and whether `mod` lines in it look beside it.
        let mut queue = vec![(target.root.clone(), Vec::<String>::new(), true)];
        while let Some((file, path, beside)) = queue.pop() {
            if !seen.insert(file.clone()) || path.len() > 64 {
                continue;
            }
            let found = read
                .entry(file.clone())
                .or_insert_with(|| {
                    let of =
                        |text: &str| (declared(text), folder_of_modules(text).and_then(|dir| package.dir.join(&dir)));
                    Arc::new(shelf.text(&file).map_or_else(Default::default, |text| of(text.as_str())))
                })
                .clone();
            let dir = file.parent();
            let base = if beside { dir.clone() } else { dir.join(file.stem()).unwrap_or_default() };
            let (found, folder) = (&found.0, &found.1);
            for every in folder.iter().flat_map(|folder| shelf.below(folder).filter(|path| path.parent() == *folder)) {
                if every.name().ends_with(".rs") && *every != file && !matches!(every.stem(), "main" | "lib" | "mod") {
                    let mut inner = path.clone();
                    inner.push(every.stem().to_string());
                    queue.push((every.clone(), inner, false));
                }
            }
            for module in found.iter() {
                let Some(folder) = base.join(&module.inside.join("/")) else { continue };
                let mut inner = path.clone();
                inner.extend(module.inside.iter().cloned());
                inner.push(module.name.clone());
                if let Some(named) = &module.path {
                    let from = if module.inside.is_empty() { &dir } else { &folder };
                    if let Some(named) = from.join(named).filter(|path| shelf.listed(path)) {
                        queue.push((named, inner, true));
                    }
                    continue;
                }
                let flat = folder.join(&format!("{}.rs", module.name)).filter(|path| shelf.listed(path));
                let deep = folder.join(&format!("{}/mod.rs", module.name)).filter(|path| shelf.listed(path));
                if let Some(flat) = flat {
                    queue.push((flat, inner, false));
                } else if let Some(deep) = deep {
                    queue.push((deep, inner, true));
                }
            }
            let place = Module { crate_name: crate_name.clone(), target: id.clone(), kind: target.kind, path };
            places.entry(file).or_default().push(place);
        }
    }
    places
}
