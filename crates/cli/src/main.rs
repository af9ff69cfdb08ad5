//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dshap_cli::run(std::env::args_os()))
}
