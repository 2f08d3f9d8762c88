//! From given states to numbers: one system, linear but for the directions of sliding, refined to rounding.

use super::super::law::State;
use super::super::problem::Block;
use super::elements::Elements;
use super::newton::Newton;

/// α of the system of given states: small enough to contract, large enough for the factor's rounding, which is divided by it.
const FINISH_ALPHA: f64 = 1e-7;
/// Blocks up to which that holds; the softest mode of a longer chain is softer by the square of its length and more.
const FINISH_BLOCKS: f64 = 5.0;
/// The same relative to these, one after the other, where a step brings little.
const FINISH_TRIES: [f64; 4] = [1.0, 1e-2, 1e2, 1e5];
/// A step that leaves less than this is one of a method that converges.
const WORTH: f64 = 0.25;
/// Error after the first step from which on states with sliding are taken to be wrong.
const WRONG_STATES: f64 = 1e-3;
/// Steps on given states, per α.
const FINISH_LIMIT: usize = 8;
/// Friction within this part of its limit is at it.
pub(super) const AT_LIMIT: f64 = 1e-9;
/// What friction at its limit keeps where the contact is to stick: a redundant support has room elsewhere, and forces at their limits are left there by the least change.
pub(super) const RELIEF: f64 = 0.9;
/// Residual beside the size of the problem that is rounding.
const ROUNDING: f64 = 3e-16;
/// Residual beside the size of the problem below which a step that brings nothing is lost in rounding.
const HALF_DIGITS: f64 = 1e-12;

impl Newton {
    /// Solves the system of the states as they are, linear but for the directions of sliding, to rounding. Each step is the least one: what a redundant set leaves open stays.
    pub fn finish(&mut self, el: &Elements) {
        FINISH_TRIES.iter().any(|tried| self.finish_with(el, tried * finish_alpha(el), true));
    }

    /// The same after a change of forces alone, with the factor there is: for states without sliding.
    pub fn finish_again(&mut self, el: &Elements) {
        self.finish_with(el, finish_alpha(el), false);
    }

    /// Pulls forces of sticking contacts that left their cones, or came close to leaving, back inside; true if there are any.
    pub fn pull_inside(&mut self, el: &Elements) -> bool {
        let mut any = false;
        for ((element, p), state) in el.list.iter().zip(&mut self.p).zip(&self.states) {
            let Block::Coulomb { mu, .. } = element.law else { continue };
            let length = (p[1] * p[1] + p[2] * p[2]).sqrt();
            if *state == State::Stick && length > (1.0 - AT_LIMIT) * mu * p[0] {
                p[0] = p[0].max(0.0);
                let scale = if length > 0.0 { RELIEF * mu * p[0] / length } else { 0.0 };
                (p[1], p[2]) = (scale * p[1], scale * p[2]);
                any = true;
            }
        }
        any
    }

    /// One α of [`Newton::finish`]; true if that is all there is to gain.
    fn finish_with(&mut self, el: &Elements, alpha: f64, mut fresh: bool) -> bool {
        let mut residual = self.evaluate(el, true);
        let (mut last, mut slow, mut first) = (residual, 0, true);
        let linear = !self.states.contains(&State::Slide);
        self.keep_best();
        for _ in 0..FINISH_LIMIT {
            stiction_lcp::interrupt::check();
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
            slow += usize::from(next > WORTH * last);
            let lost = !better && residual <= HALF_DIGITS * self.size(el);
            let wrong = first && !linear && self.error(el) > WRONG_STATES;
            if slow > usize::from(!linear) || lost || wrong || next.is_nan() {
                break;
            }
            first = false;
            fresh = !linear;
            last = next;
        }
        self.take_best();
        self.evaluate(el, true);
        !linear || residual <= HALF_DIGITS * self.size(el)
    }
}

/// α of the system of given states.
fn finish_alpha(el: &Elements) -> f64 {
    let length = (el.blocks.len() as f64 / FINISH_BLOCKS).max(1.0);
    FINISH_ALPHA / (length * length)
}
