//! One copy of a batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use stiction_sim::Snapshot;

use super::core::Core;
use crate::errors;
use crate::inputs::Layout;

/// A simulation, and how it is.
pub struct Replica {
    /// The simulation.
    pub core: Core,
    /// Why it failed.
    pub failure: Option<String>,
    /// Largest measure of the last step's certificate.
    pub certificate: f64,
    /// Contacts with a force in the last step.
    pub contacts: i64,
}

impl Replica {
    /// At the start of a scene.
    pub fn new(scene: &stiction_sim::Scene, layout: &Arc<Layout>) -> PyResult<Self> {
        let core = Core::new(scene, layout).map_err(|e| errors::from_scene(&e))?;
        Ok(Self { core, failure: None, certificate: 0.0, contacts: 0 })
    }

    /// Back to the start of the scene.
    pub fn go_back(&mut self, to: &Snapshot) -> PyResult<()> {
        self.core.go_back(to).map_err(|e| errors::from_input(&e))?;
        (self.failure, self.certificate, self.contacts) = (None, 0.0, 0);
        Ok(())
    }

    /// Takes over state and inputs, makes steps until told to stop, and gives the state back.
    pub fn advance(&mut self, steps: u64, stop: &AtomicBool, q: &mut [f64], v: &mut [f64], inputs: &[f64]) {
        if self.failure.is_some() {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.try_advance(steps, stop, q, v, inputs)));
        self.failure = match result {
            Ok(Ok(())) => None,
            Ok(Err(message)) => Some(message),
            Err(_) => Some("internal error; please report it".into()),
        };
    }

    fn try_advance(
        &mut self,
        steps: u64,
        stop: &AtomicBool,
        q: &mut [f64],
        v: &mut [f64],
        inputs: &[f64],
    ) -> Result<(), String> {
        self.core.set_state(q, v)?;
        self.core.set_inputs(inputs)?;
        let made = (0..steps).take_while(|_| !stop.load(Ordering::Relaxed)).try_for_each(|_| self.step());
        let state = self.core.sim.state();
        q.copy_from_slice(&state.q);
        v.copy_from_slice(&state.v);
        made
    }

    fn step(&mut self) -> Result<(), String> {
        let report = self.core.step().map_err(|failure| failure.to_string())?;
        self.certificate = report.certificate;
        self.contacts = report.active as i64;
        Ok(())
    }
}
