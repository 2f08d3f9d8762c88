//! Files, models within models, and the frames that poses are relative to.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use stiction_body::math::{Pose, Quat, Vec3};

use super::{is_true, turned};
use crate::error::{SceneError, did_you_mean};
use crate::urdf::{Paths, UrdfOptions};
use crate::xml::{Element, Source, numbers_in};

/// Models may be nested, and frames relative to each other, this deep.
pub(super) const DEPTH: usize = 64;

/// Files that a model may include, all in all.
const MOST_FILES: usize = 1000;

/// A file: its text, its folder.
type File = (Source, PathBuf);

/// Numbers of the files that `<include>` elements name: by the number of the file they stand in, and their `<uri>`.
type Includes = BTreeMap<(usize, String), usize>;

/// The file itself and all that are included.
pub(super) fn gather(
    source: Source,
    folder: &Path,
    options: &UrdfOptions,
) -> Result<(Vec<File>, Includes), SceneError> {
    let (mut out, mut seen, mut includes) = (vec![], BTreeMap::new(), Includes::new());
    let mut left = VecDeque::from([(source, folder.to_path_buf())]);
    while let Some((source, folder)) = left.pop_front() {
        let (document, paths) = (source.parse()?, Paths::new(&folder, options));
        for include in document.root().descendants().filter(|e| e.name() == "include") {
            // Elements of other formats may have the same name.
            let Some(uri) = include.child("uri") else { continue };
            let of_uri = (out.len(), uri.content().to_string());
            if includes.contains_key(&of_uri) {
                continue;
            }
            let path = find_model(uri, &paths)?;
            let next = 1 + seen.len();
            let number = *seen.entry(path.clone()).or_insert(next);
            includes.insert(of_uri, number);
            if number == next {
                if next > MOST_FILES {
                    return Err(uri.error(format!("more than {MOST_FILES} files")));
                }
                let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
                left.push_back((Source::read(&path)?, folder));
            }
        }
        drop(document);
        out.push((source, folder));
    }
    Ok((out, includes))
}

/// The file of a model that an `<include>` names.
fn find_model(uri: Element, paths: &Paths) -> Result<PathBuf, SceneError> {
    let name = uri.content().trim_end_matches('/');
    if name.ends_with(".sdf") || name.ends_with(".world") {
        return paths.find(name).map(|(path, _)| path).map_err(|why| uri.error(why));
    }
    if let Ok((config, _)) = paths.find(&format!("{name}/model.config")) {
        let file = Source::read(&config)?.parse()?.root().children_named("sdf").last().map(|e| e.content().to_string());
        if let Some(file) = file {
            return Ok(config.parent().unwrap_or(Path::new("")).join(file));
        }
    }
    paths.find(&format!("{name}/model.sdf")).map(|(path, _)| path).map_err(|why| uri.error(why))
}

/// All files, the main one first.
pub(super) struct Files<'a> {
    parts: Vec<(Element<'a>, Paths)>,
    includes: Includes,
}

/// A model as it stands in a file.
#[derive(Clone)]
pub(super) struct Model<'a> {
    pub element: Element<'a>,
    /// The `<include>` that brings it, if one does.
    include: Option<Element<'a>>,
    pub name: String,
    /// The file that it stands in.
    pub part: usize,
}

impl<'a> Model<'a> {
    /// Its pose and what that is relative to.
    fn pose(&self) -> Result<(Pose, Option<&'a str>), SceneError> {
        match self.include.filter(|i| i.child("pose").is_some()) {
            Some(include) => read_pose(include),
            None => read_pose(self.element),
        }
    }

    /// Its pose in the world.
    pub(super) fn own_pose(&self) -> Result<Pose, SceneError> {
        let (pose, relative) = self.pose()?;
        match relative.filter(|r| *r != "world") {
            Some(frame) => {
                Err(self.element.error(format!("poses of models relative to \"{frame}\" are not supported")))
            }
            None => Ok(pose),
        }
    }

    /// True if it does not move.
    pub(super) fn is_static(&self) -> bool {
        let said = |e: Element<'a>| e.child("static").map(is_true);
        self.include.and_then(said).or_else(|| said(self.element)).unwrap_or(false)
    }
}

impl<'a> Files<'a> {
    pub(super) fn new(parts: Vec<(Element<'a>, Paths)>, includes: Includes) -> Self {
        Self { parts, includes }
    }

    pub(super) fn root(&self) -> Element<'a> {
        self.parts[0].0
    }

    pub(super) fn paths(&self, part: usize) -> &Paths {
        &self.parts[part].1
    }

    /// The models within an element of a file.
    pub(super) fn nested(&self, parent: Element<'a>, part: usize) -> Result<Vec<Model<'a>>, SceneError> {
        let mut out = vec![];
        for element in parent.children_named("model") {
            out.push(Model { element, include: None, name: element.required("name")?.into(), part });
        }
        for include in parent.children_named("include") {
            let uri = include.required_child("uri")?;
            let part = self.includes.get(&(part, uri.content().to_string())).copied().unwrap_or(0);
            let root = self.parts[part].0;
            let model = root.child("model").ok_or_else(|| uri.error("the file has no <model>"))?;
            root.attribute("version");
            for tag in ["plugin", "placement_frame"] {
                include.children_named(tag).for_each(|e| e.ignore("is not used"));
            }
            let name = include.child("name").map(|e| e.content()).or(model.attribute("name")).unwrap_or("model").into();
            out.push(Model { element: model, include: Some(include), name, part });
        }
        Ok(out)
    }

    fn find_nested(&self, model: &Model<'a>, name: &str) -> Result<Option<Model<'a>>, SceneError> {
        Ok(self.nested(model.element, model.part)?.into_iter().find(|m| m.name == name))
    }

    /// The pose of a frame in that of its model; `at` is what names it.
    pub(super) fn pose_of(&self, model: &Model<'a>, name: &str, at: Element<'a>) -> Result<Pose, SceneError> {
        self.pose_within(model, name, at, 0)
    }

    fn pose_within(&self, model: &Model<'a>, name: &str, at: Element<'a>, depth: usize) -> Result<Pose, SceneError> {
        if depth > DEPTH {
            return Err(at.error("frames are relative to each other in a circle, or nested too deep"));
        }
        if name == "__model__" {
            return Ok(Pose::identity());
        }
        if let Some((outer, rest)) = name.split_once("::")
            && let Some(nested) = self.find_nested(model, outer)?
        {
            let outer = self.pose_within(model, outer, at, depth + 1)?;
            return Ok(outer * self.pose_within(&nested, rest, at, depth + 1)?);
        }
        let of_tag = |tag: &'static str| {
            model.element.children_named(tag).find(|e| e.attribute("name") == Some(name)).map(|e| (tag, e))
        };
        if let Some((tag, element)) = ["link", "frame", "joint"].into_iter().find_map(of_tag) {
            let (own, relative) = read_pose(element)?;
            let attached = element.attribute("attached_to").filter(|n| !n.is_empty());
            let base = match (relative, tag) {
                (Some(frame), _) => Some(frame),
                (None, "joint") => element.child("child").map(|e| e.content()),
                (None, _) => attached,
            };
            return match base {
                Some(frame) => Ok(self.pose_within(model, frame, element, depth + 1)? * own),
                None => Ok(own),
            };
        }
        if let Some(nested) = self.find_nested(model, name)? {
            let (own, relative) = nested.pose()?;
            return match relative {
                Some(frame) => Ok(self.pose_within(model, frame, at, depth + 1)? * own),
                None => Ok(own),
            };
        }
        let names = model.element.children().filter_map(|e| e.attribute("name"));
        Err(at.error(format!("there is no frame \"{name}\"{}", did_you_mean(name, names))))
    }

    /// The link that a frame of a model is attached to, with the names of models within it.
    pub(super) fn link_of(&self, model: &Model<'a>, name: &str, at: Element<'a>) -> Result<String, SceneError> {
        let (mut model, mut name, mut prefix) = (model.clone(), name.to_string(), String::new());
        for _ in 0..DEPTH {
            if let Some((outer, rest)) = name.split_once("::")
                && let Some(nested) = self.find_nested(&model, outer)?
            {
                prefix += &format!("{outer}::");
                (model, name) = (nested, rest.to_string());
                continue;
            }
            let mut frames = model.element.children_named("frame");
            let frame = frames.find(|e| e.attribute("name") == Some(&name));
            let first = || model.element.child("link").and_then(|l| l.attribute("name"));
            match (frame, self.find_nested(&model, &name)?) {
                (Some(frame), _) => {
                    let to = frame.attribute("attached_to").filter(|n| !n.is_empty()).or_else(first);
                    name = to.unwrap_or_default().to_string();
                }
                (None, Some(nested)) => {
                    prefix += &format!("{name}::");
                    name = nested.element.child("link").and_then(|l| l.attribute("name")).unwrap_or_default().into();
                    model = nested;
                }
                (None, None) => return Ok(prefix + &name),
            }
        }
        Err(at.error("frames are attached to each other in a circle, or nested too deep"))
    }
}

/// The pose of an element, and the frame that it is relative to.
pub(super) fn read_pose(of: Element<'_>) -> Result<(Pose, Option<&str>), SceneError> {
    let Some(pose) = of.child("pose") else { return Ok((Pose::identity(), None)) };
    let relative = pose.attribute("relative_to").or(pose.attribute("frame")).filter(|f| !f.is_empty());
    let degrees = matches!(pose.attribute("degrees"), Some("true" | "1"));
    pose.attribute("rotation_format");
    let numbers = numbers_in(pose.content()).map_err(|message| pose.error(message))?;
    match numbers[..] {
        [] => Ok((Pose::identity(), relative)),
        [x, y, z, ref rest @ ..] if rest.len() == 3 || rest.len() == 4 => {
            let turn: Quat = turned(pose, rest, degrees)?;
            Ok((Pose::from_parts(Vec3::new(x, y, z), turn), relative))
        }
        _ => Err(pose.error(format!("expected 6 numbers, found {}", numbers.len()))),
    }
}
