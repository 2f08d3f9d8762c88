//! A tree of boxes over the triangles of a mesh: which of them a box may meet.

use crate::math::Vec3;

/// Triangles of a leaf: their own bounds are asked one by one.
const LEAF: usize = 4;

/// The lower and the upper corner of a box.
pub(super) type Bounds = [Vec3; 2];

/// The tree. Nodes are in the order in which a search visits them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TriangleTree {
    nodes: Vec<Node>,
    /// Triangles and their bounds, leaf by leaf.
    triangles: Vec<(u32, Bounds)>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: Bounds,
    /// The node behind all of its children.
    next: usize,
    /// Triangles of a leaf; none of another node.
    triangles: (usize, usize),
}

impl TriangleTree {
    /// Of triangles with these bounds, numbered from 0.
    pub(super) fn new(bounds: impl Iterator<Item = Bounds>) -> Self {
        let triangles = bounds.enumerate().map(|(i, bounds)| (i as u32, bounds)).collect();
        let mut tree = Self { nodes: vec![], triangles };
        if !tree.triangles.is_empty() {
            tree.divide(0, tree.triangles.len());
        }
        tree
    }

    /// Appends the node of these triangles and all below it: halves along the longest side of what their middles span.
    fn divide(&mut self, first: usize, last: usize) {
        let own = &mut self.triangles[first..last];
        let middle = |(_, [low, high]): &(u32, Bounds)| *low + *high;
        let bounds = own.iter().fold(own[0].1, |[a, b], (_, [c, d])| [a.min(*c), b.max(*d)]);
        let node = self.nodes.len();
        let is_leaf = own.len() <= LEAF;
        let triangles = if is_leaf { (first, last) } else { (0, 0) };
        self.nodes.push(Node { bounds, next: 0, triangles });
        if !is_leaf {
            let start = middle(&own[0]);
            let [low, high] = own.iter().map(middle).fold([start; 2], |[a, b], x| [a.min(x), b.max(x)]);
            let axis = (high - low).max_position();
            let half = own.len() / 2;
            own.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.0.cmp(&b.0)));
            self.divide(first, first + half);
            self.divide(first + half, last);
        }
        self.nodes[node].next = self.nodes.len();
    }

    /// Appends the triangles whose bounds meet a box, in no order.
    pub(super) fn find(&self, bounds: Bounds, out: &mut Vec<u32>) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !meet(&node.bounds, &bounds) {
                at = node.next;
                continue;
            }
            let own = &self.triangles[node.triangles.0..node.triangles.1];
            out.extend(own.iter().filter(|(_, own)| meet(own, &bounds)).map(|(i, _)| i));
            at += 1;
        }
    }
}

fn meet([a, b]: &Bounds, [c, d]: &Bounds) -> bool {
    a.cmple(*d).all() && c.cmple(*b).all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_linalg::rng::Rng;

    #[test]
    fn a_box_meets_what_it_meets_one_by_one() {
        let mut rng = Rng::new(5);
        for count in [0, 1, 4, 5, 9, 300] {
            let mut point = |size: f64| Vec3::new(rng.normal(), rng.normal(), rng.normal()) * size;
            let mut boxes: Vec<Bounds> = (0..count)
                .map(|_| {
                    let (middle, half) = (point(1.0), point(0.1).abs());
                    [middle - half, middle + half]
                })
                .collect();
            // Triangles on top of each other.
            boxes.extend(std::iter::repeat_n([Vec3::ZERO, Vec3::ONE], count));
            let tree = TriangleTree::new(boxes.iter().copied());
            for _ in 0..50 {
                let (middle, half) = (point(1.0), point(0.5).abs());
                let asked = [middle - half, middle + half];
                let mut found = vec![];
                tree.find(asked, &mut found);
                found.sort_unstable();
                let all = (0..boxes.len() as u32).filter(|&i| meet(&boxes[i as usize], &asked));
                assert!(found.iter().copied().eq(all));
            }
        }
    }
}
