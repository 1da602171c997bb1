//! What the client declares it can do, and what the server offers it. Takes the parameters of
//! `initialize` as they came, gives [`Declared`] and the server's capabilities. An optional shape that
//! is not declared is never sent.

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::Value;
use tower_lsp::ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, DocumentLinkOptions,
    ExecuteCommandOptions, HoverProviderCapability, OneOf, PositionEncodingKind, Registration, RegistrationParams,
    SaveOptions, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use crate::text::Encoding;

/// Everything about the client that decides what it is sent.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    pub encoding: Encoding,
    /// Hover as Markdown; else as plain text.
    pub markdown: bool,
    pub related_information: bool,
    pub diagnostic_version: bool,
    pub diagnostic_data: bool,
    /// Actions as objects; else as bare commands.
    pub action_literals: bool,
    pub apply_edit: bool,
    /// Edits with document versions.
    pub document_changes: bool,
    pub show_document: bool,
    pub progress: bool,
    pub code_lens: bool,
    pub code_lens_refresh: bool,
    pub document_link: bool,
    /// Watching of files may be asked for.
    pub watched_files: bool,
    pub configuration: bool,
    /// The client itself asks for the reason.
    pub reason_prompt: bool,
    /// The client shows diffs and histories itself.
    pub plugin: bool,
    /// Word for the record: `vscode`, `nvim`, `helix` …
    pub via: String,
    pub folders: Vec<PathBuf>,
}

impl Declared {
    /// Reads the parameters of `initialize`. What is not there, or of an unknown shape, is not declared.
    pub fn of(params: &Value) -> Declared {
        let can = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let says = |path: &str| can(path).and_then(Value::as_bool).unwrap_or(false);
        let holds = |path: &str, word: &str| {
            can(path).and_then(Value::as_array).is_some_and(|list| list.iter().any(|item| item == word))
        };
        let mut declared = Declared {
            encoding: match holds("general/positionEncodings", "utf-8") {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            markdown: holds("textDocument/hover/contentFormat", "markdown"),
            related_information: says("textDocument/publishDiagnostics/relatedInformation"),
            diagnostic_version: says("textDocument/publishDiagnostics/versionSupport"),
            diagnostic_data: says("textDocument/publishDiagnostics/dataSupport"),
            action_literals: can("textDocument/codeAction/codeActionLiteralSupport").is_some_and(Value::is_object),
            apply_edit: says("workspace/applyEdit"),
            document_changes: says("workspace/workspaceEdit/documentChanges"),
            // Helix 25.01 and 25.07 do it and do not say so.
            show_document: says("window/showDocument/support")
                || params.pointer("/clientInfo/name").and_then(Value::as_str) == Some("helix"),
            progress: says("window/workDoneProgress"),
            code_lens: can("textDocument/codeLens").is_some_and(Value::is_object),
            code_lens_refresh: says("workspace/codeLens/refreshSupport"),
            document_link: can("textDocument/documentLink").is_some_and(Value::is_object),
            watched_files: says("workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: says("workspace/configuration"),
            reason_prompt: false,
            plugin: false,
            via: via(params.pointer("/clientInfo/name").and_then(Value::as_str).unwrap_or("")),
            folders: folders(params),
        };
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        declared.configure(options.get("pindrift").unwrap_or(options));
        declared
    }

    /// Takes over the client's settings, from `initializationOptions` or `workspace/configuration`.
    pub fn configure(&mut self, settings: &Value) {
        if let Some(prompts) = settings.get("reasonPrompt").and_then(Value::as_bool) {
            self.reason_prompt = prompts;
            self.plugin = prompts;
        }
        if let Some(via) = settings.get("via").and_then(Value::as_str) {
            let word: String = via.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
            if !word.is_empty() {
                self.via = word;
            }
        }
    }
}

/// The record's word for a client that does not say one itself.
fn via(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let known = [
        ("visual studio code", "vscode"),
        ("code-server", "vscode"),
        ("vscod", "vscode"),
        ("neovim", "nvim"),
        ("helix", "helix"),
        ("eglot", "eglot"),
        ("emacs", "emacs"),
    ];
    let known = known.iter().find(|(part, _)| name.contains(part)).map(|(_, word)| word.to_string());
    known.unwrap_or_else(|| {
        let word: String = name.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        if word.is_empty() { "editor".into() } else { word }
    })
}

/// The opened folders: `workspaceFolders`, else `rootUri`, else `rootPath`.
fn folders(params: &Value) -> Vec<PathBuf> {
    let uris = |value: &Value| value.as_str().and_then(|uri| path_of(&Uri::from_str(uri).ok()?));
    if let Some(folders) = params.get("workspaceFolders").and_then(Value::as_array) {
        let found: Vec<PathBuf> = folders.iter().filter_map(|folder| uris(folder.get("uri")?)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    if let Some(root) = params.get("rootUri").and_then(uris) {
        return vec![root];
    }
    params.get("rootPath").and_then(Value::as_str).map(PathBuf::from).into_iter().collect()
}

/// The file of a `file:` address; `None` for any other.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    if !uri.scheme().as_str().eq_ignore_ascii_case("file") {
        return None;
    }
    uri.to_file_path().map(|path| path.into_owned()).filter(|path| path.is_absolute())
}

/// Commands that the server answers, in the order of their use.
pub const COMMANDS: [&str; 16] = [
    "pindrift.accept",
    "pindrift.explain",
    "pindrift.withdraw",
    "pindrift.reclassify",
    "pindrift.verdict",
    "pindrift.judge",
    "pindrift.retire",
    "pindrift.open",
    "pindrift.diff",
    "pindrift.history",
    "pindrift.drifts",
    "pindrift.changes",
    "pindrift.reasons",
    "pindrift.observe",
    "pindrift.propose",
    "pindrift.confirm",
];

/// Commands that have a name and no work yet; not offered.
pub const LATER: [&str; 1] = ["pindrift.prove"];

/// The client's own watching of files, beside the server's: names of which a new file matters anywhere.
pub fn watched_files() -> RegistrationParams {
    let globs = [
        "**/pindrift.toml",
        "**/.pindrift/**",
        "**/*.{snap.new,pending-snap,actual,new,received}",
        "**/*.received.*",
        "**/*.snap.new.*",
    ];
    let watchers: Vec<Value> = globs.iter().map(|glob| serde_json::json!({ "globPattern": glob })).collect();
    RegistrationParams {
        registrations: vec![Registration {
            id: "pindrift-files".into(),
            method: "workspace/didChangeWatchedFiles".into(),
            register_options: Some(serde_json::json!({ "watchers": watchers })),
        }],
    }
}

/// What the server offers to such a client.
pub fn capabilities(declared: &Declared) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(match declared.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(if declared.action_literals {
            CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR_REWRITE]),
                ..CodeActionOptions::default()
            })
        } else {
            CodeActionProviderCapability::Simple(true)
        }),
        code_lens_provider: declared.code_lens.then_some(CodeLensOptions { resolve_provider: Some(false) }),
        document_link_provider: declared.document_link.then(|| DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: Default::default(),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.iter().map(|id| id.to_string()).collect(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_is_taken_as_declared_that_was_not_said() {
        let declared = Declared::of(&json!({ "capabilities": { "window": 7, "workspace": { "applyEdit": "yes" } } }));
        assert!(!declared.apply_edit && !declared.progress && !declared.markdown);
        assert_eq!(declared.encoding, Encoding::Utf16);
        let offered = serde_json::to_value(capabilities(&declared)).unwrap();
        assert_eq!(offered.get("codeLensProvider"), None);
        assert_eq!(offered.get("documentLinkProvider"), None);
    }

    #[test]
    fn options_stand_bare_or_under_the_name() {
        for options in [
            json!({ "reasonPrompt": true, "via": "x y" }),
            json!({ "pindrift": { "reasonPrompt": true, "via": "xy" } }),
        ] {
            let declared = Declared::of(&json!({ "initializationOptions": options }));
            assert!(declared.reason_prompt);
            assert_eq!(declared.via, "xy");
        }
    }

    #[test]
    fn folders_are_found_however_they_are_named() {
        let all = [
            json!({ "workspaceFolders": [{ "uri": "file:///a%20b", "name": "x" }] }),
            json!({ "workspaceFolders": null, "rootUri": "file:///a%20b" }),
            json!({ "rootPath": "/a b" }),
        ];
        for params in all {
            assert_eq!(Declared::of(&params).folders, [PathBuf::from("/a b")], "{params}");
        }
    }
}
