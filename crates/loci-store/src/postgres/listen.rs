//! Receives notifications about the writes of other processes.
//!
//! A dedicated connection listens on the channel with the schema's name, on which every transaction that adds to a
//! ledger sends a notification. Notifications are lost while the connection is down, so each start of listening counts
//! as one: a reader may check once too often, but never misses a write.

use std::future::poll_fn;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

use super::pool::Address;
use super::schema::quoted;
use crate::Retry;

/// The back-off of connection attempts.
const BACK_OFF: Retry = Retry {
    max_attempts: u32::MAX,
    initial_delay: Duration::from_millis(100),
    max_delay: Duration::from_secs(5),
    multiplier: 2.0,
};

/// Listens from the first call of [`Listener::change_signal`] until it is dropped.
pub(super) struct Listener {
    address: Address,
    schema: String,
    timeout: Duration,
    moved: watch::Sender<u64>,
    task: OnceLock<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn new(address: Address, schema: &str, timeout: Duration) -> Self {
        Self { address, schema: schema.to_owned(), timeout, moved: watch::Sender::new(0), task: OnceLock::new() }
    }

    /// A counter that grows whenever something may have been written.
    pub(super) fn change_signal(&self, handle: &Handle) -> watch::Receiver<u64> {
        self.task.get_or_init(|| {
            let (address, timeout, moved) = (self.address.clone(), self.timeout, self.moved.clone());
            let listen = format!("LISTEN {}", quoted(&self.schema));
            handle.spawn(keep_listening(address, listen, timeout, moved))
        });
        self.moved.subscribe()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

async fn keep_listening(address: Address, listen: String, timeout: Duration, moved: watch::Sender<u64>) {
    let mut delays = BACK_OFF.delays();
    loop {
        if listen_once(&address, &listen, timeout, &moved).await {
            delays = BACK_OFF.delays();
        }
        tokio::time::sleep(delays.next().unwrap_or(BACK_OFF.max_delay)).await;
    }
}

/// Listens until the connection is lost. Returns whether listening had begun.
async fn listen_once(address: &Address, listen: &str, timeout: Duration, moved: &watch::Sender<u64>) -> bool {
    let Ok((client, mut connection)) = address.connect().await else { return false };
    let signal = moved.clone();
    let driven = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message {
                signal.send_modify(|times| *times += 1);
            }
        }
    });
    let begun = matches!(tokio::time::timeout(timeout, client.batch_execute(listen)).await, Ok(Ok(())));
    if begun {
        moved.send_modify(|times| *times += 1);
        drop(driven.await);
    }
    begun
}
