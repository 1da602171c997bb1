//! Real editors on the real program, each with one story: the drift seen, the diff read, why hovered, a filler
//! refused, a good reason accepted, an undo that leaves no lying record, a test reclassified; at the end the
//! bytes that the command line leaves. Run by ./tests/run, which installs the editors below ./.tools.

mod demo;
#[path = "../editor/mod.rs"]
mod editor;
#[path = "../fixture/mod.rs"]
mod fixture;
mod helix;
mod neovim;
mod review;
mod terminal;
mod vscode;
