//! `stiction completions` and `stiction man`: made by clap from the command line itself.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::args::Cli;
use crate::output::Failure;

/// Options of `stiction completions`.
#[derive(Debug, Args)]
#[command(after_help = "For instance: stiction completions bash > ~/.local/share/bash-completion/completions/stiction")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Options of `stiction man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for the command and for each subcommand into this directory, instead of printing the first.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "stiction", &mut text);
    if args.json {
        let (shell, text) = (args.shell.to_string(), String::from_utf8_lossy(&text));
        writeln!(out, "{}", json!({ "shell": shell, "text": text }))?;
    } else {
        out.write_all(&text)?;
    }
    Ok(true)
}

/// Prints the manual page, or writes all of them.
pub(crate) fn man(args: &ManArgs, out: &mut dyn Write) -> Result<bool, Failure> {
    let command = Cli::command().disable_help_subcommand(true);
    match &args.out {
        None if args.json => {
            let mut text = vec![];
            clap_mangen::Man::new(command).render(&mut text)?;
            writeln!(out, "{}", json!({ "text": String::from_utf8_lossy(&text) }))?;
        }
        None => clap_mangen::Man::new(command).render(out)?,
        Some(directory) => {
            std::fs::create_dir_all(directory)?;
            let pages = page_names(&command, "");
            clap_mangen::generate_to(command, directory)?;
            if args.json {
                let files: Vec<_> = pages.iter().map(|page| directory.join(page).display().to_string()).collect();
                writeln!(out, "{}", json!({ "files": files }))?;
            } else {
                writeln!(out, "{}: the manual pages", directory.display())?;
            }
        }
    }
    Ok(true)
}

/// The files of the manual pages of a command and its subcommands.
fn page_names(command: &Command, before: &str) -> Vec<String> {
    let name = format!("{before}{}", command.get_name());
    let inner = command.get_subcommands().filter(|c| !c.is_hide_set());
    let inner = inner.flat_map(|c| page_names(c, &format!("{name}-"))).collect::<Vec<_>>();
    [vec![format!("{name}.1")], inner].concat()
}
