//! Listens, and ends in order.

use crate::guard::{Guard, guarded};
use crate::handlers::Shared;
use crate::kept;
use crate::operations::router;
use crate::runs::Runs;
use crate::settings::Settings;
use crate::store::Store;
use crate::valuers::Valuers;
use crate::work::Valuing;
use axum::middleware::from_fn_with_state;
use axum::serve::ListenerExt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// How long runs have to end once they were told to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Threads for work beside the requests.
const BESIDE: usize = 8;

/// Why a server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// The folder of the data, or the one that keeps results, cannot be used.
    Folder(Option<PathBuf>, io::Error),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// The system gives no threads or no randomness.
    System(io::Error),
}

/// A server that answers requests until it is stopped.
pub struct Server {
    address: SocketAddr,
    guard: Arc<Guard>,
    runs: Arc<Runs>,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    /// The last owner removes temporary uploads.
    _store: Arc<Store>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// [`StartError`].
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let folder = settings.data.clone().or_else(|| settings.keep.clone());
        let store = Arc::new(Store::open(&settings).map_err(|error| StartError::Folder(folder, error))?);
        let wanted = SocketAddr::new(settings.address, settings.port);
        let listen = |error| StartError::Listen(wanted, error);
        let listener = TcpListener::bind(wanted).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let guard = Arc::new(Guard::new(settings.address).map_err(StartError::System)?);
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let work = Valuing { store: Arc::clone(&store), limits: settings.limits, threads };
        let earlier = store.runs_folder().map(kept::load_all).unwrap_or_default();
        let runs = Runs::start(settings.limits, work, earlier).map_err(StartError::System)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.max(2))
            .max_blocking_threads(BESIDE)
            .thread_name("dshap-serve")
            .enable_all()
            .build()
            .map_err(StartError::System)?;
        let (stop, stopped) = oneshot::channel();
        let shared = Shared {
            settings,
            store: Arc::clone(&store),
            runs: Arc::clone(&runs),
            valuers: Valuers::default(),
        };
        let app =
            router().with_state(Arc::new(shared)).layer(from_fn_with_state(Arc::clone(&guard), guarded));
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(listen)?
        };
        runtime.spawn(async move {
            // Small replies are sent at once.
            let listener = listener.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            });
            let ended = async {
                let _ = stopped.await;
            };
            let _ = axum::serve(listener, app).with_graceful_shutdown(ended).await;
        });
        Ok(Self { address, guard, runs, runtime: Some(runtime), stop: Some(stop), _store: store })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that requests need, if they need one.
    pub fn token(&self) -> Option<&str> {
        self.guard.token()
    }

    /// What to type into a browser.
    pub fn url(&self) -> String {
        let host = match self.address {
            address if address.ip().is_unspecified() => format!("localhost:{}", address.port()),
            address => address.to_string(),
        };
        match self.token() {
            Some(token) => format!("http://{host}/?token={token}"),
            None => format!("http://{host}/"),
        }
    }

    /// Waits for Ctrl-C or a request to end, and ends.
    pub fn run(self) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(signalled());
        }
        drop(self);
    }
}

/// Ctrl-C, or SIGTERM where there is one.
async fn signalled() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Whoever listened may be gone already.
            let _ = stop.send(());
        }
        self.runs.close(PATIENCE);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
