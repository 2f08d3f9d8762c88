//! Normals that are parallel but for an angle that does not matter, made parallel.
//!
//! Planks that lie across each other, books between books and what two fingers hold touch with faces that are parallel but for what projection, rounding and the last blow left. Where
//! bodies slide, normals that differ by an angle θ ask for different separation velocities, by θ times the slip: a thousandth of a micrometre per second then decides which of the
//! faces carries the load, and a solver spends most of its work on it. A tower of planks that a ball hits takes two fifths of the factorizations without such angles.

use stiction_body::ContactPoint;
use stiction_body::math::Vec3;

/// Normals of contacts of one body count as parallel within this angle (rad).
const PARALLEL: f64 = 1e-5;

/// Parallel normals have nearly the same component along this unit vector, up to the sign, and others hardly ever have: it is along no axis of a scene.
const SKEW: Vec3 = Vec3::new(0.36, 0.48, 0.8);

/// Contacts of the same geoms with the same normal.
#[derive(Debug, Clone, Copy)]
struct Face {
    /// Its first contact, and the one after its last.
    contacts: (usize, usize),
    /// The links that it is on; none is the world.
    links: [Option<usize>; 2],
    /// The component of its normal along [`SKEW`], without its sign.
    skew: f64,
    is_done: bool,
}

/// Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct ParallelNormals {
    faces: Vec<Face>,
    /// The faces of each link, in ascending order of `skew`, one link after the other, and where those of each link start.
    of_links: Vec<usize>,
    starts: Vec<usize>,
    /// Links that a direction has reached.
    reached: Vec<usize>,
}

impl ParallelNormals {
    /// Gives normals of contacts that are parallel and connected by links the direction of one of them: of one with the world, if there is any. There are so many `links`, and
    /// `link` says on which of them a geom is.
    pub(super) fn align(&mut self, points: &mut [ContactPoint], links: usize, link: impl Fn(usize) -> Option<usize>) {
        if points.windows(2).all(|two| two[0].normal == two[1].normal || two[0].normal == -two[1].normal) {
            return;
        }
        self.list_faces(points, links, link);
        for with_world in [true, false] {
            for source in 0..self.faces.len() {
                let Face { contacts: (first, _), links, is_done, .. } = self.faces[source];
                if !is_done && links.contains(&None) == with_world {
                    self.faces[source].is_done = true;
                    self.reached.clear();
                    self.reached.extend(links.iter().flatten());
                    self.spread(points, points[first].normal);
                }
            }
        }
    }

    fn list_faces(&mut self, points: &[ContactPoint], links: usize, link: impl Fn(usize) -> Option<usize>) {
        let Self { faces, of_links, starts, .. } = self;
        faces.clear();
        starts.clear();
        starts.resize(links + 1, 0);
        let mut first = 0;
        for face in points.chunk_by(|a, b| a.geoms == b.geoms && a.normal == b.normal) {
            let contacts = (first, first + face.len());
            first = contacts.1;
            let links = face[0].geoms.map(&link);
            links.iter().flatten().for_each(|&link| starts[link + 1] += 1);
            faces.push(Face { contacts, links, skew: face[0].normal.dot(SKEW).abs(), is_done: false });
        }
        (0..links).for_each(|link| starts[link + 1] += starts[link]);
        of_links.clear();
        of_links.resize(starts[links], 0);
        // Each start is moved to its end, then back.
        for (face, of) in faces.iter().enumerate() {
            for &link in of.links.iter().flatten() {
                of_links[starts[link]] = face;
                starts[link] += 1;
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
        for of_link in starts.windows(2) {
            of_links[of_link[0]..of_link[1]]
                .sort_unstable_by(|&a, &b| faces[a].skew.total_cmp(&faces[b].skew).then(a.cmp(&b)));
        }
    }

    /// Gives this direction to the parallel faces of the links reached, and of those that these reach.
    fn spread(&mut self, points: &mut [ContactPoint], direction: Vec3) {
        let skew = direction.dot(SKEW).abs();
        while let Some(link) = self.reached.pop() {
            let of_link = &self.of_links[self.starts[link]..self.starts[link + 1]];
            let first = of_link.partition_point(|face| self.faces[*face].skew < skew - PARALLEL);
            for &face in &of_link[first..] {
                let face = &mut self.faces[face];
                if face.skew > skew + PARALLEL {
                    break;
                }
                let (first, last) = face.contacts;
                let Some(aligned) = parallel(points[first].normal, direction).filter(|_| !face.is_done) else {
                    continue;
                };
                face.is_done = true;
                points[first..last].iter_mut().for_each(|at| at.normal = aligned);
                self.reached.extend(face.links.iter().flatten().filter(|other| **other != link));
            }
        }
    }
}

/// The direction or its opposite, if the normal is parallel to it.
fn parallel(normal: Vec3, direction: Vec3) -> Option<Vec3> {
    let along = if normal.dot(direction) < 0.0 { -direction } else { direction };
    let off = normal - along;
    (off.dot(off) <= PARALLEL * PARALLEL).then_some(along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_body::math::length;

    /// Contacts of geoms, each on the link of its number but 0, which is the world, with normals tilted by an angle from the vertical.
    fn aligned(faces: &[([usize; 2], f64)]) -> Vec<Vec3> {
        let contact = |&(geoms, tilt): &([usize; 2], f64)| ContactPoint {
            geoms,
            feature: 0,
            point: Vec3::ZERO,
            normal: Vec3::new(tilt.sin(), 0.0, tilt.cos()),
            gap: 0.0,
            lead: Vec3::ZERO,
        };
        let mut points: Vec<_> = faces.iter().map(contact).collect();
        ParallelNormals::default().align(&mut points, 9, |geom| geom.checked_sub(1));
        points.iter().map(|at| at.normal).collect()
    }

    #[test]
    fn normals_along_a_tower_are_that_of_the_ground() {
        let normals = aligned(&[([1, 2], 1e-6), ([2, 3], -8e-6), ([3, 4], 9e-6), ([0, 1], 0.0)]);
        assert_eq!(normals, [Vec3::Z; 4]);
    }

    #[test]
    fn opposite_sides_of_a_body_are_parallel_too() {
        let held = aligned(&[([1, 3], 0.5), ([2, 3], 0.5 + std::f64::consts::PI + 3e-6)]);
        assert_eq!(held[0], -held[1]);
    }

    #[test]
    fn what_is_tilted_further_or_on_other_bodies_stays() {
        let tilts = [0.0, 2e-5, 1e-6];
        let normals = aligned(&[([0, 1], tilts[0]), ([1, 2], tilts[1]), ([3, 4], tilts[2])]);
        for (normal, tilt) in normals.iter().zip(tilts) {
            assert!(length(*normal - Vec3::new(tilt.sin(), 0.0, tilt.cos())) < 1e-20, "{normals:?}");
        }
    }
}
