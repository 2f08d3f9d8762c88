//! Tolerances of the methods' own decisions: which number counts as zero, as tied, as converged.
//!
//! One small struct per method, in its module, each field with what it is relative to, why it has its value, and what ten times more
//! or less does. [`Options`](crate::Options) carry all of them, so a caller can change one; there is rarely a reason to.
//! None decides what is certified: that is [`Options::tolerance`](crate::Options::tolerance) alone. A worse choice costs pivots,
//! or an answer that is not found, never a wrong one.
//!
//! The test `tolerances` varies every field by ten both ways, and holds that outcomes stay the same.

use crate::{auto, branch, dantzig, finish, interior_point, lemke, nnls, principal_pivot, reduce};

/// Declares a struct of numbers with their default values, and lists its fields, so that a test that varies them forgets none.
#[doc(hidden)]
#[macro_export]
macro_rules! tolerances {
    ($(#[$about:meta])* $Name:ident { $($(#[$doc:meta])* $field:ident = $value:expr,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $Name {
            $($(#[$doc])* pub $field: f64,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }

        impl $Name {
            /// All fields, by name.
            pub fn fields(&mut self) -> Vec<(&'static str, &mut f64)> {
                vec![$((stringify!($field), &mut self.$field),)*]
            }
        }
    };
}

/// Declares the struct of several methods' tolerances, and lists the fields of all.
#[doc(hidden)]
#[macro_export]
macro_rules! tolerances_of_methods {
    ($(#[$about:meta])* $Name:ident { $($(#[$doc:meta])* $method:ident: $Type:path,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $Name {
            $($(#[$doc])* pub $method: $Type,)*
        }

        impl $Name {
            /// All fields, by method and name.
            pub fn fields(&mut self) -> Vec<(&'static str, &'static str, &mut f64)> {
                let mut all = Vec::new();
                $(all.extend(self.$method.fields().into_iter().map(|(name, x)| (stringify!($method), name, x)));)*
                all
            }
        }
    };
}

tolerances_of_methods! {
    /// The tolerances of all methods. See the [module](self).
    Tolerances {
        /// Which method [`Auto`](crate::Auto) tries first.
        auto: auto::Tolerances,
        /// The driving method.
        dantzig: dantzig::Tolerances,
        /// Lemke's method.
        lemke: lemke::Tolerances,
        /// Active-set least squares.
        nnls: nnls::Tolerances,
        /// The principal pivoting methods.
        principal_pivot: principal_pivot::Tolerances,
        /// The interior point methods and their crossover.
        interior_point: interior_point::Tolerances,
        /// From a basis to numbers.
        finish: finish::Tolerances,
        /// Elimination of free rows.
        reduce: reduce::Tolerances,
        /// Branching over the pairs.
        branch: branch::Tolerances,
    }
}
