//! A recorded contact with its force, as exports have it.

use stiction_body::math::Vec3;
use stiction_contact::{Level, Mode};

use super::header::Header;
use super::step::RecordedStep;

/// A contact with its force: the fields of `Simulation.contacts` in Python.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRow {
    /// Its bodies by number; −1 is the world.
    pub bodies: [i64; 2],
    /// Its geoms by number.
    pub geoms: [u32; 2],
    /// Which of the pair's features touch.
    pub feature: u64,
    /// Where it is (m).
    pub point: [f64; 3],
    /// Unit normal from the first body to the second, and two unit tangents.
    pub frame: [[f64; 3]; 3],
    /// Signed distance (m).
    pub gap: f64,
    /// Normal force (N): its impulse over the step, or its force at the end of the step.
    pub normal_force: f64,
    /// Friction force along the tangents (N).
    pub friction_force: [f64; 2],
    /// Moment about the normal (N m).
    pub spin_moment: f64,
    /// Moments against rolling, about the tangents (N m).
    pub rolling_moment: [f64; 2],
    /// Force on the second body (N), world axes; the first one has the opposite.
    pub force: [f64; 3],
    /// What it does.
    pub mode: Mode,
}

impl RecordedStep {
    /// Forces per recorded number: impulses are spread over the step `dt` (s).
    pub fn force_scale(&self, dt: f64) -> f64 {
        if self.level == Level::Acceleration { 1.0 } else { 1.0 / dt }
    }

    /// Its contacts with their forces.
    pub fn contact_rows<'a>(&'a self, header: &'a Header) -> impl Iterator<Item = ContactRow> + 'a {
        let (scale, p) = (self.force_scale(header.settings.dt), &self.impulses);
        self.contacts.iter().enumerate().map(move |(i, contact)| {
            let n = Vec3::from_array(contact.normal);
            let (s, t) = contact.tangents();
            let [normal, first, second] = [p.normal[i], p.tangent_s[i], p.tangent_t[i]].map(|x| scale * x);
            ContactRow {
                bodies: contact.key.geoms.map(|geom| header.link(geom).map_or(-1, i64::from)),
                geoms: contact.key.geoms,
                feature: contact.key.feature,
                point: contact.point,
                frame: [contact.normal, s.to_array(), t.to_array()],
                gap: contact.gap,
                normal_force: normal,
                friction_force: [first, second],
                spin_moment: scale * p.spin[i],
                rolling_moment: [scale * p.roll_s[i], scale * p.roll_t[i]],
                force: (n * normal + s * first + t * second).to_array(),
                mode: contact.mode,
            }
        })
    }
}
