//! A TCP proxy that delays and cuts connections, for fault tests.
//!
//! It listens on loopback and forwards bytes in both directions. Delays and cuts can change at any time and also affect
//! open connections. The proxy does not interpret the data.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// A proxy in front of a server. It ends when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    conditions: watch::Sender<NetworkConditions>,
    task: JoinHandle<()>,
}

/// The present delay and cuts.
#[derive(Debug, Clone, Copy, Default)]
struct NetworkConditions {
    delay: Duration,
    cut: bool,
    /// The number of cuts so far. A connection that was opened before the last cut is closed, even if its task was not
    /// running at that moment.
    cuts: u64,
}

impl Proxy {
    /// Starts a proxy to the server at `host:port` on a free port.
    ///
    /// # Panics
    /// Panics if no port is free.
    pub async fn to(target: impl Into<String>) -> Self {
        let target = target.into();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on loopback");
        let address = listener.local_addr().expect("the port of the proxy");
        let (conditions, seen) = watch::channel(NetworkConditions::default());
        let task = tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                // While the proxy is cut, new connections are closed at once.
                if !seen.borrow().cut {
                    tokio::spawn(join(caller, target.clone(), seen.clone()));
                }
            }
        });
        Self { address, conditions, task }
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Delays all data in both directions from now on. A delay of an hour simulates a server that hangs.
    pub fn delay(&self, delay: Duration) {
        self.conditions.send_modify(|conditions| conditions.delay = delay);
    }

    /// Closes all connections, and every new one at once.
    pub fn cut(&self) {
        self.conditions.send_modify(|conditions| {
            conditions.cut = true;
            conditions.cuts += 1;
        });
    }

    /// Removes the delay and accepts new connections. Delayed data is forwarded at once.
    pub fn heal(&self) {
        self.conditions.send_modify(|conditions| {
            conditions.cut = false;
            conditions.delay = Duration::ZERO;
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.task.abort();
    }
}

async fn join(caller: TcpStream, target: String, conditions: watch::Receiver<NetworkConditions>) {
    let born = conditions.borrow().cuts;
    let Ok(server) = TcpStream::connect(target).await else { return };
    let _ = (caller.set_nodelay(true), server.set_nodelay(true));
    let ((caller_reads, caller_writes), (server_reads, server_writes)) = (caller.into_split(), server.into_split());
    let mut end = conditions.clone();
    let both = async {
        tokio::join!(
            carry(caller_reads, server_writes, conditions.clone()),
            carry(server_reads, caller_writes, conditions.clone()),
        )
    };
    tokio::select! {
        _ = both => {}
        _ = end.wait_for(|conditions| conditions.cuts != born) => {}
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut conditions: watch::Receiver<NetworkConditions>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let came = Instant::now();
        loop {
            let due = came + conditions.borrow_and_update().delay;
            if due <= Instant::now() {
                break;
            }
            tokio::select! {
                () = sleep_until(due) => break,
                changed = conditions.changed() => if changed.is_err() { return },
            }
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
