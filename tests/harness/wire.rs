//! A wire to PostgreSQL that can be cut, and that may go silent, at any request of a writer.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What happens on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Both ends learn that the connection ended.
    Cut,
    /// Both ends learn so by a reset.
    Reset,
    /// Nobody learns anything.
    Hang,
}

/// When it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The request does not reach the server.
    BeforeRequest,
    /// The server did what was asked; its answer does not come back.
    BeforeAnswer,
}

#[derive(Default)]
struct State {
    /// How many requests writers made since the last look.
    requests: usize,
    planned: Option<(usize, Side, Fault)>,
    /// How many faults have happened.
    happened: usize,
    /// Whether everything is silent, old connections and new ones.
    silent: bool,
    /// Whether nobody is let in.
    refusing: bool,
    open: Vec<TcpStream>,
}

/// A relay that listens until the tests end.
#[derive(Clone)]
pub struct Wire {
    pub address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Wire {
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let wire = Self { address, shared: Arc::default() };
        let serving = wire.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if serving.state().refusing {
                    continue;
                }
                let Ok(server) = TcpStream::connect(server) else { continue };
                let _slower_only = (client.set_nodelay(true), server.set_nodelay(true));
                serving.state().open.extend([&client, &server].map(|end| end.try_clone().expect("a handle")));
                let both = Both { client, server };
                let (there, back) = (serving.clone(), serving.clone());
                let (asked, answered) = (both.again(), both);
                let doomed = Arc::new(Mutex::new(Lot::default()));
                let lot = doomed.clone();
                std::thread::spawn(move || there.carry_requests(&asked, &doomed));
                std::thread::spawn(move || back.carry_answers(&answered, &lot));
            }
        });
        wire
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The URL of a database, by this wire.
    pub fn url(&self, direct: &str) -> String {
        let (place, database) = direct.rsplit_once('/').expect("a database");
        let (user, _) = place.rsplit_once('@').expect("a user");
        format!("{user}@{}/{database}?sslmode=disable", self.address)
    }

    /// Counts the requests of writers from now on, and plans a fault at one of them. The first is 1.
    pub fn plan(&self, fault: Option<(usize, Side, Fault)>) {
        let mut state = self.state();
        (state.requests, state.planned, state.happened) = (0, fault, 0);
    }

    pub fn requests(&self) -> usize {
        self.state().requests
    }

    /// Whether the planned fault has happened.
    pub fn happened(&self) -> bool {
        self.state().happened > 0
    }

    /// Ends every connection there is.
    pub fn cut_all(&self) {
        for end in self.state().open.drain(..) {
            let _gone = end.shutdown(Shutdown::Both);
        }
    }

    /// From now on nothing passes, in either direction, and whoever connects hears nothing; or everything passes again.
    pub fn silence(&self, silent: bool) {
        self.state().silent = silent;
        self.shared.1.notify_all();
    }

    /// From now on connections end at once; or they pass again.
    pub fn refuse(&self, refusing: bool) {
        self.state().refusing = refusing;
        if refusing {
            self.cut_all();
        }
    }

    /// Waits while nothing may pass.
    fn pass(&self) {
        let state = self.state();
        let _state = self.shared.1.wait_while(state, |state| state.silent).unwrap_or_else(PoisonError::into_inner);
    }

    fn carry_requests(&self, both: &Both, lot: &Mutex<Lot>) {
        let mut first = true;
        let mut writes = false;
        let (mut client, mut server) = (&both.client, &both.server);
        // What is sent together, up to the message that asks for an answer.
        let mut request = Vec::new();
        while let Some((kind, message)) = read(&mut client, first) {
            first = first && kind != START;
            request.extend_from_slice(&message);
            if !matches!(kind, b'Q' | b'S' | START | b'p' | b'X') {
                continue;
            }
            // By itself or with what stands first in it; a snapshot begins otherwise.
            let begins = |sql: &[u8]| sql.starts_with(b"BEGIN\0") || sql.starts_with(b"BEGIN;");
            writes |= kind == b'Q' && message.get(5..).is_some_and(begins);
            self.pass();
            if writes && matches!(kind, b'Q' | b'S') {
                let fault = {
                    let mut state = self.state();
                    state.requests += 1;
                    let due = state.planned.filter(|(at, _, _)| *at == state.requests);
                    state.happened += usize::from(due.is_some());
                    due
                };
                match fault {
                    Some((_, Side::BeforeRequest, fault)) => return both.suffer(fault),
                    Some((_, Side::BeforeAnswer, fault)) => {
                        lot.lock().unwrap_or_else(PoisonError::into_inner).fault = Some(fault);
                    }
                    None => {}
                }
            }
            if server.write_all(&request).is_err() {
                break;
            }
            request.clear();
        }
        both.suffer(Fault::Cut);
    }

    fn carry_answers(&self, both: &Both, lot: &Mutex<Lot>) {
        let (mut client, mut server) = (&both.client, &both.server);
        let mut chunk = [0_u8; 16 << 10];
        while let Ok(length @ 1..) = server.read(&mut chunk) {
            self.pass();
            if let Some(fault) = lot.lock().unwrap_or_else(PoisonError::into_inner).fault {
                // The server has done what it was asked once it is ready for more.
                let mut tail = chunk[..length].to_vec();
                while !tail.ends_with(b"Z\0\0\0\x05I")
                    && !tail.ends_with(b"Z\0\0\0\x05T")
                    && !tail.ends_with(b"Z\0\0\0\x05E")
                {
                    match server.read(&mut chunk) {
                        Ok(length @ 1..) => tail.extend_from_slice(&chunk[..length]),
                        _ => break,
                    }
                }
                return both.suffer(fault);
            }
            if client.write_all(&chunk[..length]).is_err() {
                break;
            }
        }
        both.suffer(Fault::Cut);
    }
}

#[derive(Default)]
struct Lot {
    fault: Option<Fault>,
}

/// The two ends of a connection.
struct Both {
    client: TcpStream,
    server: TcpStream,
}

impl Both {
    fn again(&self) -> Self {
        let again = |end: &TcpStream| end.try_clone().expect("a handle");
        Self { client: again(&self.client), server: again(&self.server) }
    }

    fn suffer(&self, fault: Fault) {
        if fault == Fault::Hang {
            return;
        }
        for end in [&self.client, &self.server] {
            if fault == Fault::Reset {
                // What was received and not read makes a reset of the end.
                let _plain = end.set_nonblocking(true);
            }
            let _gone = end.shutdown(Shutdown::Both);
        }
    }
}

/// The kind of a first message, which has none.
const START: u8 = 0;

/// One message of a client.
fn read(client: &mut &TcpStream, first: bool) -> Option<(u8, Vec<u8>)> {
    let mut head = vec![0; if first { 4 } else { 5 }];
    client.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes(head[head.len() - 4..].try_into().expect("four bytes"));
    let kind = if first { START } else { head[0] };
    let mut rest = vec![0; usize::try_from(length).ok()?.checked_sub(4)?];
    client.read_exact(&mut rest).ok()?;
    head.extend(rest);
    Some((kind, head))
}
