//! Newton's method on the velocities: the laws of the elements as functions of their motion, one system in m unknowns per step.
//!
//! With a proximal term about the forces c as they are, an element has the motion `ũ = u + α w (p − c)`, `u = A v + b`. On the piece of its law that an element is on, its force is an affine
//! function of u:
//!
//! | state | force |
//! |---|---|
//! | stick | `p = c − u / (α w)` |
//! | slide | `p_n = c_n − u_n / (α w)`, `p_t = μ p_n d − τ P u_t` with d the direction of `y_t`, P the projection across it |
//! | open, at a bound | given |
//!
//! so with `p = k − C u` the balance of momentum `M (v − v₀) = Σ Aᵀ p` is `(M + Σ Aᵀ C A) v = …`: of order m however many contacts there are, positive definite however
//! redundant they are, and as sparse as the bodies' graph. It is the same step as that of the Delassus operator with `W + α I`. What a redundant set leaves open stays at c.
//!
//! Near the solution the factor is used again, with motions in twice the working precision: these are divided by α.

use super::super::law::{self, Block, Slip, State, Steps};
use super::affine::{Map, affine_law};
use super::elements::{Elements, Group, LawBeside, by_stride};
use super::lanes::{add_products, add_rows, axpy, dot, dot_doubled, mul_rows, scale};
use super::sparse::BlockMatrix;
use super::tolerances::Tolerances;
use crate::mass::Mass;

/// Newton's method and its workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    /// Velocities, scaled, m.
    pub v: Vec<f64>,
    /// Forces of each element.
    pub p: Vec<[f64; 3]>,
    /// State of each element.
    pub states: Vec<State>,
    pub tolerances: Tolerances,
    /// Linear systems factored so far.
    pub iterations: usize,
    /// The matrix `M + Σ Aᵀ C A`, then its factor.
    pub matrix: BlockMatrix,
    /// The matrix keeps the inertia of the island.
    has_inertia: bool,
    pub(super) slips: Vec<Slip>,
    pub(super) steps: Vec<Steps>,
    /// The law of each element, linearised.
    pub(super) maps: Vec<Map>,
    pub(super) u: Vec<[f64; 3]>,
    /// `dt f − M (v − v_before) + Σ Aᵀ p`, m.
    pub(super) momentum: Vec<f64>,
    pub(super) dv: Vec<f64>,
    /// The same in the order of the matrix.
    permuted: Vec<f64>,
    /// `A dv`.
    pub(super) du: Vec<[f64; 3]>,
    pub(super) dp: Vec<[f64; 3]>,
    best_v: Vec<f64>,
    best_p: Vec<[f64; 3]>,
    /// Sizes of the velocities' terms, m.
    pub(super) speed: Vec<f64>,
    pub(super) local: Vec<f64>,
    pub(super) sum: Vec<f64>,
    block: Vec<f64>,
    rows: Vec<f64>,
}

stiction_linalg::vectorized! {
    fn find_motions(newton: &'a mut Newton, el: &'a Elements, doubled: bool) = newton.find_all_motions(el, doubled)
}

stiction_linalg::vectorized! {
    fn assemble(newton: &'a mut Newton, el: &'a Elements) = newton.add_all(el)
}

stiction_linalg::vectorized! {
    fn step(newton: &'a mut Newton, el: &'a Elements) -> bool = newton.take_step(el)
}

impl Newton {
    /// Sizes the workspace; velocities as before the step, no forces, everything open.
    pub(super) fn reset(&mut self, el: &Elements) {
        let (m, n) = (el.m(), el.list.len());
        for v in [&mut self.momentum, &mut self.dv, &mut self.permuted, &mut self.best_v, &mut self.speed] {
            v.clear();
            v.resize(m, 0.0);
        }
        self.v.clear();
        self.v.extend_from_slice(&el.v_before);
        for p in [&mut self.p, &mut self.u, &mut self.du, &mut self.dp, &mut self.best_p] {
            p.clear();
            p.resize(n, [0.0; 3]);
        }
        self.states.clear();
        self.states.resize(n, State::Open);
        self.slips.clear();
        self.slips.resize(n, Slip::default());
        self.maps.clear();
        self.maps.resize(n, Map::default());
        self.local.resize(el.longest, 0.0);
        self.sum.resize(el.longest, 0.0);
        self.rows.resize(3 * el.longest, 0.0);
        self.block.resize(el.longest * el.longest, 0.0);
        self.iterations = 0;
        self.has_inertia = false;
        self.choose_steps(el);
    }

    /// Motions, states (unless frozen), slips and residuals at (v, p); returns the norm of the residual: of the laws, and of the balance of momentum. Frozen states are near their
    /// end, and have their motions in twice the working precision.
    pub(super) fn evaluate(&mut self, el: &Elements, frozen: bool) -> f64 {
        self.find_motions(el, frozen);
        let (mut sum, mut normal) = (0.0, 0.0);
        for (e, element) in el.list.iter().enumerate() {
            let (u, mut f) = (&self.u[e], [0.0; 3]);
            let (frozen, steps) = (frozen.then_some(self.states[e]), self.steps[e]);
            let (p, u_rows, f_rows) = (&self.p[e][..element.rows], &u[..element.rows], &mut f[..element.rows]);
            let (state, slip) = match element.law_beside(normal) {
                LawBeside::Block(block) => law::evaluate(block, frozen, steps, p, u_rows, f_rows),
                LawBeside::Disc(radius) => law::evaluate_disc(radius, frozen, steps.tangential, p, u_rows, f_rows),
            };
            // The normal force that a contact is about to have bounds its moments.
            if !element.is_moment() {
                normal = self.p[e][0] - self.steps[e].normal * u[0];
            }
            self.states[e] = state;
            self.slips[e] = slip;
            sum += element.weight * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        }
        let momentum: f64 = self.momentum.iter().map(|x| x * x).sum();
        (sum + momentum).sqrt()
    }

    /// `u = A v + b`, and the momentum that the forces do not balance.
    pub(super) fn find_motions(&mut self, el: &Elements, doubled: bool) {
        self.balance(el);
        find_motions(self, el, doubled);
    }

    #[inline(always)]
    fn find_all_motions(&mut self, el: &Elements, doubled: bool) {
        for group in &el.groups {
            el.gather(group, &self.v, &mut self.local);
            by_stride!(group, stride => self.find_group_motions(el, group, stride, doubled));
            if !el.delassus.is_some() {
                el.scatter(group, &self.sum, &mut self.momentum);
            }
        }
        if el.delassus.is_some() {
            Self::push_delassus(el, &self.p, &mut self.momentum);
        }
    }

    #[inline(always)]
    fn find_group_motions(&mut self, el: &Elements, group: &Group, stride: usize, doubled: bool) {
        let (local, sum) = (&self.local[..stride], &mut self.sum[..stride]);
        sum.fill(0.0);
        for e in group.elements.0..group.elements.1 {
            let (element, p, u) = (&el.list[e], &self.p[e], &mut self.u[e]);
            if let Some(only) = element.only {
                let (row, bias, local) = (el.lanes_of(element, only), element.bias[0], &local[only.lanes()]);
                u[0] = if doubled { dot_doubled(bias, row, local) } else { bias + dot(row, local) };
                axpy(p[0], row, &mut sum[only.lanes()]);
                continue;
            }
            let (rows, bias) = (el.rows_of(element, stride), &element.bias);
            if doubled {
                for (r, row) in rows.chunks_exact(stride).enumerate() {
                    u[r] = dot_doubled(bias[r], row, local);
                }
            } else {
                *u = mul_rows(rows, stride, local, bias);
            }
            add_rows(rows, stride, *p, sum);
        }
    }

    /// `momentum ← dt f − M (v − v_before)`.
    fn balance(&mut self, el: &Elements) {
        self.momentum.copy_from_slice(&el.dt_force);
        let mut start = 0;
        for block in (0..el.blocks.len()).map(|k| el.block_range(k)) {
            for j in block.clone() {
                let change = self.v[j] - el.v_before[j];
                let column = &el.mass[start..start + block.len()];
                start += block.len();
                axpy(-change, column, &mut self.momentum[block.clone()]);
            }
        }
    }

    /// The Newton step (dv, dp) from the point evaluated last; with the factor there is unless a fresh one is asked for. False if there is none.
    pub(super) fn direction(&mut self, el: &Elements, alpha: f64, fresh: bool) -> bool {
        let symmetric = self.linearize(el, alpha);
        if fresh && !self.factor(el, symmetric) {
            return false;
        }
        for (e, map) in self.maps.iter().enumerate() {
            let next = map.force(&self.u[e]);
            for r in 0..3 {
                self.dp[e][r] = next[r] - self.p[e][r];
            }
        }
        self.step(el)
    }

    /// Factors `M + Σ Aᵀ C A` for the maps there are; false if it is singular to working precision.
    pub(super) fn factor(&mut self, el: &Elements, symmetric: bool) -> bool {
        self.iterations += 1;
        self.assemble(el, symmetric && !el.delassus.is_some());
        self.matrix.factor()
    }

    /// From `dp`, the change of each force at the motions as they are, to the step: `dv`, the change of motion `du = A dv`, and `dp` with `−C du`. False if it is not finite.
    pub(super) fn step(&mut self, el: &Elements) -> bool {
        step(self, el)
    }

    #[inline(always)]
    fn take_step(&mut self, el: &Elements) -> bool {
        self.dv.copy_from_slice(&self.momentum);
        if el.delassus.is_some() {
            Self::push_delassus(el, &self.dp, &mut self.dv);
        } else {
            for group in &el.groups {
                by_stride!(group, stride => self.sum_changes(el, group, stride));
                el.scatter(group, &self.sum, &mut self.dv);
            }
        }
        self.solve(el);
        if !self.dv.iter().all(|x| x.is_finite()) {
            return false;
        }
        for group in &el.groups {
            el.gather(group, &self.dv, &mut self.local);
            by_stride!(group, stride => self.find_group_changes(el, group, stride));
        }
        true
    }

    /// `sum ← Σ Aᵀ dp` of a group.
    #[inline(always)]
    fn sum_changes(&mut self, el: &Elements, group: &Group, stride: usize) {
        let sum = &mut self.sum[..stride];
        sum.fill(0.0);
        let mut normal = 0.0;
        for e in group.elements.0..group.elements.1 {
            let (element, map, dp) = (&el.list[e], &self.maps[e], &self.dp[e]);
            if let Some(only) = element.only {
                axpy(dp[0], el.lanes_of(element, only), &mut sum[only.lanes()]);
                continue;
            }
            let dp = [0, 1, 2].map(|r| dp[r] + map.follows[r] * normal);
            add_rows(el.rows_of(element, stride), stride, dp, sum);
            if !element.is_moment() {
                normal = self.dp[e][0];
            }
        }
    }

    /// `du` of a group from the change of its velocities in `local`, and `dp` with `−C du`.
    #[inline(always)]
    fn find_group_changes(&mut self, el: &Elements, group: &Group, stride: usize) {
        let local = &self.local[..stride];
        let mut normal = 0.0;
        for e in group.elements.0..group.elements.1 {
            let (element, map, dp, du) = (&el.list[e], &self.maps[e], &mut self.dp[e], &mut self.du[e]);
            if let Some(only) = element.only {
                du[0] = dot(el.lanes_of(element, only), &local[only.lanes()]);
                dp[0] -= map.c[0][0] * du[0];
                continue;
            }
            *du = mul_rows(el.rows_of(element, stride), stride, local, &[0.0; 3]);
            (0..3).for_each(|r| dp[r] += map.follows[r] * normal);
            if map.acts {
                for r in 0..3 {
                    dp[r] -= map.c[r][0] * du[0] + map.c[r][1] * du[1] + map.c[r][2] * du[2];
                }
            }
            if !element.is_moment() {
                normal = dp[0];
            }
        }
    }

    /// The affine laws of all elements at the point evaluated last; true if all are symmetric.
    fn linearize(&mut self, el: &Elements, alpha: f64) -> bool {
        let (mut symmetric, mut normal) = (true, 0.0);
        for (e, element) in el.list.iter().enumerate() {
            let map = affine_law(element, self.states[e], self.slips[e], self.steps[e], alpha, self.p[e], normal);
            symmetric &= !map.coupled && map.follows == [0.0; 3];
            self.maps[e] = map;
            if !element.is_moment() {
                normal = self.p[e][0];
            }
        }
        symmetric
    }

    /// `M + Σ Aᵀ C A`.
    fn assemble(&mut self, el: &Elements, symmetric: bool) {
        self.take_inertia(el, symmetric);
        if el.delassus.is_some() {
            return self.add_delassus(el);
        }
        assemble(self, el);
    }

    /// `Σ Aᵀ C A`.
    #[inline(always)]
    fn add_all(&mut self, el: &Elements) {
        for group in &el.groups {
            let mut acts = false;
            for e in group.elements.0..group.elements.1 {
                stiction_lcp::interrupt::check_at(e);
                let (presses, follows) = (self.maps[e].acts, self.maps[e].follows != [0.0; 3]);
                if let Some(only) = el.list[e].only {
                    if presses {
                        let x = el.values[el.list[e].values + only.at];
                        self.matrix.add_diagonal(only.diagonal, self.maps[e].c[0][0] * x * x);
                    }
                    continue;
                }
                if (presses || follows) && !acts {
                    self.block[..group.length * group.stride].fill(0.0);
                    acts = true;
                }
                if presses {
                    by_stride!(group, stride => self.add_element(el, group, stride, e));
                }
                if follows {
                    self.add_follower(el, group, e);
                }
            }
            if acts {
                self.add_group(el, group);
            }
        }
    }

    /// `M`, which is laid out once.
    fn take_inertia(&mut self, el: &Elements, symmetric: bool) {
        if !self.has_inertia {
            self.matrix.clear_kept();
            (0..el.branches.len()).for_each(|k| self.keep_inertia(el, [k, k]));
            if !el.delassus.is_some() {
                el.ties.iter().for_each(|tie| self.keep_inertia(el, *tie));
            }
            self.has_inertia = true;
        }
        self.matrix.take_kept(symmetric);
    }

    /// `block ← block + Aᵀ C A` of one element.
    #[inline(always)]
    fn add_element(&mut self, el: &Elements, group: &Group, stride: usize, e: usize) {
        let (element, map) = (&el.list[e], &self.maps[e]);
        let rows = &el.values[element.values..element.values + element.rows * stride];
        for (r, to) in self.rows.chunks_exact_mut(stride).take(element.rows).enumerate() {
            scale(map.c[r][r], &rows[r * stride..(r + 1) * stride], to);
            if map.coupled {
                for k in (0..element.rows).filter(|&k| k != r) {
                    axpy(map.c[r][k], &rows[k * stride..(k + 1) * stride], to);
                }
            }
        }
        add_products(stride, group.length, rows, &self.rows[..element.rows * stride], &mut self.block);
    }

    /// The same of a moment that follows the normal force of its contact.
    #[inline(always)]
    fn add_follower(&mut self, el: &Elements, group: &Group, e: usize) {
        let (element, stride) = (&el.list[e], group.stride);
        let of = e - element.behind;
        let (before, c) = (&el.list[of], self.maps[of].c[0]);
        let to = &mut self.rows[..stride];
        scale(c[0], el.row(before, 0), to);
        for k in (1..before.rows).filter(|&k| c[k] != 0.0) {
            axpy(c[k], el.row(before, k), to);
        }
        let (once, scaled) = self.rows.split_at_mut(stride);
        for r in 0..element.rows {
            scale(self.maps[e].follows[r], &once[..stride], &mut scaled[..stride]);
            add_products(stride, group.length, el.row(element, r), &scaled[..stride], &mut self.block);
        }
    }

    fn keep_inertia(&mut self, el: &Elements, pair: [usize; 2]) {
        let [a, b] = pair.map(|k| &el.branches[k]);
        let (low, high) = if a.place < b.place { (a, b) } else { (b, a) };
        // Rows of a symmetric matrix are its columns.
        let (columns, stride) = el.inertia(low, high);
        self.matrix.keep(high.place, low.place, [high.len, low.len], columns, stride);
    }

    /// `dv ← A⁻¹ dv` after a factor.
    #[inline(always)]
    fn solve(&mut self, el: &Elements) {
        let mut dv = std::mem::take(&mut self.dv);
        self.solve_with_factor(el, &mut dv);
        self.dv = dv;
    }

    /// `x ← A⁻¹ x` after a factor.
    #[inline(always)]
    pub(super) fn solve_with_factor(&mut self, el: &Elements, x: &mut [f64]) {
        for b in &el.branches {
            self.permuted[b.place..b.place + b.len].copy_from_slice(&x[b.at..b.at + b.len]);
        }
        self.matrix.solve(&mut self.permuted);
        for b in &el.branches {
            x[b.at..b.at + b.len].copy_from_slice(&self.permuted[b.place..b.place + b.len]);
        }
    }

    #[inline(always)]
    fn add_group(&mut self, el: &Elements, group: &Group) {
        let stride = group.stride;
        for pair in &el.pairs[group.pairs.0..group.pairs.1] {
            let [(row, rows), (col, cols)] = pair.ranges;
            let blocks = [&self.block[row * stride + col..], &self.block[col * stride + row..]];
            self.matrix.add_pair(pair.place, [rows, cols], blocks, stride);
        }
    }

    pub(super) fn move_by(&mut self, t: f64) {
        axpy(t, &self.dv, &mut self.v);
        for (p, dp) in self.p.iter_mut().zip(&self.dp) {
            for r in 0..3 {
                p[r] += t * dp[r];
            }
        }
    }

    /// How often the last step can be repeated, at the motions evaluated last, before the state of an element changes; infinite if none
    /// does. Moments, which follow the normal force of their contact, are left out.
    pub(super) fn steps_to_next_state(&self, el: &Elements) -> f64 {
        let mut least = f64::INFINITY;
        for (e, element) in el.list.iter().enumerate() {
            let (p, dp, u, steps) = (&self.p[e], &self.dp[e], &self.u[e], self.steps[e]);
            let normal = p[0] - steps.normal * u[0];
            let to =
                |x: f64, dx: f64, bound: f64| if (bound - x) * dx > 0.0 { (bound - x) / dx } else { f64::INFINITY };
            match (element.law, self.states[e]) {
                (Block::Coulomb { mu, .. }, State::Stick | State::Slide) => {
                    least = least.min(to(normal, dp[0], 0.0));
                    if self.states[e] == State::Stick && mu.is_finite() {
                        let y = [1, 2].map(|k| p[k] - steps.tangential * u[k]);
                        least = least.min(steps_to_cone([normal, y[0], y[1]], *dp, mu));
                    }
                }
                (Block::Signorini | Block::Slider { .. } | Block::NoSlip { .. }, State::Stick) => {
                    least = least.min(to(normal, dp[0], 0.0))
                }
                (Block::Bounded { lo, hi }, State::Stick) => {
                    least = least.min(to(normal, dp[0], lo)).min(to(normal, dp[0], hi));
                }
                _ => {}
            }
        }
        least
    }

    pub(super) fn keep_best(&mut self) {
        self.best_v.copy_from_slice(&self.v);
        self.best_p.copy_from_slice(&self.p);
    }

    pub(super) fn take_best(&mut self) {
        self.v.copy_from_slice(&self.best_v);
        self.p.copy_from_slice(&self.best_p);
    }

    /// Starts anew: no forces, and the motion without any.
    pub(super) fn set_free(&mut self, el: &Elements) {
        self.v.copy_from_slice(&el.v_before);
        self.p.fill([0.0; 3]);
        self.balance(el);
        self.maps.fill(Map::default());
        self.assemble(el, !el.delassus.is_some());
        if self.matrix.factor() {
            self.dv.copy_from_slice(&self.momentum);
            self.solve(el);
            axpy(1.0, &self.dv, &mut self.v);
        }
    }

    /// Moves on to the velocities that the forces bring: where contacts slide, a step begins close to its own directions.
    pub(super) fn follow_forces(&mut self, el: &Elements, mass: &Mass) {
        self.find_motions(el, true);
        for (k, &(b, _)) in el.blocks.iter().enumerate() {
            let block = el.block_range(k);
            let part = &mut self.momentum[block.clone()];
            part.iter_mut().zip(&el.scale[block.clone()]).for_each(|(x, s)| *x /= s);
            mass.solve_factor(b, part);
            mass.solve_factor_transposed(b, part);
            for j in block {
                self.v[j] += self.momentum[j] / el.scale[j];
            }
        }
    }

    /// The same in a problem without bodies.
    pub(super) fn follow_delassus(&mut self, el: &Elements) {
        self.find_motions(el, true);
        axpy(1.0, &self.momentum, &mut self.v);
    }

    /// The motions of an element as evaluated last.
    pub(super) fn motion(&self, e: usize) -> [f64; 3] {
        self.u[e]
    }

    /// The size that rounding is relative to.
    pub(super) fn size(&self, el: &Elements) -> f64 {
        let square = |x: &[f64]| dot(x, x);
        let forces: f64 = self.p.iter().zip(&el.list).map(|(p, e)| e.weight * square(p)).sum();
        (forces + square(&el.v_before) + square(&el.dt_force)).sqrt()
    }

    /// ρ of every element: the inverse of its own inertia.
    fn choose_steps(&mut self, el: &Elements) {
        self.steps.clear();
        self.steps.extend(el.list.iter().map(|e| {
            // A moment has no normal.
            let first = usize::from(e.rows > 1 && !e.is_moment());
            let tangential = e.w[first..e.rows].iter().sum::<f64>() / (e.rows - first) as f64;
            Steps { normal: 1.0 / e.w[0], tangential: 1.0 / tangential }
        }));
    }
}

/// The least t > 0 for which `y + t d`, inside the cone of friction at t = 0, is on its boundary.
fn steps_to_cone(y: [f64; 3], d: [f64; 3], mu: f64) -> f64 {
    // |y_t + t d_t|² = mu² (y_n + t d_n)²
    let a = d[1] * d[1] + d[2] * d[2] - mu * mu * d[0] * d[0];
    let b = y[1] * d[1] + y[2] * d[2] - mu * mu * y[0] * d[0];
    let c = y[1] * y[1] + y[2] * y[2] - mu * mu * y[0] * y[0];
    let root = (b * b - a * c).max(0.0).sqrt();
    // c ≤ 0: of the two forms of a root, the one without cancellation.
    let t = if b > 0.0 { -c / (b + root) } else { (root - b) / a };
    if t > 0.0 { t } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::steps_to_cone;

    #[test]
    fn the_way_to_the_cone_ends_on_it() {
        let mu = 0.5;
        for (y, d) in [
            ([1.0, 0.1, 0.2], [0.0, 1.0, 0.0]),
            ([1.0, 0.1, 0.2], [-1.0, 0.0, 0.0]),
            ([1.0, -0.3, 0.2], [0.5, 1.0, -2.0]),
            ([2.0, 0.0, 0.0], [-1e-9, 3e-9, 0.0]),
        ] {
            let t = steps_to_cone(y, d, mu);
            let at: [f64; 3] = std::array::from_fn(|k| y[k] + t * d[k]);
            assert!(t > 0.0 && (at[1].hypot(at[2]) - mu * at[0]).abs() <= 1e-14 * y[0], "{y:?} {d:?}: {t}");
        }
        // Away from the boundary, and along the axis.
        assert_eq!(steps_to_cone([1.0, 0.1, 0.0], [1.0, 0.0, 0.0], mu), f64::INFINITY);
        assert_eq!(steps_to_cone([1.0, 0.0, 0.0], [2.0, 0.5, 0.5], mu), f64::INFINITY);
    }
}
