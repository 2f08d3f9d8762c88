//! Default classes: each has everything of its parent, and what it sets itself before that.

use super::attach;
use super::attributes::Attributes;
use super::tree::Element;
use crate::error::{SceneError, did_you_mean};

/// A class: its name and the elements that set its defaults, later and more specific ones first.
#[derive(Debug)]
struct Class<'a> {
    name: &'a str,
    layers: Vec<&'a Element>,
}

/// All default classes; the first is `main`.
#[derive(Debug)]
pub(super) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
}

impl<'a> Defaults<'a> {
    /// Reads all `<default>` sections.
    pub(super) fn read(root: &'a Element) -> Result<Self, SceneError> {
        let mut out = Self { classes: vec![Class { name: "main", layers: vec![] }] };
        for section in root.all("default") {
            match section.text("class") {
                None | Some("main" | "") => out.section(section, 0)?,
                // Of a model that was attached: it has nothing of the others.
                Some(name) if section.text(attach::COMPILER).is_some() => {
                    out.classes.push(Class { name, layers: vec![] });
                    out.section(section, out.classes.len() - 1)?;
                }
                Some(_) => return Err(section.attribute_error("class", "the outermost class can only be \"main\"")),
            }
        }
        Ok(out)
    }

    /// A class's own settings first, then the classes within it, which start as copies.
    fn section(&mut self, section: &'a Element, class: usize) -> Result<(), SceneError> {
        for child in section.children.iter().filter(|c| c.name != "default") {
            self.classes[class].layers.insert(0, child);
        }
        for child in section.all("default") {
            let name = child.required("class")?;
            if self.classes.iter().any(|c| c.name == name) {
                return Err(child.attribute_error("class", format!("there is already a class \"{name}\"")));
            }
            let layers = self.classes[class].layers.clone();
            self.classes.push(Class { name, layers });
            self.section(child, self.classes.len() - 1)?;
        }
        Ok(())
    }

    fn class(&self, name: &str) -> Option<&Class<'a>> {
        self.classes.iter().find(|c| c.name == name)
    }

    /// Checks that a class an element names is there.
    pub(super) fn check(&self, element: &Element, attribute: &str) -> Result<(), SceneError> {
        let Some(name) = element.text(attribute) else { return Ok(()) };
        if self.class(name).is_some() {
            return Ok(());
        }
        let near = did_you_mean(name, self.classes.iter().map(|c| c.name));
        Err(element.attribute_error(attribute, format!("there is no default class \"{name}\"{near}")))
    }

    /// Elements that set defaults for an element, the most specific first: of its own class, else of `inherited`, else of `main`.
    fn layers<'s>(&'s self, element: &Element, inherited: Option<&str>) -> Result<&'s [&'a Element], SceneError> {
        self.check(element, "class")?;
        let name = element.text("class").or(inherited).unwrap_or("main");
        Ok(self.class(name).map_or(&[], |c| &c.layers))
    }

    /// An element with its defaults, which the classes hold under the name `tag`.
    pub(super) fn resolve(
        &self,
        element: &'a Element,
        tag: &str,
        inherited: Option<&str>,
    ) -> Result<Attributes<'a>, SceneError> {
        let layers = self.layers(element, inherited)?;
        Ok(Attributes::layered(element, layers.iter().copied().filter(|l| l.name == tag)))
    }

    /// The elements that set defaults for an actuator, the most general and earliest first: a class has one actuator that all kinds share.
    pub(super) fn actuator_layers(&self, element: &Element) -> Result<Vec<&'a Element>, SceneError> {
        const KINDS: [&str; 14] = [
            "general",
            "motor",
            "position",
            "velocity",
            "intvelocity",
            "orientation",
            "pid",
            "damper",
            "cylinder",
            "muscle",
            "adhesion",
            "dcmotor",
            "plugin",
            "actuator",
        ];
        Ok(self.layers(element, None)?.iter().rev().copied().filter(|l| KINDS.contains(&l.name.as_str())).collect())
    }
}
