//! Which traces the last requests were part of that may have written something, so that what comes of them is told as part of
//! the same. A trace that somebody else began is known here alone: after a restart, or so many writes later, what comes of a
//! request is told in a trace of its own.

use axum::http::Method;
use http_kit::request::Arrival;
use http_kit::trace::Trace;
use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};

/// As many are remembered.
const MOST: usize = 8_192;

#[derive(Default)]
struct Remembered {
    traces: HashMap<String, Trace>,
    order: VecDeque<String>,
}

impl Remembered {
    fn add(&mut self, request: &str, trace: &Trace) {
        if self.traces.insert(request.to_owned(), trace.clone()).is_none() {
            self.order.push_back(request.to_owned());
        }
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.traces.remove(&oldest);
            }
        }
    }
}

static REMEMBERED: LazyLock<Mutex<Remembered>> = LazyLock::new(Mutex::default);

/// Remembers a request, where it may write.
pub(crate) fn remember(method: &Method, arrival: &Arrival) {
    if !method.is_safe() {
        let mut all = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(&arrival.request_id, &arrival.trace);
    }
}

/// The trace of a request.
pub(super) fn of(request: &str) -> Option<Trace> {
    REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner).traces.get(request).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_remembered_and_no_more() {
        let mut all = Remembered::default();
        let trace = Trace::own("4bf92f3577b34da6a3ce929d0e0e4736");
        for number in 0..MOST + 2 {
            all.add(&number.to_string(), &trace);
            all.add(&number.to_string(), &trace);
        }
        assert_eq!((all.traces.len(), all.order.len()), (MOST, MOST));
        assert!(all.traces.contains_key("2") && !all.traces.contains_key("1"));
    }
}
