//! The arrays of simulations that Python may write to: state and inputs.

/// Getters and setters of arrays: for each its name, that of its setter, and where it is.
macro_rules! views {
    ($class:ident, $array:ident, { $($(#[$doc:meta])* $name:ident, $set:ident = $view:expr;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> Bound<'py, $array<f64>> {
                    let view: fn(&Self) -> &Py<$array<f64>> = $view;
                    view(self).bind(py).clone()
                }

                #[setter]
                fn $set(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
                    let view: fn(&Self) -> &Py<$array<f64>> = $view;
                    self.set_array(stringify!($name), view(self).bind(py), x)
                }
            )+
        }
    };
}
pub(super) use views;
