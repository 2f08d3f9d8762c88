//! MuJoCo's binary meshes: four counts, then positions, normals, texture coordinates and faces, all in 4 bytes, little-endian.

use stiction_body::math::Vec3;

use crate::meshes::TriangleMesh;

/// Reads the bytes of a file; a file without faces gives a mesh without triangles.
///
/// # Errors
/// If the counts do not fit the size, or a face names a vertex that is not there.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).filter_map(|c| c.try_into().ok()).collect();
    let [vertices, normals, coordinates, faces] = match words.get(..4).map(|w| [w[0], w[1], w[2], w[3]]) {
        Some(counts) => counts.map(|w| usize::try_from(i32::from_le_bytes(w)).unwrap_or(usize::MAX)),
        None => return Err("is too short for a MSH file".into()),
    };
    let triples = vertices.checked_add(normals).and_then(|n| n.checked_add(faces)).and_then(|n| n.checked_mul(12));
    let expected = triples.and_then(|n| n.checked_add(coordinates.checked_mul(8)?)).and_then(|n| n.checked_add(16));
    if expected != Some(bytes.len()) {
        let counts =
            format!("{vertices} vertices, {normals} normals, {coordinates} texture coordinates, {faces} faces");
        return Err(format!("its size of {} bytes does not fit its {counts}", bytes.len()));
    }
    let float = |w: &[u8; 4]| f64::from(f32::from_le_bytes(*w));
    let points = words[4..4 + 3 * vertices].chunks_exact(3);
    let points: Vec<Vec3> = points.map(|c| Vec3::new(float(&c[0]), float(&c[1]), float(&c[2]))).collect();
    if points.iter().any(|p| !p.is_finite()) {
        return Err("a vertex is not finite".into());
    }
    let first = 4 + 3 * (vertices + normals) + 2 * coordinates;
    let index = |w: &[u8; 4]| u32::from_le_bytes(*w);
    let triangles: Vec<[u32; 3]> =
        words[first..].chunks_exact(3).map(|c| [index(&c[0]), index(&c[1]), index(&c[2])]).collect();
    match triangles.iter().flatten().find(|i| **i as usize >= vertices) {
        Some(i) => Err(format!("a face names vertex {i} of {vertices}")),
        None => Ok(TriangleMesh { vertices: points, triangles }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_must_fit() {
        let mut bytes: Vec<u8> = [4i32, 0, 0, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.extend((0..12).flat_map(|i| (i as f32).to_le_bytes()));
        bytes.extend([0i32, 1, 3].iter().flat_map(|x| x.to_le_bytes()));
        let mesh = parse(&bytes).unwrap();
        assert_eq!(
            (mesh.vertices.len(), mesh.vertices[3], mesh.triangles),
            (4, Vec3::new(9.0, 10.0, 11.0), vec![[0, 1, 3]])
        );
        let last = bytes.len() - 4;
        bytes[last] = 4;
        assert!(parse(&bytes).unwrap_err().contains("vertex 4 of 4"));
        for n in 0..bytes.len() {
            assert!(parse(&bytes[..n]).is_err());
        }
        assert!(parse(&[0xff; 64]).is_err());
    }
}
