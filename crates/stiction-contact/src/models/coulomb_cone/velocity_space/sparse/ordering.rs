//! The order of elimination: minimum degree, or nested dissection where that has fewer operations.

use super::dissection::Dissection;
use super::graph::Graph;
use super::minimum_degree::MinimumDegree;

/// Multiplications and additions of a factor, relative to those of its blocks on the diagonal, from which nested
/// dissection is tried. A chain has about 10, a heap of 300 bodies 200; below, minimum degree is as
/// good.
const DISSECTION_FILL: f64 = 200.0;

/// Finds orders; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Ordering {
    degrees: MinimumDegree,
    dissected: MinimumDegree,
    dissection: Dissection,
    stages: Vec<usize>,
}

impl Ordering {
    /// The blocks of a graph in an order of few operations.
    pub(super) fn find(&mut self, graph: &Graph) -> &[usize] {
        self.stages.clear();
        self.stages.resize(graph.blocks(), 0);
        let flops = self.degrees.find(graph, &self.stages);
        let cubes: f64 = graph.sizes.iter().map(|&s| (s as f64).powi(3)).sum();
        if flops > DISSECTION_FILL * cubes && self.dissected.find(graph, self.dissection.find(graph)) < flops {
            return &self.dissected.order;
        }
        &self.degrees.order
    }
}
