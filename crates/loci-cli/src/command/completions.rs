//! `loci completions`: prints completions for a shell.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::output;

/// The shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci completions bash > ~/.local/share/bash-completion/completions/loci
  loci completions zsh > ~/.zfunc/_loci
  loci completions fish > ~/.config/fish/completions/loci.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

/// Prints the completions.
pub(crate) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "loci", &mut script);
    output::bytes(&script);
    Ok(())
}
