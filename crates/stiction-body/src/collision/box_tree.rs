//! A tree of boxes over items that have bounds: finds those whose bounds satisfy a test, without testing every one.

/// Items of a leaf: they are tested one by one.
const LEAF: usize = 4;

/// The lower and the upper corner of a box in N dimensions.
pub(super) type Bounds<const N: usize> = [[f64; N]; 2];

/// The tree. Nodes are in the order in which a search visits them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BoxTree<const N: usize> {
    nodes: Vec<Node<N>>,
    /// Items and their bounds, leaf by leaf.
    items: Vec<(u32, Bounds<N>)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node<const N: usize> {
    bounds: Bounds<N>,
    /// The node behind all of its children.
    next: usize,
    /// Items of a leaf; none of another node.
    items: (usize, usize),
}

impl<const N: usize> BoxTree<N> {
    /// Of items with these bounds, numbered from 0.
    pub(super) fn new(bounds: impl Iterator<Item = Bounds<N>>) -> Self {
        let items = bounds.enumerate().map(|(i, bounds)| (i as u32, bounds)).collect();
        let mut tree = Self { nodes: vec![], items };
        if !tree.items.is_empty() {
            tree.divide(0, tree.items.len());
        }
        tree
    }

    /// Appends the node of these items and all below it: halves along the longest side of what their middles span.
    fn divide(&mut self, first: usize, last: usize) {
        let own = &mut self.items[first..last];
        let bounds = own.iter().fold(own[0].1, |all, (_, other)| around(all, *other));
        let node = self.nodes.len();
        let is_leaf = own.len() <= LEAF;
        let items = if is_leaf { (first, last) } else { (0, 0) };
        self.nodes.push(Node { bounds, next: 0, items });
        if !is_leaf {
            let middle =
                |(_, [low, high]): &(u32, Bounds<N>)| -> [f64; N] { std::array::from_fn(|k| low[k] + high[k]) };
            let start = middle(&own[0]);
            let [low, high] = own.iter().map(middle).fold([start; 2], |all, x| around(all, [x; 2]));
            let longest = |best: usize, k: usize| if high[k] - low[k] > high[best] - low[best] { k } else { best };
            let axis = (0..N).fold(0, longest);
            let half = own.len() / 2;
            own.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.0.cmp(&b.0)));
            self.divide(first, first + half);
            self.divide(first + half, last);
        }
        self.nodes[node].next = self.nodes.len();
    }

    /// Appends the items whose bounds pass a test, in no order. Bounds that hold others must pass it if one of these does.
    pub(super) fn find(&self, passes: impl Fn(&Bounds<N>) -> bool, out: &mut Vec<u32>) {
        self.visit(passes, |item| out.push(item));
    }

    /// The same, one after the other.
    pub(super) fn visit(&self, passes: impl Fn(&Bounds<N>) -> bool, mut item: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !passes(&node.bounds) {
                at = node.next;
                continue;
            }
            let own = &self.items[node.items.0..node.items.1];
            own.iter().filter(|(_, own)| passes(own)).for_each(|(i, _)| item(*i));
            at += 1;
        }
    }

    /// The least value of the items and an item with it, or `most` if that is not more. Bounds have a value that is not more than those of
    /// bounds within.
    pub(super) fn least(&self, value: impl Fn(&Bounds<N>) -> f64, most: f64) -> (f64, Option<u32>) {
        let (mut at, mut least, mut item) = (0, most, None);
        while let Some(node) = self.nodes.get(at) {
            if value(&node.bounds) >= least {
                at = node.next;
                continue;
            }
            for (i, own) in &self.items[node.items.0..node.items.1] {
                let own = value(own);
                if own < least {
                    (least, item) = (own, Some(*i));
                }
            }
            at += 1;
        }
        (least, item)
    }
}

/// The bounds of both.
fn around<const N: usize>([a, b]: Bounds<N>, [c, d]: Bounds<N>) -> Bounds<N> {
    [std::array::from_fn(|k| a[k].min(c[k])), std::array::from_fn(|k| b[k].max(d[k]))]
}

/// True if two boxes have a point in common.
pub(super) fn meet<const N: usize>([a, b]: &Bounds<N>, [c, d]: &Bounds<N>) -> bool {
    (0..N).all(|k| a[k] <= d[k] && c[k] <= b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_linalg::rng::Rng;

    #[test]
    fn a_box_meets_what_it_meets_one_by_one() {
        let mut rng = Rng::new(5);
        for count in [0, 1, 4, 5, 9, 300] {
            let mut bounds = |size: f64| -> Bounds<3> {
                let (middle, half) = ([(); 3].map(|()| rng.normal()), [(); 3].map(|()| (size * rng.normal()).abs()));
                [std::array::from_fn(|k| middle[k] - half[k]), std::array::from_fn(|k| middle[k] + half[k])]
            };
            let mut boxes: Vec<Bounds<3>> = (0..count).map(|_| bounds(0.1)).collect();
            // Items on top of each other.
            boxes.extend(std::iter::repeat_n([[0.0; 3], [1.0; 3]], count));
            let tree = BoxTree::new(boxes.iter().copied());
            for _ in 0..50 {
                let asked = bounds(0.5);
                let mut found = vec![];
                tree.find(|own| meet(own, &asked), &mut found);
                found.sort_unstable();
                let all = (0..boxes.len() as u32).filter(|&i| meet(&boxes[i as usize], &asked));
                assert!(found.iter().copied().eq(all));
            }
        }
    }
}
