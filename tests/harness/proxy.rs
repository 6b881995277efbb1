//! A wrapper around a server that answers in its place, and not always as it does.

use super::http::{Answer, Request};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// What is done to an answer on its way. One whose status becomes 0 is lost: the connection ends without a word.
pub type Fault = dyn Fn(&Request, &mut Answer) + Send + Sync;

/// Listens until the tests end.
pub fn start(server: SocketAddr, fault: Box<Fault>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let fault: Arc<Fault> = fault.into();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let fault = fault.clone();
            std::thread::spawn(move || pass(stream, server, &*fault));
        }
    });
    address
}

fn pass(mut stream: TcpStream, server: SocketAddr, fault: &Fault) {
    let Some(request) = read(&mut stream) else { return };
    let mut answer = request.send(server);
    fault(&request, &mut answer);
    if answer.status == 0 {
        return;
    }
    let mut head =
        format!("HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n", answer.status, answer.text.len());
    for (name, value) in &answer.headers {
        if !matches!(name.as_str(), "content-length" | "transfer-encoding" | "connection") {
            head += &format!("{name}: {value}\r\n");
        }
    }
    let _gone = stream.write_all((head + "\r\n" + &answer.text).as_bytes());
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let length = stream.read(&mut chunk).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&chunk[..length]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let of_length =
        |(name, value): &(String, String)| name.eq_ignore_ascii_case("content-length").then(|| value.clone());
    let length: usize = headers.iter().find_map(of_length).and_then(|length| length.parse().ok()).unwrap_or_default();
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        let count = stream.read(&mut chunk).ok().filter(|length| *length > 0)?;
        body.extend_from_slice(&chunk[..count]);
    }
    let own = ["host", "connection", "content-length"];
    let headers = headers.into_iter().filter(|(name, _)| !own.contains(&name.to_lowercase().as_str())).collect();
    Some(Request { method, path, headers, body: Some(body).filter(|body| !body.is_empty()) })
}
