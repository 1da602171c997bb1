//! Digest goldens: the file holds the digest of what the code produced. The text behind the recorded digest
//! is known where a file of the same stem holds exactly the bytes that hash to it. Accepting needs the
//! texts on both sides: nobody can review two hashes.

use super::{Amended, Artefact, Baseline, Content, Framework, Orphan, Pin, Refusal, Step, golden};
use crate::pins::{Project, Site};
use crate::places::RelPath;
use crate::shelf::Read;

pub struct Digest;

impl Framework for Digest {
    fn id(&self) -> &'static str {
        "digest"
    }

    fn pins(&self, project: &Project, site: &Site) -> Vec<Pin> {
        golden::compared(project, site, self.id(), true)
    }

    fn baseline(&self, pin: &Pin, project: &Project) -> Baseline {
        match golden::baseline(pin, project) {
            Baseline::Present(mut recorded) => {
                if let Content::Text(digest) = &recorded.content {
                    recorded.preimage = pin
                        .oracle
                        .path
                        .as_ref()
                        .and_then(|path| text_beside(pin, path, digest, project))
                        .or_else(|| text_of_a_run(pin, digest, project));
                }
                Baseline::Present(recorded)
            }
            other => other,
        }
    }

    fn artefacts(&self, pin: &Pin, project: &Project) -> Vec<Artefact> {
        golden::artefacts(pin, project)
    }

    fn preimage(&self, pin: &Pin, artefact: &Artefact, project: &Project) -> Option<String> {
        match &artefact.content {
            Ok(Content::Text(digest)) => text_beside(pin, &artefact.path, digest, project),
            _ => None,
        }
    }

    fn amend(
        &self,
        pin: &Pin,
        observed: &Content,
        artefact: Option<&Artefact>,
        project: &Project,
    ) -> Result<Amended, Refusal> {
        if let (Baseline::Present(recorded), Some(path)) = (self.baseline(pin, project), &pin.oracle.path)
            && recorded.preimage.is_none()
        {
            return Err(Refusal(format!(
                "{path} holds a digest and the text behind it is not known, so nobody can see what changes. Keep that \
                 text beside it as {}.txt (exactly the bytes that were hashed), or let the project's own updater write \
                 the digest, then explain the change.",
                path.stem()
            )));
        }
        golden::amend(pin, observed, artefact, project)
    }

    fn orphans(&self, _pins: &[Pin], _project: &Project) -> Vec<Orphan> {
        // Those of golden files look at the folders of both.
        Vec::new()
    }
}

/// Folder of `.pindrift/observed` in which runs keep the texts behind digests, by digest.
pub const TEXTS: &str = "texts";

/// Text that an earlier run hashed to the digest.
fn text_of_a_run(pin: &Pin, digest: &str, project: &Project) -> Option<String> {
    let digest = digest.trim().to_ascii_lowercase();
    if digest.len() > 128 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let Read::Bytes(bytes) = project.shelf.disk(&RelPath::new(&format!(".pindrift/observed/{TEXTS}/{digest}"))?) else {
        return None;
    };
    hashes_to(pin, &bytes, &digest).then(|| String::from_utf8(bytes.to_vec()).ok()).flatten()
}

/// Text of a file beside `path`, with the same stem, whose bytes hash to the digest.
fn text_beside(pin: &Pin, path: &RelPath, digest: &str, project: &Project) -> Option<String> {
    siblings(path, project).find_map(|sibling| {
        let Read::Bytes(bytes) = project.shelf.disk(&sibling) else { return None };
        hashes_to(pin, &bytes, digest).then(|| String::from_utf8(bytes.to_vec()).ok()).flatten()
    })
}

/// Whether `text` is what was hashed to `digest`; what cannot be computed here is not known to be.
pub fn is_behind(pin: &Pin, digest: &Content, text: &str) -> bool {
    matches!(digest, Content::Text(digest) if hashes_to(pin, text.as_bytes(), digest))
}

fn hashes_to(pin: &Pin, bytes: &[u8], digest: &str) -> bool {
    let algorithm = pin.oracle.steps.iter().find_map(|step| match step {
        Step::Digest(algorithm) => Some(algorithm.as_str()),
        _ => None,
    });
    algorithm.and_then(|name| hashed(name, bytes)).is_some_and(|hash| hash.eq_ignore_ascii_case(digest.trim()))
}

/// Listed files in the same folder with the same stem.
pub(super) fn siblings<'a>(path: &'a RelPath, project: &'a Project) -> impl Iterator<Item = RelPath> + 'a {
    let folder = path.parent();
    let stem = path.stem();
    let fits = move |other: &RelPath| other != path && (other.stem() == stem || other.name() == stem);
    let below: Vec<RelPath> = project
        .shelf
        .below(&folder)
        .filter(|other| other.parent() == folder && fits(other))
        .take(20)
        .cloned()
        .collect();
    below.into_iter()
}

/// Hexadecimal digest; `None` for an algorithm that is not computed here.
fn hashed(algorithm: &str, bytes: &[u8]) -> Option<String> {
    use sha2::Digest as _;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(match algorithm {
        "sha1" => hex(&sha1::Sha1::digest(bytes)),
        "sha224" => hex(&sha2::Sha224::digest(bytes)),
        "sha256" => hex(&sha2::Sha256::digest(bytes)),
        "sha384" => hex(&sha2::Sha384::digest(bytes)),
        "sha512" => hex(&sha2::Sha512::digest(bytes)),
        _ => return None,
    })
}
