//! Address, folders and limits.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// How the application is served.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on. All but loopback addresses need a token.
    pub address: IpAddr,
    /// The port; 0 takes any that is free.
    pub port: u16,
    /// A folder whose tables and valuers can be used.
    pub data: Option<PathBuf>,
    /// Where uploads and results stay after the end; without it they vanish.
    pub keep: Option<PathBuf>,
    /// What one client can make the server do.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8787,
            data: None,
            keep: None,
            limits: Limits::default(),
        }
    }
}

/// What one client can make the server do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one uploaded file. All uploads together may take four times as much.
    pub upload_bytes: u64,
    /// Runs at the same time.
    pub runs_at_once: usize,
    /// Runs that wait.
    pub runs_waiting: usize,
    /// Finished runs that are remembered; older ones are forgotten.
    pub runs_kept: usize,
    /// The time of one run.
    pub run_time: Duration,
    /// Bytes of memory of one run, and of the rows of all finished runs.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            upload_bytes: 1 << 30,
            runs_at_once: 2,
            runs_waiting: 16,
            runs_kept: 50,
            run_time: Duration::from_secs(3600),
            memory_bytes: 4 << 30,
        }
    }
}

impl Limits {
    /// Bytes of all uploads together.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.upload_bytes.saturating_mul(4)
    }
}
