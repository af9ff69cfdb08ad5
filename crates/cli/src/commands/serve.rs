//! `dshap serve`.

use crate::args::ServeArgs;
use crate::failure::Failure;
use dshap_web::{Limits, Server, Settings, StartError};
use std::time::Duration;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let settings = Settings {
        address: args.host,
        port: args.port,
        data: args.data.clone(),
        keep: args.keep.clone(),
        limits: Limits {
            upload_bytes: args.max_upload,
            runs_at_once: args.max_runs.into(),
            run_time: Duration::from_secs(args.max_seconds),
            memory_bytes: args.memory,
            ..Limits::default()
        },
    };
    let server = Server::start(settings).map_err(failed)?;
    // The address is what a script that starts a server needs.
    crate::print(&format!("{}\n", server.url()))?;
    if server.token().is_some() {
        eprintln!("other computers can reach this server; whoever has the token can use it");
    }
    eprintln!(
        "Ctrl-C ends it{}",
        if args.keep.is_some() { "" } else { "; uploads and results are then removed" }
    );
    server.run();
    // A run that did not stop in time may have left some.
    dshap_io::remove_unfinished_files();
    Ok(())
}

/// Why the server did not start.
fn failed(error: StartError) -> Failure {
    let (cause, hint) = match error {
        StartError::Folder(Some(folder), reason) => {
            (format!("cannot use `{}`: {reason}", folder.display()), None)
        }
        StartError::Folder(None, reason) => (format!("cannot make a temporary folder: {reason}"), None),
        StartError::Listen(address, reason) => (
            format!("cannot listen on {address}: {reason}"),
            Some("choose another port with `--port`; `--port 0` takes any that is free".into()),
        ),
        StartError::System(reason) => (reason.to_string(), None),
    };
    Failure::Input { doing: "cannot start the server".into(), causes: vec![cause], hint }
}
