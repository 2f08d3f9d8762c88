//! Which variable leaves: the ratio test over all basic variables.

use stiction_lcp::generate::Rng;

use super::Tolerances;
use super::cones::{Cones, NONE, Pair};
use super::lanes::{product, two_products};
use super::structural::Path;
use super::system::Driving;

/// Pivots without progress before lots are drawn.
const PATIENCE: usize = 20;

/// The variable that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// z₀.
    Artificial,
    /// θ, φ or λ.
    Z(Pair),
    /// ν, σ or γ.
    W(Pair),
}

/// A variable that falls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    leaving: Leaving,
    value: f64,
    fall: f64,
}

/// Candidates so far, and the longest step that keeps all of them above minus their tolerance.
struct Test<'a> {
    tolerances: &'a Tolerances,
    candidates: &'a mut Vec<Candidate>,
    longest: f64,
}

impl Test<'_> {
    /// Sees a basic variable: its value and rate, and the sizes of the terms that these are sums of.
    #[inline]
    fn see(&mut self, leaving: Leaving, value: f64, rate: f64, value_size: f64, rate_size: f64) {
        if rate >= -self.tolerances.pivot * rate_size {
            return;
        }
        let (value, fall) = (value.max(0.0), -rate);
        if value > self.longest * fall {
            return;
        }
        self.longest = self.longest.min((value + self.tolerances.tie * value_size) / fall);
        self.candidates.push(Candidate { leaving, value, fall });
    }
}

impl Path {
    /// The variable that blocks first as the driving one grows; `None` on a ray.
    pub(super) fn ratio_test(&mut self, cones: &Cones, driving: Driving) -> Option<Leaving> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let tolerances = &cones.tolerances.coulomb_polyhedral;
        let mut test = Test { tolerances, candidates: &mut candidates, longest: f64::INFINITY };
        self.see_unknowns(&mut test);
        for &g in &self.expanded {
            self.see_group(cones, driving, g, &mut test);
        }
        self.see_normals(cones, &mut test);
        let longest = test.longest;
        let leaving = self.choose(&candidates, longest, tolerances);
        self.candidates = candidates;
        leaving
    }

    /// θ_α, φ_κ and z₀.
    fn see_unknowns(&self, test: &mut Test<'_>) {
        let thetas = self.active.theta.len();
        for (at, (value, rate)) in self.value.y.iter().zip(&self.rate.y).enumerate() {
            let leaving = if at < thetas {
                Leaving::Z(Pair::Normal(self.active.theta[at]))
            } else if let Some(&(g, j)) = self.active.kappa.get(at - thetas) {
                Leaving::Z(Pair::Direction(g, j))
            } else {
                Leaving::Artificial
            };
            let length = if leaving == Leaving::Artificial { 1.0 } else { self.system.lengths[at] };
            let real = test.tolerances.rate_correction * self.rate.error[at].abs() / test.tolerances.pivot;
            test.see(leaving, *value, *rate, self.value.size / length, (self.rate.size / length).max(real));
        }
    }

    /// ν of the nonbasic θ. No column is longer than 2, so a ν that is known to be out of reach of this step is passed by: what remains to be
    /// looked at hardly depends on how many there are.
    fn see_normals(&mut self, cones: &Cones, test: &mut Test<'_>) {
        let (z0, z0_rate) = (self.z0(), self.z0_rate());
        let (size, rate_size) = (self.value.size + z0, self.rate.size + z0_rate.abs());
        let (speed, margin) = (self.speed(), test.tolerances.reach * size);
        for (i, normal) in cones.normals.iter().enumerate() {
            if self.reach[i] > self.travel + margin + test.longest * speed {
                continue;
            }
            if self.active.theta_basic[i] || self.out == Some(Pair::Normal(i)) {
                self.reach[i] = f64::NEG_INFINITY;
                continue;
            }
            let (value, rate) = two_products(cones.normal(i), &self.value.x, &self.rate.x);
            let c = self.covering.normal[i];
            let value = value + normal.offset + c * z0;
            self.reach[i] = self.travel + value;
            test.see(Leaving::W(Pair::Normal(i)), value, rate + c * z0_rate, size, rate_size);
        }
    }

    /// At most how fast a ν changes: columns are shorter than 2, covering numbers below 2.
    fn speed(&self) -> f64 {
        2.0 * (product(&self.rate.x, &self.rate.x).sqrt() + self.z0_rate().abs())
    }

    /// σ, γ, λ and φ_x of a group.
    fn see_group(&self, cones: &Cones, driving: Driving, g: usize, test: &mut Test<'_>) {
        let (z0, z0_rate) = (self.z0(), self.z0_rate());
        let ((s, t), offset) = (cones.tangents(g), cones.groups[g].offset);
        let (us, vs) = two_products(s, &self.value.x, &self.rate.x);
        let (ut, vt) = two_products(t, &self.value.x, &self.rate.x);
        let (u, v) = ([us + offset[0], ut + offset[1]], [vs, vt]);
        let (c, pivot) = (self.covering.direction[g], self.active.pivot[g]);
        let (size, rate_size) = (self.value.size + c * z0, self.rate.size + c * z0_rate.abs());
        let along = |d: &[f64; 2]| (d[0] * u[0] + d[1] * u[1], d[0] * v[0] + d[1] * v[1]);
        let directions = cones.directions(g);
        // What is added to dᵀ x + b: c z₀, and λ.
        let (base, base_rate) = if pivot == NONE {
            let grows = if driving == Driving::Z(Pair::Cap(g)) { 1.0 } else { 0.0 };
            (c * z0, c * z0_rate + grows)
        } else {
            let (x, x_rate) = along(&directions[pivot]);
            let (lambda, lambda_rate) = (-x - c * z0, -x_rate - c * z0_rate);
            test.see(Leaving::Z(Pair::Cap(g)), lambda, lambda_rate, size, rate_size);
            (-x, -x_rate)
        };
        let first = cones.groups[g].first;
        for (j, d) in directions.iter().enumerate() {
            // Most do not fall, or not soon: that is asked first.
            let (x, x_rate) = along(d);
            let (value, rate) = (base + x, base_rate + x_rate);
            if rate >= 0.0 || value > -rate * test.longest || self.active.phi_basic[first + j] {
                continue;
            }
            if self.out != Some(Pair::Direction(g, j)) {
                test.see(Leaving::W(Pair::Direction(g, j)), value, rate, size, rate_size);
            }
        }
        self.see_bound(cones, g, test);
    }

    /// `μ θ − Σ φ + cap + c z₀`, which is γ where λ is nonbasic and φ_x where it is basic.
    fn see_bound(&self, cones: &Cones, g: usize, test: &mut Test<'_>) {
        let (group, c) = (&cones.groups[g], self.covering.cap[g]);
        let leaving = match self.active.pivot[g] {
            NONE if self.out == Some(Pair::Cap(g)) => return,
            NONE => Leaving::W(Pair::Cap(g)),
            pivot => Leaving::Z(Pair::Direction(g, pivot)),
        };
        let normal = |which: usize| match group.normal {
            NONE => 0.0,
            i => cones.normals[i].mu * self.theta[which][i],
        };
        let ((load, load_rate), (phi, phi_rate)) = ((normal(0), normal(1)), (self.phi[0][g], self.phi[1][g]));
        let (z0, z0_rate) = (c * self.z0(), c * self.z0_rate());
        let value = load - phi + group.cap + z0;
        let size = load.abs() + phi.abs() + group.cap + z0;
        let rate_size = load_rate.abs() + phi_rate.abs() + z0_rate.abs();
        test.see(leaving, value, load_rate - phi_rate + z0_rate, size.max(self.value.size), rate_size);
    }

    /// z₀ if it is among the tied, else the fastest falling; by lot where that has led nowhere for long.
    fn choose(&mut self, candidates: &[Candidate], longest: f64, tolerances: &Tolerances) -> Option<Leaving> {
        let tied = || candidates.iter().filter(|c| c.value <= longest * c.fall);
        if tied().any(|c| c.leaving == Leaving::Artificial) {
            return Some(Leaving::Artificial);
        }
        let fastest = tied().reduce(|a, b| if b.fall > a.fall { b } else { a })?;
        let step = fastest.value / fastest.fall;
        self.travel += longest * self.speed();
        if step * self.rate.size > tolerances.tie * self.value.size {
            self.stalled = 0;
        } else {
            self.stalled += 1;
        }
        if self.stalled <= PATIENCE {
            return Some(fastest.leaving);
        }
        let sound = || tied().filter(|c| c.fall >= tolerances.tied_rate * fastest.fall);
        let lot = self.lots.get_or_insert_with(|| Rng::new(1)).below(sound().count().max(1));
        sound().nth(lot).map(|c| c.leaving)
    }
}
