//! How the steps of the method grow with the contacts.

use stiction_contact::models::BaraffFriction;
use stiction_contact::{ContactModel, ModelOptions};
use stiction_lcp::InputError;

use super::{Tally, USUAL, column};
use crate::papers::baraff::bodies::{self, Dimension, Heap};
use crate::papers::baraff::timing::median;
use crate::papers::{Axis, Cell, Plot, Series, Table};

/// Contacts of all heaps of one size together, and heaps at most.
const ALL_CONTACTS: usize = 640;
const MOST_HEAPS: usize = 40;

/// Steps of the method on towers and heaps at rest with about `n` contacts.
pub struct Growth {
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
    pub fn measure(n: usize) -> Result<Self, InputError> {
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
            growth.heaps[k] = [median(steps.clone()), steps.iter().sum::<f64>() / steps.len() as f64];
            growth.seconds[k] = median(times);
        }
        Ok(growth)
    }
}

/// Steps and times of each size.
pub fn table(growth: &[Growth]) -> Table {
    let row = |g: &Growth| {
        let [[plane, plane_mean], [space, space_mean]] = g.heaps;
        let times = g.seconds.map(|t| 1e6 * t);
        let numbers = [g.towers[0], g.towers[1], plane, plane_mean, space, space_mean, times[0], times[1]];
        std::iter::once(Cell::Count(g.n as u64)).chain(numbers.map(Cell::Number)).collect()
    };
    Table {
        name: "friction-steps".into(),
        title: "Steps of the method over contacts, at rest, mu up to 0.5".into(),
        columns: vec![
            column("contacts", ""),
            column("tower, 2D", ""),
            column("tower, 3D", ""),
            column("heap, 2D, median", ""),
            column("heap, 2D, mean", ""),
            column("heap, 3D, median", ""),
            column("heap, 3D, mean", ""),
            column("time of a heap, 2D", "µs"),
            column("time of a heap, 3D", "µs"),
        ],
        rows: growth.iter().map(row).collect(),
    }
}

/// Steps over contacts: names and points.
pub fn lines(growth: &[Growth]) -> [(&'static str, Vec<(f64, f64)>); 4] {
    let line = |y: &dyn Fn(&Growth) -> f64| growth.iter().map(|g| (g.n as f64, y(g))).collect();
    [
        ("tower, 2D", line(&|g| g.towers[0])),
        ("tower, 3D", line(&|g| g.towers[1])),
        ("heap, 2D, median", line(&|g| g.heaps[0][0])),
        ("heap, 3D, median", line(&|g| g.heaps[1][0])),
    ]
}

/// The lines beside the paper's O(n).
pub fn plot(growth: &[Growth]) -> Plot {
    let ours = lines(growth).map(|(name, points)| Series { name: name.into(), points, ..Series::default() });
    let linear = growth.iter().map(|g| (g.n as f64, g.n as f64)).collect();
    let paper = Series { name: "paper: O(n), its slope".into(), points: linear, paper: true, scattered: false };
    Plot {
        name: "friction-steps-over-contacts".into(),
        title: "Steps of the method over contacts, at rest".into(),
        x: Axis { label: "contacts n".into(), log: true },
        y: Axis { label: "steps".into(), log: true },
        series: ours.into_iter().chain([paper]).collect(),
    }
}
