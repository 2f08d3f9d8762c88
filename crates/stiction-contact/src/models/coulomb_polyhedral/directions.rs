//! The directions of friction: d equally spaced unit vectors of the tangent plane, the first along the first tangent.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

/// The directions `(cos 2πj/d, sin 2πj/d)`, j = 0 … d − 1, without any function of the platform's: every direction is mirrored from the first eighth
/// of the circle, where two short series do; so opposite directions are opposite to the last bit. For d = 4 and 8 no series is needed.
pub fn directions(d: usize) -> Vec<[f64; 2]> {
    (0..d).map(|j| direction(j, d)).collect()
}

fn direction(j: usize, d: usize) -> [f64; 2] {
    let (octant, rest) = (8 * j / d, 8 * j % d);
    let share = if octant % 2 == 0 { rest } else { d - rest } as f64 / d as f64;
    let (c, s) = eighth(share);
    match octant {
        0 => [c, s],
        1 => [s, c],
        2 => [-s, c],
        3 => [-c, s],
        4 => [-c, -s],
        5 => [-s, -c],
        6 => [s, -c],
        _ => [c, -s],
    }
}

/// Cosine and sine of `share · π/4`, share in 0..=1.
fn eighth(share: f64) -> (f64, f64) {
    if share == 0.0 {
        return (1.0, 0.0);
    }
    if share == 1.0 {
        return (FRAC_1_SQRT_2, FRAC_1_SQRT_2);
    }
    /// Terms of either series; the first one left out is below 1e-17.
    const TERMS: usize = 9;
    let x = share * FRAC_PI_4;
    let (mut cosine, mut sine) = (1.0, 1.0);
    for k in (1..TERMS).rev() {
        let k = k as f64;
        cosine = 1.0 - x * x / ((2.0 * k - 1.0) * (2.0 * k)) * cosine;
        sine = 1.0 - x * x / ((2.0 * k) * (2.0 * k + 1.0)) * sine;
    }
    (cosine, x * sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_evenly_spaced_and_come_in_opposite_pairs() {
        for d in [4, 6, 8, 10, 12, 16, 30, 100] {
            let all = directions(d);
            for (j, x) in all.iter().enumerate() {
                let angle = 2.0 * std::f64::consts::PI * j as f64 / d as f64;
                assert!((x[0] - angle.cos()).abs() < 1e-15 && (x[1] - angle.sin()).abs() < 1e-15, "{d} {j}");
                let opposite = all[(j + d / 2) % d];
                assert!(x[0] == -opposite[0] && x[1] == -opposite[1], "{d} {j}");
            }
        }
        assert_eq!(directions(4), [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]);
    }
}
