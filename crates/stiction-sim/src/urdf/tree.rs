//! Links and joints as a tree.

use std::cell::RefCell;
use std::collections::BTreeMap;

use stiction_body::JointKind;

use super::joints::{self, Joint};
use super::surface::Surface;
use crate::error::{SceneError, did_you_mean};
use crate::xml::Element;

/// A link of the file.
pub(super) struct LinkNode<'a> {
    pub name: &'a str,
    pub element: Element<'a>,
    /// The joint to its parent; `None` for the root.
    pub joint: Option<Joint<'a>>,
    /// What `<gazebo>` elements say of its surface.
    pub surface: RefCell<Surface>,
}

/// Links in the order of the file.
pub(super) struct Tree<'a> {
    pub links: Vec<LinkNode<'a>>,
    /// The links, parents before children, each with all below it before its next sibling.
    pub order: Vec<usize>,
    by_name: BTreeMap<&'a str, usize>,
}

impl<'a> Tree<'a> {
    /// The link of that name.
    pub(super) fn link(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The link whose joint has that name.
    pub(super) fn joint(&self, name: &str) -> Option<usize> {
        self.joints().find(|(_, j)| j.name == name).map(|(i, _)| i)
    }

    /// All joints, with the link below each.
    pub(super) fn joints(&self) -> impl Iterator<Item = (usize, &Joint<'a>)> {
        self.links.iter().enumerate().filter_map(|(i, l)| Some((i, l.joint.as_ref()?)))
    }

    /// Names of links.
    pub(super) fn link_names(&self) -> impl Iterator<Item = &'a str> {
        self.links.iter().map(|l| l.name)
    }

    /// A link and all that is fixed to it below.
    pub(super) fn fixed_group(&self, root: usize) -> impl Iterator<Item = usize> {
        let mut inside = vec![false; self.links.len()];
        inside[root] = true;
        for &i in &self.order {
            if let Some(joint) = self.links[i].joint.as_ref().filter(|j| j.kind == JointKind::Fixed) {
                inside[i] |= inside[joint.parent];
            }
        }
        (0..inside.len()).filter(move |&i| inside[i])
    }
}

/// Reads links and joints, and checks that they are one tree.
pub(super) fn read<'a>(robot: Element<'a>) -> Result<Tree<'a>, SceneError> {
    let (mut links, mut by_name) = (Vec::new(), BTreeMap::new());
    for element in robot.children_named("link") {
        let name = element.required("name")?;
        if by_name.insert(name, links.len()).is_some() {
            return Err(element.error("there is another link of that name"));
        }
        links.push(LinkNode { name, element, joint: None, surface: RefCell::default() });
    }
    if links.is_empty() {
        return Err(robot.error("has no <link>"));
    }
    let mut tree = Tree { links, order: vec![], by_name };
    let mut joint_names = BTreeMap::new();
    for element in robot.children_named("joint") {
        let (child, joint) = read_joint(&tree, element)?;
        if joint_names.insert(joint.name, child).is_some() {
            return Err(element.error("there is another joint of that name"));
        }
        if let Some(other) = &tree.links[child].joint {
            let (link, other) = (tree.links[child].name, other.name);
            let message =
                format!("link \"{link}\" already has a parent, by joint \"{other}\": closed loops are no tree");
            return Err(element.error(message));
        }
        tree.links[child].joint = Some(joint);
    }
    let root = find_root(robot, &tree)?;
    tree.order = depth_first(&tree, root);
    let mut reached = vec![false; tree.links.len()];
    tree.order.iter().for_each(|&i| reached[i] = true);
    if let Some((_, joint)) = tree.joints().find(|(i, _)| !reached[*i]) {
        return Err(joint.element.error("is part of a loop of joints: its links hang on no root"));
    }
    Ok(tree)
}

fn read_joint<'a>(tree: &Tree<'a>, element: Element<'a>) -> Result<(usize, Joint<'a>), SceneError> {
    let end = |tag: &str| -> Result<usize, SceneError> {
        let end = element.required_child(tag)?;
        let name = end.required("link")?;
        tree.link(name).ok_or_else(|| {
            let hint = did_you_mean(name, tree.link_names());
            end.attribute_error("link", format!("there is no link \"{name}\"{hint}"))
        })
    };
    let (parent, child) = (end("parent")?, end("child")?);
    if parent == child {
        return Err(element.error(format!("parent and child are the same link \"{}\"", tree.links[child].name)));
    }
    Ok((child, joints::read(element, parent)?))
}

/// The one link without a parent.
fn find_root(robot: Element, tree: &Tree) -> Result<usize, SceneError> {
    let roots: Vec<usize> = (0..tree.links.len()).filter(|&i| tree.links[i].joint.is_none()).collect();
    match roots[..] {
        [root] => Ok(root),
        [] => {
            let name = tree.links[0].joint.as_ref().map_or("", |j| j.name);
            Err(robot.error(format!("has no root: every link has a parent, joint \"{name}\" is part of a loop")))
        }
        [first, second, ..] => {
            let (a, b) = (tree.links[first].name, tree.links[second].name);
            let message = format!(
                "{} links have no parent, the first two are \"{a}\" and \"{b}\": a robot has one root",
                roots.len()
            );
            Err(tree.links[second].element.error(message))
        }
    }
}

fn depth_first(tree: &Tree, root: usize) -> Vec<usize> {
    let mut children = vec![vec![]; tree.links.len()];
    tree.joints().for_each(|(i, joint)| children[joint.parent].push(i));
    let (mut order, mut stack) = (vec![], vec![root]);
    while let Some(i) = stack.pop() {
        order.push(i);
        stack.extend(children[i].iter().rev());
    }
    order
}
