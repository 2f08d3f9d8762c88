//! Coefficients of friction that a law has no place for.

use stiction_lcp::InputError;

use super::catalog::ModelKind;

/// Which values of a coefficient are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Infinite,
    NotZero,
}

/// Refuses a coefficient that the law of `model` has no place for. Of each: its name, its values contact by contact, which of them are refused, and
/// what the message adds.
pub(super) fn refuse(model: ModelKind, refused: &[(&str, &[f64], Values, &str)]) -> Result<(), InputError> {
    for (name, all, values, why) in refused {
        let is_refused = |x: &f64| if *values == Values::Infinite { x.is_infinite() } else { *x != 0.0 };
        if let Some(i) = all.iter().position(is_refused) {
            let value = if all[i].is_infinite() { "infinite".into() } else { all[i].to_string() };
            return Err(InputError::Unsupported {
                solver: model.name(),
                reason: format!("contact {i}: {name} is {value}{why}"),
            });
        }
    }
    Ok(())
}
