//! STL: triangles one by one, binary or text.

use stiction_body::math::Vec3;

use super::TriangleMesh;

/// Bytes before the triangles of a binary file: 80 of a header that means nothing, 4 of their number.
const HEADER: usize = 84;
/// Bytes of a triangle: a normal and three vertices of single precision, two bytes more.
const TRIANGLE: usize = 50;

/// Binary headers may begin with "solid" like text, so the size decides: a file is binary if it is as long as its count of triangles says.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let count = bytes.get(80..HEADER).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let full = count.and_then(|n| n.checked_mul(TRIANGLE)?.checked_add(HEADER));
    if let Some(full) = full.filter(|n| *n == bytes.len()) {
        return Ok(binary(&bytes[HEADER..full]));
    }
    let is_text = bytes.trim_ascii_start().get(..5).is_some_and(|b| b.eq_ignore_ascii_case(b"solid"));
    let text = std::str::from_utf8(bytes).ok().or_else(|| text_prefix(bytes));
    match (text.filter(|_| is_text), count, full) {
        (Some(text), _, _) => ascii(text),
        (None, Some(_), Some(full)) if full < bytes.len() => Ok(binary(&bytes[HEADER..full])),
        (None, Some(count), _) => {
            Err(format!("a binary STL of {count} triangles would be longer than its {} bytes", bytes.len()))
        }
        _ => Err("neither a text STL (it would begin with \"solid\") nor a binary one".into()),
    }
}

/// A name in some other encoding may stand in the first line: the text after it.
fn text_prefix(bytes: &[u8]) -> Option<&str> {
    let line = bytes.iter().position(|b| *b == b'\n')?;
    std::str::from_utf8(&bytes[line..]).ok()
}

fn binary(bytes: &[u8]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for triangle in bytes.chunks_exact(TRIANGLE) {
        let number = |k: usize| {
            let b = &triangle[12 + 4 * k..16 + 4 * k];
            f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        add(&mut mesh, [0, 3, 6].map(|k| Vec3::new(number(k), number(k + 1), number(k + 2))));
    }
    mesh
}

/// Takes the vertices of each loop; all other words only say what is known.
fn ascii(text: &str) -> Result<TriangleMesh, String> {
    let mut mesh = TriangleMesh::default();
    let mut corners: Vec<Vec3> = Vec::with_capacity(3);
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("vertex") => corners.push(super::obj::vertex(words, i + 1)?),
            Some("endloop") => {
                let found = corners.len();
                let triangle = std::mem::take(&mut corners).try_into();
                add(&mut mesh, triangle.map_err(|_| format!("line {}: a facet of {found} vertices, not 3", i + 1))?);
            }
            _ => {}
        }
    }
    if corners.is_empty() { Ok(mesh) } else { Err("the file ends within a facet".into()) }
}

fn add(mesh: &mut TriangleMesh, corners: [Vec3; 3]) {
    let n = mesh.vertices.len() as u32;
    mesh.vertices.extend(corners);
    mesh.triangles.push([n, n + 1, n + 2]);
}
