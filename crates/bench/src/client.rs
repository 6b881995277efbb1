//! An HTTP client that costs little: the load comes from the same two cores as the server.

use crate::Result;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&self.body)?)
    }
}

pub(crate) fn request(method: &str, path: &str, token: Option<&str>, business: Option<&str>, body: &str) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: bench\r\n");
    if let Some(token) = token {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    if let Some(business) = business {
        head += &format!("X-Business-Id: {business}\r\n");
    }
    if !body.is_empty() {
        head += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    (head + "\r\n" + body).into_bytes()
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16_384) })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.more().await?;
        };
        let text = std::str::from_utf8(self.buffer.get(..head).unwrap_or_default())?;
        let status = text.get(9..12).ok_or("no status")?.parse()?;
        let length = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
        });
        let end = head + 4 + length.ok_or("an answer without its length")?;
        while self.buffer.len() < end {
            self.more().await?;
        }
        Ok(Answer { status, body: self.buffer.get(head + 4..end).unwrap_or_default().to_vec() })
    }

    async fn more(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(())
    }
}
