//! The claims of a run as JSON.

use serde::Serialize;

use super::Report;

/// A claim with where it stands.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimLine {
    /// The paper's short name, e.g. `lloyd`.
    pub paper: String,
    /// The experiment, e.g. `peg-in-hole`.
    pub experiment: String,
    /// What the paper says.
    pub claim: String,
    /// The paper's figure.
    pub paper_value: String,
    /// Ours.
    pub ours: String,
    /// When it holds, and when it is bettered.
    pub rule: String,
    /// `holds`, `better` or `does not hold: …`.
    pub verdict: String,
}

/// All claims of a run, in order.
pub(super) fn claims(report: &Report) -> Vec<ClaimLine> {
    let lines = report.experiments.iter().flat_map(|run| {
        run.section.claims.iter().map(|claim| ClaimLine {
            paper: run.paper().into(),
            experiment: run.short_name().into(),
            claim: claim.claim.clone(),
            paper_value: claim.paper_value.clone(),
            ours: claim.ours.clone(),
            rule: claim.rule.clone(),
            verdict: claim.verdict.to_string(),
        })
    });
    lines.collect()
}

/// The text of `summary.json`: a list of claims.
pub(super) fn json(report: &Report) -> String {
    // Plain text cannot fail to be written.
    serde_json::to_string_pretty(&claims(report)).unwrap_or_default() + "\n"
}
