//! Islands: blocks connected through rows. They are independent, and solved one by one.

use crate::problem::ContactProblem;
use crate::rows::Rows;

/// The blocks of an island and the rows among them, all ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Island {
    /// Mass blocks.
    pub blocks: Vec<usize>,
    /// Contacts.
    pub contacts: Vec<usize>,
    /// Bilateral rows.
    pub bilaterals: Vec<usize>,
    /// Unilateral rows.
    pub limits: Vec<usize>,
    /// Rows with bounded force.
    pub bounded: Vec<usize>,
}

/// Finds the islands of a problem, in the order of their first blocks; rows without any entry form a last one without blocks.
/// Blocks without rows are in none: they move freely. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub struct Islands {
    /// Union–find over blocks: the parent of each, itself for a root.
    parent: Vec<usize>,
    /// The island of each root, or none yet.
    island: Vec<Option<usize>>,
    list: Vec<Island>,
    count: usize,
    /// Whether all blocks that rows have entries for are in one island.
    single: bool,
}

impl Islands {
    /// Splits `problem` into its islands.
    pub fn find(&mut self, problem: &ContactProblem) -> &[Island] {
        self.parent.clear();
        self.parent.extend(0..problem.layout().blocks());
        self.island.clear();
        self.island.resize(problem.layout().blocks() + 1, None);
        self.count = 0;
        let contacts = problem.contacts();
        let (bilaterals, limits, bounded) =
            (&problem.bilaterals().rows, &problem.limits().rows, &problem.bounded().rows);
        let (kinds, used) = (contacts.rows(), contacts.used_kinds());
        let is_between_same = |i: usize| i > 0 && kinds[..used].iter().all(|rows| rows.has_same_blocks(i, i - 1));
        // A contact with the same rows as an earlier one joins nothing new, nor does one between the same bodies as the last.
        for i in (0..contacts.len()).filter(|&i| contacts.twin[i] == i && !is_between_same(i)) {
            self.join(&kinds[..used], i);
        }
        for rows in [bilaterals, limits, bounded] {
            (0..rows.len()).for_each(|i| self.join(&[rows], i));
        }
        self.number_islands(problem);
        self.single = self.count == 1;
        for i in 0..contacts.len() {
            let at = self.place(&kinds[..used], i);
            self.list[at].contacts.push(i);
        }
        for i in 0..bilaterals.len() {
            let at = self.place(&[bilaterals], i);
            self.list[at].bilaterals.push(i);
        }
        for i in 0..limits.len() {
            let at = self.place(&[limits], i);
            self.list[at].limits.push(i);
        }
        for i in 0..bounded.len() {
            let at = self.place(&[bounded], i);
            self.list[at].bounded.push(i);
        }
        &self.list[..self.count]
    }

    /// The islands found last.
    pub fn list(&self) -> &[Island] {
        &self.list[..self.count]
    }

    fn root(&mut self, mut block: usize) -> usize {
        while self.parent[block] != block {
            self.parent[block] = self.parent[self.parent[block]];
            block = self.parent[block];
        }
        block
    }

    /// Joins all blocks that the rows `i` of the given kinds have entries for. The lower root stays, so that the order is that of the blocks.
    fn join(&mut self, kinds: &[&Rows], i: usize) {
        let mut first = None;
        for (kind, rows) in kinds.iter().enumerate() {
            if kind > 0 && rows.has_blocks_of(kinds[0], i) {
                continue;
            }
            for block in rows.blocks(i) {
                let root = self.root(block);
                let low = first.map_or(root, |other| root.min(other));
                if let Some(other) = first {
                    self.parent[root.max(other)] = low;
                }
                first = Some(low);
            }
        }
        if let Some(root) = first {
            // A root named here belongs to an island even if no other block joins it.
            self.island[root] = Some(usize::MAX);
        }
    }

    /// Gives each root that rows were seen at its number, and each block its island.
    fn number_islands(&mut self, problem: &ContactProblem) {
        let blocks = problem.layout().blocks();
        for block in 0..blocks {
            if self.island[block].is_some() {
                let root = self.root(block);
                self.island[root] = Some(usize::MAX);
            }
        }
        for block in 0..blocks {
            let root = self.root(block);
            match self.island[root] {
                None => {}
                Some(usize::MAX) => {
                    let at = self.open();
                    self.island[root] = Some(at);
                    self.list[at].blocks.push(block);
                }
                Some(at) => self.list[at].blocks.push(block),
            }
        }
    }

    /// The next island, empty.
    fn open(&mut self) -> usize {
        if self.count == self.list.len() {
            self.list.push(Island::default());
        }
        let island = &mut self.list[self.count];
        island.blocks.clear();
        island.contacts.clear();
        island.bilaterals.clear();
        island.limits.clear();
        island.bounded.clear();
        self.count += 1;
        self.count - 1
    }

    /// The island of row `i` of the given kinds.
    fn place(&mut self, kinds: &[&Rows], i: usize) -> usize {
        let block = kinds.iter().find_map(|rows| rows.blocks(i).next());
        if self.single && block.is_some() {
            return 0;
        }
        let key = match block {
            Some(block) => self.root(block),
            None => self.parent.len(),
        };
        match self.island[key] {
            Some(at) => at,
            None => {
                let at = self.open();
                self.island[key] = Some(at);
                at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mass::Mass;
    use crate::problem::Contact;
    use stiction_lcp::Matrix;

    #[test]
    fn rows_join_blocks_and_free_blocks_are_left_out() {
        let mass = Mass::new(vec![Matrix::identity(1); 7]).unwrap();
        let mut problem = ContactProblem::new(mass, vec![0.0; 7], vec![0.0; 7], 1.0).unwrap();
        let one: &[f64] = &[1.0];
        let contact = |problem: &mut ContactProblem, a: usize, b: usize| {
            problem.add_contact(Contact::new(&[(a, one), (b, one)], &[], &[])).unwrap();
        };
        contact(&mut problem, 5, 2);
        contact(&mut problem, 0, 1);
        contact(&mut problem, 6, 5);
        problem.add_contact(Contact::new(&[], &[], &[])).unwrap();
        problem.add_contact(Contact::new(&[(1, one)], &[], &[])).unwrap();
        problem.add_limit(&[(4, one)], 0.0, 0.0, 0.0).unwrap();
        problem.add_bilateral(&[(1, one)], 0.0, 0.0).unwrap();
        problem.add_bounded(&[(6, one)], -1.0, 1.0, 0.0, 0.0).unwrap();
        let mut islands = Islands::default();
        for _ in 0..2 {
            let list = islands.find(&problem);
            assert_eq!(list.len(), 4);
            assert_eq!(
                (&list[0].blocks[..], &list[0].contacts[..], &list[0].bilaterals[..]),
                (&[0, 1][..], &[1, 4][..], &[0][..])
            );
            assert_eq!(
                (&list[1].blocks[..], &list[1].contacts[..], &list[1].bounded[..]),
                (&[2, 5, 6][..], &[0, 2][..], &[0][..])
            );
            assert_eq!((&list[2].blocks[..], &list[2].limits[..]), (&[4][..], &[0][..]));
            assert_eq!((&list[3].blocks[..], &list[3].contacts[..]), (&[][..], &[3][..]));
        }
    }

    #[test]
    fn chains_joined_out_of_order_are_one_island() {
        let mass = Mass::new(vec![Matrix::identity(1); 6]).unwrap();
        let mut problem = ContactProblem::new(mass, vec![0.0; 6], vec![0.0; 6], 1.0).unwrap();
        let one: &[f64] = &[1.0];
        for (a, b) in [(4, 5), (2, 3), (0, 1), (3, 4), (1, 2)] {
            problem.add_contact(Contact::new(&[(a, one), (b, one)], &[], &[])).unwrap();
        }
        let mut islands = Islands::default();
        assert_eq!(islands.find(&problem).len(), 1);
        assert_eq!(islands.list()[0].blocks, [0, 1, 2, 3, 4, 5]);
    }
}
