//! Lloyd's *reduced* method: the path of the structural method, on a problem that grows.
//!
//! It starts without friction. When the normal force θ_i of a contact is about to grow for the first time, its directions and its bound join, with
//! covering numbers that keep every new variable above zero. That is before the ratio test: z₀ may leave just as θ_i enters. A contact that
//! never joins has θ = φ = γ = 0, and its λ is what the motion asks for.
//!
//! Reference: [Lloyd04, §5.3, Appendix D].

use super::cones::{Cones, NONE, Pair};
use super::structural::Path;
use super::system::Driving;

impl Path {
    /// If θ_i is driving and its group is not in the problem yet, it joins.
    pub(super) fn expand(&mut self, cones: &Cones, driving: Driving) {
        let Driving::Z(Pair::Normal(i)) = driving else { return };
        let g = cones.normals[i].group;
        if g == NONE || self.is_expanded[g] {
            return;
        }
        self.is_expanded[g] = true;
        self.expanded.push(g);
        self.extend_covering(cones, g);
    }

    /// Chooses c_σ so that every `σ = dᵀ x + b + c z₀ > 0`: at least as much as c = 1 gives where dᵀ x + b = 0. The bound's own `γ = c z₀` is
    /// positive with any c.
    fn extend_covering(&mut self, cones: &Cones, g: usize) {
        let u = cones.slip(g, &self.value.x, 1.0);
        let least = cones.directions(g).iter().fold(0.0, |min: f64, d| min.min(d[0] * u[0] + d[1] * u[1]));
        self.covering.direction[g] += -least / self.z0();
    }
}
