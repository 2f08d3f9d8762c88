//! GLB, the binary form of glTF 2.0: triangles of the default scene with the transforms of its
//! nodes, along the axes they are written in, the base colours and textures of materials, and the
//! colours of vertices.

use serde::Deserialize;
use serde_json::Value;
use stiction_body::math::{Mat3, Quat, Vec3};

use std::rc::Rc;

use super::colors::{Paint, Painted, Surroundings, Texture, linear_to_srgb, mean};
use crate::looks::{Rgba, color};

/// `glTF`, and the names of the two chunks: `JSON` and `BIN`.
const MAGIC: &[u8] = b"glTF";
const JSON: &[u8] = b"JSON";
const BIN: &[u8] = b"BIN\0";
/// The mode of primitives that are triangles one by one.
const TRIANGLES: u32 = 4;
/// Nodes deeper than this are a loop.
const DEEPEST: usize = 256;
/// Most vertices, and most triangles, each counted as often as nodes show it: 100 MB of them.
const MOST: usize = 1 << 22;
/// More nodes than this are one mesh many times over.
const MOST_INSTANCES: usize = 1 << 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    scene: Option<usize>,
    #[serde(default)]
    scenes: Vec<SceneNodes>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    meshes: Vec<Mesh>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    buffer_views: Vec<BufferView>,
    #[serde(default)]
    extensions_required: Vec<String>,
    // What only looks depend on may be of any form.
    #[serde(default)]
    materials: Value,
    #[serde(default)]
    textures: Value,
    #[serde(default)]
    images: Value,
}

#[derive(Deserialize)]
struct SceneNodes {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Mesh {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    mode: Option<u32>,
    #[serde(default)]
    material: Value,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    // What only looks depend on may be of any form.
    #[serde(rename = "TEXCOORD_0", default)]
    texture_place: Value,
    #[serde(rename = "COLOR_0", default)]
    color: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    sparse: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

/// An affine map.
#[derive(Clone, Copy)]
struct Transform {
    turn: Mat3,
    shift: Vec3,
}

impl Transform {
    fn of(node: &Node) -> Self {
        if let Some(m) = node.matrix {
            let column = |k: usize| Vec3::new(m[4 * k], m[4 * k + 1], m[4 * k + 2]);
            return Self { turn: Mat3::from_cols(column(0), column(1), column(2)), shift: column(3) };
        }
        let turn = node.rotation.map_or(Quat::IDENTITY, |[x, y, z, w]| Quat::from_xyzw(x, y, z, w));
        let scale = Mat3::from_diagonal(Vec3::from_array(node.scale.unwrap_or([1.0; 3])));
        Self { turn: Mat3::from_quat(turn) * scale, shift: Vec3::from_array(node.translation.unwrap_or([0.0; 3])) }
    }

    fn then(self, inner: Self) -> Self {
        Self { turn: self.turn * inner.turn, shift: self.shift + self.turn * inner.shift }
    }
}

pub(super) fn parse(bytes: &[u8], around: &mut Surroundings) -> Result<Painted, String> {
    let (json, binary) = chunks(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| e.to_string())?;
    if let Some(name) = document.extensions_required.iter().find(|n| n.contains("compression") || n.contains("draco")) {
        return Err(format!("it needs the extension {name}, which is not read"));
    }
    let paints = Colors { document: &document, binary }.all(around);
    let wants_colors = around.wants_colors();
    let mut reader =
        Reader { document: &document, binary, paints, wants_colors, out: Painted::default(), instances: 0 };
    let identity = Transform { turn: Mat3::IDENTITY, shift: Vec3::ZERO };
    match document.scenes.get(document.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.iter().try_for_each(|&n| reader.node(n, identity, 0))?,
        None => (0..document.meshes.len()).try_for_each(|m| reader.mesh(m, identity))?,
    }
    Ok(reader.out)
}

/// The JSON and the binary data of a file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let word = |at: usize| {
        let b = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    if bytes.get(..4) != Some(MAGIC) || word(4) != Some(2) {
        return Err("this is no GLB file of version 2".into());
    }
    let (mut json, mut binary, mut at) = (None, &[][..], 12);
    while let Some(length) = word(at) {
        let kind = bytes.get(at + 4..at + 8).ok_or("a chunk has no name")?;
        let end = (at + 8).checked_add(length as usize).ok_or("a chunk is too long")?;
        let data = bytes.get(at + 8..end).ok_or("a chunk is longer than the file")?;
        match kind {
            JSON => json = Some(data),
            BIN if binary.is_empty() => binary = data,
            _ => {}
        }
        at = end;
    }
    Ok((json.ok_or("it has no JSON")?, binary))
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// Colours of materials.
struct Colors<'a> {
    document: &'a Document,
    binary: &'a [u8],
}

impl Colors<'_> {
    /// Paints of all, by number.
    fn all(&self, around: &mut Surroundings) -> Vec<Option<Paint>> {
        let materials = self.document.materials.as_array().map_or(&[][..], Vec::as_slice);
        materials.iter().map(|material| self.paint(material, around)).collect()
    }

    /// The base colour, white unless given, and its texture. Both are multiplied as linear light.
    fn paint(&self, material: &Value, around: &mut Surroundings) -> Option<Paint> {
        let base = &material["pbrMetallicRoughness"];
        let factor = match base["baseColorFactor"].as_array() {
            Some(list) => list.iter().map(Value::as_f64).collect::<Option<Vec<_>>>()?,
            None => vec![1.0; 4],
        };
        let [r, g, b, opacity] = color(&factor)?;
        let [r, g, b] = [r, g, b].map(linear_to_srgb);
        let texture = index(&base["baseColorTexture"]["index"]).and_then(|number| self.texture(number, around));
        let opacity = if material["alphaMode"] == "BLEND" { opacity } else { 1.0 };
        Some(Paint { rgba: [r, g, b, opacity], texture, linear: true })
    }

    fn texture(&self, number: usize, around: &mut Surroundings) -> Option<Rc<Texture>> {
        let image = index(&self.document.textures[number]["source"])?;
        let value = &self.document.images[image];
        if let Some(file) = value["uri"].as_str().filter(|uri| !uri.starts_with("data:")) {
            return around.texture(file);
        }
        let view = self.document.buffer_views.get(index(&value["bufferView"])?)?;
        let end = view.byte_offset.checked_add(view.byte_length)?;
        around.texture_of(self.binary.get(view.byte_offset..end)?, &format!("image {image}"))
    }
}

/// How the vertices of a primitive look.
struct VertexLooks {
    /// Their places in a texture.
    places: Option<Vec<[f64; 2]>>,
    /// Their colours, in linear light.
    colors: Option<Vec<Rgba>>,
}

struct Reader<'a> {
    document: &'a Document,
    binary: &'a [u8],
    /// Of the materials, by number.
    paints: Vec<Option<Paint>>,
    /// Whether colours of vertices, and their places in textures, are of use.
    wants_colors: bool,
    out: Painted,
    instances: usize,
}

impl Reader<'_> {
    fn node(&mut self, number: usize, outer: Transform, depth: usize) -> Result<(), String> {
        self.instances += 1;
        if depth > DEEPEST || self.instances > MOST_INSTANCES {
            return Err("its nodes are too many, or a loop".into());
        }
        let document = self.document;
        let node = document.nodes.get(number).ok_or_else(|| format!("there is no node {number}"))?;
        let placed = outer.then(Transform::of(node));
        node.mesh.map_or(Ok(()), |m| self.mesh(m, placed))?;
        node.children.iter().try_for_each(|&child| self.node(child, placed, depth + 1))
    }

    fn mesh(&mut self, number: usize, placed: Transform) -> Result<(), String> {
        let document = self.document;
        let mesh = document.meshes.get(number).ok_or_else(|| format!("there is no mesh {number}"))?;
        for primitive in mesh.primitives.iter().filter(|p| p.mode.unwrap_or(TRIANGLES) == TRIANGLES) {
            let position = primitive.attributes.position.ok_or("a primitive has no places")?;
            let numbers = self.numbers(position, "VEC3")?;
            let looks = self.looks(primitive, numbers.len() / 3);
            self.out.paint(index(&primitive.material).and_then(|m| self.paints.get(m).cloned().flatten()));
            let indices = match primitive.indices {
                Some(accessor) => self.numbers(accessor, "SCALAR")?,
                None => (0..numbers.len() / 3).map(|i| i as f64).collect(),
            };
            let out = &mut self.out;
            let (first, count) = (out.mesh.vertices.len(), numbers.len() / 3);
            if first + count > MOST || out.mesh.triangles.len() + indices.len() / 3 > MOST {
                return Err(format!("it has more than {MOST} vertices or triangles"));
            }
            let first = first as u32;
            let place = |v: &[f64]| placed.turn * Vec3::new(v[0], v[1], v[2]) + placed.shift;
            out.mesh.vertices.extend(numbers.chunks_exact(3).map(place));
            let mirrored = placed.turn.determinant() < 0.0;
            for corners in indices.chunks_exact(3) {
                if corners.iter().any(|i| *i >= count as f64) {
                    return Err(format!("a triangle names a vertex that is not one of {count}"));
                }
                let [a, b, c] = [0, 1, 2].map(|k| first + corners[k] as u32);
                out.mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
                let own = [0, 1, 2].map(|k| corners[k] as usize);
                if let Some(places) = &looks.places {
                    out.place_last(own.map(|i| places[i]));
                }
                if let Some(colors) = &looks.colors {
                    let [r, g, b, opacity] = mean(&own.map(|i| colors[i]));
                    let [r, g, b] = [r, g, b].map(linear_to_srgb);
                    out.color_last([r, g, b, opacity]);
                }
            }
        }
        Ok(())
    }

    /// Looks of the vertices of a primitive; without those that cannot be read.
    fn looks(&self, primitive: &Primitive, count: usize) -> VertexLooks {
        let numbers = |value: &Value, kind: &str| {
            let number = index(value).filter(|_| self.wants_colors)?;
            let scale = match self.document.accessors.get(number)?.component_type {
                5121 => f64::from(u8::MAX),
                5123 => f64::from(u16::MAX),
                _ => 1.0,
            };
            let numbers = self.numbers(number, kind).ok()?;
            Some(numbers.into_iter().map(|x| x / scale).collect::<Vec<f64>>())
        };
        let places = numbers(&primitive.attributes.texture_place, "VEC2");
        let places = places.map(|n| n.chunks_exact(2).map(|c| [c[0], c[1]]).collect::<Vec<_>>());
        let of = &primitive.attributes.color;
        let colors = numbers(of, "VEC4").map(|n| (n, 4)).or_else(|| Some((numbers(of, "VEC3")?, 3)));
        let colors = colors.and_then(|(n, width)| n.chunks_exact(width).map(color).collect::<Option<Vec<_>>>());
        VertexLooks { places: places.filter(|p| p.len() == count), colors: colors.filter(|c| c.len() == count) }
    }

    /// The numbers of an accessor.
    fn numbers(&self, number: usize, kind: &str) -> Result<Vec<f64>, String> {
        let wrong = |what: &str| format!("accessor {number}: {what}");
        let accessor = self.document.accessors.get(number).ok_or_else(|| wrong("there is no such accessor"))?;
        if accessor.kind != kind || accessor.sparse.is_some() {
            return Err(wrong(&format!("expected {kind}, and not sparse")));
        }
        let view = accessor.buffer_view.and_then(|v| self.document.buffer_views.get(v));
        let view = view.filter(|v| v.buffer == 0).ok_or_else(|| wrong("its data is not in the file"))?;
        let end = view.byte_offset.checked_add(view.byte_length);
        let data = end.and_then(|end| self.binary.get(view.byte_offset..end));
        let data =
            data.and_then(|d| d.get(accessor.byte_offset..)).ok_or_else(|| wrong("its data is not in the file"))?;
        let size = match accessor.component_type {
            5121 => 1,
            5123 => 2,
            5125 | 5126 => 4,
            other => return Err(wrong(&format!("numbers of type {other} are not read"))),
        };
        let width = match kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let stride = view.byte_stride.unwrap_or(width * size);
        if stride < width * size {
            return Err(wrong(&format!("its numbers are {stride} bytes apart, and have {}", width * size)));
        }
        let last = accessor.count.checked_sub(1).and_then(|n| n.checked_mul(stride)?.checked_add(width * size));
        if accessor.count > 0 && last.is_none_or(|last| last > data.len()) {
            return Err(wrong("it is longer than its data"));
        }
        let value = |b: &[u8]| match accessor.component_type {
            5121 => f64::from(b[0]),
            5123 => f64::from(u16::from_le_bytes([b[0], b[1]])),
            5125 => f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            _ => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        };
        let starts = (0..accessor.count).flat_map(|i| (0..width).map(move |k| i * stride + k * size));
        Ok(starts.map(|at| value(&data[at..at + size])).collect())
    }
}
