//! The quasistatic variant: forces in equilibrium, motion as the rows allow.
//!
//! With `M v̇` set to zero the acceleration cannot be eliminated; it stays as a free unknown x beside the forces λ of the rows held:
//!
//! ```text
//! x free   ⊥  −(f + J λ + H z) = 0        equilibrium
//! λ free   ⊥    Jᵀ x + b       = 0        rows held
//! z ≥ 0    ⊥    Rᵀ x + b + K z ≥ 0        as in (32)
//! ```
//!
//! a mixed problem, in whitened coordinates (the mass only scales it). f includes the known forces of bounded rows.
//!
//! Reference: [Trinkle95, §2.5].

use stiction_lcp::{InputError, Matrix, Mlcp, Outcome};

use super::Core;
use crate::by_island::{Guess, IslandEnd, IslandForces};
use crate::model::ContactStats;
use crate::whitened::Whitened;

impl Core {
    pub(super) fn solve_quasistatic(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> Result<IslandEnd, InputError> {
        let mlcp = self.mixed(island)?;
        let (m, held) = (island.m(), self.formulation.held.rank());
        let first = m + held;
        let outcome = self.run((&mlcp).into(), guess, stats)?;
        Ok(match outcome {
            Outcome::Solved(solved) => {
                let positions = solved.basis.positions()[first..].to_vec();
                let basis = stiction_lcp::Basis::new(positions);
                self.formulation.forces_into(island, &solved.z[first..], Some(&basis), forces);
                self.formulation.put_all_held(island, &solved.z[m..first], forces);
                forces.x.copy_from_slice(&solved.z[..m]);
                forces.basis = solved.basis;
                IslandEnd::Solved
            }
            Outcome::Unsolvable(found) => {
                IslandEnd::Failed { why: format!("no equilibrium under the law: {}", found.proof) }
            }
            Outcome::Ray(ray) => {
                self.formulation.direction_into(island, &ray.direction[first..], forces);
                IslandEnd::Ray { claim: ray.claim }
            }
            Outcome::Stopped(stopped) => {
                self.formulation.forces_into(island, &stopped.z[first..], None, forces);
                self.formulation.put_all_held(island, &stopped.z[m..first], forces);
                forces.x.copy_from_slice(&stopped.z[..m]);
                IslandEnd::Failed { why: stopped.why.to_string() }
            }
        })
    }

    /// The mixed problem, x and λ first.
    fn mixed(&self, island: &Whitened) -> Result<Mlcp, InputError> {
        let form = &self.formulation;
        let (m, held, moving) = (island.m(), form.held.rank(), form.moving());
        let first = m + held;
        let n = first + form.order();
        let mut matrix = Matrix::zeros(n, n);
        let mut q = vec![0.0; n];
        q[..m].iter_mut().zip(&form.known).for_each(|(q, f)| *q = -f);
        let mut column = vec![0.0; m];
        for (k, &row) in form.held.kept().iter().enumerate() {
            let (g, bias) = form.held_row(island, row);
            put(&mut matrix, m + k, g, g);
            q[m + k] = bias;
        }
        let mut row = vec![0.0; m];
        for i in 0..moving {
            q[first + i] = form.raw_row_into(island, i, &mut row);
            form.raw_force_into(island, i, &mut column);
            put(&mut matrix, first + i, &column, &row);
        }
        form.couple(&mut matrix, first);
        for (k, axis) in form.axes.iter().enumerate() {
            q[first + moving + k] = form.width(island, axis);
        }
        Mlcp::new(matrix, q, (0..n).map(|i| i < first).collect())
    }
}

/// Unknown `at` pushes along `force` and its row moves with `motion`.
fn put(matrix: &mut Matrix, at: usize, force: &[f64], motion: &[f64]) {
    for i in 0..force.len() {
        matrix[(i, at)] = -force[i];
        matrix[(at, i)] = motion[i];
    }
}
