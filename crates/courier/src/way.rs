//! The way to a server: its name is looked up, addresses that are not allowed are left out, and one of those that are left
//! is connected to. What was judged is what is reached, whatever a second look-up would say.

use crate::places::Places;
use hyper::Uri;
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::net::{TcpStream, lookup_host};
use tower_service::Service;

#[derive(Debug, Clone)]
pub(crate) struct Way(pub(crate) Arc<Places>);

impl Service<Uri> for Way {
    type Response = TokioIo<TcpStream>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let places = self.0.clone();
        Box::pin(async move {
            let host = uri.host().ok_or_else(|| Error::new(ErrorKind::InvalidInput, "the URL names no host"))?;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
            let found: Vec<_> = lookup_host((host, uri.port_u16().unwrap_or(usual))).await?.collect();
            let mut last = None;
            for address in found.iter().filter(|address| places.allow(address.ip())) {
                match TcpStream::connect(address).await {
                    Ok(stream) => return Ok(TokioIo::new(stream)),
                    Err(error) => last = Some(error),
                }
            }
            Err(last.unwrap_or_else(|| match found.first() {
                // What a name stands for in this network is nobody's to learn.
                Some(_) => Error::new(
                    ErrorKind::PermissionDenied,
                    format!("{host} is not an address of the world, nor in a network of Webhooks:AllowNetworks"),
                ),
                None => Error::new(ErrorKind::NotFound, "the host has no address"),
            }))
        })
    }
}
