//! The command `stiction`: all of it is in the library, which the Python package's command calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(stiction_cli::main_with(std::env::args_os()))
}
