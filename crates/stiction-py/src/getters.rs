//! Properties of classes, as tables.

/// Read-only properties: for each its documentation, its name, its type, and where it comes from, with the interpreter or without.
macro_rules! getters {
    ($class:ident, { $($(#[$doc:meta])* $name:ident: $kind:ty = |$this:ident| $value:expr;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name(&self) -> $kind {
                    let $this = self;
                    $value
                }
            )+
        }
    };
    ($class:ident, { $($(#[$doc:meta])* $name:ident: $kind:ty = |$this:ident, $py:ident| $value:expr;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, $py: Python<'py>) -> $kind {
                    let $this = self;
                    $value
                }
            )+
        }
    };
}
