//! One recorded step.

use stiction_body::math::{Vec3, tangents};
use stiction_contact::{ContactForces, Level, Mode, PhysicalCertificate, Place};
use stiction_lcp::Basis;

use super::bytes::{Broken, Reader, Writer};
use super::snapshot::{
    get_bases, get_forces, get_key, get_mode, get_state, put_bases, put_forces, put_key, put_mode, put_state,
};
use super::{WITH_ACCEPTANCE, WITH_ACTIVATIONS, WITH_FACTORIZATIONS, WITH_GAP_SPREAD, WITH_RESTITUTION, WITH_ROLLING};
use crate::assemble::{ContactFrame, ContactKey};
use crate::simulation::{Simulation, State, StepReport};

/// A contact of a recorded step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedContact {
    /// Who it is.
    pub key: ContactKey,
    /// Where it is (m).
    pub point: [f64; 3],
    /// Unit normal, from the first geom to the second.
    pub normal: [f64; 3],
    /// Signed distance (m).
    pub gap: f64,
    /// What it does.
    pub mode: Mode,
    /// The axes of friction that depends on the direction of slip; none where it does not, or before version 5.
    pub ellipse: Option<FrictionEllipse>,
}

/// The axes of a contact's friction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrictionEllipse {
    /// The first unit tangent; the second one is the normal times it.
    pub tangent: [f64; 3],
    /// Coulomb coefficients along both.
    pub mu: [f64; 2],
}

impl RecordedContact {
    /// The tangents along which its impulses are.
    pub fn tangents(&self) -> (Vec3, Vec3) {
        let n = Vec3::from_array(self.normal);
        match &self.ellipse {
            None => tangents(n),
            Some(ellipse) => {
                let s = Vec3::from_array(ellipse.tangent);
                (s, n.cross(s))
            }
        }
    }
}

impl FrictionEllipse {
    fn of(frame: &ContactFrame) -> Option<Self> {
        let (mu, ratio) = (frame.material.mu, frame.friction_ratio);
        (ratio != 1.0).then(|| Self { tangent: frame.tangents[0].to_array(), mu: [mu, ratio * mu] })
    }
}

/// What is recorded of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// The state after the step: `state.step` is the step's number plus 1.
    pub state: State,
    /// Its contacts.
    pub contacts: Vec<RecordedContact>,
    /// Per contact and row: impulses (N s), or forces (N) where `level` says so.
    pub impulses: ContactForces,
    /// What they are: forces at the end of an event-driven step without an impact, else impulses.
    pub level: Level,
    /// Basis of each island's complementarity problem; none for a model without.
    pub bases: Vec<Basis>,
    /// Its certificate.
    pub certificate: PhysicalCertificate,
    /// Pivots or iterations.
    pub pivots: u64,
    /// Linear systems that were factored; 0 in recordings before version 5.
    pub factorizations: u64,
    /// Most of them for one island; 0 in recordings before version 5.
    pub most_factorizations: u64,
    /// Solved from the last step's modes without a pivot.
    pub guessed: bool,
    /// The fallback model answered.
    pub fallback: bool,
    /// The best answer was taken though it is not certified; no recording before version 4 has such steps.
    pub accepted: bool,
    /// Deepest overlap found (m).
    pub penetration: f64,
    /// Overlap that was not removed (m).
    pub overlap_left: f64,
    /// The part of the rebound speeds that contacts with restitution got; 1 in recordings of version 2.
    pub restitution_scale: f64,
    /// Largest gap by which contacts that contradict each other were set apart (m); 0 in recordings before version 9.
    pub gap_spread: f64,
}

impl RecordedStep {
    /// The step that a simulation made last.
    pub fn of(simulation: &Simulation, report: &StepReport) -> Self {
        let solution = simulation.outcome().and_then(|o| o.answer());
        let modes = solution.map_or(&[][..], |s| &s.modes);
        let contact = |(i, frame): (usize, &ContactFrame)| RecordedContact {
            key: frame.key,
            point: frame.point.to_array(),
            normal: frame.normal.to_array(),
            gap: frame.gap,
            mode: modes.get(i).copied().unwrap_or_default(),
            ellipse: FrictionEllipse::of(frame),
        };
        let mut impulses = solution.map(|s| s.forces.clone()).unwrap_or_default();
        // A step whose contacts are not those of its last solution has no impulses to show for them.
        for x in impulses.contacts_mut() {
            if x.len() != simulation.contacts().len() {
                x.clear();
                x.resize(simulation.contacts().len(), 0.0);
            }
        }
        // Along unit tangents.
        for (p, frame) in impulses.tangent_t.iter_mut().zip(simulation.contacts()) {
            *p *= frame.friction_ratio;
        }
        Self {
            state: simulation.state().clone(),
            contacts: simulation.contacts().iter().enumerate().map(contact).collect(),
            impulses,
            level: solution.map_or(Level::Velocity, |s| s.level),
            bases: simulation.memory.start.bases.clone(),
            certificate: solution.map(|s| s.certificate.clone()).unwrap_or_default(),
            pivots: report.pivots as u64,
            factorizations: report.factorizations as u64,
            most_factorizations: report.most_factorizations as u64,
            guessed: report.guessed,
            fallback: report.fallback,
            accepted: report.accepted,
            penetration: report.penetration,
            overlap_left: report.overlap_left,
            restitution_scale: report.restitution_scale,
            gap_spread: report.gap_spread,
        }
    }

    /// The step's number, from 0.
    pub fn number(&self) -> u64 {
        self.state.step.saturating_sub(1)
    }

    pub(super) fn put(&self, out: &mut Writer) {
        let Self {
            state,
            contacts,
            impulses,
            level,
            bases,
            certificate,
            pivots,
            factorizations,
            most_factorizations,
            guessed,
            fallback,
            accepted,
            penetration,
            overlap_left,
            restitution_scale,
            gap_spread,
        } = self;
        put_state(out, state);
        out.list(contacts, |out, contact| {
            let RecordedContact { key, point, normal, gap, mode, ellipse: _ } = contact;
            put_key(out, *key);
            out.array(point);
            out.array(normal);
            out.f64(*gap);
            put_mode(out, *mode);
        });
        put_forces(out, impulses);
        out.bool(*level == Level::Acceleration);
        put_bases(out, bases);
        put_certificate(out, certificate);
        out.u64(*pivots);
        out.bool(*guessed);
        out.bool(*fallback);
        out.f64(*penetration);
        out.f64(*overlap_left);
        out.f64(*restitution_scale);
        out.bool(*accepted);
        let ellipses: Vec<(usize, FrictionEllipse)> =
            contacts.iter().enumerate().filter_map(|(i, c)| Some((i, c.ellipse?))).collect();
        out.list(&ellipses, |out, (i, ellipse)| {
            out.size(*i);
            out.array(&ellipse.tangent);
            out.array(&ellipse.mu);
        });
        out.u64(*factorizations);
        out.u64(*most_factorizations);
        out.f64(*gap_spread);
    }

    /// Reads a step with `nq` numbers of configuration and `nv` velocities, in this version of the format.
    pub(super) fn get(from: &mut Reader<'_>, format: u32, nq: usize, nv: usize) -> Result<Self, Broken> {
        /// Bytes of a contact.
        const CONTACT: usize = 16 + 7 * 8 + 1;
        let state = get_state(from, format >= WITH_ACTIVATIONS)?;
        let contacts = from.list(CONTACT, |from| {
            Ok(RecordedContact {
                key: get_key(from)?,
                point: from.array()?,
                normal: from.array()?,
                gap: from.f64()?,
                mode: get_mode(from)?,
                ellipse: None,
            })
        })?;
        let mut step = Self {
            state,
            contacts,
            impulses: get_forces(from, format >= WITH_ROLLING)?,
            level: if from.bool()? { Level::Acceleration } else { Level::Velocity },
            bases: get_bases(from)?,
            certificate: get_certificate(from)?,
            pivots: from.u64()?,
            factorizations: 0,
            most_factorizations: 0,
            guessed: from.bool()?,
            fallback: from.bool()?,
            accepted: false,
            penetration: from.f64()?,
            overlap_left: from.f64()?,
            restitution_scale: if format >= WITH_RESTITUTION { from.f64()? } else { 1.0 },
            gap_spread: 0.0,
        };
        step.accepted = format >= WITH_ACCEPTANCE && from.bool()?;
        if format >= WITH_ROLLING {
            step.get_ellipses(from)?;
        }
        if format >= WITH_FACTORIZATIONS {
            (step.factorizations, step.most_factorizations) = (from.u64()?, from.u64()?);
        }
        if format >= WITH_GAP_SPREAD {
            step.gap_spread = from.f64()?;
        }
        step.check(nq, nv)?;
        Ok(step)
    }

    fn get_ellipses(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        /// Bytes of one.
        const ELLIPSE: usize = 6 * 8;
        let all = from
            .list(ELLIPSE, |from| Ok((from.size()?, FrictionEllipse { tangent: from.array()?, mu: from.array()? })))?;
        for (i, ellipse) in all {
            let contact = self.contacts.get_mut(i);
            contact.ok_or_else(|| Broken(format!("there is no contact {i}")))?.ellipse = Some(ellipse);
        }
        Ok(())
    }

    fn check(&self, nq: usize, nv: usize) -> Result<(), Broken> {
        let (n, contacts) = (self.contacts.len(), self.impulses.contacts());
        if self.state.q.len() != nq || self.state.v.len() != nv || contacts.iter().any(|x| x.len() != n) {
            return Err(Broken(format!("step {} has not the sizes of this recording", self.number())));
        }
        Ok(())
    }
}

/// Added to the tag of the worst place where the energy inequality follows; recordings of before it was measured lack it.
const WITH_ENERGY: u8 = 16;

/// A place as numbers: what it is, and which.
pub fn place_code(place: Place) -> (u8, usize) {
    match place {
        Place::Nowhere => (0, 0),
        Place::Velocity(i) => (1, i),
        Place::Contact(i) => (2, i),
        Place::Bilateral(i) => (3, i),
        Place::Limit(i) => (4, i),
        Place::Bounded(i) => (5, i),
        Place::Whole => (6, 0),
        Place::Island(i) => (7, i),
    }
}

/// The place of a [`place_code`], if it is one.
pub fn place_of((tag, i): (u8, usize)) -> Option<Place> {
    let all = [
        Place::Nowhere,
        Place::Velocity(i),
        Place::Contact(i),
        Place::Bilateral(i),
        Place::Limit(i),
        Place::Bounded(i),
        Place::Whole,
        Place::Island(i),
    ];
    all.get(usize::from(tag)).copied()
}

fn put_certificate(out: &mut Writer, certificate: &PhysicalCertificate) {
    let PhysicalCertificate {
        momentum,
        bilateral,
        signorini,
        friction,
        bounded,
        work,
        energy,
        driven_work,
        worst,
        inconsistency,
    } = certificate;
    out.array(&[*momentum, *bilateral, *signorini, *friction, *bounded, *work, *inconsistency]);
    let (tag, index) = place_code(*worst);
    out.u8(tag + WITH_ENERGY);
    out.size(index);
    out.array(&[*energy, *driven_work]);
}

fn get_certificate(from: &mut Reader<'_>) -> Result<PhysicalCertificate, Broken> {
    let [momentum, bilateral, signorini, friction, bounded, work, inconsistency] = from.array()?;
    let (tag, i) = (from.u8()?, from.size()?);
    let [energy, driven_work] = if tag >= WITH_ENERGY { from.array()? } else { [0.0; 2] };
    let tag = tag % WITH_ENERGY;
    let worst = place_of((tag, i)).ok_or_else(|| Broken(format!("there is no place {tag}")))?;
    Ok(PhysicalCertificate {
        momentum,
        bilateral,
        signorini,
        friction,
        bounded,
        work,
        energy,
        driven_work,
        worst,
        inconsistency,
    })
}
