//! A step of Newton's method along the path on which states change one by one.
//!
//! Where a step of Newton's method changes states, its linear laws no longer hold. Their model is
//! piecewise linear: every element keeps the linear law of its state, and takes another one where
//! it changes its state. On the path
//!
//! ```text
//! F(x(t)) = (1 − t) F(x₀)
//! ```
//!
//! of that model all residuals fall in proportion; t = 1 is its solution. The path is straight
//! until an element changes its state, and goes on in another direction then, as in Lemke's method.
//! One factor serves all of it. With U the rows of the elements that changed, and Δ the changes of
//! their C, the system `K + UᵀΔU` has the solution
//!
//! ```text
//! (K + UᵀΔU)⁻¹ b = x − Y (I + Δ U Y)⁻¹ Δ U x,   x = K⁻¹ b,   Y = K⁻¹ Uᵀ
//! ```
//!
//! so that a change costs a solve per row with the factor there is, and a system as small as the
//! rows that changed. What slides in another direction by more than [`LARGEST_TURN`] is made linear
//! anew in the same way.
//!
//! Reference: \[Ralph94\], \[DirkseFerris95\].

use super::super::law::{Block, Slip, State};
use super::affine::affine_law;
use super::elements::{Elements, Group, by_stride};
use super::lanes::{axpy, dot, mul_rows};
use super::newton::Newton;
use stiction_linalg::lu::Lu;

/// Rows of elements that may change before the system is factored anew.
const MOST_ROWS: usize = 36;
/// Tangent of the angle by which slip may turn before it is made linear anew.
const LARGEST_TURN: f64 = 0.5;
/// Longest step along a path that has turned back.
const LONGEST_STEP_BACK: f64 = 1e3;
/// Where a path passes a change, it goes on as if the way there was at least this part of the step.
const LEAST_WAY: f64 = 1e-3;

/// A change ahead: the part of the step up to it, the element, and the state that it changes to.
type Ahead = (f64, usize, State);

/// An element whose C is no longer that in the factor.
#[derive(Debug, Clone, Copy)]
struct Changed {
    element: usize,
    /// Its first row among those of all that changed.
    first: usize,
    /// Its C in the factor.
    factored: [[f64; 3]; 3],
}

/// Where a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// At the solution of the piecewise linear model.
    Solution,
    /// On the way there: too many states have changed, or slip has turned far.
    OnTheWay,
    /// At a singular system.
    Singular,
}

/// Workspace of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct Pivoting {
    changed: Vec<Changed>,
    /// Their rows: which of them, and which row of it.
    rows: Vec<(usize, usize)>,
    /// Y, a column of m numbers per row.
    columns: Vec<f64>,
    /// A Y, a column of one motion per element and row.
    motions: Vec<[f64; 3]>,
    /// K⁻¹ b, and its motions.
    dv: Vec<f64>,
    du: Vec<[f64; 3]>,
    /// What the forces lack of those of their laws, at the motions as they are.
    gaps: Vec<[f64; 3]>,
    /// I + Δ U Y.
    small: Lu,
    /// The path has turned back: residuals grow along it.
    back: bool,
    z: Vec<f64>,
    row: Vec<f64>,
}

stiction_linalg::vectorized! {
    fn add_columns(pivoting: &'a mut Pivoting, el: &'a Elements, newton: &'a mut Newton, e: usize) -> bool = pivoting.add_columns_of(el, newton, e)
}

stiction_linalg::vectorized! {
    fn find_direction(pivoting: &'a mut Pivoting, el: &'a Elements, newton: &'a mut Newton) = pivoting.find_direction_of(el, newton)
}

impl Pivoting {
    /// Follows the path of the step that `newton` found last, from the point evaluated last, over
    /// so many changes at most, which are counted down. Leaves velocities, forces and motions of
    /// its end.
    pub(super) fn follow(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, left: &mut usize) -> End {
        self.start(newton);
        let pass = newton.tolerances.past_state;
        loop {
            stiction_lcp::interrupt::check();
            let longest = if self.back { LONGEST_STEP_BACK } else { 1.0 };
            let Some((way, e, state)) = next_change(el, newton).filter(|(way, ..)| *way < longest) else {
                if self.back {
                    return End::Singular;
                }
                self.advance(newton, 1.0);
                return End::Solution;
            };
            self.advance(newton, (way + pass * way.max(LEAST_WAY)).min(longest));
            let known = self.changed.iter().position(|changed| changed.element == e);
            let is_full = known.is_none() && self.rows.len() + el.list[e].rows > MOST_ROWS;
            // What follows the force of an element is in the factor too.
            let is_followed = el.list.get(e + 1).is_some_and(|next| next.is_moment());
            if *left == 0 || is_full || is_followed {
                return End::OnTheWay;
            }
            *left -= 1;
            let place = known.unwrap_or(self.changed.len());
            if known.is_none() && !add_columns(self, el, newton, e) {
                return End::Singular;
            }
            self.change(el, newton, alpha, place, state);
            self.factor_small(el, newton);
            if self.small.pivot_ratio() == 0.0 {
                return End::Singular;
            }
            // As in Lemke's method: where the determinant changes its sign the path turns back.
            self.back = self.small.is_negative();
            find_direction(self, el, newton);
        }
    }

    fn start(&mut self, newton: &Newton) {
        self.changed.clear();
        self.rows.clear();
        self.columns.clear();
        self.motions.clear();
        self.back = false;
        self.dv.clone_from(&newton.dv);
        self.du.clone_from(&newton.du);
        self.gaps.clear();
        self.gaps.extend(newton.maps.iter().zip(&newton.u).zip(&newton.p).map(|((map, u), p)| less(map.force(u), p)));
    }

    /// Goes a part of the step. All residuals change in proportion.
    fn advance(&mut self, newton: &mut Newton, part: f64) {
        newton.move_by(part);
        axpy(part, newton.du.as_flattened(), newton.u.as_flattened_mut());
        let left = if self.back { 1.0 + part } else { 1.0 - part };
        let numbers = self.dv.iter_mut().chain(self.du.as_flattened_mut()).chain(self.gaps.as_flattened_mut());
        numbers.for_each(|x| *x *= left);
    }

    /// Adds the rows of an element: solutions with them, and the motions of these. False if they
    /// are not finite.
    #[inline(always)]
    fn add_columns_of(&mut self, el: &Elements, newton: &mut Newton, e: usize) -> bool {
        let element = &el.list[e];
        let (first, place) = (self.rows.len(), self.changed.len());
        self.changed.push(Changed { element: e, first, factored: newton.maps[e].c });
        for r in 0..element.rows {
            self.rows.push((place, r));
            self.row.clear();
            self.row.resize(el.m(), 0.0);
            el.scatter(&el.groups[element.group], el.row(element, r), &mut self.row);
            newton.solve_with_factor(el, &mut self.row);
            if !self.row.iter().all(|x| x.is_finite()) {
                return false;
            }
            self.columns.extend_from_slice(&self.row);
            let start = self.motions.len();
            self.motions.resize(start + el.list.len(), [0.0; 3]);
            for group in &el.groups {
                el.gather(group, &self.row, &mut newton.local);
                by_stride!(group, stride => find_motions(el, group, stride, &newton.local, &mut self.motions[start..]));
            }
        }
        true
    }

    /// Gives an element the law of this state where it is, and directions of sliding as they are
    /// there.
    fn change(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, place: usize, state: State) {
        let Changed { element: e, first, .. } = self.changed[place];
        let (element, steps, p, u) = (&el.list[e], newton.steps[e], newton.p[e], newton.u[e]);
        let y = [1, 2].map(|k| p[k] - steps.tangential * u[k]);
        let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
        let slip = match element.law {
            Block::Coulomb { mu, .. } if state == State::Slide && length > 0.0 => {
                let radius = mu * (p[0] - steps.normal * u[0]).max(0.0);
                Slip { direction: y.map(|y| y / length), ratio: radius / length }
            }
            _ => Slip::default(),
        };
        let map = affine_law(element, state, slip, steps, alpha, p, 0.0);
        (newton.states[e], newton.slips[e], newton.maps[e]) = (state, slip, map);
        let gap = less(map.force(&u), &p);
        let more = less(gap, &self.gaps[e]);
        self.gaps[e] = gap;
        let (m, n) = (el.m(), el.list.len());
        for (column, more) in (first..first + element.rows).zip(more) {
            axpy(more, &self.columns[column * m..][..m], &mut self.dv);
            axpy(more, self.motions[column * n..][..n].as_flattened(), self.du.as_flattened_mut());
        }
    }

    /// Row `r` of Δ of an element that changed.
    fn delta(&self, newton: &Newton, place: usize, r: usize) -> [f64; 3] {
        let Changed { element, factored, .. } = self.changed[place];
        less(newton.maps[element].c[r], &factored[r])
    }

    /// Factors `I + Δ U Y`.
    fn factor_small(&mut self, el: &Elements, newton: &Newton) {
        let mut small = std::mem::take(&mut self.small);
        small.factor_with(self.rows.len(), |i, j| {
            let (place, r) = self.rows[i];
            let motion = &self.motions[j * el.list.len() + self.changed[place].element];
            product(self.delta(newton, place, r), motion) + if i == j { 1.0 } else { 0.0 }
        });
        self.small = small;
    }

    /// The direction of the path with the states as they are: what is left of the step, or away
    /// from it where the path has turned back.
    #[inline(always)]
    fn find_direction_of(&mut self, el: &Elements, newton: &mut Newton) {
        let (m, n) = (el.m(), el.list.len());
        self.z.clear();
        for &(place, r) in &self.rows {
            self.z.push(product(self.delta(newton, place, r), &self.du[self.changed[place].element]));
        }
        self.small.solve(&mut self.z);
        newton.dv.copy_from_slice(&self.dv);
        newton.du.copy_from_slice(&self.du);
        for (k, z) in self.z.iter().enumerate() {
            axpy(-z, &self.columns[k * m..][..m], &mut newton.dv);
            axpy(-z, self.motions[k * n..][..n].as_flattened(), newton.du.as_flattened_mut());
        }
        let sign = if self.back { -1.0 } else { 1.0 };
        newton.dv.iter_mut().chain(newton.du.as_flattened_mut()).for_each(|x| *x *= sign);
        let mut normal = 0.0;
        for (e, element) in el.list.iter().enumerate() {
            let (map, du, gap, dp) = (&newton.maps[e], &newton.du[e], &self.gaps[e], &mut newton.dp[e]);
            for r in 0..3 {
                dp[r] = sign * gap[r] + map.follows[r] * normal;
                if map.acts {
                    dp[r] -= product(map.c[r], du);
                }
            }
            if !element.is_moment() {
                normal = dp[0];
            }
        }
    }
}

fn less(x: [f64; 3], y: &[f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|r| x[r] - y[r])
}

#[inline(always)]
fn product(x: [f64; 3], y: &[f64; 3]) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// Motions of a group's elements at the velocities in `local`.
#[inline(always)]
fn find_motions(el: &Elements, group: &Group, stride: usize, local: &[f64], motions: &mut [[f64; 3]]) {
    let local = &local[..stride];
    for e in group.elements.0..group.elements.1 {
        let element = &el.list[e];
        motions[e] = match element.only {
            Some(only) => [dot(el.lanes_of(element, only), &local[only.lanes()]), 0.0, 0.0],
            None => mul_rows(el.rows_of(element, stride), stride, local, &[0.0; 3]),
        };
    }
}

/// How many elements change their states within the step.
pub(super) fn count_changes(el: &Elements, newton: &Newton) -> usize {
    (0..el.list.len()).filter(|&e| change_of_state(el, newton, e).is_some_and(|(way, _)| way < 1.0)).count()
}

/// The next change: of a state, or of the direction of what slides.
fn next_change(el: &Elements, newton: &Newton) -> Option<Ahead> {
    let mut next: Option<Ahead> = None;
    for e in 0..el.list.len() {
        let changes = [change_of_state(el, newton, e), turn(el, newton, e).map(|way| (way, State::Slide))];
        for (way, state) in changes.into_iter().flatten() {
            // Rounding may have left what is on a bound beyond it.
            let way = way.max(0.0);
            if next.is_none_or(|(least, ..)| way < least) {
                next = Some((way, e, state));
            }
        }
    }
    next
}

/// The part of the step up to the next change of an element's state, and that state. Moments change
/// theirs between paths only.
fn change_of_state(el: &Elements, newton: &Newton, e: usize) -> Option<(f64, State)> {
    let element = &el.list[e];
    if element.is_moment() {
        return None;
    }
    let ([n, y @ ..], [dn, d @ ..]) = point(newton, e);
    let state = newton.states[e];
    match element.law {
        Block::Free => None,
        Block::Bounded { lo, hi } => match state {
            State::Lower => (dn > 0.0).then_some(((lo - n) / dn, State::Stick)),
            State::Upper => (dn < 0.0).then_some(((hi - n) / dn, State::Stick)),
            _ if dn > 0.0 => hi.is_finite().then_some(((hi - n) / dn, State::Upper)),
            _ if dn < 0.0 => lo.is_finite().then_some(((lo - n) / dn, State::Lower)),
            _ => None,
        },
        law if state == State::Open => {
            let slides = matches!(law, Block::Coulomb { mu, .. } if mu.is_finite());
            (dn > 0.0).then_some((-n / dn, if slides { State::Slide } else { State::Stick }))
        }
        law => {
            let opens = (dn < 0.0).then_some((-n / dn, State::Open));
            let Block::Coulomb { mu, .. } = law else { return opens };
            if mu == 0.0 || mu.is_infinite() {
                return opens;
            }
            let (leaves, other) = if state == State::Stick { (true, State::Slide) } else { (false, State::Stick) };
            let way = way_to_cone([n, y[0], y[1]], [dn, d[0], d[1]], mu, leaves);
            if opens.is_none_or(|(opens, _)| way < opens) { way.is_finite().then_some((way, other)) } else { opens }
        }
    }
}

/// What decides on the state of an element, `p − ρ u` row by row, and how it changes with the step.
#[inline(always)]
fn point(newton: &Newton, e: usize) -> ([f64; 3], [f64; 3]) {
    let (p, u, dp, du) = (&newton.p[e], &newton.u[e], &newton.dp[e], &newton.du[e]);
    let steps = [newton.steps[e].normal, newton.steps[e].tangential, newton.steps[e].tangential];
    ([0, 1, 2].map(|r| p[r] - steps[r] * u[r]), [0, 1, 2].map(|r| dp[r] - steps[r] * du[r]))
}

/// The least t ≥ 0 at which `y + t d` leaves the cone of friction, or enters it; infinite if it
/// does not.
fn way_to_cone(y: [f64; 3], d: [f64; 3], mu: f64, leaves: bool) -> f64 {
    // |y_t + t d_t|² − mu² (y_n + t d_n)² = a t² + 2 b t + c
    let product = |x: [f64; 3], y: [f64; 3]| x[1] * y[1] + x[2] * y[2] - mu * mu * x[0] * y[0];
    let (a, b, c) = (product(d, d), product(y, d), product(y, y));
    let sign = if leaves { 1.0 } else { -1.0 };
    if sign * c >= 0.0 && sign * b > 0.0 {
        return 0.0;
    }
    let square = b * b - a * c;
    if square < 0.0 {
        return f64::INFINITY;
    }
    // Of the two forms of each root the one without cancellation; there it rises or falls with a t
    // + b.
    let q = -(b + square.sqrt().copysign(b));
    let crosses = |t: &f64| *t > 0.0 && t.is_finite() && sign * (a * t + b) > 0.0;
    [q / a, c / q].into_iter().filter(crosses).fold(f64::INFINITY, f64::min)
}

/// The part of the step up to where an element that slides does so in another direction, by
/// [`LARGEST_TURN`], than the one it was made linear in.
fn turn(el: &Elements, newton: &Newton, e: usize) -> Option<f64> {
    if newton.states[e] != State::Slide || el.list[e].is_moment() {
        return None;
    }
    let ([_, y @ ..], [_, d @ ..]) = point(newton, e);
    let [s, t] = newton.slips[e].direction;
    let (along, across) = (y[0] * s + y[1] * t, y[1] * s - y[0] * t);
    let (along_step, across_step) = (d[0] * s + d[1] * t, d[1] * s - d[0] * t);
    let ways =
        [-1.0, 1.0].map(|side| (LARGEST_TURN * along + side * across, LARGEST_TURN * along_step + side * across_step));
    ways.into_iter().filter(|(_, falls)| *falls < 0.0).map(|(room, falls)| -room / falls).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::elements::Friction;
    use super::*;
    use crate::islands::Islands;
    use crate::mass::Mass;
    use crate::model::Level;
    use crate::problem::{Contact, ContactProblem};
    use stiction_lcp::Matrix;
    use stiction_linalg::rng::Rng;

    /// Three free bodies with contacts among each other, a limit and a row with bounds.
    fn pile(rng: &mut Rng) -> ContactProblem {
        let numbers = |n: usize, rng: &mut Rng| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let mass = Mass::new(vec![Matrix::identity(6); 3]).unwrap();
        let (v, force) = (numbers(18, rng), numbers(18, rng));
        let mut problem = ContactProblem::new(mass, v, force, 0.01).unwrap();
        for (a, b) in [(0, 1), (1, 2), (2, 0), (0, 1), (2, 1), (1, 0)] {
            let rows: Vec<[Vec<f64>; 2]> = (0..3).map(|_| [numbers(6, rng), numbers(6, rng)]).collect();
            let blocks = [0, 1, 2].map(|r| [(a, &rows[r][0][..]), (b, &rows[r][1][..])]);
            let contact = Contact::new(&blocks[0], &blocks[1], &blocks[2]);
            problem.add_contact(Contact { mu: 0.5, ..contact }).unwrap();
        }
        let row = numbers(6, rng);
        problem.add_limit(&[(0, &row)], 0.0, 0.0, 0.0).unwrap();
        problem.add_bounded(&[(1, &row)], -20.0, 20.0, 0.0, 0.0).unwrap();
        problem
    }

    /// After every change the direction is that of a factor of the system with the states as they
    /// are, and at the end the model is solved.
    #[test]
    fn directions_are_those_of_fresh_factors() {
        // Large enough that forces are not the rounding of motions divided by it.
        let alpha = 1e-3;
        let (mut changes, mut solved) = (0, 0);
        for seed in 0..20 {
            let problem = pile(&mut Rng::new(seed));
            let (mut el, mut newton, mut islands) = (Elements::default(), Newton::default(), Islands::default());
            let [island] = islands.find(&problem) else { panic!("one island") };
            assert!(el.load(&problem, Level::Velocity, island, Friction::Coulomb, &mut newton.matrix));
            newton.reset(&el);
            newton.set_free(&el);
            newton.evaluate(&el, false);
            let mut pivoting = Pivoting::default();
            for most in 0..30 {
                // The same path again, a change farther.
                let mut to = newton.clone();
                assert!(to.direction(&el, alpha, true));
                let mut left = most;
                let end = pivoting.follow(&el, &mut to, alpha, &mut left);
                to.find_motions(&el, false);
                for ((dp, map), (u, p)) in to.dp.iter_mut().zip(&to.maps).zip(to.u.iter().zip(&to.p)) {
                    *dp = less(map.force(u), p);
                }
                let size = to.dp.as_flattened().iter().chain(&to.momentum).fold(0.0, |max: f64, x| max.max(x.abs()));
                if end == End::Solution {
                    assert!(size < 1e-9, "{seed}: {size:e} is left of the residuals");
                    solved += 1;
                    break;
                }
                if end == End::Singular || pivoting.rows.is_empty() || left > 0 {
                    continue;
                }
                changes += 1;
                let sign = if pivoting.back { -1.0 } else { 1.0 };
                find_direction(&mut pivoting, &el, &mut to);
                let by_update = to.dv.clone();
                for ((dp, map), (u, p)) in to.dp.iter_mut().zip(&to.maps).zip(to.u.iter().zip(&to.p)) {
                    *dp = less(map.force(u), p);
                }
                assert!(to.factor(&el, false) && to.step(&el));
                let most = to.dv.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
                for (x, y) in to.dv.iter().zip(&by_update) {
                    assert!((x - sign * y).abs() <= 1e-9 * most, "{seed}: {x} {y}");
                }
            }
        }
        assert!(changes >= 30 && solved >= 10, "{changes} changes, {solved} solved");
    }

    #[test]
    fn the_way_to_the_cone_ends_on_it() {
        let mu = 0.5;
        // Inside and outward; inside, away from the apex and across; outside and inward; on the
        // cone, either way; past it.
        for (y, d, leaves, way) in [
            ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], true, 0.5),
            ([1.0, 0.1, 0.0], [1.0, 0.0, 0.0], true, f64::INFINITY),
            ([1.0, 0.0, -0.25], [0.0, 0.0, 0.25], true, 3.0),
            ([1.0, 1.0, 0.0], [0.0, -1.0, 0.0], false, 0.5),
            ([1.0, 1.0, 0.0], [0.0, 1.0, 0.0], false, f64::INFINITY),
            ([1.0, 0.5, 0.0], [0.0, 1.0, 0.0], true, 0.0),
            ([1.0, 0.5, 0.0], [0.0, -1.0, 0.0], false, 0.0),
            ([1.0, 0.5, 0.0], [0.0, -1.0, 0.0], true, 1.0),
            ([1.0, 0.5 + 1e-9, 0.0], [0.0, 1.0, 0.0], true, 0.0),
        ] {
            assert!(way_to_cone(y, d, mu, leaves) == way, "{y:?} {d:?} {leaves}: {}", way_to_cone(y, d, mu, leaves));
        }
    }
}
