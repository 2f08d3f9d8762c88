//! A row of a Jacobian over the trees that it moves.

use stiction_body::Model;

/// Trees of a row that need no storage: tendons and actuators lie on one or two.
const FEW_TREES: usize = 4;

/// Numbers by velocity, of those trees that have some. Keeps its storage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeRow {
    /// Trees, and where the first of each one's numbers is in `values`.
    blocks: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// The only velocity with a number, and that number, if it was given by itself: most actuators are on one joint.
    only: Option<(usize, f64)>,
}

impl TreeRow {
    /// Empties it.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.values.clear();
        self.only = None;
    }

    /// The numbers of a tree, one per velocity of it.
    pub(crate) fn tree_mut(&mut self, model: &Model, tree: usize) -> &mut [f64] {
        self.only = None;
        let size = model.trees()[tree].v.len();
        let first = match self.blocks.iter().find(|(t, _)| *t == tree) {
            Some((_, first)) => *first,
            None => {
                let first = self.values.len();
                self.blocks.push((tree, first));
                self.values.resize(first + size, 0.0);
                first
            }
        };
        &mut self.values[first..first + size]
    }

    /// Becomes a copy of another row.
    pub fn copy_from(&mut self, other: &Self) {
        self.blocks.clone_from(&other.blocks);
        self.values.clone_from(&other.values);
        self.only = other.only;
    }

    /// Adds to the number of velocity `k` (of the model).
    pub fn add(&mut self, model: &Model, k: usize, x: f64) {
        let tree = model.tree_of(k);
        let (first, is_empty) = (model.trees()[tree].v.start, self.blocks.is_empty());
        self.tree_mut(model, tree)[k - first] += x;
        self.only = is_empty.then_some((k, x));
    }

    /// Adds `scale` times another row.
    pub fn add_row(&mut self, model: &Model, other: &Self, scale: f64) {
        for (tree, values) in other.blocks() {
            let own = self.tree_mut(model, tree);
            own.iter_mut().zip(values).for_each(|(a, b)| *a += scale * b);
        }
    }

    /// Multiplies all numbers.
    pub fn scale(&mut self, by: f64) {
        self.values.iter_mut().for_each(|x| *x *= by);
        self.only = self.only.map(|(k, x)| (k, x * by));
    }

    /// The only velocity with a number, and that number, if it is known to be the only one.
    pub(crate) fn only(&self) -> Option<(usize, f64)> {
        self.only
    }

    /// The trees with their numbers.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.blocks.iter().enumerate().map(|(i, &(tree, first))| {
            let end = self.blocks.get(i + 1).map_or(self.values.len(), |(_, next)| *next);
            (tree, &self.values[first..end])
        })
    }

    /// Hands the trees that have velocities, with their numbers, to `run`. Up to four of them nothing is allocated.
    pub(crate) fn with_blocks<R>(&self, run: impl FnOnce(&[(usize, &[f64])]) -> R) -> R {
        let own = || self.blocks().filter(|(_, values)| !values.is_empty());
        let count = own().count();
        if count > FEW_TREES {
            return run(&own().collect::<Vec<_>>());
        }
        let mut few = [(0, &[][..]); FEW_TREES];
        few.iter_mut().zip(own()).for_each(|(to, block)| *to = block);
        run(&few[..count])
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.blocks.len()
    }

    /// True if every number is 0.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|x| *x == 0.0)
    }

    /// The row times velocities `v` (nv).
    pub fn dot(&self, model: &Model, v: &[f64]) -> f64 {
        if let Some((k, x)) = self.only {
            return x * v[k];
        }
        let part = |(tree, values): (usize, &[f64])| -> f64 {
            values.iter().zip(&v[model.trees()[tree].v.clone()]).map(|(a, b)| a * b).sum()
        };
        self.blocks().map(part).sum()
    }

    /// Adds `scale` times the row to `out` (nv).
    pub fn add_to(&self, model: &Model, scale: f64, out: &mut [f64]) {
        if let Some((k, x)) = self.only {
            out[k] += scale * x;
            return;
        }
        for (tree, values) in self.blocks() {
            let out = &mut out[model.trees()[tree].v.clone()];
            out.iter_mut().zip(values).for_each(|(a, b)| *a += scale * b);
        }
    }
}
