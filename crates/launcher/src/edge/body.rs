//! The bodies that pass the edge: those of requests, which keep the time themselves whoever reads them, and those of answers.

use super::guest::Guest;
use super::patience::{Pace, Wait};
use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use http_kit::body::TooSlow;
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What comes from outside. It cannot be read but through here.
pub(super) fn timed(incoming: Incoming, pace: Pace, guest: &Arc<Guest>) -> Body {
    let unread = !incoming.is_end_stream();
    guest.has_body(unread);
    if unread { Body::new(Timed { incoming, wait: Wait::new(pace), guest: guest.clone() }) } else { Body::empty() }
}

struct Timed {
    incoming: Incoming,
    wait: Wait,
    guest: Arc<Guest>,
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(context) else {
            self.guest.theirs();
            ready!(self.wait.poll(context));
            return Poll::Ready(Some(Err(TooSlow.into())));
        };
        match &frame {
            Some(Ok(frame)) => self.wait.moved(frame.data_ref().map_or(0, Bytes::len)),
            Some(Err(_)) => {}
            None => self.guest.has_body(false),
        }
        if self.incoming.is_end_stream() {
            self.guest.has_body(false);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        // Whether it was read or not: from now on the client waits for us.
        self.guest.ours();
    }
}

/// An answer on its way, which tells when all of it was handed over.
pub(super) struct Answering {
    pub(super) body: Body,
    pub(super) guest: Arc<Guest>,
    /// Its client does not hold the connection after it.
    pub(super) of_proxy: bool,
}

impl HttpBody for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.guest.answered();
        if self.of_proxy {
            let _has_left = self.guest.is_asked_for(None);
        }
    }
}
