//! `<attach>`: models within models. The bodies of another file take the place of the element, with a prefix to all names; what refers to them comes
//! along, and the rest of that file does not.
//!
//! Each file keeps its own `<compiler>` and default classes: every element of it says which compiler it is read with.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::notes::Notes;
use super::replicate::{self, kind_of, referred};
use super::schema;
use super::textures::{self, texture_folder};
use super::tree::{self, ELEMENTS, Element, portable};
use crate::description::NoteKind;
use crate::error::{SceneError, did_you_mean};

/// Holds the number of the compiler that an element is read with. No file can have such an attribute.
pub(super) const COMPILER: &str = "\0compiler";

/// Models may be nested this deep.
const DEPTH: usize = 16;

/// A model that others are made with.
struct Part {
    name: String,
    path: PathBuf,
    root: Element,
}

/// Replaces every `<attach>` of a model, and every `<replicate>`.
pub(super) fn expand(
    root: &mut Element,
    directory: &Path,
    compiler: &mut Compiler,
    notes: &mut Notes,
) -> Result<(), SceneError> {
    let mut left = ELEMENTS;
    expand_within(root, directory, compiler, &mut left, DEPTH, notes)
}

fn expand_within(
    root: &mut Element,
    directory: &Path,
    compiler: &mut Compiler,
    left: &mut usize,
    depth: usize,
    notes: &mut Notes,
) -> Result<(), SceneError> {
    let mut parts = vec![];
    for element in root.all("asset").flat_map(|s| s.all("model")) {
        let file = portable(element.required("file")?);
        let beside = element.file().and_then(Path::parent).map(|folder| folder.join(&file));
        let path = Some(directory.join(&file)).filter(|p| p.is_file()).or(beside).unwrap_or(directory.join(&file));
        let own = tree::read(&path).map_err(|e| element.attribute_error("file", e.to_string()))?;
        if own.name != "mujoco" {
            return Err(own.error("expected <mujoco>"));
        }
        let stem = || path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let name = element.text("name").or(own.text("model")).map_or_else(stem, str::to_string);
        parts.push(Part { name, path, root: own });
    }
    let mut added = vec![];
    for world in root.children.iter_mut().filter(|c| c.name == "worldbody") {
        attach_within(world, &parts, compiler, left, depth, notes, &mut added)?;
    }
    root.children.extend(added);
    replicate::expand(root, compiler, notes)
}

/// Replaces the `<attach>` elements in an element; sections that come along go to `added`.
fn attach_within(
    parent: &mut Element,
    parts: &[Part],
    compiler: &mut Compiler,
    left: &mut usize,
    depth: usize,
    notes: &mut Notes,
    added: &mut Vec<Element>,
) -> Result<(), SceneError> {
    for child in &mut parent.children {
        if child.name == "attach" {
            *child = attached(child, parts, compiler, left, depth, notes, added)?;
        } else {
            attach_within(child, parts, compiler, left, depth, notes, added)?;
        }
    }
    Ok(())
}

/// What stands in place of an `<attach>`: a frame with the bodies.
fn attached(
    element: &Element,
    parts: &[Part],
    compiler: &mut Compiler,
    left: &mut usize,
    depth: usize,
    notes: &mut Notes,
    added: &mut Vec<Element>,
) -> Result<Element, SceneError> {
    schema::audit_attach(element, notes);
    let name = element.required("model")?;
    let part = parts.iter().find(|p| p.name == name).ok_or_else(|| {
        let near = did_you_mean(name, parts.iter().map(|p| p.name.as_str()));
        element.attribute_error("model", format!("there is no model \"{name}\" among the assets{near}"))
    })?;
    if depth == 0 {
        return Err(element.error(format!("more than {DEPTH} models within each other")));
    }
    if part.root.size() > *left {
        return Err(element.error(format!("makes more than {ELEMENTS} elements")));
    }
    *left -= part.root.size();
    let folder = part.path.parent().unwrap_or(Path::new("")).to_path_buf();
    let (mut root, mut own) = (part.root.clone(), Compiler::read(&part.root, notes)?);
    expand_within(&mut root, &folder, &mut own, left, depth - 1, notes)?;
    // Compilers of models within this one come before its own.
    let first = compiler.attached.len();
    let number = first + own.attached.len();
    compiler.attached.append(&mut own.attached);
    compiler.attached.push(Compiler { directory: Some(folder), ..own });
    let prefix = element.text("prefix").unwrap_or_default();
    find_textures(&mut root, compiler.attached[number].directory.as_deref().unwrap_or(Path::new("")));
    mark(&mut root, prefix, first, number);

    let main = format!("{prefix}{MAIN}");
    let mut frame = Element::synthetic("frame", element);
    frame.set("childclass", main.clone());
    let worlds = || root.all("worldbody");
    match element.text("body") {
        None => frame.children = worlds().flat_map(|w| w.children.iter().cloned()).collect(),
        Some(body) => {
            let wanted = format!("{prefix}{body}");
            let (found, class) = worlds().find_map(|w| find_body(w, &wanted, &main)).ok_or_else(|| {
                element.attribute_error("body", format!("there is no body \"{body}\" in {}", part.path.display()))
            })?;
            frame.set("childclass", class);
            frame.children.push(found);
        }
    }
    if let Some(childclass) = worlds().find_map(|w| w.text("childclass")).filter(|_| element.text("body").is_none()) {
        frame.set("childclass", childclass.to_string());
    }
    let mut names = BTreeSet::new();
    gather(&frame, &mut names);
    let mut outer = Element::synthetic("default", element);
    outer.set("class", main.clone());
    outer.set(COMPILER, number.to_string());
    for section in root.children {
        match section.name.as_str() {
            // Those of models within this one have a class of their own.
            "default" => match section.text(COMPILER) {
                Some(_) => added.push(section),
                None => outer.children.extend(section.children),
            },
            "asset" => added.push(with_class(section, &main)),
            "tendon" | "contact" | "equality" | "actuator" | "sensor" => {
                let mut section = with_class(section, &main);
                let all = std::mem::take(&mut section.children).into_iter();
                let (kept, left_out): (Vec<Element>, Vec<Element>) = all.partition(|c| is_whole(c, &names));
                section.children = kept;
                section.children.iter().for_each(|c| gather_one(c, &mut names));
                for element in &left_out {
                    notes.tag(NoteKind::Ignored, element, "refers to what is not attached, and so is not either");
                }
                added.push(section);
            }
            "keyframe" => section.all("key").for_each(|key| {
                notes.element(NoteKind::NotYet, key, "keyframes of models that are attached are not used");
            }),
            "extension" | "deformable" => added.push(section),
            // Options, sizes and looks are those of the outermost model, as in MuJoCo.
            _ => {}
        }
    }
    added.insert(0, outer);
    Ok(frame)
}

/// The outermost class of an attached model, behind its prefix.
const MAIN: &str = "main";

/// Gives the files of textures whole paths: the outermost model has a folder of its own for them.
fn find_textures(root: &mut Element, folder: &Path) {
    let folder = texture_folder(root, folder);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let assets = root.children.iter_mut().filter(|c| c.name == "asset").flat_map(|s| &mut s.children);
    for texture in assets.filter(|c| c.name == "texture" && c.text(COMPILER).is_none()) {
        for file in textures::FILES {
            if let Some(path) = texture.text(file).map(|f| folder.join(portable(f)).to_string_lossy().into_owned()) {
                texture.set(file, path);
            }
        }
    }
}

/// Puts a prefix to all names of a model and to what refers to them, and the number of its compiler to all elements; those of models within it are
/// counted from `first`.
fn mark(root: &mut Element, prefix: &str, first: usize, number: usize) {
    for section in &mut root.children {
        let attached_default = section.name == "default" && section.text(COMPILER).is_some();
        mark_element(section, prefix, first, number);
        // What was marked in this pass is not an attached section.
        if section.name == "default" && !attached_default {
            section.remove(COMPILER);
        }
    }
}

fn mark_element(element: &mut Element, prefix: &str, first: usize, number: usize) {
    for attribute in &mut element.attributes {
        let is_name = match attribute.name.as_str() {
            "name" => !attribute.value.is_empty(),
            "class" | "childclass" | "mesh" | "hfield" | "material" | "texture" | "target" | "actuator" | "objname"
            | "refname" | "camera" => true,
            other => referred(other).is_some(),
        };
        if is_name && attribute.value != "world" {
            attribute.value.insert_str(0, prefix);
        }
    }
    // A file gives an asset its name.
    if matches!(element.name.as_str(), "mesh" | "hfield" | "texture") && element.text("name").is_none() {
        let stem =
            element.text("file").and_then(|f| Path::new(f).file_stem().map(|s| s.to_string_lossy().into_owned()));
        if let Some(stem) = stem {
            element.set("name", format!("{prefix}{stem}"));
        }
    }
    let own = element.text(COMPILER).and_then(|n| n.parse::<usize>().ok()).map_or(number, |n| first + n);
    element.set(COMPILER, own.to_string());
    // Its replicas are done with.
    element.remove(replicate::ORIGINAL);
    element.children.iter_mut().for_each(|c| mark_element(c, prefix, first, number));
}

/// Elements of a section that name no class have the outermost one of their model.
fn with_class(mut section: Element, main: &str) -> Element {
    for child in &mut section.children {
        if child.text("class").is_none() {
            child.set("class", main.to_string());
        }
    }
    section
}

/// A body and the class that its elements have by default.
fn find_body(parent: &Element, name: &str, class: &str) -> Option<(Element, String)> {
    let class = parent.text("childclass").unwrap_or(class);
    parent.children.iter().find_map(|child| match child.name.as_str() {
        "body" if child.text("name") == Some(name) => Some((child.clone(), class.to_string())),
        "body" | "frame" => find_body(child, name, class),
        _ => None,
    })
}

type Names = BTreeSet<(&'static str, String)>;

fn gather(element: &Element, names: &mut Names) {
    gather_one(element, names);
    element.children.iter().for_each(|c| gather(c, names));
}

fn gather_one(element: &Element, names: &mut Names) {
    if let (Some(kind), Some(name)) = (kind_of(element), element.text("name")) {
        names.insert((kind, name.to_string()));
    }
}

/// True if all that an element refers to is attached.
fn is_whole(element: &Element, names: &Names) -> bool {
    let is_there = |(attribute, value): (&str, &str)| match attribute {
        _ if value == "world" => true,
        "objname" | "refname" => ["body", "joint", "geom", "site"].iter().any(|k| names.contains(&(*k, value.into()))),
        other => referred(other).is_none_or(|kind| names.contains(&(kind, value.to_string()))),
    };
    let mut own = element.attributes.iter().map(|a| (a.name.as_str(), a.value.as_str()));
    own.all(is_there) && element.children.iter().all(|c| is_whole(c, names))
}

impl Compiler {
    /// The compiler that an element is read with.
    pub(super) fn at(&self, a: &Attributes) -> &Self {
        let number = a.text(COMPILER).and_then(|n| n.parse::<usize>().ok());
        number.and_then(|n| self.attached.get(n)).unwrap_or(self)
    }
}
