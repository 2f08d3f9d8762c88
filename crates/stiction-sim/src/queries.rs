//! Questions about where things are: rays, distances, overlap.

use stiction_body::math::{Pose, Vec3};
use stiction_body::{RayHit, Separation, Shape};
use stiction_lcp::InputError;

use crate::simulation::Simulation;

/// Two geoms, and where they are closest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The geoms, in the order of the question; the second is none for a point.
    pub geoms: [Option<usize>; 2],
    /// Where they are closest.
    pub separation: Separation,
}

/// Refuses numbers that are not finite, with the first of them and its place.
fn finite(what: impl Fn() -> String, numbers: &[f64]) -> Result<(), InputError> {
    let Some(i) = numbers.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let what = if numbers.len() == 1 { what() } else { format!("{}[{i}]", what()) };
    Err(InputError::NotFinite { what, value: numbers[i] })
}

impl Simulation {
    /// The first geom that each ray meets at the present state, within `reach` (m); geoms for which
    /// `skip` is true are looked through. Rays are origins (m) and directions of any length above
    /// 0, in the world. A ray that starts within a shape does not meet it.
    ///
    /// # Errors
    /// If a number is not finite, a direction is zero, or the reach is negative.
    pub fn cast_rays(
        &mut self,
        rays: &[(Vec3, Vec3)],
        reach: f64,
        skip: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<Option<RayHit>>, InputError> {
        if reach.is_nan() || reach < 0.0 {
            return Err(InputError::OutOfRange { what: "reach of rays".into(), expected: "at least 0", found: reach });
        }
        for (i, (origin, along)) in rays.iter().enumerate() {
            finite(|| format!("origin of ray {i}"), &origin.to_array())?;
            finite(|| format!("direction of ray {i}"), &along.to_array())?;
            if *along == Vec3::ZERO {
                let what = format!("length of the direction of ray {i}");
                return Err(InputError::OutOfRange { what, expected: "above 0", found: 0.0 });
            }
        }
        self.kinematics();
        Ok(self.collision.cast_rays(&self.world.model, &self.work, rays, reach, skip))
    }

    /// Where two sets of geoms are closest at the present state, whether or not they may touch;
    /// `None` if one of them is empty, or both have half-spaces only.
    pub fn nearest(&mut self, first: &[usize], second: &[usize]) -> Option<Nearest> {
        self.kinematics();
        let mut best: Option<Nearest> = None;
        for &a in first {
            for &b in second {
                let found = self.collision.closest_points(&self.world.model, &self.work, [a, b]);
                let Some(separation) = found else { continue };
                if best.is_none_or(|best| separation.distance < best.separation.distance) {
                    best = Some(Nearest { geoms: [Some(a), Some(b)], separation });
                }
            }
        }
        best
    }

    /// Where geoms are closest to a point of the world (m); the second point of the answer is that
    /// point.
    pub fn nearest_to_point(&mut self, geoms: &[usize], point: Vec3) -> Option<Nearest> {
        self.kinematics();
        let mut best: Option<Nearest> = None;
        for &geom in geoms {
            let found = self.collision.closest_to_point(&self.world.model, &self.work, geom, point);
            let Some(separation) = found else { continue };
            if best.is_none_or(|best| separation.distance < best.separation.distance) {
                best = Some(Nearest { geoms: [Some(geom), None], separation });
            }
        }
        best
    }

    /// The geoms that are nearer to a shape at a pose than `margin` (m; negative: deeper than),
    /// with their distances, in their order.
    ///
    /// # Errors
    /// If the shape cannot collide as it is, or the pose or margin is not finite.
    pub fn near_shape(
        &mut self,
        shape: &Shape,
        pose: &Pose,
        margin: f64,
    ) -> Result<Vec<(usize, Separation)>, InputError> {
        finite(|| "position of the shape".into(), &pose.translation.to_array())?;
        let [x, y, z, w] = pose.rotation.to_array();
        finite(|| "quaternion of the shape".into(), &[w, x, y, z])?;
        finite(|| "margin of the shape".into(), &[margin])?;
        self.kinematics();
        let mut out = vec![];
        for geom in 0..self.world.geoms.len() {
            let found = self.collision.closest_to_shape(&self.world.model, &self.work, geom, (shape, pose))?;
            out.extend(found.filter(|s| s.distance < margin).map(|s| (geom, s)));
        }
        Ok(out)
    }
}
