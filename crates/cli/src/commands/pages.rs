//! `completions` and `man`: pages made from the flags themselves.

use crate::args::command as root;
use crate::failure::Failure;
use clap_complete::Shell;

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_complete::generate(shell, &mut root(), "dshap", &mut page);
    crate::print(&String::from_utf8_lossy(&page))
}

pub(crate) fn man(command: Option<&str>) -> Result<(), Failure> {
    let mut root = root();
    root.build();
    let command = match command {
        None => root,
        Some(name) => root
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Failure::usage(format!("there is no command `{name}`")))?,
    };
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command).source(concat!("dshap ", env!("CARGO_PKG_VERSION")));
    man.manual("dshap manual").render(&mut page).map_err(Failure::output)?;
    crate::print(&String::from_utf8_lossy(&page))
}
