//! The elements of a model with all included files put in: a tree that knows where each element and attribute stands.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::SceneError;
use crate::xml::{Source, shortened};

/// Elements may be nested this deep; recursion is bounded by it.
const DEPTH: usize = 200;

/// A model may have this many elements, replicas included: enough for any robot, too few to fill the memory.
pub(super) const ELEMENTS: usize = 200_000;

/// An attribute and where it starts.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: String,
    offset: usize,
}

/// An element with its attributes and children.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<Element>,
    source: Rc<Source>,
    offset: usize,
}

impl Element {
    /// An element that stands where `at` does, without attributes or children.
    pub(super) fn synthetic(name: &str, at: &Self) -> Self {
        let (source, offset) = (at.source.clone(), at.offset);
        Self { name: name.into(), attributes: vec![], children: vec![], source, offset }
    }

    /// The text of an attribute.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|a| a.name == name).map(|a| a.value.as_str())
    }

    /// Sets the text of an attribute, which then stands where it stood or where the element does.
    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.attributes.iter_mut().find(|a| a.name == name) {
            Some(attribute) => attribute.value = value,
            None => self.attributes.push(Attribute { name: name.into(), value, offset: self.offset }),
        }
    }

    /// Takes an attribute away.
    pub(super) fn remove(&mut self, name: &str) {
        self.attributes.retain(|a| a.name != name);
    }

    /// The children of that name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// How messages call it: `<joint name="knee">`.
    pub(super) fn label(&self) -> String {
        match self.text("name") {
            Some(name) => format!("<{} name=\"{}\">", self.name, shortened(name)),
            None => format!("<{}>", self.name),
        }
    }

    /// The file that it stands in, if it is known.
    pub(super) fn file(&self) -> Option<&Path> {
        self.source.file()
    }

    /// Its place as notes print it: `file.xml:12`, or `line 12`.
    pub(super) fn place(&self) -> String {
        let line = self.source.place(self.offset).0;
        match self.source.file().and_then(Path::file_name) {
            Some(file) => format!("{}:{line}", file.to_string_lossy()),
            None => format!("line {line}"),
        }
    }

    /// An error about this element.
    pub(super) fn error(&self, message: impl Into<String>) -> SceneError {
        self.error_at(self.label(), self.offset, message.into())
    }

    /// An error about one of its attributes.
    pub(super) fn attribute_error(&self, name: &str, message: impl Into<String>) -> SceneError {
        let offset = self.attributes.iter().find(|a| a.name == name).map_or(self.offset, |a| a.offset);
        self.error_at(format!("{} {name}", self.label()), offset, message.into())
    }

    fn error_at(&self, label: String, offset: usize, message: String) -> SceneError {
        let (line, column) = self.source.place(offset);
        let error = SceneError::new(label, message).at(line, column);
        match self.source.file() {
            Some(file) => error.in_file(file),
            None => error,
        }
    }

    /// The text of an attribute that must be there.
    pub(super) fn required(&self, name: &str) -> Result<&str, SceneError> {
        self.text(name).ok_or_else(|| self.error(format!("needs the attribute \"{name}\"")))
    }

    /// Number of elements in it, itself included.
    pub(super) fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }
}

/// Reads a main file and all it includes.
pub(super) fn read(path: &Path) -> Result<Element, SceneError> {
    let source = Rc::new(Source::read(path)?);
    expand(source, path.parent().unwrap_or(Path::new("")), vec![identity(path)])
}

/// Reads a text and the files it includes, relative to `directory`.
pub(super) fn parse(text: &str, directory: &Path) -> Result<Element, SceneError> {
    expand(Rc::new(Source::new(text, None)), directory, vec![])
}

fn expand(source: Rc<Source>, directory: &Path, files: Vec<PathBuf>) -> Result<Element, SceneError> {
    let mut includes = Includes { directory, files, elements: 0 };
    includes.document(source, 0)
}

/// What tells files apart, however they are named.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Puts included files where they are included.
struct Includes<'a> {
    /// Of the main file.
    directory: &'a Path,
    /// Files read so far: each may be read once.
    files: Vec<PathBuf>,
    elements: usize,
}

impl Includes<'_> {
    fn document(&mut self, source: Rc<Source>, depth: usize) -> Result<Element, SceneError> {
        source.parse()?;
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let tree = roxmltree::Document::parse_with_options(source.text(), options)
            .map_err(|e| SceneError::new("XML", e.to_string()))?;
        self.element(tree.root_element(), &source, depth)
    }

    fn element(&mut self, node: roxmltree::Node, source: &Rc<Source>, depth: usize) -> Result<Element, SceneError> {
        let attributes = node.attributes().filter(|a| a.namespace().is_none());
        let attributes = attributes
            .map(|a| Attribute { name: a.name().into(), value: a.value().into(), offset: a.range().start })
            .collect();
        let (name, offset) = (node.tag_name().name().to_string(), node.range().start);
        let mut out = Element { name, attributes, children: vec![], source: source.clone(), offset };
        self.elements += 1;
        if depth > DEPTH || self.elements > ELEMENTS {
            return Err(out.error(format!("more than {DEPTH} elements within each other, or {ELEMENTS} in all")));
        }
        for child in node.children().filter(roxmltree::Node::is_element) {
            let child = self.element(child, source, depth + 1)?;
            match child.name.as_str() {
                "include" => out.children.extend(self.include(&child, depth + 1)?),
                _ => out.children.push(child),
            }
        }
        Ok(out)
    }

    /// The elements of an included file: it is looked for beside the main file, then beside the file that includes it.
    fn include(&mut self, element: &Element, depth: usize) -> Result<Vec<Element>, SceneError> {
        let name = &portable(element.required("file")?);
        let own = element.source.file().and_then(Path::parent).map(|d| d.join(name));
        let path = self.directory.join(name);
        let path = if path.is_file() { path } else { own.filter(|p| p.is_file()).unwrap_or(path) };
        let id = identity(&path);
        if self.files.contains(&id) {
            return Err(element.attribute_error("file", format!("\"{}\" is already included", path.display())));
        }
        self.files.push(id);
        let source = Source::read(&path).map_err(|e| element.attribute_error("file", e.to_string()))?;
        Ok(self.document(Rc::new(source), depth)?.children)
    }
}

/// A file's name with the slashes of this system: files written elsewhere may have others.
pub(super) fn portable(name: &str) -> String {
    if cfg!(windows) { name.to_string() } else { name.replace('\\', "/") }
}
