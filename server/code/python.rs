//! Python syntax to [`Unit`](super::Unit).

use tree_sitter::Tree;

use super::Unit;
use crate::places::RelPath;
use crate::text::Text;

/// Lowers one parsed file.
pub fn unit(path: &RelPath, text: &Text, tree: &Tree) -> Unit {
    let _ = tree;
    Unit::empty(path.clone(), crate::syntax::Language::Python, text.clone())
}
