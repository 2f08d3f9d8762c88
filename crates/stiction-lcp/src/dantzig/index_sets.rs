//! The index sets of the driving method: which rows are clamped, unclamped, or not looked at yet.

/// Where a row stands. Reference: [Baraff94, §4.1]; the two bounds are those of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In neither set: the conditions of this row are not maintained yet.
    Ignored,
    /// In C: w = 0 is maintained, z moves.
    Clamped,
    /// In NC at the lower bound: z stands there, w ≥ 0 is maintained.
    Lower,
    /// In NC at the upper bound: z stands there, w ≤ 0 is maintained.
    Upper,
    /// A row that follows from clamped ones and has no bound near: w = 0 holds by itself, z stands where it is.
    Redundant,
}

/// C and NC, with the place of every row. C keeps the order of the factor. The sets of friction (C_F, NC⁺, NC⁻) are
/// more places of the same kind: clamped rows are those that the factor holds.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexSets {
    place: Vec<Place>,
    clamped: Vec<usize>,
    unclamped: Vec<usize>,
}

impl IndexSets {
    /// `n` rows, all ignored.
    pub(super) fn reset(&mut self, n: usize) {
        self.place.clear();
        self.place.resize(n, Place::Ignored);
        self.clamped.clear();
        self.clamped.reserve(n);
        self.unclamped.clear();
        self.unclamped.reserve(n);
    }

    /// The place of row `i`.
    pub(super) fn place(&self, i: usize) -> Place {
        self.place[i]
    }

    /// C, in the order of the factor.
    pub(super) fn clamped(&self) -> &[usize] {
        &self.clamped
    }

    /// NC, in no particular order.
    pub(super) fn unclamped(&self) -> &[usize] {
        &self.unclamped
    }

    /// Row `i`, in neither set, becomes the last of C.
    pub(super) fn clamp(&mut self, i: usize) {
        self.release(i);
        self.place[i] = Place::Clamped;
        self.clamped.push(i);
    }

    /// Takes the row at position `p` out of C; it is ignored until it is put somewhere.
    pub(super) fn take_clamped(&mut self, p: usize) -> usize {
        let i = self.clamped.remove(p);
        self.place[i] = Place::Ignored;
        i
    }

    /// Row `i`, not in C, is put into NC at its lower or upper bound.
    pub(super) fn unclamp(&mut self, i: usize, at: Place) {
        debug_assert!(matches!(at, Place::Lower | Place::Upper));
        if !matches!(self.place[i], Place::Lower | Place::Upper) {
            self.unclamped.push(i);
        }
        self.place[i] = at;
    }

    /// Row `i`, not in C, is ignored from now on.
    pub(super) fn release(&mut self, i: usize) {
        if matches!(self.place[i], Place::Lower | Place::Upper) {
            self.unclamped.retain(|&j| j != i);
        }
        self.place[i] = Place::Ignored;
    }

    /// Row `i`, in neither set, follows from rows of C.
    pub(super) fn set_redundant(&mut self, i: usize) {
        self.release(i);
        self.place[i] = Place::Redundant;
    }
}
