//! An island in whitened coordinates, where its inertia is the identity.
//!
//! With `M = L Lᵀ` and `x = Lᵀ v`, a row r becomes the column `g = L⁻¹ rᵀ`: `r v = gᵀ x`, and an impulse p along r changes x by `g p`. Every
//! model starts here: motion of a row is `gᵀ x + bias`, whatever the level.

use stiction_lcp::Matrix;
use stiction_lcp::matrix::axpy;

use crate::islands::Island;
use crate::model::Level;
use crate::problem::ContactProblem;
use crate::rows::Rows;

/// Most entries of the dense rows of an island, all kinds together: 268 MB. Its square matrices have at most [`MOST_MATRIX_ENTRIES`] each.
pub(crate) const MOST_ROW_ENTRIES: usize = 1 << 25;

/// Most entries of a dense matrix that a model forms of an island: 134 MB. Solvers keep two or three copies of it, so that a solve stays
/// below 1 GB.
pub(crate) const MOST_MATRIX_ENTRIES: usize = 1 << 24;

/// Why a dense matrix of this order is not formed, if it is too large.
pub(crate) fn why_not_formed(order: usize) -> Option<String> {
    let too_large = order.saturating_mul(order) > MOST_MATRIX_ENTRIES;
    too_large.then(|| format!("its matrix of order {order} is not formed: at most {MOST_MATRIX_ENTRIES} entries are"))
}

/// Entries of the dense rows of an island with the free motion `x_free`: of normals, two tangents and spin of each contact, and of the others.
pub(crate) fn row_entries(x_free: &[f64], island: &Island) -> usize {
    let others = island.bilaterals.len() + island.limits.len() + island.bounded.len();
    x_free.len().saturating_mul(4 * island.contacts.len() + others)
}

/// Rows of one kind as columns, and the part of their motion that is not in x.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Columns {
    /// `L⁻¹ rᵀ` of each row, m × rows.
    pub g: Matrix,
    /// What is added to `gᵀ x`, rows.
    pub bias: Vec<f64>,
}

impl Columns {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.bias.len()
    }
}

/// An island in whitened coordinates. All vectors are in the order of the island's lists.
///
/// The unknown x is `Lᵀ v⁺` at velocity level and `Lᵀ v̇` at acceleration level; row motion is `gᵀ x + bias`:
///
/// | rows | bias at velocity level | at acceleration level | law |
/// |---|---|---|---|
/// | normal | `max(gap, 0)/dt − bounce` (see [`Contacts::separation_bias`](crate::problem::Contacts::separation_bias)) | `Ṅ v` | 0 ≤ p ⊥ motion ≥ 0 |
/// | tangents | `surface` | `Ṡ v`, `Ṫ v` | the model's |
/// | spin | 0 | 0 | the model's |
/// | limit | `max(gap, 0)/dt − bounce` | `rate` | 0 ≤ p ⊥ motion ≥ 0 |
/// | bilateral | `−target` | `rate − target` | motion = 0 |
/// | bounded | `−target` | `rate − target` | lo ≤ p ≤ hi, motion ≥ 0 at lo, ≤ 0 at hi |
///
/// Forces p are impulses (N s) at velocity level and forces (N) at acceleration level.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Whitened {
    /// Motion without any row, m: `Lᵀ (v + dt M⁻¹ f)`, or `L⁻¹ f`.
    pub x_free: Vec<f64>,
    /// Velocity before, m: `Lᵀ v`.
    pub x_now: Vec<f64>,
    /// Normals, n.
    pub normal: Columns,
    /// First tangents, n.
    pub tangent_s: Columns,
    /// Second tangents, n; zero columns for planar contacts.
    pub tangent_t: Columns,
    /// Spins about the normals, n; zero columns where a contact has none.
    pub spin: Columns,
    /// Bilateral rows.
    pub bilateral: Columns,
    /// Unilateral rows.
    pub limit: Columns,
    /// Rows with bounded force.
    pub bounded: Columns,
    /// Least impulse (or force) of the bounded rows.
    pub lo: Vec<f64>,
    /// Largest impulse (or force) of the bounded rows.
    pub hi: Vec<f64>,
    /// Coulomb coefficients, n.
    pub mu: Vec<f64>,
    /// Spin coefficients (m), n.
    pub mu_spin: Vec<f64>,
    /// Rolling coefficients (m), n. Their rows are not here: only the cone on the velocities has a place for them.
    pub mu_roll: Vec<f64>,
    /// Viscous coefficients (N s/m), n.
    pub mu_viscous: Vec<f64>,
    /// Whether each contact touches or is seen ahead (at acceleration level: touches and does not part already), n. Contacts that do not give no
    /// tangential rows; at acceleration level they give no row at all.
    pub touching: Vec<bool>,
    /// Slip now of each contact, n: along the tangents (m/s) and about the normal (rad/s), 0 where it is rounding; at velocity level, where only the
    /// slip to come counts, 0.
    pub slip: Vec<[f64; 3]>,
    /// Whether each limit is reached; at acceleration level one that is not gives no row.
    pub reached: Vec<bool>,
    /// The first contact with the same rows (biases and coefficients may differ), n; itself if there is none before it.
    pub twin: Vec<usize>,
    /// The step (s).
    pub dt: f64,
    /// Where the velocities of each block of the problem start; without a meaning for blocks of other islands.
    start: Vec<usize>,
    /// The number of each contact of the problem among the island's; without a meaning for those of other islands.
    number: Vec<usize>,
}

impl Whitened {
    /// Number of velocities of the island, m.
    pub(crate) fn m(&self) -> usize {
        self.x_free.len()
    }

    /// Number of contacts, n.
    pub(crate) fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// Becomes `island` of `problem` at `level`, keeping its storage.
    pub(crate) fn build(&mut self, problem: &ContactProblem, island: &Island, level: Level) {
        self.build_motion(problem, island, level);
        self.build_rows(problem, island, level);
    }

    /// The rows, after the motion.
    pub(crate) fn build_rows(&mut self, problem: &ContactProblem, island: &Island, level: Level) {
        self.dt = problem.dt();
        self.build_contacts(problem, island, level);
        self.build_others(problem, island, level);
    }

    /// The motion alone.
    pub(crate) fn build_motion(&mut self, problem: &ContactProblem, island: &Island, level: Level) {
        let (mass, layout) = (problem.mass(), problem.layout());
        self.x_free.clear();
        self.x_now.clear();
        self.start.resize(layout.blocks(), 0);
        for &b in &island.blocks {
            let (start, range) = (self.x_free.len(), layout.range(b));
            self.start[b] = start;
            self.x_now.extend_from_slice(&problem.v()[range.clone()]);
            self.x_free.extend_from_slice(&problem.force()[range]);
            let (now, free) = (&mut self.x_now[start..], &mut self.x_free[start..]);
            mass.mul_factor_transposed(b, now);
            mass.solve_factor(b, free);
            if level == Level::Velocity {
                free.iter_mut().for_each(|x| *x *= problem.dt());
                axpy(1.0, now, free);
            }
        }
    }

    fn build_contacts(&mut self, problem: &ContactProblem, island: &Island, level: Level) {
        let (contacts, of) = (problem.contacts(), &island.contacts);
        let velocity = level == Level::Velocity;
        let copy = |to: &mut Vec<f64>, from: &[f64]| {
            to.clear();
            to.extend(of.iter().map(|&i| from[i]));
        };
        copy(&mut self.mu, &contacts.mu);
        copy(&mut self.mu_spin, &contacts.mu_spin);
        copy(&mut self.mu_roll, &contacts.mu_roll);
        copy(&mut self.mu_viscous, &contacts.mu_viscous);
        self.touching.clear();
        let acts =
            |i: usize| if velocity { contacts.has_friction(i) } else { contacts.touches(i) && !problem.parts(i) };
        self.touching.extend(of.iter().map(|&i| acts(i)));
        self.slip.clear();
        self.slip.extend(of.iter().map(|&i| if velocity { [0.0; 3] } else { problem.slip(i) }));
        self.number.resize(contacts.len(), 0);
        of.iter().enumerate().for_each(|(k, &i)| self.number[i] = k);
        self.twin.clear();
        self.twin.extend(of.iter().map(|&i| self.number[contacts.twin[i]]));
        let dt = problem.dt();
        let (m, start, twin) = (self.x_free.len(), &self.start, Some(&self.twin[..]));
        let normal = |i: usize| {
            if velocity { contacts.separation_bias(i, dt) } else { contacts.rate[i][0] }
        };
        let tangent = |i: usize, k: usize| if velocity { contacts.surface[i][k] } else { contacts.rate[i][k + 1] };
        fill(&mut self.normal, problem, start, m, &contacts.normal, of, twin, normal);
        fill(&mut self.tangent_s, problem, start, m, &contacts.tangent_s, of, twin, |i| tangent(i, 0));
        fill(&mut self.tangent_t, problem, start, m, &contacts.tangent_t, of, twin, |i| tangent(i, 1));
        fill(&mut self.spin, problem, start, m, &contacts.spin, of, twin, |_| 0.0);
    }

    fn build_others(&mut self, problem: &ContactProblem, island: &Island, level: Level) {
        let velocity = level == Level::Velocity;
        let (dt, m, start) = (problem.dt(), self.x_free.len(), &self.start);
        let (bilaterals, limits, bounded) = (problem.bilaterals(), problem.limits(), problem.bounded());
        let rate = |rate: f64| if velocity { 0.0 } else { rate };
        let holds = |i: usize| rate(bilaterals.rate[i]) - bilaterals.target[i];
        let pulls = |i: usize| rate(bounded.rate[i]) - bounded.target[i];
        let stops =
            |i: usize| if velocity { separation_bias(limits.gap[i], dt, limits.bounce[i]) } else { limits.rate[i] };
        fill(&mut self.bilateral, problem, start, m, &bilaterals.rows, &island.bilaterals, None, holds);
        fill(&mut self.limit, problem, start, m, &limits.rows, &island.limits, None, stops);
        fill(&mut self.bounded, problem, start, m, &bounded.rows, &island.bounded, None, pulls);
        let unit = if velocity { dt } else { 1.0 };
        self.lo.clear();
        self.lo.extend(island.bounded.iter().map(|&i| unit * bounded.lo[i]));
        self.hi.clear();
        self.hi.extend(island.bounded.iter().map(|&i| unit * bounded.hi[i]));
        self.reached.clear();
        self.reached.extend(island.limits.iter().map(|&i| limits.gap[i] <= 0.0));
    }
}

/// What a row that may not be passed adds to its motion at velocity level: `max(gap, 0)/dt − bounce`.
pub(crate) fn separation_bias(gap: f64, dt: f64, bounce: f64) -> f64 {
    gap.max(0.0) / dt - bounce
}

/// Fills `columns` (of `m` numbers) with the whitened rows `of` and their biases. `start` says where the velocities of each block are, `twin` which
/// earlier one of the rows is the same, if that is known.
fn fill(
    columns: &mut Columns,
    problem: &ContactProblem,
    start: &[usize],
    m: usize,
    rows: &Rows,
    of: &[usize],
    twin: Option<&[usize]>,
    bias: impl Fn(usize) -> f64,
) {
    columns.g.reshape(m, of.len());
    columns.bias.clear();
    columns.bias.extend(of.iter().map(|&i| bias(i)));
    if rows.is_all_zero() {
        return columns.g.as_mut_slice().fill(0.0);
    }
    for (k, &i) in of.iter().enumerate() {
        match twin.map(|twin| twin[k]).filter(|twin| *twin < k) {
            Some(twin) => columns.g.as_mut_slice().copy_within(twin * m..(twin + 1) * m, k * m),
            None => whiten(problem, start, rows.row(i), columns.g.col_mut(k)),
        }
    }
}

/// Writes a whitened row to `column`, zeros included. The blocks of an island and of a row ascend both.
fn whiten<'a>(
    problem: &ContactProblem,
    start: &[usize],
    row: impl Iterator<Item = (usize, &'a [f64])>,
    column: &mut [f64],
) {
    let mut end = 0;
    for (block, values) in row {
        let at = start[block];
        column[end..at].fill(0.0);
        end = at + values.len();
        let part = &mut column[at..end];
        if let (Some(part), Ok(values)) = (part.first_chunk_mut::<6>(), <&[f64; 6]>::try_from(values)) {
            *part = *values;
        } else {
            part.copy_from_slice(values);
        }
        problem.mass().solve_factor(block, part);
    }
    column[end..].fill(0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::islands::Islands;
    use crate::mass::Mass;
    use crate::problem::Contact;
    use stiction_lcp::matrix::dot;

    #[test]
    fn motion_of_rows_is_the_same_in_both_coordinates() {
        let a = Matrix::from_rows(&[[4.0, 2.0], [2.0, 5.0]]).unwrap();
        let mass = Mass::new(vec![Matrix::identity(1), a.clone(), Matrix::identity(3), a]).unwrap();
        let v = vec![9.0, 1.0, 2.0, 7.0, 7.0, 7.0, -1.0, 0.5];
        let force = vec![0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 2.0, -4.0];
        let mut problem = ContactProblem::new(mass, v.clone(), force.clone(), 0.1).unwrap();
        let (n, s) = ([1.0, -2.0], [0.5, 0.25]);
        let contact = Contact {
            gap: 0.2,
            bounce: 0.5,
            surface: [3.0, 0.0],
            rate: [1.0, 2.0, 0.0],
            ..Contact::new(&[], &[], &[])
        };
        problem.add_contact(Contact { normal: &[(3, &n), (1, &s)], tangent_s: &[(1, &n)], ..contact }).unwrap();
        problem.add_bilateral(&[(3, &s)], 0.7, 0.2).unwrap();
        problem.add_bounded(&[(1, &s)], -1.0, 2.0, 0.0, 0.0).unwrap();
        let mut islands = Islands::default();
        let list = islands.find(&problem);
        assert_eq!(list[0].blocks, [1, 3]);
        let mut w = Whitened::default();
        w.build(&problem, &list[0], Level::Velocity);
        let mut v_free = force;
        problem.mass().solve(&mut v_free);
        v_free.iter_mut().zip(&v).for_each(|(f, v)| *f = v + 0.1 * *f);
        let motion = |w: &Columns, i: usize, x: &[f64]| dot(w.g.col(i), x) + w.bias[i];
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-13, "{a} {b}");
        same(motion(&w.normal, 0, &w.x_free), problem.contacts().normal.dot(0, &v_free) + 0.2 / 0.1 - 0.5);
        same(motion(&w.tangent_s, 0, &w.x_now), problem.contacts().tangent_s.dot(0, &v) + 3.0);
        same(motion(&w.bilateral, 0, &w.x_free), problem.bilaterals().rows.dot(0, &v_free) - 0.2);
        same(w.hi[0], 0.2);
        assert!(!w.touching[0]);
        w.build(&problem, &list[0], Level::Acceleration);
        same(w.normal.bias[0], 1.0);
        same(w.bilateral.bias[0], 0.5);
        same(w.hi[0], 2.0);
    }
}
