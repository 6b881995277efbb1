//! A connection that still has a word to say when hyper has given up on it.
//!
//! hyper closes a connection whose headers come too slowly without an answer. The stream is shared, so that
//! the accept loop can send the 408 that the client is owed.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// In the words of no dialect: which path was meant is not known yet.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-type: application/json; charset=utf-8\r\nx-error-code: request_timeout\r\n\
    connection: close\r\ncontent-length: 64\r\n\r\n\
    {\"status\":408,\"title\":\"The request came too slowly\",\"errors\":{}}";

#[derive(Clone)]
pub(crate) struct SharedStream {
    tcp: Arc<TcpStream>,
    /// Something was read and nothing written since: a request has begun.
    owed: Arc<AtomicBool>,
}

impl SharedStream {
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self { tcp: Arc::new(tcp), owed: Arc::new(AtomicBool::new(false)) }
    }

    /// Tells the client why it is cut off. One that sent nothing is owed nothing.
    pub(crate) fn refuse_slowness(&self) {
        if self.owed.load(Ordering::Relaxed) {
            // A client that does not even read its answer goes without.
            let _unread = self.tcp.try_write(TOO_SLOW);
        }
    }
}

impl AsyncRead for SharedStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.tcp.poll_read_ready(context))?;
            match self.tcp.try_read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    self.owed.store(length > 0, Ordering::Relaxed);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.tcp.poll_write_ready(context))?;
            match self.tcp.try_write(bytes) {
                Ok(length) => {
                    self.owed.store(false, Ordering::Relaxed);
                    return Poll::Ready(Ok(length));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    // Closed when the last of its holders lets it go.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        let text = std::str::from_utf8(TOO_SLOW).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
