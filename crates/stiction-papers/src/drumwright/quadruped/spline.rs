//! The way of a foot: a cubic spline with continuous curvature, given velocities and no curvature at its ends.

use stiction_body::math::Vec3;

/// Most points a way goes through.
pub const MOST: usize = 4;

/// Knots: the points, and one more beside each end.
const KNOTS: usize = MOST + 2;

/// The added knots are this fraction of an interval from the ends.
const BESIDE: f64 = 1e-3;

/// A way through points at equal intervals of time. Where both velocity and curvature are given at the ends, two more knots are needed;
/// they lie close to the ends, wherever they must.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spline {
    /// When it starts (s).
    start: f64,
    knots: usize,
    /// Time of each knot from the start (s), its place (m) and the second derivative there (m/s²).
    time: [f64; KNOTS],
    place: [Vec3; KNOTS],
    bend: [Vec3; KNOTS],
}

/// Numbers that make a [`Spline`].
pub const NUMBERS: usize = 2 + 7 * KNOTS;

impl Spline {
    /// A way from `start` (s) for `duration` (s) through 2 to 4 `points`, with `velocity` (m/s) at both ends. More points than that are
    /// left out.
    pub fn through(points: &[Vec3], velocity: Vec3, start: f64, duration: f64) -> Self {
        let points = &points[..points.len().min(MOST)];
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Self::default() };
        let intervals = points.len().max(2) - 1;
        let interval = duration / intervals as f64;
        let beside = BESIDE * interval;
        let knots = intervals + 3;
        let mut out = Self { start, knots, ..Self::default() };
        // The places of the added knots are known but for `free` times the second derivative there.
        let mut free = [0.0; KNOTS];
        for k in 0..knots {
            (out.time[k], out.place[k]) = match k {
                0 => (0.0, first),
                1 => (beside, first + velocity * beside),
                _ if k == knots - 2 => (duration - beside, last - velocity * beside),
                _ if k == knots - 1 => (duration, last),
                _ => (interval * (k - 1) as f64, points[k - 1]),
            };
        }
        (free[1], free[knots - 2]) = (beside * beside / 6.0, beside * beside / 6.0);
        out.bend_inside(&free);
        for k in [1, knots - 2] {
            out.place[k] += out.bend[k] * free[k];
        }
        out
    }

    /// Second derivatives at the inner knots, so that velocities are continuous: a tridiagonal system.
    fn bend_inside(&mut self, free: &[f64; KNOTS]) {
        let (h, last) = (|t: &[f64; KNOTS], k: usize| t[k + 1] - t[k], self.knots - 1);
        let (mut diagonal, mut right) = ([0.0; KNOTS], [Vec3::ZERO; KNOTS]);
        let mut above = [0.0; KNOTS];
        for k in 1..last {
            let (before, after) = (h(&self.time, k - 1), h(&self.time, k));
            let below = before - 6.0 * free[k - 1] / before;
            above[k] = after - 6.0 * free[k + 1] / after;
            diagonal[k] = 2.0 * (before + after) + 6.0 * free[k] * (1.0 / before + 1.0 / after);
            right[k] =
                ((self.place[k + 1] - self.place[k]) / after - (self.place[k] - self.place[k - 1]) / before) * 6.0;
            if k > 1 {
                let factor = below / diagonal[k - 1];
                diagonal[k] -= factor * above[k - 1];
                let carried = right[k - 1] * factor;
                right[k] -= carried;
            }
        }
        for k in (1..last).rev() {
            self.bend[k] = (right[k] - self.bend[k + 1] * above[k]) / diagonal[k];
        }
    }

    /// True from the end of the way on, and for one that is empty.
    pub fn is_over(&self, t: f64) -> bool {
        self.knots < 2 || t - self.start >= self.time[self.knots - 1] * (1.0 - 1e-9)
    }

    /// Place (m) and velocity (m/s) at time `t` (s); constant beyond the ends.
    pub fn at(&self, t: f64) -> (Vec3, Vec3) {
        let s = t - self.start;
        if self.knots < 2 {
            return (self.place[0], Vec3::ZERO);
        }
        let last = self.knots - 1;
        let s = s.clamp(0.0, self.time[last]);
        let k = (1..last).find(|&k| s < self.time[k]).unwrap_or(last) - 1;
        let h = self.time[k + 1] - self.time[k];
        let (a, b) = ((self.time[k + 1] - s) / h, (s - self.time[k]) / h);
        let (from, to) = (self.bend[k] * (h / 6.0), self.bend[k + 1] * (h / 6.0));
        let place =
            self.place[k] * a + self.place[k + 1] * b + from * (h * (a * a * a - a)) + to * (h * (b * b * b - b));
        let velocity = (self.place[k + 1] - self.place[k]) / h + to * (3.0 * b * b - 1.0) - from * (3.0 * a * a - 1.0);
        (place, velocity)
    }

    /// Its numbers, for a controller's memory.
    pub fn write(&self, out: &mut Vec<f64>) {
        out.extend([self.start, self.knots as f64]);
        out.extend(self.time);
        out.extend(self.place.iter().chain(&self.bend).flat_map(|p| p.to_array()));
    }

    /// The spline of `numbers` that [`Spline::write`] gave.
    pub fn read(numbers: &[f64]) -> Self {
        let mut out = Self { start: numbers[0], knots: (numbers[1] as usize).min(KNOTS), ..Self::default() };
        out.time.copy_from_slice(&numbers[2..2 + KNOTS]);
        let mut points = numbers[2 + KNOTS..].chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2]));
        for p in out.place.iter_mut().chain(&mut out.bend) {
            *p = points.next().unwrap_or(Vec3::ZERO);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_goes_through_its_points_smoothly() {
        let points = [Vec3::ZERO, Vec3::new(0.0, 0.0, 1.0), Vec3::new(1.0, 0.5, 1.0), Vec3::new(1.0, 0.5, 0.0)];
        let velocity = Vec3::new(0.3, -0.1, 0.2);
        for n in 2..=4 {
            let (start, duration) = (2.0, 0.6);
            let spline = Spline::through(&points[..n], velocity, start, duration);
            let step = duration / (n - 1) as f64;
            for (k, p) in points[..n].iter().enumerate() {
                assert!(spline.at(start + step * k as f64).0.abs_diff_eq(*p, 1e-12), "{n} {k}");
            }
            assert!(
                spline.at(start).1.abs_diff_eq(velocity, 1e-12)
                    && spline.at(start + duration).1.abs_diff_eq(velocity, 1e-9)
            );
            let mut last = spline.at(start);
            let dt = 1e-5;
            for i in 1..60_000 {
                let now = spline.at(start + dt * f64::from(i));
                assert!(
                    ((now.0 - last.0) / dt).abs_diff_eq((now.1 + last.1) * 0.5, 2e-2),
                    "{n}: velocity is the rate of place"
                );
                assert!((now.1 - last.1).length() < 0.05, "{n}: no jump of velocity");
                last = now;
            }
            assert!(!spline.is_over(start + 0.59) && spline.is_over(start + duration));
            let mut numbers = vec![];
            spline.write(&mut numbers);
            assert_eq!(numbers.len(), NUMBERS);
            assert_eq!(Spline::read(&numbers), spline);
        }
    }
}
