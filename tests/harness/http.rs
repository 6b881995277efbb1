//! A plain HTTP/1.1 client that can also be rude.

use super::process::PATIENCE;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), ..Self::default() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.text("application/json", &body.to_string())
    }

    pub fn text(mut self, media_type: &str, body: &str) -> Self {
        self.body = Some(body.as_bytes().to_vec());
        if media_type.is_empty() { self } else { self.header("Content-Type", media_type) }
    }

    /// The request as bytes, for those who want to send it in their own way.
    pub fn bytes(&self, connection: &str) -> Vec<u8> {
        let named = self.headers.iter().any(|(name, _)| name == "Host");
        let host = if named { "" } else { "Host: 127.0.0.1\r\n" };
        let mut head = format!("{} {} HTTP/1.1\r\n{host}Connection: {connection}\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = &self.body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut bytes = (head + "\r\n").into_bytes();
        bytes.extend(self.body.iter().flatten());
        bytes
    }

    pub fn send(&self, address: SocketAddr) -> Answer {
        Answer::read(&mut self.begin(address), true)
    }

    /// Sends and leaves the answer to be read, or not.
    pub fn begin(&self, address: SocketAddr) -> TcpStream {
        let mut stream = connect(address);
        stream.write_all(&self.bytes("close")).expect("the server reads");
        stream
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10))).expect("a timeout");
    stream
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl Answer {
    /// Reads one answer from a connection, which stays open unless it is the last.
    pub fn read(stream: &mut impl Read, last: bool) -> Self {
        let mut bytes = Vec::new();
        let head_end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            assert!(
                more(stream, &mut bytes),
                "the connection ended within the head: {}",
                String::from_utf8_lossy(&bytes)
            );
        };
        let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let mut body = bytes.split_off(head_end + 4);
        let length =
            headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        match length {
            _ if chunked => body = unchunked(stream, body),
            Some(length) => while body.len() < length && more(stream, &mut body) {},
            None if last => while more(stream, &mut body) {},
            None => {}
        }
        Self { status, headers, text: String::from_utf8_lossy(&body).into_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {} {:?}", self.status, self.text))
    }

    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

/// The chunks of a body, put together; one that ends before its last chunk is no body.
fn unchunked(stream: &mut impl Read, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
                break end;
            }
            assert!(more(stream, &mut bytes), "the connection ended between chunks");
        };
        let length = std::str::from_utf8(&bytes[..head]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let length = length.expect("the length of a chunk");
        bytes.drain(..head + 2);
        while bytes.len() < length + 2 {
            assert!(more(stream, &mut bytes), "the connection ended within a chunk");
        }
        body.extend(bytes.drain(..length));
        bytes.drain(..2);
        if length == 0 {
            return body;
        }
    }
}

fn more(stream: &mut impl Read, bytes: &mut Vec<u8>) -> bool {
    let mut chunk = [0_u8; 16 * 1024];
    match stream.read(&mut chunk) {
        Ok(0) | Err(_) => false,
        Ok(length) => {
            bytes.extend_from_slice(&chunk[..length]);
            true
        }
    }
}
