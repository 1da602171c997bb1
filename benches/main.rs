//! What the product costs beside the physical limit of each thing: the bare parser, the walk, cargo-insta.
//! `cargo bench` prints the figures, `cargo bench -- --check` also holds the bars and ends with 1 where one
//! is missed. `PINDRIFT_BENCH_REPO` names a repository to scan instead of a generated one.

#[path = "../tests/editor/mod.rs"]
mod editor;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pindrift::pins;
use pindrift::pins::Extent;
use pindrift::places::{RelPath, Root};
use pindrift::shelf::{Read, Shelf};
use pindrift::survey::Workspace;
use pindrift::syntax::{self, Language};
use pindrift::text::Text;
use pindrift::vocabulary::Vocabulary;
use serde_json::{Value, json};

/// Cold `pins` of a repository beside walking it and bare-parsing the same files.
const COLD_BAR: f64 = 1.5;
/// Hover, 99th percentile, on a large file while a scan runs.
const HOVER_BAR: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let check = std::env::args().any(|arg| arg == "--check");
    let mut missed = Vec::new();
    per_megabyte();
    cold_scan(&mut missed);
    latency(&mut missed);
    pending(&mut missed);
    println!();
    for line in &missed {
        println!("missed: {line}");
    }
    if !check {
        return ExitCode::SUCCESS;
    }
    println!("test result: {} passed, {} failed", 3 - missed.len().min(3), missed.len());
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The shortest of several runs: the one that the rest of the machine disturbed least.
fn best<T>(times: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut least = None;
    for _ in 0..times {
        let started = Instant::now();
        let value = run();
        let took = started.elapsed();
        if least.as_ref().is_none_or(|(least, _)| took < *least) {
            least = Some((took, value));
        }
    }
    least.expect("it ran at least once")
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A test file of `pins` pins: helpers, parameters, literals, as people write them.
fn source(language: Language, pins: usize, seed: usize) -> String {
    let mut text = String::new();
    match language {
        Language::Python => {
            text.push_str("\"\"\"Characterization tests.\"\"\"\nimport pytest\n\nfrom product import convert\n\n");
            for i in 0..pins {
                text.push_str(&format!(
                    "\ndef test_conversion_{seed}_{i}_pins_current_output():\n    order = {{\"id\": {i}, \"net\": \"{i}.50\", \"rate\": 0.19}}\n    \
                     total = convert(order, mode=\"strict\")\n    assert total.amount == {i}.595\n"
                ));
            }
        }
        Language::Rust => {
            text.push_str("use product::convert;\n\n");
            for i in 0..pins {
                text.push_str(&format!(
                    "/// Characterization test.\n#[test]\nfn conversion_{seed}_{i}() {{\n    let order = Order {{ id: {i}, net: {i}50, rate: 19 }};\n    \
                     let total = convert(&order, Mode::Strict).unwrap();\n    assert_eq!(total.amount(), {i}595);\n}}\n\n"
                ));
            }
        }
    }
    text
}

fn per_megabyte() {
    let vocabulary = Vocabulary::built_in();
    for (language, name) in [(Language::Python, "tests/test_a.py"), (Language::Rust, "tests/a.rs")] {
        let path = RelPath::new(name).expect("a path");
        let files: Vec<Text> = (0..8).map(|seed| Text::new(source(language, 1200, seed))).collect();
        let bytes: usize = files.iter().map(Text::len).sum();
        let (bare, _) = best(3, || {
            files.iter().filter_map(|text| syntax::parse(text.as_str(), language, None, syntax::BUDGET)).count()
        });
        let (whole, found) = best(3, || {
            files.iter().map(|text| pins::facts(&path, text, language, &vocabulary).matches.len()).sum::<usize>()
        });
        let megabytes = bytes as f64 / 1e6;
        println!(
            "parse and pins, {}: {:.0} ms/MB beside {:.0} ms/MB of the bare parser, ratio {:.2} ({found} matches in {megabytes:.1} MB)",
            language.word(),
            ms(whole) / megabytes,
            ms(bare) / megabytes,
            whole.as_secs_f64() / bare.as_secs_f64(),
        );
    }
}

/// A repository of which most files are no tests.
fn repository(folder: &Path) {
    let put = |path: String, text: String| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    put("Cargo.toml".into(), "[package]\nname = \"product\"\nversion = \"0.1.0\"\nedition = \"2021\"\n".into());
    put("pindrift.toml".into(), String::new());
    for i in 0..600 {
        let code: String =
            (0..60).map(|j| format!("def step_{i}_{j}(order, rate):\n    return order.net * rate + {j}\n\n")).collect();
        put(format!("product/part_{i}.py"), code);
        let code: String = (0..60)
            .map(|j| format!("pub fn step_{i}_{j}(net: i64) -> i64 {{\n    net * 19 / 100 + {j}\n}}\n\n"))
            .collect();
        put(format!("src/part_{i}.rs"), code);
    }
    for i in 0..150 {
        put(format!("tests/python/test_part_{i}.py"), source(Language::Python, 60, i));
        put(format!("tests/part_{i}.rs"), source(Language::Rust, 60, i));
    }
}

/// Walks a root and bare-parses the given files, with as many threads as the product.
fn walk_and_parse(root: &Root, files: &[(RelPath, Language)]) -> usize {
    let shelf = Shelf::new(root.clone());
    let next = AtomicUsize::new(0);
    let parsed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((path, language)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Read::Bytes(bytes) = shelf.disk(path) else { continue };
                    let Ok(text) = std::str::from_utf8(&bytes) else { continue };
                    if syntax::parse(text, *language, None, syntax::BUDGET).is_some() {
                        parsed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    shelf.files().count() + parsed.into_inner()
}

fn cold_scan(missed: &mut Vec<String>) {
    let made = tempfile::tempdir().expect("a folder");
    let folder = match std::env::var_os("PINDRIFT_BENCH_REPO") {
        Some(folder) => PathBuf::from(folder),
        None => {
            repository(made.path());
            made.path().to_path_buf()
        }
    };
    let open = || Workspace::open(&folder).expect("a workspace");
    let first = open();
    let files: Vec<(RelPath, Language)> =
        first.project.files.keys().filter_map(|path| Some((path.clone(), Language::of(path.name())?))).collect();
    let (limit, _) = best(3, || walk_and_parse(&first.project.root, &files));
    let (cold, pins) = best(3, || {
        let workspace = open();
        workspace.survey(&Extent::All, &|| false).map_or(0, |survey| survey.cases.len())
    });
    let ratio = cold.as_secs_f64() / limit.as_secs_f64();
    println!(
        "cold pins: {:.0} ms beside {:.0} ms of walking and bare-parsing the same {} of {} files, ratio {ratio:.2} ({pins} pins)",
        ms(cold),
        ms(limit),
        files.len(),
        first.project.shelf.files().count(),
    );
    if ratio > COLD_BAR {
        missed.push(format!("cold pins take {ratio:.2} times the limit; the bar is {COLD_BAR}"));
    }
}

fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times.get(((times.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or_default()
}

/// A file of 300 pins is edited and asked about while the server reads the repository around it.
fn latency(missed: &mut Vec<String>) {
    let made = tempfile::tempdir().expect("a folder");
    repository(made.path());
    let name = "tests/python/test_open.py";
    let text = source(Language::Python, 300, 9999);
    std::fs::write(made.path().join(name), &text).expect("written");
    let root = made.path().canonicalize().expect("a folder");
    let uri = |name: &str| format!("file://{}/{name}", root.display());
    let mut server = editor::Pipe::open();
    server.initialize(json!({
        "processId": null,
        "rootUri": format!("file://{}", root.display()),
        "workspaceFolders": [{ "uri": format!("file://{}", root.display()), "name": "bench" }],
        "capabilities": { "window": { "workDoneProgress": true } },
    }));
    server.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": uri(name), "languageId": "python", "version": 0, "text": text } }),
    );
    let pins: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| line.contains("assert ")).map(|(line, _)| line).collect();
    let (mut hovers, mut keys) = (Vec::new(), Vec::new());
    let started = Instant::now();
    let mut version = 0;
    while hovers.len() < 300 && started.elapsed() < Duration::from_secs(60) {
        version += 1;
        let line = pins[version * 7 % pins.len()];
        let at = json!({ "line": line, "character": 4 });
        let typed = Instant::now();
        server.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri(name), "version": version },
                "contentChanges": [{ "range": { "start": { "line": 0, "character": 3 }, "end": { "line": 0, "character": 3 } }, "text": "x" }],
            }),
        );
        let asked = Instant::now();
        server.ask("textDocument/hover", json!({ "textDocument": { "uri": uri(name) }, "position": at }));
        hovers.push(asked.elapsed());
        if version % 20 == 0 {
            let fits = |message: &Value| {
                message["method"] == "textDocument/publishDiagnostics"
                    && message["params"]["uri"] == uri(name)
                    && message["params"]["version"] == version
            };
            if server.find(Duration::from_secs(3), fits).is_some() {
                keys.push(typed.elapsed());
            }
        }
        // A client answers what it is asked.
        for message in server.drain() {
            if message.get("method").is_some() && message.get("id").is_some() {
                server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
        }
    }
    let (p50, p99) = (percentile(&mut hovers, 0.5), percentile(&mut hovers, 0.99));
    println!(
        "hover, {} kB with {} pins, during a scan: p50 {:.1} ms, p99 {:.1} ms ({} hovers)",
        text.len() / 1000,
        pins.len(),
        ms(p50),
        ms(p99),
        hovers.len()
    );
    println!(
        "keystroke to diagnostics, the same file: p50 {:.0} ms, p99 {:.0} ms ({} keystrokes, the pause that waits for more keys included)",
        ms(percentile(&mut keys, 0.5)),
        ms(percentile(&mut keys, 0.99)),
        keys.len()
    );
    if p99 >= HOVER_BAR {
        missed.push(format!("hover p99 is {:.1} ms; the bar is {} ms", ms(p99), HOVER_BAR.as_millis()));
    }
    server.goodbye();
}

/// 2,000 pending file snapshots of one crate, listed by both.
fn pending(missed: &mut Vec<String>) {
    let made = tempfile::tempdir().expect("a folder");
    let folder = made.path();
    let put = |path: String, text: String| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    put(
        "Cargo.toml".into(),
        "[package]\nname = \"many\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n".into(),
    );
    put("src/lib.rs".into(), String::new());
    for file in 0..20 {
        let tests: String = (0..100)
            .map(|i| format!("#[test]\nfn case_{i}() {{\n    insta::assert_snapshot!(many::render({i}));\n}}\n\n"))
            .collect();
        put(format!("tests/part{file}.rs"), tests);
        for i in 0..100 {
            let snap = |value: &str| {
                format!("---\nsource: tests/part{file}.rs\nexpression: \"many::render({i})\"\n---\n{value} {i}\n")
            };
            put(format!("tests/snapshots/part{file}__case_{i}.snap"), snap("old"));
            put(format!("tests/snapshots/part{file}__case_{i}.snap.new"), snap("new"));
        }
    }
    let git = |args: &[&str]| Command::new("git").current_dir(folder).args(args).stdout(Stdio::null()).status();
    let _ = git(&["init", "-q"]);
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/bin/cargo-insta");
    let insta = if tools.exists() { tools } else { PathBuf::from("cargo-insta") };
    let theirs = || {
        let done = Command::new(&insta)
            .current_dir(folder)
            .args(["insta", "pending-snapshots", "--as-json"])
            .env("CARGO_NET_OFFLINE", "true")
            .output();
        done.ok()
            .filter(|done| done.status.success())
            .map_or(0, |done| done.stdout.iter().filter(|b| **b == b'\n').count())
    };
    let ours = || {
        let done = Command::new(env!("CARGO_BIN_EXE_pindrift"))
            .current_dir(folder)
            .args(["check", "--format", "json"])
            .output();
        let out = done.map(|done| done.stdout).unwrap_or_default();
        serde_json::from_slice::<Value>(&out).map_or(0, |report| report["summary"]["drifts"].as_u64().unwrap_or(0))
    };
    let (own, drifts) = best(3, ours);
    let (other, listed) = best(3, theirs);
    println!(
        "2,000 pending snapshots: {:.0} ms for {drifts} drifts beside {:.0} ms of cargo insta pending-snapshots for {listed}",
        ms(own),
        ms(other)
    );
    if drifts != 2000 || listed < 2000 {
        missed.push(format!("of 2,000 pending snapshots pindrift lists {drifts} and cargo-insta {listed}"));
    } else if own > other {
        missed.push(format!(
            "listing 2,000 pending snapshots takes {:.0} ms, cargo-insta {:.0} ms",
            ms(own),
            ms(other)
        ));
    }
}
