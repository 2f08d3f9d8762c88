//! Which problems: 35, with the sizes of the paper's table where it gives them.

/// One of the 35 problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Contacts that roll: five rows each.
    pub rolling: usize,
    /// Contacts that slide: one row each.
    pub sliding: usize,
    /// Data sets: coefficients of friction.
    pub sets: usize,
}

impl Plan {
    /// Order of the complementarity problem.
    pub const fn size(&self) -> usize {
        self.sliding + 5 * self.rolling
    }
}

const fn plan(rolling: usize, sliding: usize, sets: usize) -> Plan {
    Plan { rolling, sliding, sets }
}

/// The problems, from the smallest: 20 with the sizes and numbers of data sets of the paper's table (185 data sets), and 15 of sizes 115 to 165 for
/// the 143 that its table leaves out (two of them of size 150, which is in the table too). Eighteen have contacts that slide.
pub const PLANS: [Plan; 35] = [
    plan(0, 2, 10),
    plan(0, 2, 10),
    plan(2, 0, 10),
    plan(2, 0, 10),
    plan(2, 0, 10),
    plan(1, 5, 10),
    plan(1, 5, 10),
    plan(0, 10, 10),
    plan(3, 1, 10),
    plan(6, 0, 9),
    plan(5, 5, 9),
    plan(4, 10, 8),
    plan(10, 0, 10),
    plan(8, 10, 10),
    plan(18, 0, 8),
    plan(18, 0, 8),
    plan(15, 15, 7),
    plan(22, 5, 9),
    plan(24, 0, 10),
    plan(24, 5, 9),
    plan(26, 0, 9),
    plan(25, 5, 9),
    plan(27, 0, 9),
    plan(28, 0, 9),
    plan(27, 5, 9),
    plan(29, 0, 10),
    plan(27, 15, 6),
    plan(30, 0, 10),
    plan(29, 5, 10),
    plan(31, 0, 10),
    plan(32, 0, 10),
    plan(31, 5, 10),
    plan(33, 0, 10),
    plan(32, 5, 10),
    plan(34, 0, 10),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_are_the_papers() {
        let sets = |size: usize| PLANS.iter().filter(|p| p.size() == size).map(|p| p.sets).sum::<usize>();
        assert_eq!([2, 10, 16, 30, 50, 90, 120, 150, 170].map(sets), [20, 60, 10, 26, 20, 23, 10, 6 + 20, 10]);
        assert_eq!(PLANS.iter().map(|p| p.sets).sum::<usize>(), 328);
        assert_eq!(PLANS.iter().filter(|p| p.sliding > 0).count(), 18);
        assert!(PLANS.is_sorted_by_key(Plan::size));
    }
}
