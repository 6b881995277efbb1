//! Clients in a closed loop: each asks again once it is answered. What they saw, and what the server spent on it.

use crate::Result;
use crate::client::Connection;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// What the kernel counts a process's time in, a second.
pub(crate) const TICKS: u64 = 100;

/// What clients ask, one after the other, and how each is to be answered.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) requests: Arc<Vec<Vec<u8>>>,
    pub(crate) status: u16,
}

impl Asked {
    pub(crate) fn of(requests: Vec<Vec<u8>>, status: u16) -> Self {
        Self { requests: Arc::new(requests), status }
    }
}

/// A server that is measured: where it listens, and the process that pays.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) address: SocketAddr,
    pub(crate) process: u32,
}

/// Answers a second, and microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) rate: u64,
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    /// What the server spent on one answer.
    pub(crate) spent: u64,
}

impl Seen {
    /// The middle of each.
    pub(crate) fn median(all: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> u64| {
            let mut sorted: Vec<u64> = all.iter().map(of).collect();
            sorted.sort_unstable();
            sorted.get(sorted.len() / 2).copied().unwrap_or(0)
        };
        Self {
            rate: middle(|seen| seen.rate),
            p50: middle(|seen| seen.p50),
            p99: middle(|seen| seen.p99),
            spent: middle(|seen| seen.spent),
        }
    }
}

/// The time that a process spent so far, its own and the system's for it, in ticks of the kernel.
pub(crate) fn ticks(process: u32) -> Result<u64> {
    let told = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // What the program is called may hold anything; the numbers come after it.
    let (_, numbers) = told.rsplit_once(')').ok_or("the kernel does not say what a process spent")?;
    let ticks = |place: usize| numbers.split_whitespace().nth(place).ok_or("no such number").map(str::parse::<u64>);
    Ok(ticks(11)?? + ticks(12)??)
}

/// The time of the processor that the threads of a process took so far, in microseconds. Of those that ended it tells nothing.
pub(crate) fn processor(process: u32) -> Result<u64> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        // One may end meanwhile.
        let Ok(told) = std::fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        nanoseconds +=
            told.split_whitespace().next().ok_or("the kernel does not say what a thread took")?.parse::<u64>()?;
    }
    Ok(nanoseconds / 1_000)
}

/// What a process holds of the memory, in megabytes.
pub(crate) fn megabytes(process: u32) -> Result<u64> {
    let told = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line =
        told.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the kernel does not say what it holds")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? >> 10)
}

/// One turn of so many clients for so long.
pub(crate) async fn turn(subject: Subject, asked: &Asked, clients: usize, length: Duration) -> Result<Seen> {
    let before = ticks(subject.process)?;
    let begun = Instant::now();
    // Whoever gives up a turn takes its clients along, and these their connections.
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let asked = asked.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(subject.address).await?;
            let mut took = Vec::new();
            let mut next = client;
            while begun.elapsed() < length {
                let sent = Instant::now();
                let request = asked.requests.get(next % asked.requests.len()).ok_or("nothing is asked")?;
                let answer = connection.send(request).await?;
                if answer.status != asked.status {
                    return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                }
                took.push(u64::try_from(sent.elapsed().as_micros())?);
                next += clients;
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        took.extend(ended??);
    }
    let (lasted, spent) = (u64::try_from(begun.elapsed().as_micros())?, ticks(subject.process)? - before);
    let many = u64::try_from(took.len())?;
    took.sort_unstable();
    let at = |hundredths: usize| took.get((took.len() * hundredths / 100).min(took.len().saturating_sub(1))).copied();
    Ok(Seen {
        rate: many * 1_000_000 / lasted.max(1),
        p50: at(50).unwrap_or(0),
        p99: at(99).unwrap_or(0),
        spent: spent * (1_000_000 / TICKS) / many.max(1),
    })
}

/// Several servers in turns, each first as often as the others; the middle of what was seen of each.
pub(crate) async fn in_turns(
    subjects: &[(Subject, Asked)],
    clients: usize,
    length: Duration,
    turns: usize,
) -> Result<Vec<Seen>> {
    let mut seen: Vec<Vec<Seen>> = vec![Vec::new(); subjects.len()];
    for round in 0..turns {
        for step in 0..subjects.len() {
            let place = (step + round) % subjects.len();
            if let (Some((subject, asked)), Some(seen)) = (subjects.get(place), seen.get_mut(place)) {
                seen.push(turn(*subject, asked, clients, length).await?);
            }
        }
    }
    Ok(seen.iter().map(|all| Seen::median(all)).collect())
}

/// Asks each thing once, so many at a time; what was answered, in their order.
pub(crate) async fn each_once(
    address: SocketAddr,
    requests: Vec<Vec<u8>>,
    status: u16,
    clients: usize,
) -> Result<Vec<Vec<u8>>> {
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (requests, next) = (requests.clone(), next.clone());
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await?;
                let mut answers = Vec::new();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(request) = requests.get(place) else { break };
                    let answer = connection.send(request).await?;
                    if answer.status != status {
                        return Err(String::from_utf8_lossy(&answer.body).into_owned().into());
                    }
                    answers.push((place, answer.body));
                }
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answers)
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.extend(task.await??);
    }
    answers.sort_unstable_by_key(|(place, _)| *place);
    Ok(answers.into_iter().map(|(_, body)| body).collect())
}
