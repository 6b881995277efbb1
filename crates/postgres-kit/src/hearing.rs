//! Hearing what others say by the database.

use crate::fault::Fault;
use crate::target::Target;
use std::future::poll_fn;
use std::pin::pin;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Config};

/// Hears what is said on a channel until the connection ends; why it did is answered. Nothing is told once, when nothing
/// can be missed any more: what was said before that, nobody heard.
pub async fn hear(target: &Target, channel: &str, heard: &(dyn Fn(Option<&str>) + Send + Sync)) -> Fault {
    let mut last = Fault::ours("the database URL names no host");
    for host in &target.hosts {
        last = hear_one(host, target, channel, heard).await;
        if !last.is_away() {
            break;
        }
    }
    last
}

async fn hear_one(
    host: &Config,
    target: &Target,
    channel: &str,
    heard: &(dyn Fn(Option<&str>) + Send + Sync),
) -> Fault {
    let (client, mut connection) = match timeout(target.patience.connect, host.connect(target.tls.clone())).await {
        Ok(Ok(both)) => both,
        Ok(Err(error)) => return error.into(),
        Err(_) => return Fault::silent("the database does not take connections"),
    };
    let mut hears = pin!(async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                Ok(AsyncMessage::Notification(said)) => heard(Some(said.payload())),
                Ok(_) => {}
                Err(error) => return Fault::from(error),
            }
        }
        Fault::lost("the connection to the database ended")
    });
    let listen = format!("LISTEN {channel}");
    let listens = tokio::select! {
        listens = client.batch_execute(&listen) => listens,
        fault = &mut hears => return fault,
    };
    if let Err(error) = listens {
        return error.into();
    }
    heard(None);
    // The client is held as long as anything is heard: the connection ends with it.
    let fault = hears.await;
    drop(client);
    fault
}
