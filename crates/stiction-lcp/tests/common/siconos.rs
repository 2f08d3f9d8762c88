//! Where the problem files of Siconos are, if they are there.

use std::path::{Path, PathBuf};

/// The folder named by `STICTION_SICONOS`, else `../shared/data/siconos` beside the workspace; `None`, with a word on standard
/// error, where there is none. The files belong to Siconos and are not part of this repository.
pub fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/siconos");
    let folder = std::env::var_os("STICTION_SICONOS").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no problem files of Siconos at {}; set STICTION_SICONOS", folder.display());
    None
}

/// The files of one of its folders, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}
