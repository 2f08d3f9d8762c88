//! Two faces laid on each other: the overlap of a polygon with a convex region, corner by corner, each corner with its name.

/// A corner in the coordinates of the reference face: (u, v) in its plane, `height` above it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Corner {
    pub u: f64,
    pub v: f64,
    pub height: f64,
    /// Which vertex, or which edge meets which side.
    pub name: u32,
    /// The edge or side that leads to the next corner.
    edge: u32,
}

impl Corner {
    /// Vertex `number` of a polygon; the edge with the same number leads on from it.
    pub(crate) fn vertex(u: f64, v: f64, height: f64, number: u32) -> Self {
        Self { u, v, height, name: number, edge: number }
    }
}

/// A side of the region: the points with `a u + b v ≤ c`, (a, b) of unit length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Side {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

impl Side {
    fn beyond(&self, p: &Corner) -> f64 {
        self.a * p.u + self.b * p.v - self.c
    }
}

/// Whether a corner that is beyond some of the sides now comes to be within all of them while it is
/// still above the face, if it moves by `way` (along u, along v, up) within the step.
pub(crate) fn comes_in(corner: &Corner, sides: &[Side], way: [f64; 3], slack: f64) -> bool {
    let rate = |side: &Side| side.a * way[0] + side.b * way[1];
    let mut time = 0.0_f64;
    for side in sides.iter().filter(|side| side.beyond(corner) > slack) {
        time = time.max(if rate(side) < 0.0 { -side.beyond(corner) / rate(side) } else { f64::INFINITY });
    }
    time > 0.0
        && time <= 1.0
        && corner.height + time * way[2] >= -slack
        && sides.iter().all(|side| side.beyond(corner) + time * rate(side) <= slack)
}

/// Names of crossings start above those of vertices; a crossing is named by its edge and side.
const NAMES: u32 = 1 << 12;

/// True if the name is that of a vertex of the polygon.
pub(crate) fn is_vertex(name: u32) -> bool {
    name < NAMES
}

/// Cuts the polygon by a side. Corners beyond it by no more than `slack` stay where they are: the outline does not change its corners with
/// rounding.
fn cut(polygon: &[Corner], side: &Side, number: u32, slack: f64, out: &mut Vec<Corner>) {
    out.clear();
    let label = NAMES / 2 + number;
    for (k, p) in polygon.iter().enumerate() {
        let q = &polygon[if k + 1 == polygon.len() { 0 } else { k + 1 }];
        let (from, to) = (side.beyond(p), side.beyond(q));
        let leaves = from <= slack && to > slack;
        if from <= slack {
            out.push(Corner { edge: if leaves && from >= -slack { label } else { p.edge }, ..*p });
        }
        let enters = from > slack && to <= slack;
        if (leaves && from < -slack) || (enters && to < -slack) {
            let t = from / (from - to);
            out.push(Corner {
                u: p.u + t * (q.u - p.u),
                v: p.v + t * (q.v - p.v),
                height: p.height + t * (q.height - p.height),
                name: NAMES + p.edge * NAMES + number,
                edge: if leaves { label } else { p.edge },
            });
        }
    }
}

/// Polygons in work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clip {
    /// The polygon to be cut, and the overlap afterwards.
    pub polygon: Vec<Corner>,
    other: Vec<Corner>,
}

impl Clip {
    /// Cuts the polygon by all sides. False if nothing wider than `slack` remains.
    pub(crate) fn overlap(&mut self, sides: &[Side], slack: f64) -> bool {
        for (number, side) in sides.iter().enumerate() {
            if self.polygon.iter().all(|p| side.beyond(p) <= slack) {
                continue;
            }
            cut(&self.polygon, side, number as u32, slack, &mut self.other);
            std::mem::swap(&mut self.polygon, &mut self.other);
            if self.polygon.len() < 3 {
                return false;
            }
        }
        self.polygon.len() >= 3 && sides.iter().all(|side| self.polygon.iter().any(|p| side.beyond(p) < -slack))
    }
}
