//! COLLADA: the positions of all geometry in the scene, with unit and node transforms, and the
//! diffuse colours and textures of materials. Skins are taken in their rest pose.
//!
//! The file's up axis has no effect: robot files have always been written for readers that leave the axes as they are, and many a mesh whose file says
//! that y is up stands along z.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};
use stiction_body::math::{Mat3, Quat, Vec3, axis_angle};

use super::colors::{Corners, Paint, Painted, Surroundings};
use super::{TriangleMesh, fan};
use crate::looks::color;
use crate::xml::{Source, numbers_in};

/// Nodes within nodes, counting the instances on the way, are followed this deep: deeper ones contain themselves.
const DEPTH: usize = 64;
/// All instances together may take this many nodes, so that files that repeat themselves end.
const NODES: usize = 100_000;
/// All instances together may have this many times the triangles that stand in the file.
const REPEATS: usize = 1_000;

/// x ↦ linear x + offset.
#[derive(Debug, Clone, Copy)]
struct Affine {
    linear: Mat3,
    offset: Vec3,
}

impl Affine {
    const IDENTITY: Self = Self { linear: Mat3::IDENTITY, offset: Vec3::ZERO };

    fn linear(linear: Mat3) -> Self {
        Self { linear, offset: Vec3::ZERO }
    }

    /// First `other`, then this.
    fn after(&self, other: &Self) -> Self {
        Self { linear: self.linear * other.linear, offset: self.linear * other.offset + self.offset }
    }
}

/// A geometry as it stands in the file.
#[derive(Default)]
struct Geometry<'a> {
    mesh: TriangleMesh,
    /// Places of the triangles in textures, if it has any.
    corners: Vec<Option<Corners>>,
    /// First triangle and symbol of the material of each primitive.
    symbols: Vec<(usize, Option<&'a str>)>,
}

/// What is needed while walking the scene.
struct Walk<'a, 's, 'f> {
    /// Elements by their id.
    by_id: BTreeMap<&'a str, Node<'a, 'a>>,
    /// Geometry that was read, by node.
    geometry: BTreeMap<u32, Geometry<'a>>,
    /// Ids of the materials that instances bind, by instance and symbol.
    bound: BTreeMap<(u32, &'a str), &'a str>,
    /// Paints of materials that were read, by id.
    paints: BTreeMap<&'a str, Option<Paint>>,
    around: &'s mut Surroundings<'f>,
    out: Painted,
    nodes_left: usize,
    triangles_left: usize,
}

pub(super) fn parse(bytes: &[u8], around: &mut Surroundings) -> Result<Painted, String> {
    let source = Source::new(String::from_utf8_lossy(bytes), None);
    let nodes_limit = u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(2);
    let options = ParsingOptions { allow_dtd: true, nodes_limit, ..Default::default() };
    let document = Document::parse_with_options(source.text(), options).map_err(|e| format!("not XML: {e}"))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(format!("expected <COLLADA>, found <{}>", root.tag_name().name()));
    }
    let by_id = document.descendants().filter_map(|n| Some((n.attribute("id")?, n))).collect();
    let triangles_left = bytes.len().saturating_mul(REPEATS);
    let (geometry, paints, out) = (BTreeMap::new(), BTreeMap::new(), Painted::default());
    let bound = document.descendants().filter_map(binding).collect();
    let mut walk = Walk { by_id, geometry, bound, paints, around, out, nodes_left: NODES, triangles_left };
    let frame = asset_frame(root)?;
    match visual_scene(root, &walk) {
        Some(scene) => walk.children(scene, &frame, 0)?,
        None => walk.all_geometry(root, &frame)?,
    }
    Ok(walk.out)
}

/// Instance, symbol and material of an `<instance_material>`, which stands in a
/// `<technique_common>` of a `<bind_material>`.
fn binding<'a>(node: Node<'a, 'a>) -> Option<((u32, &'a str), &'a str)> {
    let node = Some(node).filter(|n| n.tag_name().name() == "instance_material")?;
    let instance = node.parent()?.parent()?.parent()?;
    Some(((instance.id().get(), node.attribute("symbol")?), node.attribute("target")?))
}

/// From the file's unit to metres.
fn asset_frame(root: Node) -> Result<Affine, String> {
    let unit = child(root, "asset").and_then(|a| child(a, "unit")).and_then(|u| u.attribute("meter"));
    let unit = match unit.map(numbers_in).transpose()?.as_deref() {
        None => 1.0,
        Some([metres]) if *metres > 0.0 => *metres,
        Some(_) => return Err("<unit meter> must be one number above 0".into()),
    };
    Ok(Affine::linear(Mat3::from_diagonal(Vec3::splat(unit))))
}

/// The scene the file asks for, or its first.
fn visual_scene<'a>(root: Node<'a, 'a>, walk: &Walk<'a, '_, '_>) -> Option<Node<'a, 'a>> {
    let asked = child(root, "scene").and_then(|s| child(s, "instance_visual_scene"));
    let asked = asked.and_then(|i| walk.target(i)).filter(|n| n.tag_name().name() == "visual_scene");
    asked.or_else(|| root.descendants().find(|n| n.tag_name().name() == "visual_scene"))
}

impl<'a> Walk<'a, '_, '_> {
    /// The element an instance names by its url.
    fn target(&self, instance: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
        self.by_id.get(instance.attribute("url")?.strip_prefix('#')?).copied()
    }

    /// The nodes within a scene or a node.
    fn children(&mut self, parent: Node<'a, 'a>, frame: &Affine, depth: usize) -> Result<(), String> {
        for node in elements(parent) {
            match node.tag_name().name() {
                "node" => self.node(node, frame, depth + 1)?,
                "instance_node" => {
                    let target = self.target(node).ok_or("an <instance_node> names a node that is not there")?;
                    self.node(target, frame, depth + 1)?;
                }
                "instance_geometry" => {
                    let target =
                        self.target(node).ok_or("an <instance_geometry> names a geometry that is not there")?;
                    self.add_geometry(target, Some(node), frame)?;
                }
                "instance_controller" => {
                    let skin = self.target(node).and_then(|c| child(c, "skin"));
                    let source = skin.and_then(|s| s.attribute("source")?.strip_prefix('#'));
                    if let Some(target) = source.and_then(|id| self.by_id.get(id).copied()) {
                        self.add_geometry(target, Some(node), frame)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, node: Node<'a, 'a>, frame: &Affine, depth: usize) -> Result<(), String> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or("too many nodes: do nodes repeat one another?")?;
        if depth > DEPTH {
            return Err(format!("nodes within nodes are more than {DEPTH} deep: does one contain itself?"));
        }
        let frame = frame.after(&transform(node)?);
        self.children(node, &frame, depth)
    }

    /// Without a scene: each geometry as it is.
    fn all_geometry(&mut self, root: Node<'a, 'a>, frame: &Affine) -> Result<(), String> {
        for geometry in root.descendants().filter(|n| n.tag_name().name() == "geometry") {
            self.add_geometry(geometry, None, frame)?;
        }
        Ok(())
    }

    /// Adds a geometry with the colours of the materials that its instance binds.
    fn add_geometry(
        &mut self,
        geometry: Node<'a, 'a>,
        instance: Option<Node<'a, 'a>>,
        frame: &Affine,
    ) -> Result<(), String> {
        let id = geometry.id().get();
        if !self.geometry.contains_key(&id) {
            let mesh = self.read_geometry(geometry)?;
            self.geometry.insert(id, mesh);
        }
        let Geometry { mesh, symbols, .. } = &self.geometry[&id];
        let size = mesh.triangles.len() + mesh.vertices.len() + symbols.len();
        self.triangles_left = self.triangles_left.checked_sub(size).ok_or("geometry is repeated too often")?;
        let symbols = symbols.clone();
        let paints: Vec<_> = symbols.iter().map(|(_, symbol)| self.paint((*symbol)?, instance)).collect();
        let Geometry { mesh, corners, .. } = &self.geometry[&id];
        let out = &mut self.out;
        let first = u32::try_from(out.mesh.vertices.len()).map_err(|_| "too many vertices")?;
        if first.checked_add(mesh.vertices.len() as u32).is_none() {
            return Err("too many vertices".into());
        }
        out.mesh.vertices.extend(mesh.vertices.iter().map(|v| frame.linear * *v + frame.offset));
        let mirrored = frame.linear.determinant() < 0.0;
        let turned = |&[a, b, c]: &[u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        for (k, ((start, _), paint)) in symbols.iter().zip(paints).enumerate() {
            let end = symbols.get(k + 1).map_or(mesh.triangles.len(), |next| next.0);
            out.paint(paint);
            for i in *start..end {
                out.mesh.triangles.push(turned(&mesh.triangles[i]).map(|v| v + first));
                corners.get(i).copied().flatten().into_iter().for_each(|corners| out.place_last(corners));
            }
        }
        Ok(())
    }

    /// The paint of the material that an instance binds to a symbol, or that has it as its id.
    fn paint(&mut self, symbol: &'a str, instance: Option<Node<'a, 'a>>) -> Option<Paint> {
        let bound = instance.and_then(|i| self.bound.get(&(i.id().get(), symbol)));
        let id = bound.map_or(symbol, |target| target.trim_start_matches('#'));
        if !self.paints.contains_key(id) {
            let paint = self.material(id);
            self.paints.insert(id, paint);
        }
        self.paints[id].clone()
    }

    /// The diffuse colour of a material, its texture, or what it sends out by itself where it has no
    /// diffuse part.
    fn material(&mut self, id: &str) -> Option<Paint> {
        let effect = self.by_id.get(id).and_then(|m| child(*m, "instance_effect")).and_then(|i| self.target(i))?;
        let part = |name: &str| effect.descendants().find(|n| n.tag_name().name() == name);
        let channel = part("diffuse").or_else(|| part("emission"))?;
        if let Some(numbers) = child(channel, "color").and_then(|c| numbers_in(c.text()?).ok()) {
            // Writers do not agree on what the fourth number means.
            return color(numbers.get(..3)?).map(Paint::plain);
        }
        let texture = child(channel, "texture")?.attribute("texture")?;
        let file = self.texture_file(effect, texture)?;
        Some(Paint { texture: Some(self.around.texture(file)?), ..Paint::plain([1.0; 4]) })
    }

    /// The file of a texture: by sampler, surface and image, or by the image's id.
    fn texture_file(&self, effect: Node<'a, 'a>, texture: &'a str) -> Option<&'a str> {
        let parameter = |sid: &str| effect.descendants().find(|n| n.attribute("sid") == Some(sid));
        let text = |n: Node<'a, 'a>, name: &str| n.descendants().find(|d| d.tag_name().name() == name)?.text();
        let surface = parameter(texture).and_then(|sampler| text(sampler, "source"));
        let image = surface.and_then(parameter).and_then(|surface| text(surface, "init_from")).unwrap_or(texture);
        let file = text(*self.by_id.get(image.trim())?, "init_from")?.trim();
        Some(file.trim_start_matches("file://"))
    }

    fn read_geometry(&self, geometry: Node<'a, 'a>) -> Result<Geometry<'a>, String> {
        let mut out = Geometry::default();
        let Some(mesh) = child(geometry, "mesh") else { return Ok(out) };
        let primitives = ["triangles", "polylist", "polygons", "tristrips", "trifans"];
        for primitive in elements(mesh).filter(|n| primitives.contains(&n.tag_name().name())) {
            let Some(Inputs { offset, stride, positions, places }) = self.inputs(primitive)? else { continue };
            out.symbols.push((out.mesh.triangles.len(), primitive.attribute("material")));
            let first = out.mesh.vertices.len() as u32;
            out.mesh.vertices.extend(&positions);
            let started = out.mesh.triangles.len();
            for polygon in polygons(primitive, offset, stride)? {
                if let Some(i) = polygon.iter().find(|i| **i as usize >= positions.len()) {
                    return Err(format!("a face names vertex {i} of {}", positions.len()));
                }
                let polygon: Vec<u32> = polygon.iter().map(|i| i + first).collect();
                out.mesh.triangles.extend(fan(&polygon));
            }
            let Some((offset, places)) = places else { continue };
            out.corners.resize(started, None);
            for polygon in polygons(primitive, offset, stride)? {
                let at = |i: u32| places.get(i as usize).copied();
                out.corners.extend(fan(&polygon).map(|[a, b, c]| Some([at(a)?, at(b)?, at(c)?])));
            }
        }
        Ok(out)
    }

    /// What the corners of a primitive's faces name.
    fn inputs(&self, primitive: Node<'a, 'a>) -> Result<Option<Inputs>, String> {
        /// A corner of a face has at most this many numbers.
        const CORNER: usize = 64;
        let (mut stride, mut found, mut textured) = (1, None, None);
        for input in elements(primitive).filter(|n| n.tag_name().name() == "input") {
            let offset: usize = input.attribute("offset").map_or(Ok(0), |t| t.trim().parse()).unwrap_or(CORNER);
            if offset >= CORNER {
                return Err("<input offset> must be a small whole number".into());
            }
            stride = stride.max(offset + 1);
            match input.attribute("semantic") {
                Some("VERTEX") => found = Some((offset, input)),
                Some("TEXCOORD") if textured.is_none() && self.around.wants_colors() => {
                    textured = Some((offset, input));
                }
                _ => {}
            }
        }
        let Some((offset, input)) = found else { return Ok(None) };
        let source = |n: Node<'a, 'a>| self.by_id.get(n.attribute("source")?.strip_prefix('#')?).copied();
        let position = |n: &Node<'a, 'a>| n.attribute("semantic") == Some("POSITION");
        let vertices = source(input).ok_or("an <input> names vertices that are not there")?;
        let positions = elements(vertices).find(position).and_then(source).ok_or("<vertices> without positions")?;
        let positions = read_tuples(positions)?.into_iter().map(Vec3::from_array).collect();
        // The lower left corner of a texture is the origin.
        let places = textured.and_then(|(offset, input)| {
            let places: Vec<[f64; 2]> = read_tuples(source(input)?).ok()?;
            Some((offset, places.into_iter().map(|[u, v]| [u, 1.0 - v]).collect()))
        });
        Ok(Some(Inputs { offset, stride, positions, places }))
    }
}

/// What the corners of faces name.
struct Inputs {
    /// Where in each corner the vertex stands.
    offset: usize,
    /// How many numbers a corner has.
    stride: usize,
    positions: Vec<Vec3>,
    /// Where in each corner its place in a texture stands, and all of these.
    places: Option<(usize, Vec<[f64; 2]>)>,
}

/// The first numbers of each row of a `<source>`.
fn read_tuples<const N: usize>(source: Node) -> Result<Vec<[f64; N]>, String> {
    let array = child(source, "float_array").ok_or("positions without a <float_array>")?;
    let numbers = numbers_in(array.text().unwrap_or_default())?;
    let accessor = source.descendants().find(|n| n.tag_name().name() == "accessor");
    let of = |name: &str, default: usize| -> Result<usize, String> {
        let text = accessor.and_then(|a| a.attribute(name));
        text.map_or(Ok(default), |t| t.trim().parse().map_err(|_| format!("<accessor {name}> is not a whole number")))
    };
    let (stride, offset) = (of("stride", N)?, of("offset", 0)?);
    if stride < N {
        return Err(format!("positions need {N} numbers each, <accessor stride> is {stride}"));
    }
    let used = numbers.get(offset..).unwrap_or_default();
    Ok(used.chunks(stride).filter_map(|row| row.first_chunk::<N>().copied()).collect())
}

/// The vertices of each face of a primitive.
fn polygons(primitive: Node, offset: usize, stride: usize) -> Result<Vec<Vec<u32>>, String> {
    let corners = |p: Node| -> Result<Vec<u32>, String> {
        let words = p.text().unwrap_or_default().split_ascii_whitespace();
        words.skip(offset).step_by(stride).map(|w| w.parse().map_err(|_| format!("\"{w}\" is not an index"))).collect()
    };
    let lists = || elements(primitive).filter(|n| n.tag_name().name() == "p").map(corners);
    let mut out = Vec::new();
    match primitive.tag_name().name() {
        "triangles" => {
            for list in lists() {
                out.extend(list?.chunks_exact(3).map(<[u32]>::to_vec));
            }
        }
        "polylist" => {
            let counts = child(primitive, "vcount").and_then(|n| n.text()).unwrap_or_default().split_ascii_whitespace();
            let list: Vec<u32> = lists().collect::<Result<Vec<_>, _>>()?.concat();
            let mut rest = list.as_slice();
            for count in counts {
                let count: usize = count.parse().map_err(|_| format!("\"{count}\" in <vcount> is not a number"))?;
                let (face, after) = rest.split_at_checked(count).ok_or("<p> is shorter than <vcount> says")?;
                out.push(face.to_vec());
                rest = after;
            }
        }
        "tristrips" => {
            for list in lists() {
                let odd_around = |(i, t): (usize, &[u32])| if i % 2 == 0 { t.to_vec() } else { vec![t[1], t[0], t[2]] };
                out.extend(list?.windows(3).enumerate().map(odd_around));
            }
        }
        _ => {
            for list in lists() {
                out.push(list?);
            }
        }
    }
    Ok(out)
}

/// The transforms of a node, in order.
fn transform(node: Node) -> Result<Affine, String> {
    let mut out = Affine::IDENTITY;
    for element in elements(node) {
        let name = element.tag_name().name();
        let expected = match name {
            "matrix" => 16,
            "rotate" => 4,
            "translate" | "scale" => 3,
            _ => continue,
        };
        let x = numbers_in(element.text().unwrap_or_default())?;
        if x.len() != expected {
            return Err(format!("<{name}> needs {expected} numbers, found {}", x.len()));
        }
        let v = Vec3::new(x[0], x[1], x[2]);
        let step = match name {
            "matrix" => Affine {
                linear: Mat3::from_cols_array(&[x[0], x[4], x[8], x[1], x[5], x[9], x[2], x[6], x[10]]),
                offset: Vec3::new(x[3], x[7], x[11]),
            },
            "rotate" => Affine::linear(Mat3::from_quat(rotation(v, x[3]))),
            "translate" => Affine { linear: Mat3::IDENTITY, offset: v },
            _ => Affine::linear(Mat3::from_diagonal(v)),
        };
        out = out.after(&step);
    }
    Ok(out)
}

/// A rotation about an axis by an angle in degrees; none where the axis is zero.
fn rotation(axis: Vec3, degrees: f64) -> Quat {
    axis.try_normalize().map_or(Quat::IDENTITY, |a| axis_angle(a * degrees.to_radians()))
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(|n| n.is_element())
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    elements(node).find(|n| n.tag_name().name() == name)
}
