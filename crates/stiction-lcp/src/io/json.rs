//! The JSON format: reading.

use super::fault::Fault;
use super::fields::{KEYS, ProblemFields};
use super::json_values::read_fields;
use super::{ProblemFile, ReadOptions};

/// The problem in the JSON text `bytes`.
pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, Fault> {
    ProblemFields(read_fields(bytes, "a problem", KEYS, options.max_numbers)?).build(options.kind)
}
