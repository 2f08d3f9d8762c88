//! From given states to numbers: one system, linear but for the directions of sliding, refined to rounding.

use super::super::law::{Block, State};
use super::elements::Elements;
use super::length;
use super::newton::Newton;

/// Blocks up to which [`super::Tolerances::finish_alpha`] holds; the softest mode of a longer chain is softer by the square of its length and more.
const FINISH_BLOCKS: f64 = 5.0;
/// It is multiplied by these, one after the other, where a step brings little; by the least only where there are bilateral rows, which may be
/// dependent but for an angle of 1e-5.
const FINISH_TRIES: [f64; 5] = [1.0, 1e-2, 1e-6, 1e2, 1e5];
const NEARLY_DEPENDENT: f64 = 1e-6;
/// A step that leaves less than this is one of a method that converges.
const CONVERGING_DECREASE: f64 = 0.25;
/// Steps on given states, per α.
const FINISH_LIMIT: usize = 8;
/// What friction at its limit keeps where the contact is to stick: a redundant support has room elsewhere, and forces at their limits are left there by the least change.
pub(super) const RELIEF: f64 = 0.9;
/// Residual beside the size of the problem that is rounding.
const ROUNDING: f64 = 3e-16;

impl Newton {
    /// Solves the system of the states as they are, linear but for the directions of sliding, to rounding. Each step is the least one: what a redundant set leaves open stays.
    pub(super) fn finish(&mut self, el: &Elements) {
        let alpha = self.finish_alpha(el);
        let bilateral = el.list.iter().any(|element| element.law == Block::Free);
        let tries = FINISH_TRIES.into_iter().filter(|tried| bilateral || *tried > NEARLY_DEPENDENT);
        for tried in tries {
            // The first step of a stiff system leaves the rounding of large forces, which the next one removes.
            let patience = usize::from(tried <= NEARLY_DEPENDENT);
            // States that contradict each other are wrong, whatever the α; bilateral rows may be nearly dependent instead.
            if self.finish_with(el, tried * alpha, true, patience)
                || !bilateral && self.error(el) > self.tolerances.wrong_states
            {
                break;
            }
        }
    }

    /// The same after a change of forces alone, with the factor there is: for states without sliding.
    pub(super) fn finish_again(&mut self, el: &Elements) {
        let alpha = self.finish_alpha(el);
        self.finish_with(el, alpha, false, 0);
    }

    /// Pulls forces of sticking contacts that left their cones, or came close to leaving, back inside; true if there are any.
    pub(super) fn pull_inside(&mut self, el: &Elements) -> bool {
        let (mut any, at_limit) = (false, self.tolerances.at_limit);
        for ((element, p), state) in el.list.iter().zip(&mut self.p).zip(&self.states) {
            let Block::Coulomb { mu, .. } = element.law else { continue };
            let length = (p[1] * p[1] + p[2] * p[2]).sqrt();
            if *state == State::Stick && length > (1.0 - at_limit) * mu * p[0] {
                p[0] = p[0].max(0.0);
                let scale = if length > 0.0 { RELIEF * mu * p[0] / length } else { 0.0 };
                (p[1], p[2]) = (scale * p[1], scale * p[2]);
                any = true;
            }
        }
        any
    }

    /// True if friction is at its limit: the contact slides, or is about to.
    pub(super) fn is_at_limit(&self, p: [f64; 3], mu: f64) -> bool {
        length([p[1], p[2]]) >= (1.0 - self.tolerances.at_limit) * mu * p[0]
    }

    /// One α of [`Newton::finish`], with this many steps that bring little; true if that is all there is to gain.
    fn finish_with(&mut self, el: &Elements, alpha: f64, mut fresh: bool, patience: usize) -> bool {
        let mut residual = self.evaluate(el, true);
        let (mut last, mut slow, mut first) = (residual, 0, true);
        let linear = !self.states.contains(&State::Slide);
        self.keep_best();
        for _ in 0..FINISH_LIMIT {
            if residual <= ROUNDING * self.size(el) {
                return true;
            }
            if !self.direction(el, alpha, fresh) {
                break;
            }
            self.move_by(1.0);
            let next = self.evaluate(el, true);
            let better = next < residual;
            if better {
                self.keep_best();
                residual = next;
            }
            // Where contacts slide the way is curved, and a step may leave it; another α helps where the system is linear.
            slow += usize::from(next > CONVERGING_DECREASE * last);
            let lost = !better && residual <= self.tolerances.lost_in_rounding * self.size(el);
            let wrong = first && !linear && self.error(el) > self.tolerances.wrong_states;
            if slow > usize::from(!linear).max(patience) || lost || wrong || next.is_nan() {
                break;
            }
            first = false;
            fresh = !linear;
            last = next;
        }
        self.take_best();
        self.evaluate(el, true);
        !linear || residual <= self.tolerances.lost_in_rounding * self.size(el)
    }

    /// α of the system of given states.
    fn finish_alpha(&self, el: &Elements) -> f64 {
        let length = (el.blocks.len() as f64 / FINISH_BLOCKS).max(1.0);
        self.tolerances.finish_alpha / (length * length)
    }
}
