//! An editor in small: keeps documents, applies the server's edits, saves, answers what it is asked. It
//! holds every message of the server against what its profile declares, and on the way out insists on a
//! clean goodbye and on nothing left unread.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::editor::{PATIENCE, Pipe, command, stretched};

pub struct Session {
    pub pipe: Pipe,
    pub profile: Value,
    pub root: PathBuf,
    documents: HashMap<String, Document>,
    /// Last published diagnostics by address.
    pub diagnostics: HashMap<String, Vec<Value>>,
    /// Messages shown to the person and not looked at yet.
    pub shown: Vec<String>,
    /// `window/showDocument` requests not looked at yet.
    pub opened: Vec<Value>,
    pub progress: Vec<Value>,
    answers: HashMap<i64, Value>,
    /// What the client answers to edits: apply, refuse, or nothing at all.
    pub edits: Edits,
    pub unanswered: usize,
    utf8: bool,
    _cache: tempfile::TempDir,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Edits {
    Apply,
    Refuse,
    Ignore,
}

struct Document {
    text: String,
    version: i64,
}

pub fn profile(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session/clients").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    serde_json::from_str(&text).expect("a profile is JSON")
}

impl Session {
    /// Starts the server for a folder as this client would. `options` are the initialization options.
    pub fn open(name: &str, root: &Path, options: Value) -> Session {
        let profile = profile(name);
        let cache = tempfile::tempdir().expect("a cache folder");
        let root = root.canonicalize().expect("the workspace");
        let mut server = command();
        server.env("XDG_CACHE_HOME", cache.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("PINDRIFT_LOG", "warn");
        for (name, value) in [("NAME", "Test Person"), ("EMAIL", "test@example.org")] {
            server.env(format!("GIT_AUTHOR_{name}"), value);
        }
        let mut session = Session {
            pipe: Pipe::with(&mut server),
            profile,
            root,
            documents: HashMap::new(),
            diagnostics: HashMap::new(),
            shown: Vec::new(),
            opened: Vec::new(),
            progress: Vec::new(),
            answers: HashMap::new(),
            edits: Edits::Apply,
            unanswered: 0,
            utf8: false,
            _cache: cache,
        };
        let uri = session.uri("");
        let params = json!({
            "processId": null,
            "clientInfo": session.profile["clientInfo"],
            "rootUri": uri.trim_end_matches('/'),
            "workspaceFolders": [{ "uri": uri.trim_end_matches('/'), "name": "workspace" }],
            "capabilities": session.profile["capabilities"],
            "initializationOptions": options,
        });
        let answer = session.ask("initialize", params);
        session.check_offer(&answer["result"]["capabilities"]);
        session.utf8 = answer["result"]["capabilities"]["positionEncoding"] == "utf-8";
        session.pipe.notify("initialized", json!({}));
        session
    }

    pub fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root.display())
    }

    pub fn text(&self, path: &str) -> &str {
        &self.documents[&self.uri(path)].text
    }

    fn can(&self, path: &str) -> bool {
        let value = self.profile.pointer(&format!("/capabilities/{path}"));
        value.is_some_and(|value| value.as_bool().unwrap_or(!value.is_null()))
    }

    // What the person does.

    pub fn open_document(&mut self, path: &str) {
        let text = std::fs::read_to_string(self.root.join(path)).unwrap_or_else(|err| panic!("{path}: {err}"));
        let uri = self.uri(path);
        let language = if path.ends_with(".py") { "python" } else { "rust" };
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.documents.insert(uri, Document { text, version: 1 });
        self.pipe.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    pub fn save(&mut self, path: &str) {
        let uri = self.uri(path);
        std::fs::write(self.root.join(path), &self.documents[&uri].text).expect("saved");
        self.pipe.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    pub fn close(&mut self, path: &str) {
        let uri = self.uri(path);
        self.documents.remove(&uri);
        self.pipe.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Replaces bytes of an open document, as one incremental change.
    pub fn edit(&mut self, path: &str, span: std::ops::Range<usize>, with: &str) {
        let uri = self.uri(path);
        let utf8 = self.utf8;
        let document = self.documents.get_mut(&uri).expect("an open document");
        let range = json!({
            "start": position(&document.text, span.start, utf8),
            "end": position(&document.text, span.end, utf8),
        });
        document.text.replace_range(span, with);
        document.version += 1;
        self.pipe.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": document.version },
                "contentChanges": [{ "range": range, "text": with }],
            }),
        );
    }

    /// Puts a whole text in place of the open one, as an undo of many steps may.
    pub fn set(&mut self, path: &str, text: &str) {
        let uri = self.uri(path);
        let document = self.documents.get_mut(&uri).expect("an open document");
        document.text = text.to_string();
        document.version += 1;
        self.pipe.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": document.version },
                "contentChanges": [{ "text": text }],
            }),
        );
    }

    pub fn position_of(&self, path: &str, needle: &str) -> Value {
        let text = self.text(path);
        let at = text.find(needle).unwrap_or_else(|| panic!("{needle:?} is not in {path}:\n{text}"));
        position(text, at, self.utf8)
    }

    pub fn hover(&mut self, path: &str, needle: &str) -> Option<String> {
        let params = json!({ "textDocument": { "uri": self.uri(path) }, "position": self.position_of(path, needle) });
        let answer = self.ask("textDocument/hover", params);
        let result = answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone();
        if result.is_null() {
            return None;
        }
        let kind = result["contents"]["kind"].as_str().expect("a kind of text");
        let formats = self.profile["capabilities"]["textDocument"]["hover"]["contentFormat"].as_array();
        assert!(formats.is_some_and(|formats| formats.iter().any(|format| format == kind)), "{kind} is not declared");
        Some(result["contents"]["value"].as_str().expect("a text").to_string())
    }

    /// Actions at a place, with the diagnostics that stand there, as editors send them.
    pub fn actions(&mut self, path: &str, needle: &str, only: Option<&str>) -> Vec<Value> {
        let uri = self.uri(path);
        let at = self.position_of(path, needle);
        let line = |value: &Value| value["range"]["start"]["line"].clone();
        let mut here = self.diagnostics.get(&uri).cloned().unwrap_or_default();
        here.retain(|diagnostic| line(diagnostic) == at["line"]);
        let mut context = json!({ "diagnostics": here });
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let params = json!({ "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": context });
        let answer = self.ask("textDocument/codeAction", params);
        let all = answer["result"].as_array().cloned().unwrap_or_default();
        assert!(all.len() <= 6, "{} actions", all.len());
        for action in &all {
            self.check_action(action);
        }
        all
    }

    pub fn execute(&mut self, command: &str, argument: Value) -> Value {
        let answer = self.ask("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }));
        // The edit that a command asks for follows its answer.
        answer
    }

    pub fn take_shown(&mut self) -> Vec<String> {
        std::mem::take(&mut self.shown)
    }

    // What goes over the wire.

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.pipe.request(method, params);
        self.until(&format!("the answer to {method}"), |session| session.answers.contains_key(&id));
        self.answers.remove(&id).expect("the answer")
    }

    /// Takes messages until `done`; fails with `what` after a long wait.
    pub fn until(&mut self, what: &str, done: impl Fn(&Session) -> bool) {
        assert!(
            self.within(stretched(PATIENCE), done),
            "waited in vain for {what}; diagnostics: {:#?}",
            self.diagnostics
        );
    }

    pub fn within(&mut self, patience: Duration, done: impl Fn(&Session) -> bool) -> bool {
        let until = Instant::now() + patience;
        loop {
            if done(self) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            if let Some(message) = self.pipe.find(left.min(Duration::from_millis(20)), |_| true) {
                self.take(message);
            }
        }
    }

    /// Takes whatever comes for a while.
    pub fn idle(&mut self, time: Duration) {
        self.within(time, |_| false);
    }

    fn take(&mut self, message: Value) {
        let Some(method) = message["method"].as_str() else {
            self.answers.insert(message["id"].as_i64().expect("an id of ours"), message);
            return;
        };
        let params = &message["params"];
        let result = match method {
            "textDocument/publishDiagnostics" => {
                self.check_diagnostics(params);
                let uri = params["uri"].as_str().expect("an address").to_string();
                self.diagnostics.insert(uri, params["diagnostics"].as_array().expect("a list").clone());
                return;
            }
            "window/showMessage" => {
                let text = params["message"].as_str().expect("a message");
                assert!(!text.contains('\n') && text.len() < 300, "one short line: {text}");
                self.shown.push(text.to_string());
                return;
            }
            "$/progress" => {
                assert!(self.can("window/workDoneProgress"), "progress is not declared");
                self.progress.push(params.clone());
                return;
            }
            "window/workDoneProgress/create" => {
                assert!(self.can("window/workDoneProgress"), "progress is not declared");
                Value::Null
            }
            "client/registerCapability" => {
                for registration in params["registrations"].as_array().expect("registrations") {
                    let dynamic = match registration["method"].as_str() {
                        Some("workspace/didChangeWatchedFiles") => {
                            "workspace/didChangeWatchedFiles/dynamicRegistration"
                        }
                        other => panic!("{other:?} was registered"),
                    };
                    assert!(self.can(dynamic), "{dynamic} is not declared");
                }
                Value::Null
            }
            "workspace/configuration" => {
                assert!(self.can("workspace/configuration"));
                json!(vec![Value::Null; params["items"].as_array().expect("items").len()])
            }
            "workspace/codeLens/refresh" => {
                assert!(self.can("workspace/codeLens/refreshSupport"));
                Value::Null
            }
            "window/showDocument" => {
                // Helix does it without saying so.
                let helix = self.profile.pointer("/clientInfo/name") == Some(&json!("helix"));
                assert!(helix || self.can("window/showDocument/support"), "showDocument is not declared");
                self.opened.push(params.clone());
                json!({ "success": true })
            }
            "workspace/applyEdit" => {
                assert!(self.can("workspace/applyEdit"), "applyEdit is not declared");
                self.check_edit(&params["edit"]);
                match self.edits {
                    Edits::Apply => {
                        self.apply(&params["edit"].clone());
                        json!({ "applied": true })
                    }
                    Edits::Refuse => json!({ "applied": false }),
                    Edits::Ignore => {
                        self.unanswered += 1;
                        return;
                    }
                }
            }
            other => panic!("the server said {other}, which no profile declares"),
        };
        self.pipe.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }

    fn apply(&mut self, edit: &Value) {
        let mut texts: Vec<(String, Option<i64>, Vec<Value>)> = Vec::new();
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            let document = &change["textDocument"];
            let uri = document["uri"].as_str().expect("an address").to_string();
            texts.push((uri, document["version"].as_i64(), change["edits"].as_array().expect("edits").clone()));
        }
        for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
            texts.push((uri.clone(), None, edits.as_array().expect("edits").clone()));
        }
        for (uri, version, edits) in texts {
            let known = self.documents.get(&uri).unwrap_or_else(|| panic!("{uri} is not open"));
            assert!(version.is_none_or(|version| version == known.version), "an edit of another version");
            let mut spans: Vec<(usize, usize, String)> = edits
                .iter()
                .map(|edit| {
                    let at = |end: &str| offset(&known.text, &edit["range"][end], self.utf8);
                    (at("start"), at("end"), edit["newText"].as_str().expect("a text").to_string())
                })
                .collect();
            spans.sort();
            let path = uri.strip_prefix(&self.uri("")).expect("a file of the workspace").to_string();
            for (start, end, with) in spans.into_iter().rev() {
                self.edit(&path, start..end, &with);
            }
        }
    }

    // What was declared.

    fn check_offer(&self, offer: &Value) {
        for (key, _) in offer.as_object().expect("capabilities") {
            let declared = match key.as_str() {
                "positionEncoding" | "textDocumentSync" | "executeCommandProvider" | "workspace" => true,
                "hoverProvider" => self.can("textDocument/hover"),
                "codeActionProvider" => self.can("textDocument/codeAction"),
                "codeLensProvider" => self.can("textDocument/codeLens"),
                "documentLinkProvider" => self.can("textDocument/documentLink"),
                other => panic!("{other} is offered"),
            };
            assert!(declared, "{key} is offered and not declared");
        }
        let encodings = self.profile["capabilities"]["general"]["positionEncodings"].as_array().expect("encodings");
        assert!(encodings.contains(&offer["positionEncoding"]), "{}", offer["positionEncoding"]);
        assert_eq!(offer["positionEncoding"] == "utf-8", encodings.iter().any(|encoding| encoding == "utf-8"));
    }

    fn check_diagnostics(&self, params: &Value) {
        let of = |key: &str| format!("textDocument/publishDiagnostics/{key}");
        assert!(params.get("version").is_none() || self.can(&of("versionSupport")), "a version");
        let mut places = Vec::new();
        for diagnostic in params["diagnostics"].as_array().expect("a list") {
            let fields = [
                ("relatedInformation", "relatedInformation"),
                ("data", "dataSupport"),
                ("tags", "tagSupport"),
                ("codeDescription", "codeDescriptionSupport"),
            ];
            for (field, declared) in fields {
                assert!(diagnostic.get(field).is_none() || self.can(&of(declared)), "{field} is not declared");
            }
            assert_eq!(diagnostic["source"], "pindrift");
            assert!(diagnostic["message"].is_string());
            places.push((diagnostic["range"].clone(), diagnostic["code"].clone()));
        }
        for (at, place) in places.iter().enumerate() {
            assert!(!places[..at].contains(place), "two diagnostics at one site: {params:#}");
        }
    }

    fn check_edit(&self, edit: &Value) {
        let fields: Vec<&String> = edit.as_object().expect("an edit").keys().collect();
        let versions = self.can("workspace/workspaceEdit/documentChanges");
        assert_eq!(fields, [if versions { "documentChanges" } else { "changes" }], "{edit:#}");
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            assert!(change.get("kind").is_none(), "no file is made, renamed or removed");
            let uri = change["textDocument"]["uri"].as_str().expect("an address");
            assert_eq!(change["textDocument"]["version"].is_i64(), self.documents.contains_key(uri), "{edit:#}");
            for edit in change["edits"].as_array().expect("edits") {
                let fields: Vec<&String> = edit.as_object().expect("an edit").keys().collect();
                assert_eq!(fields, ["range", "newText"]);
            }
        }
    }

    fn check_action(&self, action: &Value) {
        assert!(action.get("disabled").is_none() && action.get("isPreferred").is_none(), "{action:#}");
        assert!(self.can("textDocument/codeAction/codeActionLiteralSupport"), "every profile takes literals");
        assert!(action["kind"].is_string() && action["title"].is_string());
        assert!(action.get("data").is_none() || self.can("textDocument/codeAction/dataSupport"));
        if let Some(edit) = action.get("edit") {
            self.check_edit(edit);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.idle(Duration::from_millis(50));
        assert!(self.answers.is_empty(), "answers that nobody read: {:?}", self.answers);
        assert!(self.shown.is_empty(), "messages that nobody read: {:?}", self.shown);
        self.ask("shutdown", Value::Null);
        self.pipe.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        let status = self.pipe.ended(Duration::from_secs(5));
        assert_eq!(status.and_then(|status| status.code()), Some(0), "the server says goodbye");
        let late = self.pipe.drain();
        let late: Vec<&Value> = late.iter().filter(|message| message.get("method").is_none()).collect();
        assert!(late.is_empty(), "after the goodbye: {late:?}");
    }
}

fn position(text: &str, at: usize, utf8: bool) -> Value {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[..at].matches('\n').count();
    let before = &text[start..at];
    let character = if utf8 { before.len() } else { before.encode_utf16().count() };
    json!({ "line": line, "character": character })
}

fn offset(text: &str, position: &Value, utf8: bool) -> usize {
    let line = position["line"].as_u64().expect("a line") as usize;
    let column = position["character"].as_u64().expect("a column") as usize;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let mut left = column;
    for (at, c) in text[start..].char_indices() {
        if left == 0 || c == '\n' {
            return start + at;
        }
        left -= if utf8 { c.len_utf8() } else { c.len_utf16() };
    }
    text.len()
}
