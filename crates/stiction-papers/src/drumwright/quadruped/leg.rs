//! A leg of the robot in closed form, in the frame of the trunk: where its foot is, how it moves, and which angles put it at a place.

use stiction_body::math::Vec3;

/// Distance from the hip's first joint to its second, to the knee, to the centre of the foot (m).
pub(crate) const HIP: f64 = 0.05;
/// Length of the thigh (m).
pub(crate) const THIGH: f64 = 0.1;
/// Length of the shank (m).
pub(crate) const SHANK: f64 = 0.1;

/// A leg: a joint about x, then two about y, each along its axis or against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// LF, RF, LH, RH.
    pub name: &'static str,
    /// 1 for a front leg, −1 for a hind one.
    pub front: f64,
    /// 1 on the left, −1 on the right.
    pub left: f64,
    /// Sign of the first joint's axis, along x.
    pub roll: f64,
    /// Sign of the other axes, along y.
    pub pitch: f64,
    /// Angles at the start (rad).
    pub start: [f64; 3],
}

const fn leg(name: &'static str, front: f64, left: f64, turn: f64) -> Leg {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_8};
    Leg { name, front, left, roll: front, pitch: left, start: [turn * FRAC_PI_8, turn * FRAC_PI_4, turn * FRAC_PI_2] }
}

/// The legs.
pub(crate) const LEGS: [Leg; 4] =
    [leg("LF", 1.0, 1.0, 1.0), leg("RF", 1.0, -1.0, -1.0), leg("LH", -1.0, 1.0, -1.0), leg("RH", -1.0, -1.0, 1.0)];

/// Where the foot of a leg is, and how it moves with the joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FootMotion {
    /// Centre of the foot in the frame of the trunk (m).
    pub foot: Vec3,
    /// Its rate with each joint (m/rad).
    pub columns: [Vec3; 3],
}

impl FootMotion {
    /// Velocity of the foot beside the trunk (m/s).
    pub fn velocity(&self, rates: [f64; 3]) -> Vec3 {
        self.columns[0] * rates[0] + self.columns[1] * rates[1] + self.columns[2] * rates[2]
    }

    /// Torques that make a force at the foot: Jᵀ f.
    pub fn torques(&self, force: Vec3) -> [f64; 3] {
        self.columns.map(|c| c.dot(force))
    }

    /// Joint rates that move the foot with `velocity`: J⁻¹ v; `None` where the leg is stretched.
    pub fn rates(&self, velocity: Vec3) -> Option<[f64; 3]> {
        let [a, b, c] = self.columns;
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
        let volume = a.dot(bc);
        let size = (a.length_squared() * b.length_squared() * c.length_squared()).sqrt();
        (volume.abs() > STRETCHED * size).then(|| [bc, ca, ab].map(|r| r.dot(velocity) / volume))
    }
}

/// A leg whose columns span less than this fraction of a box has no direction left to move in.
const STRETCHED: f64 = 1e-6;

/// Inverse kinematics ends at this distance (m), after so many steps, or when a step halved so often does not get nearer.
const NEAR: f64 = 1e-3;
const STEPS: usize = 20;
const HALVINGS: usize = 8;

impl Leg {
    /// Where the leg begins, in the frame of the trunk.
    pub fn root(&self) -> Vec3 {
        Vec3::new(self.front * 0.1, self.left * 0.06, 0.0)
    }

    /// Centre of the foot at joint angles `q` (rad), in the frame of the trunk.
    pub fn foot(&self, q: [f64; 3]) -> Vec3 {
        self.motion(q).foot
    }

    /// The foot at joint angles `q` (rad) and its rates.
    pub fn motion(&self, q: [f64; 3]) -> FootMotion {
        let (sin_roll, cos_roll) = libm::sincos(self.roll * q[0]);
        let (sin_thigh, cos_thigh) = libm::sincos(self.pitch * q[1]);
        let (sin_shank, cos_shank) = libm::sincos(self.pitch * (q[1] + q[2]));
        // In the plane of the leg: forward and up, of the shank alone and of thigh and shank.
        let shank = [self.front * SHANK * cos_shank, -self.front * SHANK * sin_shank];
        let both = [shank[0] + self.front * THIGH * cos_thigh, shank[1] - self.front * THIGH * sin_thigh];
        let tilted = |x: f64, z: f64| Vec3::new(x, -sin_roll * z, cos_roll * z);
        FootMotion {
            foot: self.root() + tilted(self.front * HIP + both[0], both[1]),
            columns: [
                Vec3::new(0.0, -cos_roll * both[1], -sin_roll * both[1]) * self.roll,
                tilted(both[1], -both[0]) * self.pitch,
                tilted(shank[1], -shank[0]) * self.pitch,
            ],
        }
    }

    /// Joint angles near `q` that put the foot at `target`, by Newton's method with steps that are halved until they help; and the motion
    /// there.
    pub fn reach(&self, target: Vec3, mut q: [f64; 3]) -> ([f64; 3], FootMotion) {
        let mut at = self.motion(q);
        for _ in 0..STEPS {
            let off = target - at.foot;
            let Some(step) = at.rates(off).filter(|_| off.length() > NEAR) else { break };
            let shorter = |k: i32| {
                let scale = 0.5f64.powi(k);
                let next = [0, 1, 2].map(|i| q[i] + scale * step[i]);
                let there = self.motion(next);
                (((target - there.foot).length()) < off.length()).then_some((next, there))
            };
            match (0..HALVINGS as i32).find_map(shorter) {
                Some(next) => (q, at) = next,
                None => break,
            }
        }
        (q, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_foot() {
        for leg in &LEGS {
            let q = [leg.start[0] + 0.1, leg.start[1] - 0.2, leg.start[2] + 0.3];
            let at = leg.motion(q);
            for k in 0..3 {
                let (mut less, mut more) = (q, q);
                (less[k], more[k]) = (q[k] - 1e-6, q[k] + 1e-6);
                let slope = (leg.foot(more) - leg.foot(less)) / 2e-6;
                assert!(slope.abs_diff_eq(at.columns[k], 1e-9), "{} {k}", leg.name);
            }
            let v = Vec3::new(0.1, -0.2, 0.3);
            assert!(at.velocity(at.rates(v).unwrap()).abs_diff_eq(v, 1e-14));
        }
    }

    #[test]
    fn feet_reach_what_they_can() {
        for leg in &LEGS {
            let target = leg.foot(leg.start) + Vec3::new(0.03, -0.02, 0.02);
            let (_, at) = leg.reach(target, leg.start);
            assert!((at.foot - target).length() <= NEAR);
            let (_, far) = leg.reach(Vec3::new(0.0, 0.0, -5.0), leg.start);
            assert!(far.foot.is_finite());
        }
    }
}
