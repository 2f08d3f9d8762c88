//! XML with places: every element knows its line, every number is checked as it is read, and what nobody read ends up in a list of notes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use stiction_body::math::Vec3;

use crate::description::{Note, NoteKind};
use crate::error::{SceneError, did_you_mean, nearest};

mod source;

pub(crate) use source::Source;

/// A parsed document that remembers what was read of it.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    source: &'a Source,
    tree: roxmltree::Document<'a>,
    seen: RefCell<Seen>,
}

/// What was read and asked for, and what there is to say.
#[derive(Debug, Default)]
struct Seen {
    /// Elements read, by node.
    elements: BTreeSet<u32>,
    /// Attributes read, by node and name.
    attributes: BTreeSet<(u32, String)>,
    /// Names of attributes that were asked for, by name of element.
    known_attributes: BTreeMap<String, BTreeSet<String>>,
    /// Names of children that were asked for, by name of element.
    known_children: BTreeMap<String, BTreeSet<String>>,
    notes: Vec<Gathered>,
    /// Where in `notes` one of the same kind, element and text is.
    index: BTreeMap<(u8, String, String), usize>,
}

/// Notes of the same kind and text about elements of the same name.
#[derive(Debug)]
struct Gathered {
    kind: NoteKind,
    first: String,
    more: usize,
    text: String,
}

/// An element of a [`Document`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a> {
    document: &'a Document<'a>,
    node: roxmltree::Node<'a, 'a>,
}

impl<'a> Document<'a> {
    /// The outermost element; it counts as read.
    pub(crate) fn root(&'a self) -> Element<'a> {
        let root = Element { document: self, node: self.tree.root_element() };
        root.mark();
        root
    }

    /// Everything noted so far, and everything that was not read: equal notes about elements of the same name are one.
    pub(crate) fn notes(&'a self) -> Vec<Note> {
        self.note_unread();
        let seen = self.seen.borrow();
        let element =
            |g: &Gathered| if g.more == 0 { g.first.clone() } else { format!("{} and {} more", g.first, g.more) };
        seen.notes.iter().map(|g| Note { kind: g.kind, element: element(g), text: g.text.clone() }).collect()
    }

    /// Notes elements and attributes that nobody asked for, and marks them as read.
    fn note_unread(&'a self) {
        for node in self.tree.root_element().descendants().filter(|n| n.is_element()) {
            let element = Element { document: self, node };
            if self.is_read(node) {
                element.note_unread_attributes();
            } else {
                element.ignore(element.unread_text());
            }
        }
    }

    fn is_read(&self, node: roxmltree::Node) -> bool {
        self.seen.borrow().elements.contains(&node.id().get())
    }
}

impl<'a> Element<'a> {
    /// Its name as written, with a prefix if it has one.
    pub(crate) fn name(&self) -> &'a str {
        let written = self.document.source.text().get(self.node.range()).and_then(|t| t.strip_prefix('<'));
        let name = written.and_then(|t| t.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next());
        name.filter(|n| !n.is_empty()).unwrap_or(self.node.tag_name().name())
    }

    /// How messages call it: `<joint name="knee">`, or `<limit> in <joint name="knee">` where it has no name.
    pub(crate) fn label(&self) -> String {
        let named =
            |n: &roxmltree::Node<'a, 'a>| n.attribute("name").map(|name| format!(" name=\"{}\"", shortened(name)));
        if let Some(name) = named(&self.node) {
            return format!("<{}{name}>", self.name());
        }
        let owner = self.node.ancestors().skip(1).find_map(|n| Some((n, named(&n)?)));
        match owner {
            Some((node, name)) => {
                format!("<{}> in <{}{name}>", self.name(), Element { document: self.document, node }.name())
            }
            None => format!("<{}>", self.name()),
        }
    }

    /// Line and column, from 1.
    pub(crate) fn place(&self) -> (usize, usize) {
        self.document.source.place(self.node.range().start)
    }

    /// An error about this element.
    pub(crate) fn error(&self, message: impl Into<String>) -> SceneError {
        self.error_at(self.label(), self.node.range().start, message.into())
    }

    /// An error about one of its attributes.
    pub(crate) fn attribute_error(&self, name: &str, message: impl Into<String>) -> SceneError {
        let start = self.find(name).map_or(self.node.range().start, |a| a.range().start);
        let label = self.label();
        let label = match label.split_once("> in <") {
            Some((own, owner)) => format!("{own} {name}> in <{owner}"),
            None => format!("{label} {name}"),
        };
        self.error_at(label, start, message.into())
    }

    fn error_at(&self, label: String, offset: usize, message: String) -> SceneError {
        let (line, column) = self.document.source.place(offset);
        self.document.source.name_file(SceneError::new(label, message).at(line, column))
    }

    /// Notes something about this element.
    pub(crate) fn note(&self, kind: NoteKind, text: impl Into<String>) {
        let text = text.into();
        let mut seen = self.document.seen.borrow_mut();
        let key = (kind as u8, self.name().to_string(), text.clone());
        if let Some(&at) = seen.index.get(&key) {
            seen.notes[at].more += 1;
            return;
        }
        let first = format!("{} (line {})", self.label(), self.place().0);
        let at = seen.notes.len();
        seen.notes.push(Gathered { kind, first, more: 0, text });
        seen.index.insert(key, at);
    }

    /// Notes that this element and all within it has no effect, and why.
    pub(crate) fn ignore(&self, why: impl Into<String>) {
        self.note(NoteKind::Ignored, why);
        self.mark_all();
    }

    /// Marks it and all within it as read, without a note.
    pub(crate) fn mark_all(&self) {
        let mut seen = self.document.seen.borrow_mut();
        for node in self.node.descendants().filter(|n| n.is_element()) {
            seen.elements.insert(node.id().get());
            seen.attributes.extend(node.attributes().map(|a| (node.id().get(), a.name().to_string())));
        }
    }

    fn mark(&self) {
        self.document.seen.borrow_mut().elements.insert(self.node.id().get());
    }

    /// The elements within it, in order; they do not count as read until asked for by name, or marked by [`Element::read`].
    pub(crate) fn children(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let document = self.document;
        self.node.children().filter(|n| n.is_element()).map(move |node| Element { document, node })
    }

    /// It and all elements within it, in order; they do not count as read.
    pub(crate) fn descendants(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let document = self.document;
        self.node.descendants().filter(|n| n.is_element()).map(move |node| Element { document, node })
    }

    /// Marks it as read (not its children or attributes), and makes its name known within its parent.
    pub(crate) fn read(&self) {
        self.mark();
        if let Some(node) = self.node.parent_element() {
            Element { document: self.document, node }.ask_child(self.name());
        }
    }

    /// The elements of that name within it, in order; they count as read.
    pub(crate) fn children_named<'n>(&self, name: &'n str) -> impl Iterator<Item = Element<'a>> + use<'a, 'n> {
        self.ask_child(name);
        self.children().filter(move |e| e.name() == name).inspect(|e| e.mark())
    }

    /// The first element of that name within it; it counts as read.
    pub(crate) fn child(&self, name: &str) -> Option<Element<'a>> {
        self.children_named(name).next()
    }

    /// The first element of that name within it.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn required_child(&self, name: &str) -> Result<Element<'a>, SceneError> {
        self.child(name).ok_or_else(|| self.error(format!("needs an element <{name}>")))
    }

    /// The text of an attribute; it counts as read.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a str> {
        let attribute = self.find(name);
        let mut seen = self.document.seen.borrow_mut();
        let known = seen.known_attributes.entry(self.name().to_string()).or_default();
        if !known.contains(name) {
            known.insert(name.to_string());
        }
        if attribute.is_some() {
            seen.attributes.insert((self.node.id().get(), name.to_string()));
        }
        attribute.map(|a| a.value())
    }

    /// The text of an attribute.
    ///
    /// # Errors
    /// If it is not there; the nearest one that is, is named.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str, SceneError> {
        self.attribute(name).ok_or_else(|| {
            let near = nearest(name, self.node.attributes().map(|a| a.name()));
            let hint = near.map_or(String::new(), |n| format!(" (found \"{n}\")"));
            self.error(format!("needs the attribute \"{name}\"{hint}"))
        })
    }

    /// All attributes as written, in order: name and text. They do not count as read.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.node.attributes().filter(|a| a.namespace().is_none()).map(|a| (a.name(), a.value()))
    }

    /// A finite number.
    ///
    /// # Errors
    /// If the text is anything else.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.numbers::<1>(name)?.map(|[x]| x))
    }

    /// A finite number that must be there.
    ///
    /// # Errors
    /// If it is not there or anything else.
    pub(crate) fn required_number(&self, name: &str) -> Result<f64, SceneError> {
        self.required(name)?;
        Ok(self.number(name)?.unwrap_or_default())
    }

    /// A number that may be infinite (`inf`, `-inf`), as limits may.
    ///
    /// # Errors
    /// If the text is anything else.
    pub(crate) fn number_or_infinity(&self, name: &str) -> Result<Option<f64>, SceneError> {
        let infinite = |t: &str| match t.trim().to_ascii_lowercase().as_str() {
            "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        };
        match self.attribute(name).and_then(infinite) {
            Some(x) => Ok(Some(x)),
            None => self.number(name),
        }
    }

    /// Exactly N finite numbers, with white space between them.
    ///
    /// # Errors
    /// If the text is anything else.
    pub(crate) fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, SceneError> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let count = list.len();
        let out = list.try_into().map_err(|_| {
            let found = shortened(self.attribute(name).unwrap_or_default());
            let expected = if N == 1 { "1 number".to_string() } else { format!("{N} numbers") };
            self.attribute_error(name, format!("expected {expected}, found {count}: \"{found}\""))
        })?;
        Ok(Some(out))
    }

    /// A vector of three finite numbers.
    ///
    /// # Errors
    /// If the text is anything else.
    pub(crate) fn vector(&self, name: &str) -> Result<Option<Vec3>, SceneError> {
        Ok(self.numbers::<3>(name)?.map(Vec3::from_array))
    }

    /// Any number of finite numbers, with white space between them.
    ///
    /// # Errors
    /// If the text is anything else.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<f64>>, SceneError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        numbers_in(text).map(Some).map_err(|message| self.attribute_error(name, message))
    }

    /// The text within it, without white space at its ends.
    pub(crate) fn content(&self) -> &'a str {
        self.node.text().unwrap_or_default().trim()
    }

    fn find(&self, name: &str) -> Option<roxmltree::Attribute<'a, 'a>> {
        self.node.attributes().find(|a| a.namespace().is_none() && a.name() == name)
    }

    fn ask_child(&self, name: &str) {
        let mut seen = self.document.seen.borrow_mut();
        let known = seen.known_children.entry(self.name().to_string()).or_default();
        if !known.contains(name) {
            known.insert(name.to_string());
        }
    }

    fn note_unread_attributes(&self) {
        for attribute in self.node.attributes() {
            let key = (self.node.id().get(), attribute.name().to_string());
            if !self.document.seen.borrow_mut().attributes.insert(key) {
                continue;
            }
            let name = attribute.name();
            let hint = {
                let seen = self.document.seen.borrow();
                hint(name, seen.known_attributes.get(self.name()))
            };
            self.note(NoteKind::Ignored, format!("the attribute \"{name}\" is not read{hint}"));
        }
    }

    fn unread_text(&self) -> String {
        let parent = self.node.parent_element().map(|node| Element { document: self.document, node });
        let seen = self.document.seen.borrow();
        let known = parent.and_then(|p| seen.known_children.get(p.name()));
        if known.is_some_and(|k| k.contains(self.name())) {
            return "is not read: there is one before it, or it has no place here".into();
        }
        format!("is not read{}", hint(self.name(), known))
    }
}

fn hint(name: &str, known: Option<&BTreeSet<String>>) -> String {
    did_you_mean(name, known.into_iter().flatten().map(String::as_str))
}

/// The finite numbers in a text, with white space between them.
///
/// # Errors
/// Naming the first word that is something else.
pub(crate) fn numbers_in(text: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("expected finite numbers, found \"{}\"", shortened(word))),
    };
    text.split_ascii_whitespace().map(number).collect()
}

/// A text cut to a length that fits a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests;
