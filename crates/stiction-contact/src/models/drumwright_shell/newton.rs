//! Newton's method on the active cones, inside the method of multipliers.
//!
//! In the space of motions the program's dual is a projection, `min ½‖x − x_free‖²` subject to `Gᵀ x + bias` in the dual sets, with the impulses as
//! multipliers. Its augmented Lagrangian at impulses p,
//!
//! `φ(x) = ½‖x − x_free‖² + Σ (‖q‖² − ‖q − P(q)‖²)/(2ρ)`, `q = p − ρ u(x)`,
//!
//! is strongly convex with one continuous derivative, `∇φ = x − x_free − G P(q)`; its generalized Hessian `I + ρ G P′(q) Gᵀ` is m × m and positive
//! definite however redundant the contacts are. `P′` says which cones are active and how: apex, inside, mantle. The minimizer's `P(q)` are the next
//! impulses; they are in their sets to rounding.
//!
//! Reference: [LiSunToh18, §3].

use stiction_lcp::Matrix;
use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_linalg::cholesky;

use super::Tolerances;
use super::conic::{Block, Conic, Part, Set};

/// ρ, one after the other. Columns have unit length: an error along a singular value s of the active ones shrinks by 1/(1 + ρ s²) per update of
/// the impulses, while rounding of u reaches them magnified by ρ. So ρ first grows, for what changes slowly, and then falls: an update with
/// a small ρ keeps what is solved and takes the rounding out.
const PENALTIES: [f64; 7] = [1e4, 1e6, 1e8, 1e5, 1e3, 1e2, 1e1];

/// ρ for impulses that the first round did not make [good](Tolerances::good).
const LARGER_PENALTIES: [f64; 7] = [1e6, 1e8, 1e10, 1e7, 1e5, 1e3, 1e1];

/// Updates of the impulses per ρ, at most.
const UPDATES: usize = 20;

/// An update that leaves more than this fraction of the residual is slow, and a ρ is left after so many slow ones: few once the impulses are [good](Tolerances::good), for
/// then it is rounding that they fight.
const PROGRESS: f64 = 0.5;
const SLOW_UPDATES: usize = 6;

/// Newton steps per update, at most: finite in theory, below ten in practice.
const STEPS: usize = 60;

/// Halvings of a step, at most.
const HALVINGS: usize = 30;

/// A step is long enough once the slope along it has fallen to this fraction of what it was.
const SLOPE: f64 = 0.5;

/// The method's workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    pub tolerances: Tolerances,
    /// The motion, m.
    x: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    gradient: Vec<f64>,
    /// Row motion at `x`, `q = p − ρ u`, and its projection.
    u: Vec<f64>,
    q: Vec<f64>,
    projected: Vec<f64>,
    /// Impulses now, and the best so far.
    p: Vec<f64>,
    best: Vec<f64>,
    /// ρ.
    penalty: f64,
    hessian: Matrix,
    column: Vec<f64>,
    /// Newton steps taken.
    pub steps: usize,
}

impl Newton {
    /// Improves the impulses `p` and returns how far they are from a solution ([`Conic::residual`]); `p` is never made worse.
    pub(super) fn polish(&mut self, conic: &mut Conic, p: &mut Vec<f64>, most_steps: usize) -> f64 {
        self.steps = 0;
        self.p.clone_from(p);
        self.best.clone_from(p);
        let mut least = self.residual(conic);
        self.update_with(PENALTIES, conic, most_steps, &mut least);
        if least > self.tolerances.good {
            self.update_with(LARGER_PENALTIES, conic, most_steps, &mut least);
        }
        p.clone_from(&self.best);
        least
    }

    /// Updates the impulses with one ρ after the other; keeps the best in `best` and its residual in `least`.
    fn update_with(&mut self, penalties: [f64; 7], conic: &mut Conic, most_steps: usize, least: &mut f64) {
        for penalty in penalties {
            self.penalty = penalty;
            let mut slow = 0;
            for _ in 0..UPDATES {
                if *least <= self.tolerances.residual || self.steps >= most_steps {
                    break;
                }
                self.minimize(conic, most_steps);
                self.p.clone_from(&self.projected);
                let residual = self.residual(conic);
                slow += if residual <= PROGRESS * *least {
                    0
                } else if *least <= self.tolerances.good {
                    SLOW_UPDATES
                } else {
                    1
                };
                if residual < *least {
                    *least = residual;
                    self.best.clone_from(&self.p);
                }
                if slow >= SLOW_UPDATES {
                    break;
                }
            }
        }
    }

    /// How far impulses are from a solution ([`Conic::strict_residual`]).
    pub(super) fn measure_strictly(&mut self, conic: &mut Conic, p: &[f64]) -> f64 {
        conic.motion_into(p, &mut self.x);
        conic.row_motion_into(&self.x, &mut self.u);
        conic.strict_residual(p, &self.u)
    }

    /// Sets x to the motion under p, and measures p.
    fn residual(&mut self, conic: &mut Conic) -> f64 {
        conic.motion_into(&self.p, &mut self.x);
        conic.row_motion_into(&self.x, &mut self.u);
        conic.residual(&self.p, &self.u)
    }

    /// Minimizes φ from x on.
    fn minimize(&mut self, conic: &Conic, most_steps: usize) {
        let flat = self.tolerances.flat;
        self.differentiate(conic);
        for _ in 0..STEPS {
            stiction_lcp::interrupt::check();
            let size = norm(&self.gradient);
            if size <= flat * (norm(&self.x) + norm(&conic.x_free)) || self.steps >= most_steps {
                break;
            }
            self.steps += 1;
            self.newton_step(conic);
            self.search_line(conic);
            if norm(&self.gradient) >= size && size <= flat.sqrt() {
                break;
            }
        }
    }

    /// q, its projection and the gradient of φ at x.
    fn differentiate(&mut self, conic: &Conic) {
        conic.row_motion_into(&self.x, &mut self.u);
        let penalty = self.penalty;
        self.q.clear();
        self.q.extend(self.p.iter().zip(&self.u).map(|(p, u)| p - penalty * u));
        self.projected.clear();
        self.projected.resize(self.q.len(), 0.0);
        for b in &conic.blocks {
            let onto = b.set.project(point(&self.q, b));
            self.projected[b.first..b.first + b.rows].copy_from_slice(&onto[..b.rows]);
        }
        conic.motion_into(&self.projected, &mut self.gradient);
        self.gradient.iter_mut().zip(&self.x).for_each(|(g, x)| *g = x - *g);
    }

    /// `step ← −H⁻¹ ∇φ`.
    fn newton_step(&mut self, conic: &Conic) {
        let m = self.x.len();
        self.hessian.reset(m, m);
        for b in &conic.blocks {
            self.add_curvature(conic, b);
        }
        (0..m).for_each(|i| self.hessian[(i, i)] += 1.0);
        self.step.clear();
        self.step.extend(self.gradient.iter().map(|g| -g));
        let _ = cholesky::factor(&mut self.hessian, |_, pivot| Some(pivot.max(f64::MIN_POSITIVE)));
        cholesky::solve(&self.hessian, &mut self.step);
    }

    /// Adds `ρ G P′(q) Gᵀ` of one block to the lower triangle.
    fn add_curvature(&mut self, conic: &Conic, b: &Block) {
        let q = point(&self.q, b);
        match b.set {
            Set::Line => self.add_square(self.penalty, conic, b, [1.0, 0.0, 0.0]),
            Set::Ray if q[0] > 0.0 => self.add_square(self.penalty, conic, b, [1.0, 0.0, 0.0]),
            Set::Interval { lo, hi } if lo < q[0] && q[0] < hi => {
                self.add_square(self.penalty, conic, b, [1.0, 0.0, 0.0])
            }
            Set::Ray | Set::Interval { .. } => {}
            Set::Cone { cos, sin } => match Part::of(q, cos, sin) {
                Part::Apex => {}
                Part::Inside => {
                    self.add_square(self.penalty, conic, b, [1.0, 0.0, 0.0]);
                    self.add_square(self.penalty, conic, b, [0.0, 1.0, 0.0]);
                    self.add_square(self.penalty, conic, b, [0.0, 0.0, 1.0]);
                }
                Part::Mantle { e, along, radius } => {
                    self.add_square(self.penalty, conic, b, [cos, sin * e[0], sin * e[1]]);
                    self.add_square(self.penalty * sin * along / radius, conic, b, [0.0, -e[1], e[0]]);
                }
            },
        }
    }

    /// Adds `weight · c cᵀ`, `c = G direction`, to the lower triangle of the Hessian.
    fn add_square(&mut self, weight: f64, conic: &Conic, b: &Block, direction: [f64; 3]) {
        let m = self.x.len();
        self.column.clear();
        self.column.resize(m, 0.0);
        for k in (0..b.rows).filter(|&k| direction[k] != 0.0) {
            axpy(direction[k], conic.g.col(b.first + k), &mut self.column);
        }
        for j in (0..m).filter(|&j| self.column[j] != 0.0) {
            axpy(weight * self.column[j], &self.column[j..], &mut self.hessian.col_mut(j)[j..]);
        }
    }

    /// Moves x along the step until the slope of φ has halved or changed sign a little: φ is convex, so slopes suffice, and they keep their
    /// digits where the values of φ have lost theirs.
    fn search_line(&mut self, conic: &Conic) {
        let slope = dot(&self.gradient, &self.step);
        self.trial.clone_from(&self.x);
        let (mut low, mut high, mut t) = (0.0, 1.0, 1.0);
        for _ in 0..HALVINGS {
            self.x.iter_mut().zip(&self.trial).zip(&self.step).for_each(|((x, from), d)| *x = from + t * d);
            self.differentiate(conic);
            let now = dot(&self.gradient, &self.step);
            if now > -SLOPE * slope {
                high = t;
            } else if t < 1.0 && now < SLOPE * slope {
                low = t;
            } else {
                return;
            }
            t = 0.5 * (low + high);
        }
    }
}

/// The entries of q that belong to a block.
fn point(q: &[f64], b: &Block) -> [f64; 3] {
    let mut out = [0.0; 3];
    out[..b.rows].copy_from_slice(&q[b.first..b.first + b.rows]);
    out
}
