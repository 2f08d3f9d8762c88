//! The ground: noise of a micrometre as published, hills of 2 cm, steps of 1 cm; each 3 m × 3 m about the start.

use stiction_body::Shape;
use stiction_lcp::InputError;
use stiction_lcp::generate::Rng;

/// Extent along x and y (m).
pub(crate) const EXTENT: f64 = 3.0;

/// Heights over a square grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Terrain {
    /// Its name.
    pub name: &'static str,
    /// Points along each side.
    points: usize,
    /// Heights (m), row by row along x.
    heights: Vec<f64>,
}

impl Terrain {
    /// Heights by a function of x and y (m).
    fn new(name: &'static str, points: usize, mut height: impl FnMut(f64, f64) -> f64) -> Self {
        let along = |i: usize| (i as f64 / (points - 1) as f64 - 0.5) * EXTENT;
        let heights = (0..points * points).map(|k| height(along(k / points), along(k % points))).collect();
        Self { name, points, heights }
    }

    /// A level plate.
    pub fn level() -> Self {
        Self::new("level", 2, |_, _| 0.0)
    }

    /// The published one: independent Gaussian noise of 1 µm on a grid of 1/249 m.
    pub fn published(seed: u64) -> Self {
        let mut random = Rng::new(seed);
        // 3 m in cells of 1/249 m.
        Self::new("published", 748, |_, _| 1e-6 * gaussian(&mut random))
    }

    /// A thousand Gaussian hills at random places, of random heights and widths of 5 to 15 cm, 2 cm from the lowest point to the highest,
    /// on a grid of 2 cm.
    pub fn hills(seed: u64) -> Self {
        let mut random = Rng::new(seed);
        let mut place = |from: f64, to: f64| from + (to - from) * random.uniform();
        let hills: Vec<[f64; 4]> = (0..1000)
            .map(|_| {
                let (x, y) = (place(-0.5, 0.5) * EXTENT, place(-0.5, 0.5) * EXTENT);
                [x, y, place(0.0, 1.0), place(0.05, 0.15)]
            })
            .collect();
        let mut terrain = Self::new("hills", 151, |x, y| {
            let hill = |[a, b, height, width]: &[f64; 4]| {
                let far = ((x - a) * (x - a) + (y - b) * (y - b)) / (2.0 * width * width);
                height * libm::exp(-far)
            };
            hills.iter().map(hill).sum()
        });
        let low = terrain.heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = terrain.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        terrain.heights.iter_mut().for_each(|h| *h = 0.02 * (*h - low) / (high - low));
        terrain
    }

    /// Steps of 1 cm across the way, every 10 cm: up three, down three, and so on. The robot starts on one that ends 20 cm ahead of and behind it,
    /// and `later` (m) more.
    pub fn steps(later: f64) -> Self {
        // Of the period of six steps from the start on: how many are up.
        const UP: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 2.0, 1.0];
        Self::new("steps", 151, |x, _| {
            let number = ((x.abs() - later - 0.2) / 0.1 + 1.0 + 1e-9).floor().max(0.0) as usize;
            0.01 * UP[number % UP.len()]
        })
    }

    /// As a height field.
    ///
    /// # Errors
    /// None for the terrains here.
    pub fn shape(&self) -> Result<Shape, InputError> {
        Shape::height_field(self.heights.clone(), self.points, self.points, EXTENT, EXTENT)
    }

    /// Highest point of the grid within about `reach` (m) of (x, y).
    pub fn highest(&self, x: f64, y: f64, reach: f64) -> f64 {
        let cells = (self.points - 1) as f64;
        let index = |u: f64| (((u / EXTENT + 0.5) * cells).max(0.0) as usize).min(self.points - 1);
        let up = |u: f64| (index(u) + 1).min(self.points - 1);
        let (rows, columns) = (index(x - reach)..=up(x + reach), index(y - reach)..=up(y + reach));
        let over = |i: usize| columns.clone().map(move |j| self.heights[i * self.points + j]);
        rows.flat_map(over).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A number of the standard normal distribution, by Box and Muller.
fn gaussian(random: &mut Rng) -> f64 {
    let (u, v) = (1.0 - random.uniform(), random.uniform());
    libm::sqrt(-2.0 * libm::log(u)) * libm::cos(std::f64::consts::TAU * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terrains_are_as_high_as_they_should_be() {
        let noise = Terrain::published(1);
        let n = noise.heights.len() as f64;
        let mean = noise.heights.iter().sum::<f64>() / n;
        let deviation = (noise.heights.iter().map(|h| (h - mean) * (h - mean)).sum::<f64>() / n).sqrt();
        assert!(mean.abs() < 1e-8 && (deviation - 1e-6).abs() < 1e-8, "{mean:e} {deviation:e}");
        for terrain in [Terrain::hills(1), Terrain::steps(0.0), Terrain::steps(0.06)] {
            let highest = terrain.highest(0.0, 0.0, EXTENT);
            assert!((highest - if terrain.name == "hills" { 0.02 } else { 0.03 }).abs() < 1e-15);
            assert!(terrain.heights.iter().all(|h| (0.0..=highest).contains(h)));
        }
        for later in [0.0, 0.02, 0.08] {
            let steps = Terrain::steps(later);
            let at = |x: f64| steps.highest(x + later, 0.0, 0.001);
            assert_eq!([0.15, 0.25, 0.35, 0.45, 0.55].map(at), [0.0, 0.01, 0.02, 0.03, 0.02]);
        }
    }
}
