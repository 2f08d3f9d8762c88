//! The order of elimination.
use super::graph::Graph;
use super::minimum_degree::MinimumDegree;

/// Finds orders; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Ordering {
    degrees: MinimumDegree,
    stages: Vec<usize>,
}
impl Ordering {
    pub fn find(&mut self, graph: &Graph) -> &[usize] {
        self.stages.clear();
        self.stages.resize(graph.blocks(), 0);
        self.degrees.find(graph, &self.stages);
        &self.degrees.order
    }
}
