//! Files that the user, a scene or a recording names.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read: 2 GiB.
const MOST_OF_FILE: u64 = 1 << 31;
/// The most that is read where the size is not known beforehand, of a pipe or a device that has no end: 256 MiB.
const MOST_OF_STREAM: u64 = 1 << 28;

/// The contents of a file.
///
/// # Errors
/// If it cannot be read, or there is more of it than memory should have room for.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let most = if file.metadata()?.is_file() { MOST_OF_FILE } else { MOST_OF_STREAM };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {} MiB, the most that is read", most >> 20)));
    }
    Ok(bytes)
}

/// The contents of a file of text.
///
/// # Errors
/// As [`read`], and if they are not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read(path)?).map_err(not_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_has_no_end_is_refused() {
        let message = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(message.contains("larger than 256 MiB"), "{message}");
    }
}
