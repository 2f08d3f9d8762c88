//! The branches of articulated bodies: their inertia has zeros between limbs, and a contact at one limb has none but that limb's velocities
//! and those of the links that carry it.
//!
//! A block of velocities is divided into branches, runs of velocities that follow each other in a tree without a fork. The tree is that of elimination from the
//! last velocity to the first: the parent of a velocity is the last one before it that its elimination ties it to. Where velocities are numbered from the
//! base to the tips, as usual, that is the kinematic tree. Any other division would be right too; this one gives few blocks, and little
//! fill.
//!
//! Reference: \[Featherstone08\].

use super::lanes::axpy;
use stiction_lcp::Matrix;

/// A free body has as many velocities: it is one block whatever its inertia.
pub(super) const FREE_BODY: usize = 6;

/// Multiplications that cost as much as one more branch: a quadruped of 18 velocities that stands takes 12 % fewer instructions as one branch than as five, and a hand of 24
/// with friction in every joint 15 % more than as six.
const BRANCH_COST: usize = 2000;

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

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
    /// Velocities before each that its elimination ties it to: a bit for each, row by row.
    tied: Vec<u64>,
    parents: Vec<Option<usize>>,
    children: Vec<usize>,
    /// How many velocities carry each.
    depths: Vec<usize>,
}

impl Forest {
    /// Appends the branches of a block with this inertia, which is number `of` of the island and whose first velocity there is `at`; one where the zeros between
    /// them are not worth more, in an island of this many `rows`.
    pub(super) fn push_branches(
        &mut self,
        inertia: &Matrix,
        block: usize,
        of: usize,
        at: usize,
        rows: usize,
        out: &mut Vec<Branch>,
    ) {
        let n = inertia.cols();
        let start = out.len();
        let mut branch = Branch { block, of, at, len: n, ..Branch::default() };
        let without_zeros = n * n * n / 6 + rows * n * n / 2;
        if n > FREE_BODY && without_zeros > 2 * BRANCH_COST {
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
        let count = out.len() - start;
        if count > 1 && self.saved_by_zeros(rows) < BRANCH_COST * count {
            out.truncate(start);
            out.push(Branch { block, of, at, len: n, ..Branch::default() });
        }
    }

    /// Multiplications that the zeros between branches save in a factor, and in the products of this many `rows` with themselves: a velocity is tied to
    /// those that carry it alone.
    fn saved_by_zeros(&mut self, rows: usize) -> usize {
        let Self { parents, depths, .. } = self;
        let (n, mut factor, mut products) = (parents.len(), 0, 0);
        depths.clear();
        for i in 0..n {
            let depth = parents[i].map_or(0, |p| depths[p] + 1);
            depths.push(depth);
            factor += i * i - depth * depth;
            products += n * n - (depth + 1) * (depth + 1);
        }
        (factor + rows * products / n) / 2
    }

    fn find_parents(&mut self, inertia: &Matrix) {
        let n = inertia.cols();
        let Self { tied, parents, children, .. } = self;
        let words = n.div_ceil(BITS);
        tied.clear();
        for i in 0..n {
            let word = |x: &[f64]| x.iter().rev().fold(0, |bits, x| bits << 1 | u64::from(*x != 0.0));
            tied.extend(inertia.col(i)[..i].chunks(BITS).map(word));
            tied.resize((i + 1) * words, 0);
        }
        parents.clear();
        parents.resize(n, None);
        children.clear();
        children.resize(n, 0);
        for i in (0..n).rev() {
            let (above, own) = tied.split_at_mut(i * words);
            let Some(last) = own[..words].iter().rposition(|word| *word != 0) else { continue };
            let parent = last * BITS + own[last].ilog2() as usize;
            parents[i] = Some(parent);
            children[parent] += 1;
            // Eliminated, it ties all of them to each other.
            above[parent * words..].iter_mut().zip(&own[..words]).for_each(|(to, from)| *to |= from);
            above[parent * words + last] ^= 1 << (parent % BITS);
        }
    }
}

/// True if the inertia of their block ties two branches.
pub(super) fn are_tied(inertia: &Matrix, a: &Branch, b: &Branch) -> bool {
    (a.first..a.first + a.len).any(|i| inertia.col(i)[b.first..b.first + b.len].iter().any(|x| *x != 0.0))
}

/// `local ← v` at the velocities of some branches, one after the other, padded with zeros.
#[inline(always)]
pub(super) fn gather(branches: &[Branch], v: &[f64], local: &mut [f64]) {
    let mut offset = 0;
    for b in branches {
        local[offset..offset + b.len].copy_from_slice(&v[b.at..b.at + b.len]);
        offset += b.len;
    }
    local[offset..].fill(0.0);
}

/// `v ← v + local` at the velocities of some branches.
#[inline(always)]
pub(super) fn scatter(branches: &[Branch], local: &[f64], v: &mut [f64]) {
    let mut offset = 0;
    for b in branches {
        axpy(1.0, &local[offset..], &mut v[b.at..b.at + b.len]);
        offset += b.len;
    }
}

/// `v ← local` at the velocities of some branches.
#[inline(always)]
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

    /// With so many rows that zeros are worth any number of branches.
    fn branches(n: usize, ties: &[(usize, usize)]) -> Vec<(usize, usize, Option<usize>)> {
        branches_of(n, ties, 10_000)
    }

    fn branches_of(n: usize, ties: &[(usize, usize)], rows: usize) -> Vec<(usize, usize, Option<usize>)> {
        let mut inertia = Matrix::zeros(n, n);
        for i in 0..n {
            inertia[(i, i)] = 1.0;
        }
        for &(i, j) in ties {
            (inertia[(i, j)], inertia[(j, i)]) = (0.5, 0.5);
        }
        let mut out = vec![];
        Forest::default().push_branches(&inertia, 0, 0, 0, rows, &mut out);
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
    fn limbs_are_one_branch_where_few_rows_make_use_of_their_zeros() {
        let quadruped: Vec<_> = (0..4).flat_map(|leg| limb(6, 6 + 3 * leg, 3)).collect();
        assert_eq!(branches_of(18, &quadruped, 12), [(0, 18, None)]);
        assert_eq!(branches_of(18, &quadruped, 200).len(), 5);
        // Their factor alone is worth it where there are many.
        let centipede: Vec<_> = (0..40).flat_map(|leg| limb(6, 6 + 3 * leg, 3)).collect();
        assert_eq!(branches_of(126, &centipede, 0).len(), 41);
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
