//! Friction problems in JSON: writing.

use std::fmt::Write;

use stiction_lcp::io::json_write::{Object, number};

use super::FrictionFile;
use crate::sparse::SparseMatrix;

/// The problem as JSON, with its matrices by entries, a line for each column.
pub(super) fn to_json(file: &FrictionFile) -> String {
    let mut out = Object::new();
    out.text("kind", file.kind().name());
    match file {
        FrictionFile::Local(p) => {
            out.raw("dim", &p.dim().to_string());
            out.raw("W", &matrix(p.w()));
            out.numbers("q", p.q());
            out.numbers("mu", p.mu());
        }
        FrictionFile::Global(p) => {
            out.raw("dim", &p.dim().to_string());
            out.raw("M", &matrix(p.mass()));
            out.raw("H", &matrix(p.h()));
            out.numbers("f", p.f());
            out.numbers("b", p.b());
            out.numbers("mu", p.mu());
        }
    }
    out.end()
}

fn matrix(m: &SparseMatrix) -> String {
    let mut text = format!("{{\"rows\": {}, \"cols\": {}, \"entries\": [", m.rows(), m.cols());
    let mut first = true;
    for j in 0..m.cols() {
        for (k, (i, x)) in m.col(j).enumerate() {
            let comma = if first { "" } else { "," };
            let gap = if k == 0 { "\n    " } else { " " };
            let _ = write!(text, "{comma}{gap}[{i}, {j}, {}]", number(x));
            first = false;
        }
    }
    text.push_str(if first { "]}" } else { "\n  ]}" });
    text
}
