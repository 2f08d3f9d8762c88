//! Whether any motion satisfies the rows: what tells data that contradict themselves from a law without solution.

use stiction_lcp::matrix::{dot, norm};
use stiction_lcp::{FactoredLcp, InputError, Matrix, Outcome, Proof, Solver};

use super::Core;
use crate::by_island::{FARKAS_GAIN, FARKAS_SPEED, IslandForces};
use crate::whitened::Whitened;

impl Core {
    /// Whether no motion at all satisfies the rows, whatever the friction: all that may not be passed, as a least-squares problem that is solved or
    /// proven infeasible. If so, the multipliers are in `forces`.
    pub(super) fn no_motion(&mut self, island: &Whitened, forces: &mut IslandForces) -> Result<bool, InputError> {
        let form = &self.formulation;
        let mut g = Matrix::zeros(island.m(), form.singles.len());
        let e: Vec<f64> = (0..form.singles.len()).map(|i| form.row_into(island, i, g.col_mut(i))).collect();
        let lengths: Vec<f64> = (0..g.cols()).map(|k| norm(g.col(k))).collect();
        let factored = FactoredLcp::new(g, e)?;
        let y = match self.nnls.solve_from((&factored).into(), None)? {
            Outcome::Unsolvable(found) => match found.proof {
                Proof::Farkas(y) | Proof::Ray { direction: y, .. } => y,
                Proof::Enumeration { .. } => return Ok(false),
            },
            Outcome::Ray(ray) => ray.direction,
            Outcome::Solved(_) | Outcome::Stopped(_) => return Ok(false),
        };
        let mut rest = vec![0.0; island.m()];
        factored.g().mul_into(&y, &mut rest);
        let gain = -dot(factored.e(), &y);
        let terms: f64 = factored.e().iter().zip(&y).map(|(e, y)| (e * y).abs()).sum();
        let asked = |k: usize| if y[k] != 0.0 && lengths[k] > 0.0 { factored.e()[k].abs() / lengths[k] } else { 0.0 };
        let speed = (0..y.len()).map(asked).fold(norm(&island.x_free), f64::max);
        if y.iter().any(|y| *y < 0.0) || gain <= FARKAS_GAIN * terms || gain <= FARKAS_SPEED * norm(&rest) * speed {
            return Ok(false);
        }
        let mut z = vec![0.0; self.formulation.order()];
        z[..y.len()].copy_from_slice(&y);
        self.formulation.friction.fill([0.0; 3]);
        self.formulation.axes.clear();
        self.formulation.direction_into(island, &z, forces);
        Ok(true)
    }
}
