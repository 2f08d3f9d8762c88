//! The branches of articulated bodies: their inertia has zeros between limbs, and a contact at one limb has none but that limb's velocities
//! and those of the links that carry it.
//!
//! A block of velocities is divided into branches, runs of velocities that follow each other in a tree without a fork. The tree is that of elimination from the
//! last velocity to the first: the parent of a velocity is the last one before it that its elimination ties it to. Where velocities are numbered from the
//! base to the tips, as usual, that is the kinematic tree. Any other division would be right too; this one gives few blocks, and little
//! fill.
//!
//! Reference: \[Featherstone08\].

use stiction_lcp::Matrix;

/// A free body has as many velocities: it is one block whatever its inertia.
const FREE_BODY: usize = 6;

/// A run of velocities of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Branch {
    /// The block of the problem, and its number in the island.
    pub block: usize,
    pub of: usize,
    /// Its first velocity within the block, in the island's velocities, and in the matrix.
    pub first: usize,
    pub at: usize,
    pub place: usize,
    /// Number of velocities.
    pub len: usize,
    /// The branch that it starts from: its number in the island.
    pub parent: Option<usize>,
}

/// Finds branches. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Forest {
    /// Velocities before each that its elimination ties it to, row by row.
    tied: Vec<bool>,
    parents: Vec<Option<usize>>,
    children: Vec<usize>,
}

impl Forest {
    /// Appends the branches of a block with this inertia, which is number `of` of the island and whose first velocity there is `at`.
    pub(super) fn push_branches(
        &mut self,
        inertia: &Matrix,
        block: usize,
        of: usize,
        at: usize,
        out: &mut Vec<Branch>,
    ) {
        let n = inertia.cols();
        let start = out.len();
        let mut branch = Branch { block, of, at, len: n, ..Branch::default() };
        if n > FREE_BODY {
            self.find_parents(inertia);
            for i in 1..n {
                if self.parents[i] != Some(i - 1) || self.children[i - 1] > 1 {
                    branch.len = i - branch.first;
                    out.push(branch);
                    let parent = self.parents[i].and_then(|p| out[start..].iter().rposition(|b| b.first <= p));
                    branch = Branch { first: i, at: at + i, len: n - i, parent: parent.map(|k| start + k), ..branch };
                }
            }
        }
        out.push(branch);
    }

    fn find_parents(&mut self, inertia: &Matrix) {
        let n = inertia.cols();
        let Self { tied, parents, children } = self;
        tied.clear();
        for i in 0..n {
            tied.extend(inertia.col(i)[..i].iter().map(|x| *x != 0.0));
            tied.resize((i + 1) * n, false);
        }
        parents.clear();
        parents.resize(n, None);
        children.clear();
        children.resize(n, 0);
        for i in (0..n).rev() {
            let Some(parent) = tied[i * n..i * n + i].iter().rposition(|tied| *tied) else { continue };
            parents[i] = Some(parent);
            children[parent] += 1;
            // Eliminated, it ties all of them to each other.
            for j in 0..parent {
                tied[parent * n + j] |= tied[i * n + j];
            }
        }
    }
}

/// True if the inertia of their block ties two branches.
pub(super) fn are_tied(inertia: &Matrix, a: &Branch, b: &Branch) -> bool {
    (a.first..a.first + a.len).any(|i| inertia.col(i)[b.first..b.first + b.len].iter().any(|x| *x != 0.0))
}

/// `local ← v` at the velocities of some branches, one after the other, padded with zeros.
#[inline]
pub(super) fn gather(branches: &[Branch], v: &[f64], local: &mut [f64]) {
    let mut offset = 0;
    for b in branches {
        local[offset..offset + b.len].copy_from_slice(&v[b.at..b.at + b.len]);
        offset += b.len;
    }
    local[offset..].fill(0.0);
}

/// `v ← v + local` at the velocities of some branches.
#[inline]
pub(super) fn scatter(branches: &[Branch], local: &[f64], v: &mut [f64]) {
    let mut offset = 0;
    for b in branches {
        for (v, x) in v[b.at..b.at + b.len].iter_mut().zip(&local[offset..]) {
            *v += x;
        }
        offset += b.len;
    }
}

/// `v ← local` at the velocities of some branches.
#[inline]
pub(super) fn put(branches: &[Branch], local: &[f64], v: &mut [f64]) {
    let mut offset = 0;
    for b in branches {
        v[b.at..b.at + b.len].copy_from_slice(&local[offset..offset + b.len]);
        offset += b.len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branches(n: usize, ties: &[(usize, usize)]) -> Vec<(usize, usize, Option<usize>)> {
        let mut inertia = Matrix::zeros(n, n);
        for i in 0..n {
            inertia[(i, i)] = 1.0;
        }
        for &(i, j) in ties {
            (inertia[(i, j)], inertia[(j, i)]) = (0.5, 0.5);
        }
        let mut out = vec![];
        Forest::default().push_branches(&inertia, 0, 0, 0, &mut out);
        out.iter().map(|b| (b.first, b.len, b.parent)).collect()
    }

    /// All velocities of a limb are tied to each other and to the base.
    fn limb(base: usize, first: usize, len: usize) -> Vec<(usize, usize)> {
        (first..first + len).flat_map(|i| (0..base).chain(first..i).map(move |j| (i, j))).collect()
    }

    #[test]
    fn limbs_are_branches_of_their_base() {
        let ties: Vec<_> = [limb(6, 6, 3), limb(6, 9, 4)].concat();
        assert_eq!(branches(13, &ties), [(0, 6, None), (6, 3, Some(0)), (9, 4, Some(0))]);
    }

    #[test]
    fn a_chain_and_a_free_body_are_one_branch() {
        assert_eq!(branches(6, &[]), [(0, 6, None)]);
        assert_eq!(branches(8, &limb(0, 0, 8)), [(0, 8, None)]);
    }

    #[test]
    fn limbs_fork_again() {
        // A base of 6, an arm of 2 with fingers of 1 and 2, and an arm of 1.
        let arm = |i: usize| (0..8).map(move |j| (i, j));
        let mut ties: Vec<_> = (8..11).flat_map(arm).chain([(10, 9)]).collect();
        ties.extend([limb(6, 6, 2), limb(6, 11, 1)].concat());
        let all = [(0, 6, None), (6, 2, Some(0)), (8, 1, Some(1)), (9, 2, Some(1)), (11, 1, Some(0))];
        assert_eq!(branches(12, &ties), all);
    }
}
