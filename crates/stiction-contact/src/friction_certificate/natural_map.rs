//! The natural map of one contact, with a bound of its rounding.
//!
//! With s = r/ρ in units of velocity, `F/ρ = s − P_K(s − ũ)`. Impulses may be many times what q asks for, and so may the terms that cancel in this;
//! it is evaluated so that nothing is rounded beside s: where `y = s − ũ` is in the cone the map is ũ, where y is in the polar cone it is s, and between
//! the two it is `ũ + d n` with d the distance of y from the cone and n the outward normal at the cone's edge.

use super::{UNIT, length};
use crate::certificate::sums::add_product;

/// Roundings that a number here passes through, with room.
const ROUNDINGS: f64 = 16.0 * UNIT;

/// A value, and how far it may be from the exact one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded {
    pub value: f64,
    pub error: f64,
}

impl Bounded {
    /// At least the exact number.
    pub(crate) fn above(self) -> f64 {
        self.value + self.error
    }
}

/// A contact's impulses in units of velocity, as unevaluated sums, and velocities, all scaled by one power of two.
struct Contact {
    dim: usize,
    high: [f64; 3],
    low: [f64; 3],
    u: [f64; 3],
    mu: f64,
}

/// `|r − P_K(r − ρ ũ)|₂ / ρ` of one contact, λ = 1/ρ, whose velocities are known to within `error` each.
pub(super) fn natural_map(r: &[f64], u: &[f64], error: &[f64], mu: f64, lambda: f64) -> Bounded {
    let largest = r.iter().map(|r| (lambda * r).abs()).chain(u.iter().map(|u| u.abs())).fold(0.0, f64::max);
    if !largest.is_finite() || r.iter().chain(u).any(|x| x.is_nan()) {
        return Bounded { value: f64::INFINITY, error: 0.0 };
    }
    let unit = power_of_two(largest);
    let mut contact = Contact { dim: r.len(), high: [0.0; 3], low: [0.0; 3], u: [0.0; 3], mu };
    for k in 0..r.len() {
        // Scaled first: neither the product nor its error is subnormal then, unless it is nothing beside the largest.
        add_product(lambda / unit, r[k], &mut contact.high[k], &mut contact.low[k]);
        contact.u[k] = u[k] / unit;
    }
    let map = if mu.is_infinite() { contact.limit_map() } else { contact.map() };
    let tangential = length(&error[1..]);
    // P is nonexpansive; without a limit the measure is a minimum of lengths.
    let moved = if mu.is_infinite() { 2.0 * length(error) } else { error[0] + mu * tangential + tangential };
    Bounded { value: map.value * unit, error: map.error * unit + moved * (1.0 + ROUNDINGS) }
}

/// The power of two of `x`'s size, within the range whose inverse is normal; 1 for 0.
fn power_of_two(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    if x == 0.0 { 1.0 } else { f64::from_bits(x.clamp(1e-290, 1e290).to_bits() & !FRACTION) }
}

impl Contact {
    /// With a finite coefficient.
    fn map(&self) -> Bounded {
        let (u_t, mu) = (&self.u[1..self.dim], self.mu);
        let slip = length(u_t);
        // ũ and its rounding.
        let lifted = self.u[0] + mu * slip;
        let rounding = ROUNDINGS * (self.u[0].abs() + mu * slip + slip);
        let (y0, mut y_t) = (self.high[0] - lifted, [0.0; 2]);
        for k in 1..self.dim {
            y_t[k - 1] = self.high[k] - self.u[k];
        }
        let y_t = &y_t[..self.dim - 1];
        let t = length(y_t);
        // The cone's edge (cos, sin): mu² would leave the range of f64 before mu does.
        let edge = libm::hypot(1.0, mu);
        let (cos, sin) = (1.0 / edge, mu / edge);
        // How far along the edge P(y) is; at most this where y is in the polar cone and rounding hides it.
        let (along, terms) = (cos * y0 + sin * t, cos * (self.high[0].abs() + lifted.abs()) + sin * t);
        let hidden = if along.abs() <= ROUNDINGS * terms { 2.0 * ROUNDINGS * terms } else { 0.0 };
        if along <= 0.0 {
            let value = length(&self.high[..self.dim]);
            return Bounded { value, error: ROUNDINGS * value + hidden };
        }
        if mu == 0.0 {
            // P(y) is (y₀, 0).
            let value = libm::hypot(lifted, length(&self.high[1..self.dim]));
            return Bounded { value, error: ROUNDINGS * value + hidden };
        }
        let outside = cos * (self.outside(t) + mu * lifted);
        if outside <= 0.0 {
            let value = libm::hypot(lifted, slip);
            return Bounded {
                value,
                error: rounding + ROUNDINGS * value + hidden + ROUNDINGS * (cos * mu * lifted).abs(),
            };
        }
        let normal = lifted - sin * outside;
        let along = |k: usize| self.u[k] + cos * outside * (y_t[k - 1] / t);
        let tangential = (1..self.dim).fold(0.0, |sum: f64, k| sum + along(k) * along(k)).sqrt();
        let value = libm::hypot(normal, tangential);
        let error = rounding + ROUNDINGS * (outside + cos * mu * lifted.abs() + value) + hidden;
        Bounded { value, error }
    }

    /// `|s_T − u_T| − μ s_N`, given the first: through the difference of squares, whose terms are summed in twice the working precision.
    fn outside(&self, t: f64) -> f64 {
        if self.high[0] <= 0.0 {
            return t - self.mu * self.high[0];
        }
        let (mut high, mut low) = (0.0, 0.0);
        for k in 1..self.dim {
            let (s, rest, u) = (self.high[k], self.low[k], self.u[k]);
            for (a, b) in [(s, s), (2.0 * s, rest), (-2.0 * s, u), (-2.0 * rest, u), (u, u)] {
                add_product(a, b, &mut high, &mut low);
            }
        }
        let (mut most, mut rest) = (0.0, 0.0);
        add_product(self.mu, self.high[0], &mut most, &mut rest);
        rest += self.mu * self.low[0];
        add_product(-most, most, &mut high, &mut low);
        add_product(-2.0 * most, rest, &mut high, &mut low);
        (high + low) / (t + most)
    }

    /// Without a limit to friction: Signorini's condition and the least of held, free, and sliding between the two.
    fn limit_map(&self) -> Bounded {
        let (s, u) = (&self.high[..self.dim], &self.u[..self.dim]);
        // s₀ − max(s₀ − u₀, 0).
        let normal = s[0].min(u[0]);
        let (pressed, parting) = (s[0].max(0.0), u[0].max(0.0));
        let (friction, slip) = (length(&s[1..]), length(&u[1..]));
        let along: f64 = s[1..].iter().zip(&u[1..]).map(|(s, u)| s / friction * u).sum();
        // A contact slides against its friction, never along it.
        let against = if friction > 0.0 { along.min(0.0) } else { 0.0 };
        let askew = s[1..].iter().zip(&u[1..]).fold(0.0, |sum: f64, (s, u)| {
            let rest = if friction > 0.0 { u - against * (s / friction) } else { *u };
            sum + rest * rest
        });
        let slides = libm::hypot(askew.sqrt(), libm::hypot(pressed, parting));
        let (held, free) = (libm::hypot(slip, parting), libm::hypot(friction, pressed));
        let least = held.min(free);
        let rounding = if slides < least { ROUNDINGS * slip } else { 0.0 };
        let value = libm::hypot(normal, least.min(slides));
        Bounded { value, error: ROUNDINGS * value + rounding }
    }
}
