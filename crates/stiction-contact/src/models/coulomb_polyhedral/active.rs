//! Which of θ, φ and λ are basic, in the lists that the reduced system needs.

use stiction_lcp::{Basis, Position};

use super::cones::{Cones, NONE, Pair, set_basic};

/// The basic z variables. Of a group with λ basic (a sliding one) one basic φ, its *pivot direction*, is eliminated together with λ: that is
/// Lloyd's split of φ_α into φ_x and φ_κ.
///
/// Reference: [Lloyd04, Eqs. 25, 26].
#[derive(Debug, Clone, Default)]
pub(super) struct Active {
    /// Basic θ, by normal.
    pub theta: Vec<usize>,
    /// φ_κ: basic φ other than pivot directions, as (group, direction).
    pub kappa: Vec<(usize, usize)>,
    /// Groups with λ basic.
    pub slides: Vec<usize>,
    /// φ_x: the pivot direction of each group, [`NONE`] if its λ is not basic.
    pub pivot: Vec<usize>,
    /// Whether each θ is basic.
    pub theta_basic: Vec<bool>,
    /// Whether each φ is basic.
    pub phi_basic: Vec<bool>,
}

impl Active {
    /// No z is basic.
    pub(super) fn clear(&mut self, cones: &Cones) {
        self.theta.clear();
        self.kappa.clear();
        self.slides.clear();
        self.pivot.clear();
        self.pivot.resize(cones.groups.len(), NONE);
        self.theta_basic.clear();
        self.theta_basic.resize(cones.normals.len(), false);
        self.phi_basic.clear();
        self.phi_basic.resize(cones.phis, false);
    }

    /// Order of the reduced system of a complementary basis.
    pub(super) fn order(&self) -> usize {
        self.theta.len() + self.kappa.len()
    }

    /// The z of `pair` becomes basic. False if a λ has no basic φ to be eliminated with: the basis would be singular.
    pub(super) fn enter(&mut self, cones: &Cones, pair: Pair) -> bool {
        match pair {
            Pair::Normal(i) => {
                self.theta_basic[i] = true;
                self.theta.push(i);
            }
            Pair::Direction(g, j) => {
                self.phi_basic[cones.groups[g].first + j] = true;
                self.kappa.push((g, j));
            }
            Pair::Cap(g) => {
                let Some(at) = self.kappa.iter().position(|k| k.0 == g) else { return false };
                self.pivot[g] = self.kappa.remove(at).1;
                self.slides.push(g);
            }
        }
        true
    }

    /// The z of `pair` becomes nonbasic. False if a sliding group is left without a direction.
    pub(super) fn leave(&mut self, cones: &Cones, pair: Pair) -> bool {
        match pair {
            Pair::Normal(i) => {
                self.theta_basic[i] = false;
                self.theta.retain(|k| *k != i);
            }
            Pair::Direction(g, j) => {
                self.phi_basic[cones.groups[g].first + j] = false;
                if self.pivot[g] != j {
                    self.kappa.retain(|k| *k != (g, j));
                    return true;
                }
                let Some(at) = self.kappa.iter().position(|k| k.0 == g) else { return false };
                self.pivot[g] = self.kappa.remove(at).1;
            }
            Pair::Cap(g) => {
                self.kappa.push((g, self.pivot[g]));
                self.pivot[g] = NONE;
                self.slides.retain(|k| *k != g);
            }
        }
        true
    }

    /// Takes the letters of a basis; false if they do not fit the problem.
    pub(super) fn set(&mut self, cones: &Cones, basis: &Basis) -> bool {
        self.clear(cones);
        if basis.len() != cones.order() {
            return false;
        }
        let basic = |pair: Pair| basis.position(cones.letter(pair)) == Position::Basic;
        let mut fits = true;
        for i in (0..cones.normals.len()).filter(|&i| basic(Pair::Normal(i))) {
            fits &= self.enter(cones, Pair::Normal(i));
        }
        for g in 0..cones.groups.len() {
            for j in (0..cones.groups[g].sides).filter(|&j| basic(Pair::Direction(g, j))) {
                fits &= self.enter(cones, Pair::Direction(g, j));
            }
            // A contact without normal force has no friction to solve for: its λ follows from the motion.
            if basic(Pair::Cap(g)) && self.kappa.last().is_some_and(|k| k.0 == g) {
                fits &= self.enter(cones, Pair::Cap(g));
            }
        }
        fits && self.order() <= cones.dof
    }

    /// Writes the letters of the basic variables, keeping the storage.
    pub(super) fn basis_into(&self, cones: &Cones, basis: &mut Basis) {
        basis.reset(cones.order());
        self.theta.iter().for_each(|&i| set_basic(basis, cones.letter(Pair::Normal(i))));
        self.kappa.iter().for_each(|&(g, j)| set_basic(basis, cones.letter(Pair::Direction(g, j))));
        for &g in &self.slides {
            set_basic(basis, cones.letter(Pair::Direction(g, self.pivot[g])));
            set_basic(basis, cones.letter(Pair::Cap(g)));
        }
    }
}
