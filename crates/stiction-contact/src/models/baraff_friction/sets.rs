//! The index sets. Reference: [Baraff94, §4.1, §5.3, §5.6].

/// Where a row stands; contacts by their normals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In neither set: not looked at yet, or given up for a while. Its force stands still.
    Ignored,
    /// In C: a = 0 is maintained, f moves.
    Clamped,
    /// In NC at the lower bound: f stands there, a ≥ 0 is maintained.
    Lower,
    /// In NC at the upper bound: f stands there, a ≤ 0 is maintained.
    Upper,
}

/// What the friction of a contact does. Directions are unit vectors of its tangent plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Friction {
    /// There is none, ever.
    Absent,
    /// Dynamic: `f_F = μ f_N u`, u against the slip.
    Dynamic([f64; 2]),
    /// Not established, or suspended while the normal is outside of C: `f_F = 0`.
    Off,
    /// In C_F along e, `e · a_F = 0`; the force across e is zero and not established. All there is to it in the plane.
    Along([f64; 2]),
    /// In C_F: `a_F = 0`.
    Stick,
    /// In NC_F: `f_F = μ f_N u`, and `u · a_F ≤ 0` is maintained.
    Slide([f64; 2]),
    /// Given up: `f_F` stands still, whatever it is.
    Held,
}

impl Friction {
    /// The direction of a force that is tied to the normal force.
    pub(super) fn tied(self) -> Option<[f64; 2]> {
        match self {
            Self::Dynamic(u) | Self::Slide(u) => Some(u),
            _ => None,
        }
    }
}

/// The direction of a force that a clamped condition moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Along {
    /// A row, or a contact's normal.
    Row,
    /// A direction of the contact's tangent plane.
    Tangent([f64; 2]),
}

/// A clamped condition: the acceleration of row `i` along `along` is held at zero by the force there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clamp {
    pub i: usize,
    pub along: Along,
}
