//! PLY: elements with properties, as text or binary; of these the places of vertices and the corners
//! of faces count, and the colours of both.

use stiction_body::math::Vec3;

use super::colors::{Painted, Surroundings, mean};
use super::fan;
use crate::looks::{Rgba, color};

/// How the numbers of a file are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return Err(format!("there is no type \"{name}\" of properties")),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// What stands for a full channel of a colour.
    fn full(self) -> f64 {
        match self {
            Self::I8 | Self::U8 => f64::from(u8::MAX),
            Self::I16 | Self::U16 => f64::from(u16::MAX),
            Self::I32 | Self::U32 => f64::from(u32::MAX),
            Self::F32 | Self::F64 => 1.0,
        }
    }

    /// From its bytes, of the right size, the least significant first.
    fn value(self, b: [u8; 8]) -> f64 {
        match self {
            Self::I8 => f64::from(b[0] as i8),
            Self::U8 => f64::from(b[0]),
            Self::I16 => f64::from(i16::from_le_bytes([b[0], b[1]])),
            Self::U16 => f64::from(u16::from_le_bytes([b[0], b[1]])),
            Self::I32 => f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Self::U32 => f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Self::F32 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Self::F64 => f64::from_le_bytes(b),
        }
    }
}

struct Property {
    name: String,
    /// Of a list the type of its length.
    count: Option<Number>,
    of: Number,
}

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

/// Reads numbers one after the other.
struct Body<'a> {
    encoding: Encoding,
    bytes: &'a [u8],
    words: std::str::SplitAsciiWhitespace<'a>,
}

impl Body<'_> {
    fn number(&mut self, of: Number) -> Result<f64, String> {
        if self.encoding == Encoding::Text {
            let word = self.words.next().ok_or("the file ends early")?;
            return word.parse().map_err(|_| format!("\"{word}\" is not a number"));
        }
        let (own, rest) = self.bytes.split_at_checked(of.size()).ok_or("the file ends early")?;
        self.bytes = rest;
        let mut b = [0; 8];
        b[..own.len()].copy_from_slice(own);
        if self.encoding == Encoding::BigEndian {
            b[..own.len()].reverse();
        }
        Ok(of.value(b))
    }

    fn property(&mut self, property: &Property, values: &mut Vec<f64>) -> Result<(), String> {
        values.clear();
        let count = property.count.map_or(Ok(1.0), |of| self.number(of))?;
        if !(count >= 0.0 && count.fract() == 0.0 && count <= f64::from(u32::MAX)) {
            return Err(format!("a list has a length of {count}"));
        }
        for _ in 0..count as u64 {
            values.push(self.number(property.of)?);
        }
        Ok(())
    }
}

/// What a row of an element says.
#[derive(Default)]
struct Row {
    place: Vec3,
    corners: Option<Vec<f64>>,
    /// Red, green, blue and opacity, as far as they are given.
    channels: [Option<f64>; 4],
}

impl Row {
    fn read(body: &mut Body, element: &Element, values: &mut Vec<f64>) -> Result<Self, String> {
        let mut out = Self::default();
        for property in &element.properties {
            body.property(property, values)?;
            let first = values.first().copied();
            let channel = |x: f64| x / property.of.full();
            match (element.name.as_str(), property.name.as_str()) {
                ("vertex", "x") => out.place.x = first.unwrap_or(0.0),
                ("vertex", "y") => out.place.y = first.unwrap_or(0.0),
                ("vertex", "z") => out.place.z = first.unwrap_or(0.0),
                ("face", "vertex_indices" | "vertex_index") => out.corners = Some(values.clone()),
                (_, "red" | "diffuse_red") => out.channels[0] = first.map(channel),
                (_, "green" | "diffuse_green") => out.channels[1] = first.map(channel),
                (_, "blue" | "diffuse_blue") => out.channels[2] = first.map(channel),
                (_, "alpha") => out.channels[3] = first.map(channel),
                _ => {}
            }
        }
        Ok(out)
    }

    fn color(&self) -> Option<Rgba> {
        let [r, g, b, opacity] = self.channels;
        color(&[r?, g?, b?, opacity.unwrap_or(1.0)])
    }
}

pub(super) fn parse(bytes: &[u8], around: &Surroundings) -> Result<Painted, String> {
    let (encoding, elements, body) = header(bytes)?;
    let text = if encoding == Encoding::Text { std::str::from_utf8(body).map_err(|e| e.to_string())? } else { "" };
    let mut body = Body { encoding, bytes: body, words: text.split_ascii_whitespace() };
    let (mut out, mut values) = (Painted::default(), Vec::new());
    let (mut colors, mut faces) = (Vec::new(), Vec::new());
    for element in &elements {
        for _ in 0..element.count {
            // An element without properties takes no room: it would be counted for long.
            if element.properties.is_empty() {
                break;
            }
            let row = Row::read(&mut body, element, &mut values)?;
            if element.name == "vertex" {
                out.mesh.vertices.push(row.place);
                colors.extend(row.color().filter(|_| around.wants_colors()));
            }
            let own = row.color().filter(|_| around.wants_colors());
            faces.extend(row.corners.map(|corners| (corners, own)));
        }
    }
    let vertices = out.mesh.vertices.len();
    for (face, own) in &faces {
        let corner = |x: &f64| (*x >= 0.0 && x.fract() == 0.0 && *x < vertices as f64).then_some(*x as u32);
        let corners: Option<Vec<u32>> = face.iter().map(corner).collect();
        let corners = corners.ok_or_else(|| format!("a face names a vertex that is not one of {vertices}"))?;
        for triangle in fan(&corners) {
            out.mesh.triangles.push(triangle);
            let between = (colors.len() == vertices).then(|| mean(&triangle.map(|i| colors[i as usize])));
            own.or(between).into_iter().for_each(|rgba| out.color_last(rgba));
        }
    }
    Ok(out)
}

/// What the file holds and how, and what comes after.
fn header(bytes: &[u8]) -> Result<(Encoding, Vec<Element>, &[u8]), String> {
    let (mut encoding, mut elements, mut rest) = (None, Vec::<Element>::new(), bytes);
    for number in 0.. {
        let end = rest.iter().position(|b| *b == b'\n').ok_or("the header has no end")?;
        let line = String::from_utf8_lossy(&rest[..end]);
        rest = &rest[end + 1..];
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["ply"] if number == 0 => {}
            _ if number == 0 => return Err("a PLY file begins with \"ply\"".into()),
            ["format", "ascii", _] => encoding = Some(Encoding::Text),
            ["format", "binary_little_endian", _] => encoding = Some(Encoding::LittleEndian),
            ["format", "binary_big_endian", _] => encoding = Some(Encoding::BigEndian),
            ["element", name, count] => {
                let count = count.parse().map_err(|_| format!("\"{count}\" is not a number of elements"))?;
                elements.push(Element { name: name.into(), count, properties: vec![] });
            }
            ["property", "list", count, of, name] => {
                let count = Some(Number::named(count)?);
                add_property(&mut elements, Property { name: name.into(), count, of: Number::named(of)? })?;
            }
            ["property", of, name] => {
                add_property(&mut elements, Property { name: name.into(), count: None, of: Number::named(of)? })?;
            }
            ["end_header"] => return Ok((encoding.ok_or("the header has no format")?, elements, rest)),
            [] | ["comment" | "obj_info", ..] => {}
            _ => return Err(format!("line {}: \"{line}\" is not understood", number + 1)),
        }
    }
    Err("the header has no end".into())
}

fn add_property(elements: &mut [Element], property: Property) -> Result<(), String> {
    let last = elements.last_mut().ok_or("a property belongs to no element")?;
    last.properties.push(property);
    Ok(())
}
