//! An HTTP/1.1 client that asks as people's clients do, keeping its connection and taking compressed answers, and that can
//! also be rude.

use super::process::PATIENCE;
use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use futures_util::FutureExt;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What clients say that they take, in turn: a browser, a library, one that knows the newest alone, curl.
const ACCEPTED: [Option<&str>; 5] = [Some("gzip, deflate, br, zstd"), Some("gzip"), Some("br"), Some("zstd"), None];
static TURN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The connections that a test keeps.
    static KEPT: RefCell<Vec<(SocketAddr, TcpStream)>> = const { RefCell::new(Vec::new()) };
    /// Where a test asks from that asks a server of all tests.
    static FROM: Cell<Ipv4Addr> = const { Cell::new(Ipv4Addr::LOCALHOST) };
}

/// Servers of all tests.
static SHARED: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

/// Many tests ask this server, and are not to be counted as one client.
pub fn share(server: SocketAddr) {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).push(server);
}

/// From here on this test asks such servers from an address that no other has: what one guesses wrong is not counted against
/// the others. A thread that it begins does not.
pub fn ask_from_elsewhere() {
    static LAST: AtomicU16 = AtomicU16::new(0);
    let [high, low] = LAST.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    FROM.set(Ipv4Addr::new(127, 1, high, low));
    KEPT.take();
}

/// The address that this thread asks a server from.
pub fn asks_from(server: SocketAddr) -> Ipv4Addr {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner).contains(&server);
    if shared { FROM.get() } else { Ipv4Addr::LOCALHOST }
}

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

    /// Sends as people's clients do: over a connection that is kept, taking one compression or another.
    pub fn send(&self, address: SocketAddr) -> Answer {
        let mut request = self.clone();
        let says = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
        if let Some(accepted) = ACCEPTED[TURN.fetch_add(1, Ordering::Relaxed) % ACCEPTED.len()].filter(|_| !says) {
            request = request.header("Accept-Encoding", accepted);
        }
        let bytes = request.bytes("keep-alive");
        let kept = KEPT.with_borrow_mut(|kept| {
            let place = kept.iter().position(|(known, _)| *known == address)?;
            Some(kept.swap_remove(place).1)
        });
        // A connection that was kept may have been closed meanwhile, before anything of this was read.
        let again = kept.and_then(|stream| exchange(stream, &bytes).ok());
        let (answer, stream) = again.unwrap_or_else(|| {
            exchange(connect(address), &bytes).unwrap_or_else(|why| panic!("{} {}: {why}", self.method, self.path))
        });
        if answer.header("connection") != Some("close") {
            KEPT.with_borrow_mut(|kept| kept.push((address, stream)));
        }
        answer
    }

    /// Sends and leaves the answer to be read, or not.
    pub fn begin(&self, address: SocketAddr) -> TcpStream {
        let mut stream = connect(address);
        stream.write_all(&self.bytes("close")).expect("the server reads");
        stream
    }
}

/// One request and its answer; nothing where not a byte was answered.
fn exchange(mut stream: TcpStream, request: &[u8]) -> Result<(Answer, TcpStream), String> {
    stream.write_all(request).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    if !more(&mut stream, &mut bytes) {
        return Err("the connection ended before an answer".into());
    }
    // It tells the length of what it does not have.
    let rest = if request.starts_with(b"HEAD ") { Rest::None } else { Rest::Told };
    let answer = Answer::go_on(&mut stream, &mut bytes, rest);
    Ok((answer, stream))
}

pub fn connect(address: SocketAddr) -> TcpStream {
    connect_from(asks_from(address), address)
}

/// A connection from an address of this machine.
pub fn connect_from(own: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    // A port that is chosen before it is known for whom may be one that somebody is about to listen on.
    if own != Ipv4Addr::LOCALHOST {
        socket.bind(&SocketAddr::from((own, 0)).into()).expect("an address of this machine");
    }
    socket.connect(&to.into()).expect("the server listens");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(10))).expect("a timeout");
    stream
}

/// What follows a head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    /// As much as the head tells.
    Told,
    /// The same, or all that comes.
    All,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// How it was compressed on its way.
    pub coding: Option<String>,
    pub text: String,
}

impl Answer {
    /// Reads one answer from a connection, which stays open unless it is the last.
    pub fn read(stream: &mut impl Read, last: bool) -> Self {
        Self::go_on(stream, &mut Vec::new(), if last { Rest::All } else { Rest::Told })
    }

    /// The answers to several requests that were sent without waiting for any, in their order.
    pub fn read_several(stream: &mut TcpStream, count: usize) -> Vec<Self> {
        let mut bytes = Vec::new();
        (0..count).map(|_| Self::go_on(stream, &mut bytes, Rest::Told)).collect()
    }

    /// What is beyond the answer stays among the bytes.
    fn go_on(stream: &mut impl Read, bytes: &mut Vec<u8>, rest: Rest) -> Self {
        let head_end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            assert!(more(stream, bytes), "the connection ended within the head: {}", String::from_utf8_lossy(bytes));
        };
        let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        bytes.drain(..head_end + 4);
        let length =
            headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let length = match length {
            _ if rest == Rest::None => 0,
            _ if chunked => return Self::of(status, headers, unchunked(stream, bytes)),
            Some(length) => {
                while bytes.len() < length {
                    assert!(more(stream, bytes), "the connection ended within a body: {} of {length}", bytes.len());
                }
                length
            }
            None if rest == Rest::All => {
                while more(stream, bytes) {}
                bytes.len()
            }
            None => 0,
        };
        let body = bytes.drain(..length).collect();
        Self::of(status, headers, body)
    }

    /// An answer whose body is taken out of its compression.
    fn of(status: u16, mut headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let coding = headers.iter().position(|(name, _)| name == "content-encoding");
        let coding = coding.map(|place| headers.remove(place).1);
        let body = match coding.as_deref() {
            None => Some(body),
            Some("gzip") => plain(GzipDecoder::new(&body[..])),
            Some("br") => plain(BrotliDecoder::new(&body[..])),
            Some("zstd") => plain(ZstdDecoder::new(&body[..])),
            Some(_) => None,
        };
        let body = body.unwrap_or_else(|| panic!("{status} in {coding:?} is torn: {headers:?}"));
        Self { status, headers, coding, text: String::from_utf8_lossy(&body).into_owned() }
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

fn plain(mut decoder: impl AsyncRead + Unpin) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    decoder.read_to_end(&mut plain).now_or_never()?.ok()?;
    Some(plain)
}

/// The chunks of a body, put together; one that ends before its last chunk is no body.
fn unchunked(stream: &mut impl Read, bytes: &mut Vec<u8>) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
                break end;
            }
            assert!(more(stream, bytes), "the connection ended between chunks");
        };
        let length = std::str::from_utf8(&bytes[..head]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let length = length.expect("the length of a chunk");
        bytes.drain(..head + 2);
        while bytes.len() < length + 2 {
            assert!(more(stream, bytes), "the connection ended within a chunk");
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
