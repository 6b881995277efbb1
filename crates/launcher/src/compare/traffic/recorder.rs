//! What passed by, a line of JSON for each exchange, in a file.
//!
//! Nobody waits for it: what it cannot keep up with, or cannot write, is dropped and counted. A line is written in one go
//! and what was written of one that failed is taken back, so that a torn line is the last one, of whoever was ended.

use crate::console::warn;
use crate::edge::passing::Seen;
use crate::private;
use compare::shadow::Watched;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// So many exchanges wait to be written.
const MOST_WAITING: usize = 4096;
/// So many earlier files are kept.
const EARLIER: u32 = 9;
/// How often what was written is made sure of.
const SURE: Duration = Duration::from_secs(1);

pub(super) struct Recorder {
    send: SyncSender<Arc<Seen>>,
    watched: Arc<Watched>,
}

/// The end of a recorder, once all is written.
pub(super) struct End(oneshot::Receiver<()>);

impl End {
    pub(super) async fn within(self, time: Duration) {
        let _in_time = tokio::time::timeout(time, self.0).await;
    }
}

impl Recorder {
    /// Begins to write into a file, or to write on in it.
    pub(super) fn begin(path: &Path, most: u64, watched: &Arc<Watched>) -> Result<(Self, End), String> {
        let mut writer = Writer { path: path.to_owned(), most, file: None, sure: Instant::now() };
        writer.open().map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let (send, waiting) = sync_channel(MOST_WAITING);
        let (done, end) = oneshot::channel();
        let told = watched.clone();
        supervise::thread("the recorder", move || {
            writer.write_all(&waiting, &told);
            let _nobody_waits = done.send(());
        })
        .map_err(|error| format!("no thread for the recorder: {error}"))?;
        Ok((Self { send, watched: watched.clone() }, End(end)))
    }

    pub(super) fn keep(&self, seen: Arc<Seen>) {
        if self.send.try_send(seen).is_err() {
            self.watched.standing().not_recorded += 1;
        }
    }
}

struct Writer {
    path: PathBuf,
    /// How long a file may become.
    most: u64,
    /// The file, and how long it is.
    file: Option<(File, u64)>,
    sure: Instant,
}

impl Writer {
    fn write_all(&mut self, waiting: &Receiver<Arc<Seen>>, watched: &Watched) {
        let mut is_well = true;
        while let Ok(seen) = waiting.recv() {
            let line = serde_json::to_string(&seen.passed.line());
            drop(seen);
            let written = line.map_err(io::Error::from).and_then(|line| self.write((line + "\n").as_bytes()));
            let mut standing = watched.standing();
            match &written {
                Ok(()) => standing.recorded += 1,
                Err(_) => standing.not_recorded += 1,
            }
            drop(standing);
            if let (Err(error), true) = (&written, is_well) {
                let path = self.path.display();
                warn(&format!(
                    "{path} cannot be written: {error}; traffic goes on, and what passes by is not recorded"
                ));
            } else if written.is_ok() && !is_well {
                warn(&format!("{} is written again", self.path.display()));
            }
            is_well = written.is_ok();
        }
        if let Some((file, _)) = &self.file {
            let _as_far_as_it_goes = file.sync_data();
        }
    }

    fn open(&mut self) -> io::Result<()> {
        let mut file = private::append(&self.path)?;
        let length = file.metadata()?.len();
        self.file = None;
        // Whoever was ended in the middle of a line left it torn: the next one has a line of its own.
        let mut length = length;
        if length > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
                length += 1;
            }
        }
        self.file = Some((file, length));
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let size = line.len() as u64;
        if self.file.as_ref().is_some_and(|(_, length)| *length > 0 && length + size > self.most) {
            self.begin_anew()?;
        }
        if self.file.is_none() {
            self.open()?;
        }
        let Some((file, length)) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.write_all(line) {
            let _taken_back = file.set_len(*length);
            self.file = None;
            return Err(error);
        }
        *length += size;
        if self.sure.elapsed() >= SURE {
            file.sync_data()?;
            self.sure = Instant::now();
        }
        Ok(())
    }

    /// Puts the file aside, and those before it further.
    fn begin_anew(&mut self) -> io::Result<()> {
        if let Some((file, _)) = self.file.take() {
            file.sync_data()?;
        }
        let named = |number: u32| {
            let mut name = self.path.as_os_str().to_owned();
            if number > 0 {
                name.push(format!(".{number}"));
            }
            PathBuf::from(name)
        };
        for number in (0..EARLIER).rev() {
            match std::fs::rename(named(number), named(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.open()
    }
}
