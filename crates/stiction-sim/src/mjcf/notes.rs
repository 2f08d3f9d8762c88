//! What is left out or changed, gathered: equal notes about many elements are one.

use std::collections::BTreeMap;
use std::path::Path;

use super::tree::Element;
use crate::description::{Description, NoteKind};

/// At most this many names stand in one note.
const NAMES: usize = 24;

/// Notes by kind and text.
#[derive(Debug, Default)]
pub(super) struct Notes {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    kind: NoteKind,
    text: String,
    /// Where the first stands.
    first: String,
    /// What it is about, and how often.
    about: Vec<(String, usize)>,
    /// Where each of these stands in the list.
    index: BTreeMap<String, usize>,
}

impl Notes {
    /// Notes an element.
    pub(super) fn element(&mut self, kind: NoteKind, element: &Element, text: impl Into<String>) {
        self.add(kind, element, element.label(), text.into());
    }

    /// Notes elements of a name without telling them apart.
    pub(super) fn tag(&mut self, kind: NoteKind, element: &Element, text: impl Into<String>) {
        self.add(kind, element, format!("<{}>", element.name), text.into());
    }

    /// Notes an attribute of elements of a name without telling them apart.
    pub(super) fn attribute(&mut self, kind: NoteKind, element: &Element, name: &str, text: impl Into<String>) {
        self.add(kind, element, format!("{name} of <{}>", element.name), text.into());
    }

    fn add(&mut self, kind: NoteKind, element: &Element, about: String, text: String) {
        let group = match self.groups.iter_mut().position(|g| g.kind == kind && g.text == text) {
            Some(i) => &mut self.groups[i],
            None => {
                self.groups.push(Group { kind, text, first: element.place(), about: vec![], index: BTreeMap::new() });
                let last = self.groups.len() - 1;
                &mut self.groups[last]
            }
        };
        match group.index.get(&about) {
            Some(&at) => group.about[at].1 += 1,
            None => {
                group.index.insert(about.clone(), group.about.len());
                group.about.push((about, 1));
            }
        }
    }

    /// Writes all notes into a description.
    pub(super) fn write(self, description: &mut Description) {
        for group in self.groups {
            let times = |(about, count): &(String, usize)| match count {
                1 => about.clone(),
                _ => format!("{about} ×{count}"),
            };
            let mut element = group.about.iter().take(NAMES).map(times).collect::<Vec<_>>().join(", ");
            if group.about.len() > NAMES {
                element += &format!(" and {} more", group.about.len() - NAMES);
            }
            let total: usize = group.about.iter().map(|(_, n)| n).sum();
            element += &if total == 1 { format!(" ({})", group.first) } else { format!(" (first: {})", group.first) };
            description.note(group.kind, element, group.text);
        }
    }
}

/// The end of a path, as messages show it.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}
