//! A connection that is timed while it sends, and that has a last word to say when hyper is done with it.
//!
//! hyper waits for ever for a client that does not take its answer; here it is waited for with patience, and no longer. hyper
//! closes without an answer where headers come too slowly, and closes at once where a body was not read, which to a client
//! that still sends looks like a broken line: the connection is shared, so that it can be told and heard out.

use super::guest::Guest;
use super::patience::{Pace, Wait};
use socket2::SockRef;
use std::io::{self, ErrorKind, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// In the words of no dialect: which path was meant is not known yet.
pub(super) const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-type: application/json; charset=utf-8\r\nx-error-code: request_timeout\r\n\
    connection: close\r\ncontent-length: 64\r\n\r\n\
    {\"status\":408,\"title\":\"The request came too slowly\",\"errors\":{}}";

pub(super) const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json; charset=utf-8\r\nx-error-code: overloaded\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 73\r\n\r\n\
    {\"status\":503,\"title\":\"The server is busy; try again shortly\",\"errors\":{}}";

/// As much as the kernel may hold of what a client does not take.
const UNSENT: u32 = 64 << 10;

/// As many bytes as a client is heard out that was answered before it had said all.
const HEARD_OUT: u64 = 256 << 20;

/// The wire of a connection, under TLS where there is TLS.
pub(super) struct Wire {
    tcp: TcpStream,
    /// Something was read and nothing written since: a request has begun.
    owed: AtomicBool,
    guest: Arc<Guest>,
}

impl Wire {
    pub(super) fn new(tcp: TcpStream, guest: Arc<Guest>) -> Arc<Self> {
        let socket = SockRef::from(&tcp);
        let _slower_only = socket.set_tcp_nodelay(true);
        let _dearer_only = socket.set_tcp_notsent_lowat(UNSENT);
        Arc::new(Self { tcp, owed: AtomicBool::new(false), guest })
    }

    /// A last word, in plain. One that sent nothing is owed nothing, and who does not even read it goes without.
    pub(super) fn say(&self, word: &[u8]) {
        if self.owed.load(Ordering::Relaxed) {
            let _unread = self.tcp.try_write(word);
        }
    }

    /// Says that nothing more will come, and hears the client out, so that it sees its answer. Nobody listens to it.
    pub(super) async fn hear_out(&self, idle: Duration, at_most: Duration) {
        self.say_good_bye();
        let heard = async {
            let mut left = HEARD_OUT;
            while tokio::time::timeout(idle, self.tcp.readable()).await.is_ok_and(|readable| readable.is_ok()) {
                match self.pass_over().map(|length| left.checked_sub(length)) {
                    Some(Some(rest)) => left = rest,
                    Some(None) | None => break,
                }
            }
        };
        let _heard = tokio::time::timeout(at_most, heard).await;
    }

    /// The same for one who has to leave at once: what is here is passed over, and nothing is waited for.
    pub(super) fn dismiss(&self) {
        self.say_good_bye();
        let _passed_over = self.pass_over();
    }

    fn say_good_bye(&self) {
        let _gone = SockRef::from(&self.tcp).shutdown(Shutdown::Write);
    }

    /// Passes over what has come, and says how much it was; nothing where no more will come.
    fn pass_over(&self) -> Option<u64> {
        let mut unheard = vec![0; 16 << 10];
        let mut length = 0;
        loop {
            match self.tcp.try_read(&mut unheard) {
                Ok(0) => return None,
                Ok(more) => length += more as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(length),
                Err(_) => return None,
            }
            if length >= ONE_GO {
                return Some(length);
            }
        }
    }
}

/// As much as is passed over before others have their turn.
const ONE_GO: u64 = 1 << 20;

/// What hyper, or TLS, reads from and writes to.
pub(super) struct Stream {
    wire: Arc<Wire>,
    taking: Wait,
    /// The request that patience was last given for.
    request: u64,
}

impl Stream {
    pub(super) fn new(wire: Arc<Wire>, pace: Pace) -> Self {
        Self { wire, taking: Wait::new(pace), request: 0 }
    }

    fn write(
        &mut self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let request = self.wire.guest.requests();
        if request != self.request {
            self.request = request;
            self.taking.begin_anew();
        }
        loop {
            let Poll::Ready(writable) = self.wire.tcp.poll_write_ready(context) else {
                self.wire.guest.theirs();
                ready!(self.taking.poll(context));
                return Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the client does not take its answer")));
            };
            writable?;
            match write(&self.wire.tcp) {
                Ok(length) => {
                    self.wire.owed.store(false, Ordering::Relaxed);
                    self.taking.moved(length);
                    return Poll::Ready(Ok(length));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.wire.tcp.poll_read_ready(context))?;
            match self.wire.tcp.try_read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    self.wire.owed.store(length > 0, Ordering::Relaxed);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, |tcp| tcp.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |tcp| tcp.try_write_vectored(slices))
    }

    // Or else hyper copies every body into a buffer of its own before it writes it.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.guest.flushed();
        Poll::Ready(Ok(()))
    }

    // The wire may have a last word to say.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_is_as_long_as_it_says() {
        for word in [TOO_SLOW, BUSY] {
            let text = std::str::from_utf8(word).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        }
    }
}
