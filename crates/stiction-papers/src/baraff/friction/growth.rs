//! How the steps of the method grow with the contacts.

use stiction_contact::models::BaraffFriction;
use stiction_contact::{ContactModel, ModelOptions};
use stiction_lcp::InputError;

use super::{Tally, USUAL};
use crate::baraff::bodies::{self, Dimension, Heap};
use crate::compose::{self, columns, count, line, of_paper};
use crate::timing::{mean_deviation, median};
use crate::{Cell, Plot, Table};

/// Contacts of all heaps of one size together, and heaps at most.
const ALL_CONTACTS: usize = 640;
const MOST_HEAPS: usize = 40;

/// Steps of the method on towers and heaps at rest with about `n` contacts.
pub(super) struct Growth {
    n: usize,
    /// Of a tower, in the plane and in space.
    towers: [f64; 2],
    /// Of heaps in the plane and in space: median and mean.
    heaps: [[f64; 2]; 2],
    /// Median time of a heap (s).
    seconds: [f64; 2],
}

impl Growth {
    /// Solves towers and heaps of one size.
    pub(super) fn measure(n: usize) -> Result<Self, InputError> {
        let mut growth = Self { n, towers: [f64::NAN; 2], heaps: [[f64::NAN; 2]; 2], seconds: [f64::NAN; 2] };
        let count = (ALL_CONTACTS / n).clamp(5, MOST_HEAPS) as u64;
        for (k, dimension) in [Dimension::Two, Dimension::Three].into_iter().enumerate() {
            let mut model = BaraffFriction::new(ModelOptions::default());
            let tower = bodies::tower(dimension, n.div_ceil(2 + k), USUAL[1], 0.5)?;
            growth.towers[k] = model.solve(&tower)?.solved().map_or(f64::NAN, |s| s.stats.pivots as f64);
            let (mut steps, mut times) = (Vec::new(), Vec::new());
            for seed in 0..count {
                let mut one = Tally::default();
                let heap = Heap { dimension, contacts: n, mu: USUAL, moving: false };
                one.add(&mut model, &bodies::heap(&heap, seed)?, seed)?;
                times.push(one.seconds);
                if one.solved == 1 {
                    steps.push(one.steps as f64);
                }
            }
            growth.heaps[k] = [median(steps.clone()), mean_deviation(&steps).0];
            growth.seconds[k] = median(times);
        }
        Ok(growth)
    }
}

/// Steps and times of each size.
pub(super) fn table(growth: &[Growth]) -> Table {
    let row = |g: &Growth| {
        let [[plane, plane_mean], [space, space_mean]] = g.heaps;
        let times = g.seconds.map(|t| 1e6 * t);
        let numbers = [g.towers[0], g.towers[1], plane, plane_mean, space, space_mean, times[0], times[1]];
        std::iter::once(count(g.n)).chain(numbers.map(Cell::Number)).collect()
    };
    Table {
        name: "friction-steps".into(),
        title: "Steps of the method over contacts, at rest, mu up to 0.5".into(),
        columns: columns(&[
            ("contacts", ""),
            ("tower, 2D", ""),
            ("tower, 3D", ""),
            ("heap, 2D, median", ""),
            ("heap, 2D, mean", ""),
            ("heap, 3D, median", ""),
            ("heap, 3D, mean", ""),
            ("time of a heap, 2D", "µs"),
            ("time of a heap, 3D", "µs"),
        ]),
        rows: growth.iter().map(row).collect(),
    }
}

/// Steps over contacts: names and points.
pub(super) fn lines(growth: &[Growth]) -> [(&'static str, Vec<(f64, f64)>); 6] {
    let line = |y: &dyn Fn(&Growth) -> f64| growth.iter().map(|g| (g.n as f64, y(g))).collect();
    [
        ("tower, 2D", line(&|g| g.towers[0])),
        ("tower, 3D", line(&|g| g.towers[1])),
        ("heap, 2D, median", line(&|g| g.heaps[0][0])),
        ("heap, 3D, median", line(&|g| g.heaps[1][0])),
        ("heap, 2D, mean", line(&|g| g.heaps[0][1])),
        ("heap, 3D, mean", line(&|g| g.heaps[1][1])),
    ]
}

/// The lines beside the paper's O(n).
pub(super) fn plot(growth: &[Growth]) -> Plot {
    let ours = lines(growth).map(|(name, points)| line(name, points));
    let linear = growth.iter().map(|g| (g.n as f64, g.n as f64)).collect();
    let series = ours.into_iter().chain([of_paper("paper: O(n), its slope", linear)]).collect();
    let title = "Steps of the method over contacts, at rest";
    compose::plot("friction-steps-over-contacts", title, ("contacts n", true), ("steps", true), series)
}
