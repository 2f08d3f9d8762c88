//! What is wrong with a scene, a robot file or a recording, and where.

use std::fmt;
use std::path::PathBuf;

use stiction_lcp::InputError;

/// One thing wrong with a file or a scene, with its place. Printed as `file:line:column: element: message`, as far as these are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SceneError {
    /// The file.
    pub file: Option<PathBuf>,
    /// Line and column, from 1.
    pub at: Option<(usize, usize)>,
    /// The element: a key of a scene (`bodies.block1.mass`), an element of XML (`<joint name="knee">`).
    pub element: String,
    /// What is wrong, what was found and what was expected.
    pub message: String,
}

impl SceneError {
    /// An error in an element.
    pub fn new(element: impl Into<String>, message: impl Into<String>) -> Self {
        Self { element: element.into(), message: message.into(), ..Self::default() }
    }

    /// The same error in a file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file.get_or_insert(file.into());
        self
    }

    /// The same error at a line and column, from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.at.get_or_insert((line, column));
        self
    }

    /// An [`InputError`] of an element.
    pub fn input(element: impl Into<String>, error: &InputError) -> Self {
        Self::new(element, error.to_string())
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.at) {
            (Some(file), Some((line, column))) => write!(f, "{}:{line}:{column}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some((line, column))) => write!(f, "{line}:{column}: ")?,
            (None, None) => {}
        }
        if !self.element.is_empty() {
            write!(f, "{}: ", self.element)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SceneError {}

/// The known name closest to `name`, for "did you mean": at most a third of its letters differ.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = known.into_iter().map(|k| (edit_distance(name, k), k)).min_by_key(|(d, _)| *d)?;
    (best.0 <= name.chars().count().div_ceil(3)).then_some(best.1)
}

/// " (did you mean …?)", where a known name is near; else nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, known).filter(|near| *near != name);
    near.map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"))
}

/// Letters to insert, delete or replace to get from one word to the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_printed_as_far_as_known() {
        let error = SceneError::new("bodies.a.mass", "must be above 0, found -1");
        assert_eq!(error.to_string(), "bodies.a.mass: must be above 0, found -1");
        let error = error.at(3, 8).in_file("x.toml");
        assert_eq!(error.to_string(), "x.toml:3:8: bodies.a.mass: must be above 0, found -1");
        assert_eq!(error.in_file("y.toml").file.unwrap().to_str(), Some("x.toml"));
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("gravty", ["gravity", "bodies"]), Some("gravity"));
        assert_eq!(nearest("frictoin", ["friction", "mu"]), Some("friction"));
        assert_eq!(nearest("xyz", ["friction", "mass"]), None);
        assert_eq!(nearest("a", []), None);
    }
}
