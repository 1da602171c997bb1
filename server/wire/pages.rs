//! Read-only pages for editors that cannot show a text of their own: files in the user's cache folder.
//! Takes a name and a text, gives a path. Never writes into a workspace.

use std::path::PathBuf;

/// Writes a page; an older one of the same name is replaced.
pub fn write(name: &str, text: &str) -> Result<PathBuf, String> {
    let folder = folder().ok_or("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set")?;
    let cannot = |err: std::io::Error| format!("{} cannot be written: {err}", folder.display());
    std::fs::create_dir_all(&folder).map_err(cannot)?;
    let path = folder.join(name);
    let mut page = tempfile::NamedTempFile::new_in(&folder).map_err(cannot)?;
    std::io::Write::write_all(&mut page, text.as_bytes()).map_err(cannot)?;
    let mut permissions = page.as_file().metadata().map_err(cannot)?.permissions();
    permissions.set_readonly(true);
    page.as_file().set_permissions(permissions).map_err(cannot)?;
    page.persist(&path).map_err(|err| cannot(err.error))?;
    Ok(path)
}

fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?.join("pindrift"))
}
