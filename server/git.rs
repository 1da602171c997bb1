//! Facts from git, by its command line. Takes a root and paths from it, gives objects and facts:
//! revisions, trees, blobs, what is tracked, ignored or unmodified, commits that touch a path.
//!
//! A repository is untrusted input: its configuration names programs that git starts on `log`, `diff`,
//! `status` and lazy fetches. So only plumbing that starts none is called, and the work tree is read and
//! hashed in this process. Never writes, never fetches, never calls anything but git.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, mpsc};
use std::time::Duration;

use crate::oracles::Refusal;
use crate::places::{RelPath, Root};

/// How long one call may take where a person waits for a hover.
pub const SOON: Duration = Duration::from_secs(2);
/// How long one call may take where a whole history is looked at.
pub const LONG: Duration = Duration::from_secs(120);

/// A file in a tree or in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    /// Object id in hexadecimal digits.
    pub id: String,
    /// `120000`: a link; `160000`: a submodule.
    pub mode: u32,
}

/// The files of one revision below the root, by their path from the root.
pub type Tree = BTreeMap<RelPath, Tracked>;

/// One commit, as `cat-file` gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// Name without mail address.
    pub author: String,
    pub at: Option<jiff::Timestamp>,
    /// First line of the message.
    pub subject: String,
}

/// The work tree that holds a root, at one moment: what was asked once stays the same for this value.
/// Cloning is cheap and shares what is known.
#[derive(Clone)]
pub struct Git {
    facts: Arc<Facts>,
}

struct Facts {
    root: Root,
    top: PathBuf,
    /// Path of the root from the top, with a final `/`; empty when they are one.
    prefix: String,
    head: OnceLock<Option<String>>,
    index: OnceLock<Arc<Tree>>,
    head_tree: OnceLock<Arc<Tree>>,
}

type TreeKey = (PathBuf, String, String);
type PathKey = (PathBuf, String, RelPath);
/// Trees and commits never change; they are kept for the life of the process.
static TREES: LazyLock<Mutex<HashMap<TreeKey, Arc<Tree>>>> = LazyLock::new(Mutex::default);
static HISTORIES: LazyLock<Mutex<HashMap<PathKey, Arc<[Commit]>>>> = LazyLock::new(Mutex::default);
const KEPT_TREES: usize = 8;
/// Most commits that are told of one file, and most of its renames that are followed.
const MOST_COMMITS: usize = 20;
const MOST_RENAMES: usize = 8;
const KEPT_HISTORIES: usize = 4096;

impl Git {
    /// The work tree of a root; `None` when no git work tree holds it. Starts no process.
    pub fn of(root: &Root) -> Option<Git> {
        let top = root.git_top.clone()?;
        let below = root.path.strip_prefix(&top).ok()?.to_str()?;
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        Some(Git {
            facts: Arc::new(Facts {
                root: root.clone(),
                top,
                prefix,
                head: OnceLock::new(),
                index: OnceLock::new(),
                head_tree: OnceLock::new(),
            }),
        })
    }

    /// Commit id of HEAD; `None` before the first commit, or when git cannot say.
    pub fn head(&self) -> Option<String> {
        self.facts.head.get_or_init(|| self.commit("HEAD")).clone()
    }

    /// Commit id of a revision that a person wrote; `None` when there is no such commit here.
    pub fn commit(&self, revision: &str) -> Option<String> {
        let wanted = format!("{revision}^{{commit}}");
        let out = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted], None, SOON).ok()?;
        one_id(&out)
    }

    /// Some history is missing here: the checkout was made with a depth.
    pub fn shallow(&self) -> bool {
        self.run(&["rev-parse", "--is-shallow-repository"], None, SOON).is_ok_and(|out| out.starts_with(b"true"))
    }

    /// The commit on which HEAD and `revision` parted. The refusal says how to get the history that lacks.
    pub fn merge_base(&self, revision: &str) -> Result<String, Refusal> {
        self.usable()?;
        let depth = "fetch the whole history (in CI `fetch-depth: 0`, by hand `git fetch --unshallow`)";
        let shallow = self.shallow();
        let Some(base) = self.commit(revision) else {
            return Err(Refusal(if shallow {
                format!("there is no revision `{revision}` in this shallow clone; {depth}")
            } else {
                format!(
                    "there is no revision `{revision}` here; name a branch, tag or commit that exists, \
                     or fetch it (in CI `fetch-depth: 0`)"
                )
            }));
        };
        let Some(head) = self.head() else {
            return Err(Refusal("there is no commit yet, so there is nothing to hold against a base".into()));
        };
        let found = self.run(&["merge-base", &head, &base], None, LONG).ok().and_then(|out| one_id(&out));
        found.ok_or_else(|| {
            Refusal(if shallow {
                format!(
                    "this clone is shallow and does not reach the common ancestor of HEAD and `{revision}`; {depth}"
                )
            } else {
                format!("HEAD and `{revision}` have no common ancestor; name the revision that this work started from")
            })
        })
    }

    /// Whether git answers at all for this work tree, and if not, what it says.
    pub fn usable(&self) -> Result<(), Refusal> {
        if matches!(self.facts.head.get(), Some(Some(_))) {
            return Ok(());
        }
        match self.run(&["rev-parse", "--git-dir"], None, SOON) {
            Ok(_) => Ok(()),
            Err(Failure::Absent) => Err(Refusal("git was not found; install it, or put it on the PATH".into())),
            Err(Failure::Late) => Err(Refusal("git did not answer within 2 s; try again".into())),
            Err(Failure::Said(what)) if what.contains("dubious ownership") => {
                let top = self.facts.top.display();
                Err(Refusal(format!(
                    "git does not read {top}, because it belongs to somebody else; where you trust it, say \
                     `git config --global --add safe.directory '{top}'`"
                )))
            }
            Err(Failure::Said(what)) => Err(Refusal(format!(
                "git does not read {}: {}",
                self.facts.top.display(),
                what.lines().next().unwrap_or("it gave no reason")
            ))),
        }
    }

    /// The files of a revision below the root.
    pub fn tree(&self, revision: &str) -> Option<Arc<Tree>> {
        self.tree_of(self.commit(revision)?)
    }

    fn tree_of(&self, id: String) -> Option<Arc<Tree>> {
        let key = (self.facts.top.clone(), self.facts.prefix.clone(), id.clone());
        if let Some(tree) = lock(&TREES).get(&key) {
            return Some(tree.clone());
        }
        let mut args = vec!["ls-tree", "-r", "-z", "--full-tree", &id];
        if !self.facts.prefix.is_empty() {
            args.extend(["--", self.facts.prefix.as_str()]);
        }
        let out = self.run(&args, None, LONG).ok()?;
        let tree = Arc::new(self.listed(&out, |words| Some((words.first()?, words.get(2)?))));
        let mut trees = lock(&TREES);
        if trees.len() >= KEPT_TREES {
            trees.clear();
        }
        trees.insert(key, tree.clone());
        Some(tree)
    }

    /// The files of HEAD; empty before the first commit.
    pub fn head_tree(&self) -> Arc<Tree> {
        let read = || self.head().and_then(|head| self.tree_of(head)).unwrap_or_default();
        self.facts.head_tree.get_or_init(read).clone()
    }

    /// The files of the index: what is committed or added.
    pub fn index(&self) -> Arc<Tree> {
        let read = || {
            let mut args = vec!["ls-files", "--cached", "--stage", "-z", "--full-name"];
            if !self.facts.prefix.is_empty() {
                args.extend(["--", self.facts.prefix.as_str()]);
            }
            let out = self.run(&args, None, LONG).unwrap_or_default();
            Arc::new(self.listed(&out, |words| Some((words.first()?, words.get(1)?))))
        };
        self.facts.index.get_or_init(read).clone()
    }

    /// The file is committed or added.
    pub fn is_tracked(&self, path: &RelPath) -> bool {
        self.index().contains_key(path)
    }

    /// The file on disk is what HEAD holds. Line endings that `core.autocrlf` made are no modification.
    /// A link counts by its target's path, as git stores it.
    pub fn tracked_unmodified(&self, path: &RelPath) -> bool {
        let tree = self.head_tree();
        let Some(tracked) = tree.get(path) else { return false };
        let whole = self.facts.root.absolute(path);
        let bytes = if tracked.mode == 0o120000 {
            match std::fs::read_link(&whole) {
                Ok(target) => target.into_os_string().into_encoded_bytes(),
                Err(_) => return false,
            }
        } else {
            match std::fs::symlink_metadata(&whole) {
                Ok(meta) if meta.is_file() && meta.len() <= crate::shelf::LARGEST => {}
                _ => return false,
            }
            match std::fs::read(&whole) {
                Ok(bytes) => bytes,
                Err(_) => return false,
            }
        };
        is_blob(&tracked.id, &bytes)
    }

    /// Those of `paths` that git ignores (and does not track).
    pub fn ignored(&self, paths: &[&RelPath]) -> BTreeSet<RelPath> {
        if paths.is_empty() {
            return BTreeSet::new();
        }
        // `check-ignore` knows no literal pathspecs; `./` keeps a name that begins with `:` from being magic.
        let asked: String = paths.iter().map(|path| format!("./{}{path}\0", self.facts.prefix)).collect();
        // Exit status 1: none is ignored.
        let out = self.run(&["check-ignore", "-z", "--stdin"], Some(asked.into_bytes()), SOON).unwrap_or_default();
        out.split(|byte| *byte == 0)
            .filter_map(|path| {
                std::str::from_utf8(path).ok()?.strip_prefix("./")?.strip_prefix(self.facts.prefix.as_str())
            })
            .filter(|path| !path.is_empty())
            .filter_map(RelPath::new)
            .collect()
    }

    /// Bytes of a file at a revision; `None` when the revision has no such file.
    pub fn blob(&self, revision: &str, path: &RelPath) -> Option<Vec<u8>> {
        let id = self.tree(revision)?.get(path)?.id.clone();
        self.blobs(&[id]).pop().flatten()
    }

    /// Bytes of objects by their ids, in order; `None` for those that are not here (a partial clone
    /// fetches nothing) or larger than [`crate::shelf::LARGEST`].
    pub fn blobs(&self, ids: &[String]) -> Vec<Option<Vec<u8>>> {
        self.objects(ids).into_iter().map(|found| found.map(|(_, bytes)| bytes)).collect()
    }

    fn objects(&self, ids: &[String]) -> Vec<Option<(String, Vec<u8>)>> {
        let mut found = Vec::with_capacity(ids.len());
        // Bounded batches: the answers are held in memory.
        for ids in ids.chunks(2000) {
            let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
            let out = self.run(&["cat-file", "--batch"], Some(asked.into_bytes()), LONG).unwrap_or_default();
            let mut rest = out.as_slice();
            for _ in ids {
                found.push(next_object(&mut rest));
            }
        }
        found
    }

    /// The newest commits of HEAD's history that touch a path, newest first; at most `limit` (20 or fewer).
    pub fn commits(&self, path: &RelPath, limit: usize) -> Arc<[Commit]> {
        let Some(head) = self.head() else { return Arc::default() };
        let key = (self.facts.top.clone(), head.clone(), self.whole_path(path));
        if let Some(known) = lock(&HISTORIES).get(&key) {
            return known.iter().take(limit).cloned().collect();
        }
        let Ok(commits) = self.touching(&head, &key.2) else { return Arc::default() };
        let commits: Arc<[Commit]> = commits.into();
        let mut histories = lock(&HISTORIES);
        if histories.len() >= KEPT_HISTORIES {
            histories.clear();
        }
        histories.insert(key, commits.clone());
        commits.iter().take(limit).cloned().collect()
    }

    /// The same through renames, as git tells them by what the two files hold (half of it or more); at most 20.
    pub fn lineage(&self, path: &RelPath) -> Vec<Commit> {
        let Some(mut from) = self.head() else { return Vec::new() };
        let mut whole = self.whole_path(path);
        let mut commits: Vec<Commit> = Vec::new();
        for _ in 0..MOST_RENAMES {
            let Ok(found) = self.touching(&from, &whole) else { break };
            let Some(first) = found.last().map(|commit| commit.id.clone()) else { break };
            commits.extend(
                found
                    .into_iter()
                    .filter(|commit| !commits.iter().any(|known| known.id == commit.id))
                    .collect::<Vec<_>>(),
            );
            let Some(before) = self.renamed_in(&first, &whole).filter(|_| commits.len() < MOST_COMMITS) else { break };
            (from, whole) = (format!("{first}^"), before);
        }
        commits.truncate(MOST_COMMITS);
        commits
    }

    /// The newest commits of HEAD's history that touch lines of a text of HEAD (1-based, both inside), newest
    /// first, through renames; at most 20.
    pub fn of_lines(&self, path: &RelPath, (first, last): (usize, usize)) -> Vec<Commit> {
        let range = format!("-L{first},{last}:{}", self.whole_path(path));
        let args =
            ["log", "-s", "--no-ext-diff", "--no-textconv", "--no-color", "--format=%H", "-n", "20", &range, "HEAD"];
        self.run(&args, None, SOON).map(|out| self.commits_of(&out)).unwrap_or_default()
    }

    fn touching(&self, from: &str, whole: &RelPath) -> Result<Vec<Commit>, Failure> {
        let args = ["rev-list", "-n", "20", from, "--", whole.as_str()];
        Ok(self.commits_of(&self.run(&args, None, SOON)?))
    }

    /// The commits whose ids are these lines.
    fn commits_of(&self, lines: &[u8]) -> Vec<Commit> {
        let ids: Vec<String> = String::from_utf8_lossy(lines).lines().map(str::to_string).collect();
        let bodies = self.objects(&ids);
        ids.into_iter()
            .zip(bodies)
            .filter_map(|(id, body)| Some(commit_of(id, &String::from_utf8_lossy(&body?.1))))
            .collect()
    }

    /// The name that a file had before a commit, where that renamed it.
    fn renamed_in(&self, commit: &str, whole: &RelPath) -> Option<RelPath> {
        let args =
            ["diff-tree", "-r", "-M", "-l400", "-z", "--no-commit-id", "--name-status", "--diff-filter=R", commit];
        let out = self.run(&args, None, SOON).ok()?;
        let words: Vec<&str> = out.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
        words.chunks(3).find_map(|row| match row {
            [_, before, after] if *after == whole.as_str() => RelPath::new(before),
            _ => None,
        })
    }

    /// Who commits here, as git's configuration says: each of `author.*` and `user.*` that is set.
    fn identity(&self) -> HashMap<String, String> {
        let asked = ["config", "-z", "--get-regexp", r"^(author|user)\.(name|email)$"];
        let out = self.run(&asked, None, SOON).unwrap_or_default();
        let lines = out.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok()?.split_once('\n'));
        let said = lines.map(|(name, value)| (name.to_string(), value.trim().to_string()));
        said.filter(|(_, value)| !value.is_empty()).collect()
    }

    fn whole_path(&self, path: &RelPath) -> RelPath {
        RelPath::new(&format!("{}{path}", self.facts.prefix)).unwrap_or_else(|| path.clone())
    }

    /// Lines `words TAB path NUL` of `ls-tree` and `ls-files --stage`; what lies outside the root is left out.
    fn listed(&self, out: &[u8], pick: impl Fn(&[String]) -> Option<(&String, &String)>) -> Tree {
        let mut tree = Tree::new();
        for line in out.split(|byte| *byte == 0) {
            let Some((words, path)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t')) else {
                continue;
            };
            let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
            let Some(path) = path.strip_prefix(self.facts.prefix.as_str()).and_then(RelPath::new) else { continue };
            let Some((mode, id)) = pick(&words) else { continue };
            let mode = u32::from_str_radix(mode, 8).unwrap_or(0o100644);
            tree.insert(path, Tracked { id: id.clone(), mode });
        }
        tree
    }

    fn run(&self, args: &[&str], stdin: Option<Vec<u8>>, limit: Duration) -> Result<Vec<u8>, Failure> {
        run(&self.facts.top, args, stdin, limit)
    }
}

/// Name and mail address of the person: `GIT_AUTHOR_*`, else `user.*`, else the system's user name.
/// Never empty.
pub fn author(git: Option<&Git>) -> String {
    let set = |name: &str| std::env::var(name).ok().map(|value| value.trim().to_string()).filter(|v| !v.is_empty());
    let asked: std::cell::OnceCell<HashMap<String, String>> = std::cell::OnceCell::new();
    let asked = |name: &str| asked.get_or_init(|| git.map(Git::identity).unwrap_or_default()).get(name).cloned();
    let name = set("GIT_AUTHOR_NAME").or_else(|| asked("author.name")).or_else(|| asked("user.name"));
    let mail = set("GIT_AUTHOR_EMAIL").or_else(|| asked("author.email")).or_else(|| asked("user.email"));
    match (name, mail) {
        (Some(name), Some(mail)) => format!("{name} <{mail}>"),
        (Some(name), None) => name,
        (None, Some(mail)) => mail,
        (None, None) => ["USER", "LOGNAME", "USERNAME"]
            .iter()
            .find_map(|name| set(name))
            .or_else(system_user)
            .unwrap_or_else(|| "unknown".into()),
    }
}

#[cfg(unix)]
fn system_user() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let id = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_string())
    })
}

#[cfg(not(unix))]
fn system_user() -> Option<String> {
    None
}

/// Whether `bytes` are the blob of that id, as they are or with CRLF turned to LF.
pub fn is_blob(id: &str, bytes: &[u8]) -> bool {
    if is_exact_blob(id, bytes) {
        return true;
    }
    bytes.windows(2).any(|pair| pair == b"\r\n") && blob_id(id.len(), &without_cr(bytes)) == id
}

/// Whether `bytes` are the blob of that id, byte for byte.
pub fn is_exact_blob(id: &str, bytes: &[u8]) -> bool {
    blob_id(id.len(), bytes) == id
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (i, byte) in bytes.iter().enumerate() {
        if !(*byte == b'\r' && bytes.get(i + 1) == Some(&b'\n')) {
            out.push(*byte);
        }
    }
    out
}

/// Object id of a blob; `digits` tells the repository's hash (40: SHA-1, 64: SHA-256).
fn blob_id(digits: usize, bytes: &[u8]) -> String {
    let head = format!("blob {}\0", bytes.len());
    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
    use sha2::Digest as _;
    if digits == 64 {
        hex(&sha2::Sha256::new().chain_update(head).chain_update(bytes).finalize())
    } else {
        hex(&sha1::Sha1::new().chain_update(head).chain_update(bytes).finalize())
    }
}

#[derive(Debug)]
enum Failure {
    /// There is no git program.
    Absent,
    Late,
    /// It failed, and said this.
    Said(String),
}

/// Runs git in a folder. The environment that names another repository is dropped; nothing of the
/// repository's configuration can start a program: no monitor, no hooks, no fetch, no pager.
fn run(top: &Path, args: &[&str], stdin: Option<Vec<u8>>, limit: Duration) -> Result<Vec<u8>, Failure> {
    let mut command = Command::new("git");
    command
        .current_dir(top)
        .args(["--no-pager", "--no-optional-locks"])
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"])
        .args(args)
        .env("GIT_LITERAL_PATHSPECS", if args.first() == Some(&"check-ignore") { "0" } else { "1" })
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_EXTERNAL_DIFF",
    ] {
        command.env_remove(name);
    }
    if let Some(above) = top.parent() {
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    let mut child = command.spawn().map_err(|_| Failure::Absent)?;
    if let (Some(bytes), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // Its own thread: git may fill its output before it has read everything. A broken pipe shows in
        // the exit status.
        std::thread::spawn(move || pipe.write_all(&bytes));
    }
    let (done, whole) = mpsc::channel();
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.as_mut().map(|out| out.read_to_end(&mut bytes));
        let _ = done.send(read.is_some_and(|read| read.is_ok()).then_some(bytes));
    });
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(err) = err.as_mut() {
            let _ = err.take(64 << 10).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let Ok(bytes) = whole.recv_timeout(limit) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(Failure::Late);
    };
    let status = child.wait().map_err(|err| Failure::Said(err.to_string()))?;
    match bytes {
        Some(bytes) if status.success() => Ok(bytes),
        _ => Err(Failure::Said(said.join().unwrap_or_default())),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn one_id(out: &[u8]) -> Option<String> {
    let id = std::str::from_utf8(out).ok()?.lines().next()?.trim();
    (id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_string())
}

/// One answer of `cat-file --batch`: `id kind size LF bytes LF`, or `id missing LF`.
fn next_object(rest: &mut &[u8]) -> Option<(String, Vec<u8>)> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&rest[..end]).unwrap_or("").to_string();
    *rest = &rest[end + 1..];
    let mut words = line.split(' ');
    let (_, kind, size) = (words.next()?, words.next()?, words.next()?);
    let size: usize = size.parse().ok()?;
    let bytes = rest.get(..size)?.to_vec();
    *rest = rest.get(size + 1..).unwrap_or_default();
    Some((kind.to_string(), bytes))
}

fn commit_of(id: String, body: &str) -> Commit {
    let (head, message) = body.split_once("\n\n").unwrap_or((body, ""));
    let who = head.lines().find_map(|line| line.strip_prefix("author ")).unwrap_or("");
    let (author, rest) = who.split_once(" <").unwrap_or((who, ""));
    let seconds = rest.rsplit_once("> ").and_then(|(_, at)| at.split(' ').next()?.parse().ok());
    Commit {
        id,
        author: author.trim().to_string(),
        at: seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok()),
        subject: message.lines().next().unwrap_or("").to_string(),
    }
}

#[cfg(test)]
mod tests;
