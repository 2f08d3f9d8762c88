//! `stiction completions` and `stiction man`: made by clap from the command line itself.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::output::Failure;

/// Options of `stiction completions`.
#[derive(Debug, Args)]
#[command(after_help = "For instance: stiction completions bash > ~/.local/share/bash-completion/completions/stiction")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `stiction man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for the command and for each subcommand into this directory, instead of printing the first.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "stiction", &mut text);
    out.write_all(&text)?;
    Ok(true)
}

/// Prints the manual page, or writes all of them.
pub(crate) fn man(args: &ManArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let command = Cli::command().disable_help_subcommand(true);
    match &args.out {
        None => clap_mangen::Man::new(command).render(out)?,
        Some(directory) => {
            std::fs::create_dir_all(directory)?;
            clap_mangen::generate_to(command, directory)?;
            writeln!(out, "{}: the manual pages", directory.display())?;
        }
    }
    Ok(true)
}
