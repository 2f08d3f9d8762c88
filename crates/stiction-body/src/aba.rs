//! Forward dynamics without the inertia matrix: articulated bodies (ABA), O(number of links).
//!
//! Reference: \[Featherstone08, ch. 7\]. As in [`crate::dynamics`] everything is along world axes about each link's own origin; a 6-vector is (angular, linear)
//! for motion and (moment, force) for force.

use stiction_linalg::cholesky;

use crate::kinematics::Workspace;
use crate::math::{Mat3, Vec3};
use crate::model::Model;

type Vec6 = [f64; 6];
type Mat6 = [[f64; 6]; 6];

/// A link as its parent feels it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Articulated {
    /// Articulated inertia, by rows.
    inertia: Mat6,
    /// Force it needs at zero acceleration.
    bias: Vec6,
    /// `I S`, a column per velocity.
    u: [Vec6; 6],
    /// Cholesky factor of `Sᵀ I S + armature`.
    d: Mat6,
    /// `τ − Sᵀ bias`.
    rest: Vec6,
    /// Acceleration from velocity products in the joint.
    drift: Vec6,
    /// The link's acceleration.
    acceleration: Vec6,
}

impl Articulated {
    const ZERO: Self = Self {
        inertia: [[0.0; 6]; 6],
        bias: [0.0; 6],
        u: [[0.0; 6]; 6],
        d: [[0.0; 6]; 6],
        rest: [0.0; 6],
        drift: [0.0; 6],
        acceleration: [0.0; 6],
    };
}

impl Workspace {
    /// Accelerations `a` (nv) under the generalized forces `tau` (nv), gravity and velocity products: `a = M⁻¹ (τ − c + gravity)`. Positions and
    /// velocities must be up to date.
    pub fn forward_dynamics(&mut self, model: &Model, tau: &[f64], a: &mut [f64]) {
        self.articulated.clear();
        for i in 0..model.links().len() {
            let own = self.rigid(model, i);
            self.articulated.push(own);
        }
        for i in (0..model.links().len()).rev() {
            self.close(model, i, tau);
        }
        for i in 0..model.links().len() {
            self.open(model, i, a);
        }
    }

    /// Link `i` alone: its inertia, the force of its velocity products, and the drift of its joint.
    fn rigid(&self, model: &Model, i: usize) -> Articulated {
        let (link, omega, rotation) = (&model.links()[i], self.velocity[i].angular, self.pose[i].rotation);
        let own = &link.spec.inertia;
        let r = Mat3::from_quat(rotation);
        let (c, about_com) = (rotation * own.com, r * own.about_com * r.transpose());
        let force = omega.cross(omega.cross(c)) * own.mass;
        let moment = omega.cross(about_com * omega) + c.cross(force);
        let about_origin = about_com + crate::inertia::point_inertia(own.mass, c);
        let mut out = Articulated { bias: pack(moment, force), ..Articulated::ZERO };
        put_block(&mut out.inertia, 0, 0, about_origin);
        put_block(&mut out.inertia, 0, 3, skew(c * own.mass));
        put_block(&mut out.inertia, 3, 0, skew(c * own.mass).transpose());
        put_block(&mut out.inertia, 3, 3, Mat3::from_diagonal(Vec3::splat(own.mass)));
        if let Some(p) = link.spec.parent {
            let arm = self.pose[i].translation - self.pose[p].translation;
            let above = self.velocity[p].angular;
            let joint_angular = omega - above;
            let joint_linear = self.velocity[i].linear - self.velocity[p].linear - above.cross(arm);
            out.drift = pack(above.cross(joint_angular), above.cross(above.cross(arm) + 2.0 * joint_linear));
        }
        out
    }

    /// Closes the joint of link `i` and hands what remains to its parent.
    fn close(&mut self, model: &Model, i: usize, tau: &[f64]) {
        let link = &model.links()[i];
        let n = link.v.len();
        let mut body = self.articulated[i];
        for (k, at) in link.v.clone().enumerate() {
            let s = pack(self.columns[at].angular, self.columns[at].linear);
            body.u[k] = multiply(&body.inertia, &s);
            body.rest[k] = tau[at] - dot(&s, &body.bias);
        }
        for (k, at) in link.v.clone().enumerate() {
            let s = pack(self.columns[at].angular, self.columns[at].linear);
            (0..n).for_each(|j| body.d[k][j] = dot(&s, &body.u[j]));
            body.d[k][k] += link.spec.properties.armature;
        }
        // Symmetric, so that its rows are its columns. Every joint moves some mass.
        let _ = cholesky::factor_columns(n, 6, body.d.as_flattened_mut(), |_, pivot| Some(pivot));
        self.articulated[i] = body;
        let Some(p) = link.spec.parent else { return };
        let mut inertia = body.inertia;
        let mut weights = [[0.0; 6]; 6];
        for row in 0..6 {
            (0..n).for_each(|k| weights[row][k] = body.u[k][row]);
            cholesky::solve_columns(6, body.d.as_flattened(), &mut weights[row][..n]);
        }
        for row in 0..6 {
            for column in 0..6 {
                inertia[row][column] -= (0..n).map(|k| weights[row][k] * body.u[k][column]).sum::<f64>();
            }
        }
        let pushed = multiply(&inertia, &body.drift);
        let mut bias = [0.0; 6];
        for row in 0..6 {
            bias[row] = body.bias[row] + pushed[row] + (0..n).map(|k| weights[row][k] * body.rest[k]).sum::<f64>();
        }
        let arm = self.pose[i].translation - self.pose[p].translation;
        let parent = &mut self.articulated[p];
        add_shifted(&mut parent.inertia, &inertia, arm);
        let force = Vec3::new(bias[3], bias[4], bias[5]);
        let moment = Vec3::new(bias[0], bias[1], bias[2]) + arm.cross(force);
        parent.bias.iter_mut().zip(pack(moment, force)).for_each(|(a, b)| *a += b);
    }

    /// Opens the joints again from the root: accelerations of joints and links.
    fn open(&mut self, model: &Model, i: usize, a: &mut [f64]) {
        let link = &model.links()[i];
        let mut body = self.articulated[i];
        let (above, arm) = match link.spec.parent {
            Some(p) => (self.articulated[p].acceleration, self.pose[i].translation - self.pose[p].translation),
            None => (pack(Vec3::ZERO, -model.gravity()), Vec3::ZERO),
        };
        let turned = Vec3::new(above[0], above[1], above[2]).cross(arm);
        let mut acceleration = above;
        (0..3).for_each(|k| acceleration[3 + k] += turned[k]);
        (0..6).for_each(|k| acceleration[k] += body.drift[k]);
        let mut x = body.rest;
        let n = link.v.len();
        (0..n).for_each(|k| x[k] -= dot(&body.u[k], &acceleration));
        cholesky::solve_columns(6, body.d.as_flattened(), &mut x[..n]);
        for (k, at) in link.v.clone().enumerate() {
            a[at] = x[k];
            let s = pack(self.columns[at].angular, self.columns[at].linear);
            (0..6).for_each(|j| acceleration[j] += s[j] * x[k]);
        }
        body.acceleration = acceleration;
        self.articulated[i] = body;
    }
}

fn pack(a: Vec3, b: Vec3) -> Vec6 {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

fn dot(a: &Vec6, b: &Vec6) -> f64 {
    (0..6).map(|k| a[k] * b[k]).sum()
}

fn multiply(a: &Mat6, x: &Vec6) -> Vec6 {
    let mut y = [0.0; 6];
    (0..6).for_each(|i| y[i] = dot(&a[i], x));
    y
}

/// The matrix of `a ×`.
fn skew(a: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, a.z, -a.y), Vec3::new(-a.z, 0.0, a.x), Vec3::new(a.y, -a.x, 0.0))
}

fn put_block(a: &mut Mat6, row: usize, column: usize, block: Mat3) {
    let columns = block.to_cols_array_2d();
    for i in 0..3 {
        for j in 0..3 {
            a[row + i][column + j] = columns[j][i];
        }
    }
}

/// `sum += Xᵀ A X` with X the motion of the child's origin from that of the parent's, `arm` away.
fn add_shifted(sum: &mut Mat6, a: &Mat6, arm: Vec3) {
    // X = [1 0; −[arm]× 1] on (angular, linear): linear_child = linear_parent + angular × arm.
    let x = skew(arm).transpose().to_cols_array_2d();
    let mut ax = *a;
    for row in 0..6 {
        for j in 0..3 {
            ax[row][j] += (0..3).map(|k| a[row][3 + k] * x[j][k]).sum::<f64>();
        }
    }
    for column in 0..6 {
        for i in 0..3 {
            sum[i][column] += ax[i][column] + (0..3).map(|k| x[i][k] * ax[3 + k][column]).sum::<f64>();
            sum[3 + i][column] += ax[3 + i][column];
        }
    }
}
