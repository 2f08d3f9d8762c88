//! One copy of a batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use stiction_lcp::interrupt::{self, interruptible};
use stiction_sim::Snapshot;

use super::core::Core;
use crate::{errors, panics};

/// A simulation, and how it is.
pub(crate) struct Replica {
    /// The simulation.
    pub core: Core,
    /// Why it failed.
    pub failure: Option<String>,
    /// Largest measure of the certificates of the last call's steps.
    pub certificate: f64,
    /// Steps of the last call that were accepted without being certified.
    pub accepted: i64,
    /// Contacts with a force in the last step.
    pub contacts: i64,
}

impl Replica {
    /// That has made no step.
    pub(crate) fn new(core: Core) -> Self {
        Self { core, failure: None, certificate: 0.0, accepted: 0, contacts: 0 }
    }

    /// Back to the start of the scene.
    pub(crate) fn go_back(&mut self, to: &Snapshot) -> PyResult<()> {
        self.core.go_back(to).map_err(|e| errors::from_input(&e))?;
        (self.failure, self.certificate, self.accepted, self.contacts) = (None, 0.0, 0, 0);
        Ok(())
    }

    /// Forgets what the steps of the last call came to.
    pub(crate) fn begin_call(&mut self) {
        self.accepted = 0;
        if self.failure.is_none() {
            self.certificate = 0.0;
        }
    }

    /// Takes over physical parameters, if they changed.
    pub(crate) fn set_physical(&mut self, row: &[f64]) {
        if self.failure.is_none() {
            self.failure = self.core.set_physical(row).err();
        }
    }

    /// Takes over state and inputs, makes steps until told to stop, and gives the state back.
    pub(crate) fn advance(&mut self, steps: u64, stop: &Arc<AtomicBool>, q: &mut [f64], v: &mut [f64], inputs: &[f64]) {
        if self.failure.is_some() {
            return;
        }
        self.failure = self.try_advance(steps, stop, q, v, inputs).err();
    }

    fn try_advance(
        &mut self,
        steps: u64,
        stop: &Arc<AtomicBool>,
        q: &mut [f64],
        v: &mut [f64],
        inputs: &[f64],
    ) -> Result<(), String> {
        self.core.set_state(q, v)?;
        self.core.set_inputs(inputs)?;
        let made = catch_unwind(AssertUnwindSafe(|| self.steps(steps, stop)));
        let state = self.core.sim.state();
        q.copy_from_slice(&state.q);
        v.copy_from_slice(&state.v);
        made.unwrap_or_else(|payload| Err(panics::message(&*payload)))
    }

    /// Makes steps until told to stop, within a step too: the state is then that before it.
    fn steps(&mut self, steps: u64, stop: &Arc<AtomicBool>) -> Result<(), String> {
        let stop = stop.clone();
        let made = interruptible(
            move || stop.load(Ordering::Relaxed),
            || {
                (0..steps).try_for_each(|_| {
                    interrupt::check();
                    self.step()
                })
            },
        );
        made.unwrap_or(Ok(()))
    }

    fn step(&mut self) -> Result<(), String> {
        let report = self.core.step().map_err(|failure| format!("{failure}; {}", failure.advice()))?;
        self.certificate = self.certificate.max(report.certificate);
        self.accepted += i64::from(report.accepted);
        self.contacts = report.active as i64;
        Ok(())
    }
}
