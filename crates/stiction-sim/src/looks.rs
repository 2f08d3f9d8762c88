//! How things look: colours of geoms, and shapes that are drawn and never touch anything.
//!
//! Nothing here has a part in a simulation.

use stiction_body::Shape;
use stiction_body::math::Pose;

/// Red, green, blue and opacity, each from 0 to 1.
pub type Rgba = [f64; 4];

/// How a geom that can touch others is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Its colour; `None` for one by its body ([`default_color`]).
    pub rgba: Option<Rgba>,
    /// False where something else is drawn in its place, such as the mesh that a hull was made of.
    pub drawn: bool,
}

impl Default for Look {
    /// Drawn, in the colour of its body.
    fn default() -> Self {
        Self { rgba: None, drawn: true }
    }
}

/// A shape on a link that is only drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Visual {
    /// Name, as the file has it; several may have the same.
    pub name: String,
    /// The link it is fixed to; `None` for the world.
    pub link: Option<usize>,
    /// `X_LG`: the shape's frame in the link.
    pub pose: Pose,
    /// The shape.
    pub shape: Shape,
    /// Colour, and whether it is drawn: files can hide what they have.
    pub look: Look,
}

/// Colours of bodies, one after the other: muted, told apart also by those who see no red or green.
const PALETTE: [[f64; 3]; 8] = [
    [0.36, 0.54, 0.75],
    [0.90, 0.62, 0.29],
    [0.45, 0.68, 0.53],
    [0.76, 0.42, 0.42],
    [0.58, 0.52, 0.74],
    [0.86, 0.77, 0.42],
    [0.47, 0.70, 0.76],
    [0.67, 0.55, 0.46],
];

/// Of what is fixed to the world.
const FIXED: [f64; 3] = [0.72, 0.73, 0.74];

/// The colour of a body's geoms where nothing gives one; `None` is the world.
pub fn default_color(link: Option<usize>) -> Rgba {
    let [r, g, b] = link.map_or(FIXED, |l| PALETTE[l % PALETTE.len()]);
    [r, g, b, 1.0]
}

/// A colour that a file gives: three numbers, or four with the opacity, each brought into 0 to 1.
/// `None` for any other count.
pub fn color(numbers: &[f64]) -> Option<Rgba> {
    let clamp = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
    match *numbers {
        [r, g, b] => Some([clamp(r), clamp(g), clamp(b), 1.0]),
        [r, g, b, a] => Some([clamp(r), clamp(g), clamp(b), clamp(a)]),
        _ => None,
    }
}
