//! Who may hold a connection: the one place that lets them in, and sends them away.
//!
//! Everybody takes what is free. Where it runs short, whoever holds most gives way first, with the connection that has
//! waited longest for its client: strangers before those who are signed in, and of these only what is idle. Nobody is sent
//! away while it is we who work. Where nobody can give way, the newcomer is told so.

use super::guest::{Doing, Guest};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) all: usize,
    /// On which nobody has signed in yet.
    pub(crate) strangers: usize,
    /// Of one address.
    pub(crate) of_address: usize,
}

/// Where somebody comes from: an IPv4 address, or the 64 bits of an IPv6 address that one customer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Network(IpAddr);

impl Network {
    pub(super) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            IpAddr::V4(address) => address.into(),
        })
    }
}

/// What a connection counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counted {
    /// Nothing of a proxy of ours whose client is not known, or is none at the moment.
    network: Option<Network>,
    stranger: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    all: usize,
    strangers: usize,
}

#[derive(Default)]
struct State {
    last: u64,
    there: HashMap<u64, (Arc<Guest>, Counted)>,
    of: HashMap<Network, Count>,
    strangers: usize,
}

pub(crate) struct Admission {
    places: Places,
    state: Mutex<State>,
}

/// A place among the connections, as long as this is held.
pub(super) struct Place {
    id: u64,
    admission: Weak<Admission>,
    guest: Arc<Guest>,
}

impl Admission {
    pub(crate) fn new(places: Places) -> Arc<Self> {
        Arc::new(Self { places, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets somebody in; nobody where there is no place. `None` stands for a proxy of ours, which comes for many.
    pub(super) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Place> {
        let mut state = self.state();
        let counted = Counted { network: address.map(Network::of), stranger: address.is_some() };
        state.make_room(self.places, counted, None)?;
        state.last += 1;
        let id = state.last;
        let guest = Arc::new(Guest::new(id, Arc::downgrade(self)));
        state.enter(guest.clone(), counted);
        Some(Place { id, admission: Arc::downgrade(self), guest })
    }

    /// A proxy of ours asks for a client: for that long its connection counts as one of that client's.
    pub(super) fn is_asked_for(&self, id: u64, client: Option<IpAddr>) -> bool {
        let mut state = self.state();
        let counted = Counted { network: client.map(Network::of), stranger: client.is_some() };
        let Some(guest) = state.leave(id) else { return false };
        let room = match client {
            Some(_) => state.make_room(self.places, counted, Some(id)).is_some(),
            None => true,
        };
        let none = Counted { network: None, stranger: false };
        state.enter(guest, if room { counted } else { none });
        room
    }

    /// Somebody signed in on a connection.
    pub(super) fn knows(&self, id: u64) {
        let mut state = self.state();
        let Some((_, counted)) = state.there.get(&id) else { return };
        let counted = Counted { stranger: false, ..*counted };
        if let Some(guest) = state.leave(id) {
            state.enter(guest, counted);
        }
    }

    /// Sends somebody away, where anybody can go at all: the process has run out of something.
    pub(super) fn shrink(&self) {
        self.state().send_away(|_| true);
    }
}

impl State {
    fn enter(&mut self, guest: Arc<Guest>, counted: Counted) {
        self.count(counted, usize::checked_add);
        self.there.insert(guest.id, (guest, counted));
    }

    fn leave(&mut self, id: u64) -> Option<Arc<Guest>> {
        let (guest, counted) = self.there.remove(&id)?;
        self.count(counted, usize::checked_sub);
        Some(guest)
    }

    fn count(&mut self, counted: Counted, change: impl Fn(usize, usize) -> Option<usize>) {
        let stranger = usize::from(counted.stranger);
        self.strangers = change(self.strangers, stranger).unwrap_or(self.strangers);
        if let Some(network) = counted.network {
            let count = self.of.entry(network).or_default();
            count.all = change(count.all, 1).unwrap_or(count.all);
            count.strangers = change(count.strangers, stranger).unwrap_or(count.strangers);
            if count.all == 0 {
                self.of.remove(&network);
            }
        }
    }

    fn held_by(&self, counted: Counted) -> Count {
        counted.network.and_then(|network| self.of.get(&network)).copied().unwrap_or_default()
    }

    /// Room for one more, made by others where it must be. A connection that is there already needs none of its own.
    fn make_room(&mut self, places: Places, newcomer: Counted, there: Option<u64>) -> Option<()> {
        if newcomer.network.is_some() && self.held_by(newcomer).all >= places.of_address {
            self.send_away(|counted| counted.network == newcomer.network)?;
        }
        if newcomer.stranger && self.strangers >= places.strangers {
            self.send_away(|counted| counted.stranger)?;
        }
        if there.is_none() && self.there.len() >= places.all {
            self.send_away(|_| true)?;
        }
        Some(())
    }

    /// Sends one of these away. It does not count any more from this moment on.
    fn send_away(&mut self, of_these: impl Fn(Counted) -> bool) -> Option<()> {
        let rank = |(guest, counted): &(Arc<Guest>, Counted)| {
            let (doing, since) = guest.doing();
            let may_go = match doing {
                Doing::Ours => false,
                Doing::Idle => true,
                Doing::Theirs => counted.stranger,
            };
            let held = self.held_by(*counted);
            let held = if counted.stranger { held.strangers } else { held.all };
            (may_go && of_these(*counted)).then_some((counted.stranger, held, std::cmp::Reverse(since)))
        };
        let ranked = self.there.iter().filter_map(|(id, one)| Some((rank(one)?, *id)));
        let (_, id) = ranked.max_by_key(|(rank, _)| *rank)?;
        self.leave(id)?.send_away();
        Some(())
    }
}

impl Place {
    /// Of somebody who counts nowhere, and is let in only to be told so.
    pub(super) fn outside() -> Self {
        Self { id: 0, admission: Weak::new(), guest: Arc::new(Guest::new(0, Weak::new())) }
    }

    pub(super) fn guest(&self) -> &Arc<Guest> {
        &self.guest
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(admission) = self.admission.upgrade() {
            admission.state().leave(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_kit::request::Presence;

    const HALF: Places = Places { all: 8, strangers: 4, of_address: 3 };

    fn from(admission: &Arc<Admission>, address: &str) -> Option<Place> {
        admission.admit(Some(address.parse().unwrap()))
    }

    fn is_gone(place: &Place) -> bool {
        place.guest.is_sent_away()
    }

    #[test]
    fn an_address_makes_room_for_its_own() {
        let admission = Admission::new(HALF);
        let first: Vec<Place> = (0..3).map(|_| from(&admission, "10.0.0.1").unwrap()).collect();
        let fourth = from(&admission, "10.0.0.1").unwrap();
        assert_eq!(first.iter().map(is_gone).collect::<Vec<_>>(), [true, false, false], "the one that waited longest");
        // While we work for all of them, the newcomer has to go.
        for place in first.iter().skip(1).chain([&fourth]) {
            place.guest.ours();
        }
        assert!(from(&admission, "10.0.0.1").is_none());
        assert!(from(&admission, "10.0.0.2").is_some());
    }

    #[test]
    fn the_64_bits_of_a_customer_are_one_address() {
        let admission = Admission::new(HALF);
        let held: Vec<Place> = (1..=3).map(|host| from(&admission, &format!("2001:db8::{host}")).unwrap()).collect();
        let fourth = from(&admission, "2001:db8::ffff:4").unwrap();
        assert!(is_gone(&held[0]) && !is_gone(&fourth));
        assert_eq!(Network::of("::ffff:10.0.0.1".parse().unwrap()), Network::of("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn strangers_leave_places_to_those_who_are_signed_in_and_the_greediest_goes_first() {
        let admission = Admission::new(HALF);
        let known: Vec<Place> = (0..2).map(|_| from(&admission, "10.0.0.9").unwrap()).collect();
        for place in &known {
            place.guest.signed_in();
        }
        let modest = from(&admission, "10.0.0.1").unwrap();
        let greedy: Vec<Place> = (0..3).map(|_| from(&admission, "10.0.0.2").unwrap()).collect();
        // Four strangers are all there may be.
        let newcomer = from(&admission, "10.0.0.3").unwrap();
        assert_eq!(greedy.iter().map(is_gone).collect::<Vec<_>>(), [true, false, false]);
        assert!(!is_gone(&modest) && !is_gone(&newcomer) && !known.iter().any(is_gone));
    }

    #[test]
    fn who_is_signed_in_gives_way_only_while_idle() {
        let places = Places { all: 2, strangers: 2, of_address: 2 };
        let admission = Admission::new(places);
        let held: Vec<Place> = ["10.0.0.1", "10.0.0.2"].map(|address| from(&admission, address).unwrap()).into();
        for place in &held {
            place.guest.signed_in();
            place.guest.ours();
            place.guest.theirs();
        }
        assert!(from(&admission, "10.0.0.3").is_none(), "both are in the midst of a request");
        held[1].guest.answered();
        held[1].guest.flushed();
        assert!(from(&admission, "10.0.0.3").is_some() && is_gone(&held[1]) && !is_gone(&held[0]));
    }

    #[test]
    fn a_proxy_comes_for_many_and_each_of_them_counts() {
        let places = Places { all: 8, strangers: 8, of_address: 1 };
        let admission = Admission::new(places);
        let proxied: Vec<Place> = (0..4).map(|_| admission.admit(None).unwrap()).collect();
        let asks = |place: &Place, client: &str| {
            place.guest.ours();
            admission.is_asked_for(place.id, Some(client.parse().unwrap()))
        };
        assert!(asks(&proxied[0], "10.0.0.1") && asks(&proxied[1], "10.0.0.2"));
        assert!(!asks(&proxied[2], "10.0.0.1"), "one place is what an address has");
        assert!(admission.is_asked_for(proxied[0].id, None));
        assert!(asks(&proxied[2], "10.0.0.1"));
    }

    #[test]
    fn what_ends_is_counted_no_more() {
        let admission = Admission::new(HALF);
        for round in 0..100 {
            let held: Vec<Place> =
                (0..8).filter_map(|host| from(&admission, &format!("10.0.{round}.{host}"))).collect();
            held.first().unwrap().guest.signed_in();
        }
        let state = admission.state();
        assert!(state.there.is_empty() && state.of.is_empty() && state.strangers == 0);
    }
}
