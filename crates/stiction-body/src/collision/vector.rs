//! Lengths and unit vectors by the processor's square root. The vector library's own go through a routine that mixes instruction sets and
//! costs as much as a whole pair; a square root is rounded correctly either way, so the bits are the same.

use crate::math::Vec3;

pub(crate) trait Norm: Sized {
    /// Euclidean length.
    fn norm(self) -> f64;

    /// The unit vector along this one, or the fallback if that is not a finite direction.
    fn unit_or(self, fallback: Self) -> Self;

    /// The unit vector along this one, or zero.
    fn unit_or_zero(self) -> Self;
}

impl Norm for Vec3 {
    fn norm(self) -> f64 {
        self.length_squared().sqrt()
    }

    fn unit_or(self, fallback: Self) -> Self {
        let scale = 1.0 / self.norm();
        if scale > 0.0 && scale.is_finite() { self * scale } else { fallback }
    }

    fn unit_or_zero(self) -> Self {
        self.unit_or(Self::ZERO)
    }
}
