//! The experiments of the four papers, each as library code: the same problems, the same comparisons, the paper's figures beside ours.
//!
//! An [`Experiment`] runs and returns a [`Section`]: tables, plots, pictures and [`Claim`]s. How a section is shown (terminal, HTML, CSV, JSON) is
//! not its business.
pub mod baraff;
mod compose;
pub mod drumwright;
pub mod lloyd;
pub mod report;
pub mod section;
mod timing;
pub mod trinkle;

pub use section::{Axis, Cell, Claim, Column, Picture, Plot, Section, Series, Table, Verdict};

/// How much to run.
#[derive(Debug, Clone, Default)]
pub struct Effort {
    /// A few trials of each experiment instead of all: seconds instead of minutes.
    pub quick: bool,
}

/// Told how far an experiment has come.
pub trait Progress {
    /// `done` of `total` parts are behind us; `what` is being done now.
    fn report(&mut self, done: usize, total: usize, what: &str);
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn report(&mut self, _: usize, _: usize, _: &str) {}
}

/// Why an experiment could not be run at all. (A claim that does not hold is a result, not an error.)
#[derive(Debug, Clone, thiserror::Error)]
#[error("{experiment}: {message}")]
pub struct ExperimentError {
    /// The experiment's name.
    pub experiment: &'static str,
    /// What went wrong.
    pub message: String,
}

/// One table or figure of a paper.
pub trait Experiment: Send + Sync {
    /// `paper/name` in kebab case, e.g. `drumwright/grasp`.
    fn name(&self) -> &'static str;
    /// One line for lists and headings.
    fn title(&self) -> &'static str;
    /// Runs it.
    ///
    /// # Errors
    /// If it cannot be run at all.
    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError>;
}

/// All experiments, in the papers' order.
pub fn all() -> Vec<Box<dyn Experiment>> {
    [drumwright::experiments(), lloyd::experiments(), trinkle::experiments(), baraff::experiments()]
        .into_iter()
        .flatten()
        .collect()
}
