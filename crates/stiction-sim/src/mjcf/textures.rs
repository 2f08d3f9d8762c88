//! Materials: their colours and textures. Nothing here is an error but numbers that are none: what
//! cannot be read is not drawn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::attributes::Attributes;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::tree::{Element, portable};
use crate::error::SceneError;
use crate::looks::{self, Rgba};
use crate::meshes::{Paint, Texture};

/// Files of a texture, the first that is there counts: one for all of it, or one per side of a cube.
pub(super) const FILES: [&str; 7] = ["file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"];

/// A material as it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Material {
    /// The colour of a surface without places in a texture.
    pub(super) rgba: Rgba,
    /// What colours meshes that have such places.
    pub(super) paint: Option<Paint>,
}

/// What is known of a texture.
#[derive(Clone)]
enum Source {
    /// The mean of the two colours that the file describes it by.
    Mean(Rgba),
    /// A file, and whether it is flat, not the sides of a cube.
    File(PathBuf, bool),
}

/// All materials, by name. Files are read of textures that a material has.
pub(super) fn materials<'a>(
    root: &'a Element,
    defaults: &Defaults<'a>,
    compiler: &Compiler,
    directory: &Path,
) -> Result<BTreeMap<String, Material>, SceneError> {
    let assets = || root.all("asset").flat_map(|s| &s.children);
    let folder = texture_folder(root, directory);
    let mut sources = BTreeMap::new();
    for element in assets().filter(|e| e.name == "texture") {
        if let Some((name, source)) = source(element, compiler, &folder)? {
            sources.insert(name, source);
        }
    }
    let (mut read, mut out) = (BTreeMap::new(), BTreeMap::new());
    for element in assets().filter(|e| e.name == "material") {
        let a = defaults.resolve(element, "material", None)?;
        let own = color(&a, "rgba")?.unwrap_or([1.0; 4]);
        let layer = element.children.iter().find(|c| c.name == "layer" && c.text("role") == Some("rgb"));
        let name = a.text("texture").or_else(|| layer.and_then(|l| l.text("texture")));
        let material = match name.and_then(|name| sources.get(name)) {
            None => Material { rgba: own, paint: None },
            Some(Source::Mean(mean)) => Material { rgba: product(own, *mean), paint: None },
            Some(Source::File(path, flat)) => {
                let texture: &Option<Rc<Texture>> = read.entry(path.clone()).or_insert_with(|| texture(path));
                let mean = texture.as_ref().map_or([1.0; 4], |t| [t.mean[0], t.mean[1], t.mean[2], 1.0]);
                let paint = texture.clone().filter(|_| *flat);
                let paint = paint.map(|texture| Paint { rgba: own, texture: Some(texture), linear: false });
                Material { rgba: product(own, mean), paint }
            }
        };
        if let Some(name) = element.text("name") {
            out.insert(name.to_string(), material);
        }
    }
    Ok(out)
}

fn color(a: &Attributes, name: &str) -> Result<Option<Rgba>, SceneError> {
    Ok(a.list(name)?.as_deref().and_then(looks::color))
}

fn product(a: Rgba, b: Rgba) -> Rgba {
    [0, 1, 2, 3].map(|i| a[i] * b[i])
}

/// The folder of the textures.
pub(super) fn texture_folder(root: &Element, directory: &Path) -> PathBuf {
    let sections: Vec<&Element> = root.all("compiler").collect();
    let a = Attributes::sections(sections.iter().copied());
    match a.text("texturedir").or(a.text("assetdir")) {
        Some(own) if !own.is_empty() => directory.join(portable(own)),
        _ => directory.to_path_buf(),
    }
}

/// A texture's name and where it comes from.
fn source<'a>(
    element: &'a Element,
    compiler: &Compiler,
    folder: &Path,
) -> Result<Option<(&'a str, Source)>, SceneError> {
    let a = Attributes::of(element);
    let file = FILES.iter().find_map(|name| element.text(name));
    let stem = || Path::new(file?).file_stem()?.to_str();
    let Some(name) = element.text("name").or_else(stem) else { return Ok(None) };
    if let Some(kind) = element.text("builtin").filter(|b| *b != "none") {
        let first = color(&a, "rgb1")?.unwrap_or([0.8, 0.8, 0.8, 1.0]);
        let second = color(&a, "rgb2")?.unwrap_or([0.5, 0.5, 0.5, 1.0]);
        let second = if kind == "flat" { first } else { second };
        return Ok(Some((name, Source::Mean([0, 1, 2, 3].map(|i| 0.5 * (first[i] + second[i]))))));
    }
    let flat = element.text("type") == Some("2d");
    Ok(file.map(|file| {
        let mut path = PathBuf::from(portable(file));
        if compiler.strippath {
            path = path.file_name().map(PathBuf::from).unwrap_or(path);
        }
        (name, Source::File(folder.join(path), flat))
    }))
}

fn texture(path: &Path) -> Option<Rc<Texture>> {
    let bytes = crate::files::read(path).ok()?;
    Texture::read(&bytes).ok().map(Rc::new)
}
