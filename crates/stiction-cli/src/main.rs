//! The command `stiction`: all of it is in the library, which the Python package's command calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    stiction_cli::end_runs_on_ctrl_c();
    ExitCode::from(stiction_cli::main_with(std::env::args_os()))
}
