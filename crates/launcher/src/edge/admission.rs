//! Who may hold a connection: the one place that lets them in, and sends them away.
//!
//! Everybody takes what is free. Where it runs short, whoever holds most gives way first, with the connection that has
//! waited longest for its client: strangers before those who are signed in, and of these only what is idle. But whoever
//! holds more than a fair share, as an account or as a company, gives way also in the midst of what it keeps us waiting
//! for: so nobody holds all places, from however many addresses, and there is one for everybody else. Nobody is sent away
//! while it is we who work. Where nobody can give way, the newcomer is told so.

use super::guest::{Doing, Guest};
use ledger_core::ids::{BusinessId, UserId};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) all: usize,
    /// On which nobody has signed in yet.
    pub(crate) strangers: usize,
    /// Of one address.
    pub(crate) of_address: usize,
    /// Of one account, whatever addresses and keys it has.
    pub(crate) of_account: usize,
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

/// Whose a connection was found to be: proved by what they signed in with, and in a company that they are a member of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Party {
    pub(super) account: UserId,
    pub(super) company: Option<BusinessId>,
}

/// What somebody is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// A proxy of ours, which asks for nobody at the moment.
    Ours,
    Strangers,
    Known(Party),
}

/// What a connection counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counted {
    /// Nothing of a proxy of ours whose client is not known, or is none at the moment.
    network: Option<Network>,
    whose: Whose,
}

impl Counted {
    fn of(client: Option<IpAddr>) -> Self {
        let whose = if client.is_some() { Whose::Strangers } else { Whose::Ours };
        Self { network: client.map(Network::of), whose }
    }

    fn is_strangers(self) -> bool {
        self.whose == Whose::Strangers
    }

    fn party(self) -> Option<Party> {
        match self.whose {
            Whose::Known(party) => Some(party),
            Whose::Ours | Whose::Strangers => None,
        }
    }
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
    accounts: HashMap<UserId, usize>,
    companies: HashMap<BusinessId, usize>,
    strangers: usize,
}

pub(crate) struct Admission {
    places: Places,
    state: Mutex<State>,
    left: Notify,
}

/// A place among the connections, as long as this is held.
pub(super) struct Place {
    id: u64,
    admission: Weak<Admission>,
    guest: Arc<Guest>,
}

impl Admission {
    pub(crate) fn new(places: Places) -> Arc<Self> {
        Arc::new(Self { places, state: Mutex::default(), left: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets somebody in; nobody where there is no place. `None` stands for a proxy of ours, which comes for many.
    pub(super) fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Place> {
        let mut state = self.state();
        let counted = Counted::of(address);
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
        let counted = Counted::of(client);
        let Some((guest, _)) = state.leave(id) else { return false };
        let room = match client {
            Some(_) => state.make_room(self.places, counted, Some(id)).is_some(),
            None => true,
        };
        state.enter(guest, if room { counted } else { Counted::of(None) });
        room
    }

    /// Somebody was found to be at the end of a connection. Whether there is a place for one more of theirs: else it
    /// stays a stranger's.
    pub(super) fn knows(&self, id: u64, party: Party) -> bool {
        let mut state = self.state();
        // It was sent away meanwhile.
        let Some((guest, counted)) = state.leave(id) else { return false };
        let is_full = state.held_by_account(party) >= self.places.of_account;
        let is_own = |counted: Counted| counted.party().is_some_and(|other| other.account == party.account);
        let room = !is_full || state.send_away(self.places, is_own).is_some();
        let whose = match counted.whose {
            _ if room => Whose::Known(party),
            Whose::Ours => Whose::Ours,
            Whose::Strangers | Whose::Known(_) => Whose::Strangers,
        };
        state.enter(guest, Counted { whose, ..counted });
        room
    }

    /// Sends somebody away, where anybody can go at all: the process has run out of something.
    pub(super) fn shrink(&self) {
        self.state().send_away(self.places, |_| true);
    }

    /// Resolves when somebody has left since it was last asked.
    pub(super) async fn is_left(&self) {
        self.left.notified().await;
    }
}

impl State {
    fn enter(&mut self, guest: Arc<Guest>, counted: Counted) {
        self.count(counted, usize::checked_add);
        self.there.insert(guest.id, (guest, counted));
    }

    fn leave(&mut self, id: u64) -> Option<(Arc<Guest>, Counted)> {
        let (guest, counted) = self.there.remove(&id)?;
        self.count(counted, usize::checked_sub);
        Some((guest, counted))
    }

    fn count(&mut self, counted: Counted, change: impl Fn(usize, usize) -> Option<usize>) {
        let stranger = usize::from(counted.is_strangers());
        self.strangers = change(self.strangers, stranger).unwrap_or(self.strangers);
        if let Some(network) = counted.network {
            let count = self.of.entry(network).or_default();
            count.all = change(count.all, 1).unwrap_or(count.all);
            count.strangers = change(count.strangers, stranger).unwrap_or(count.strangers);
            if count.all == 0 {
                self.of.remove(&network);
            }
        }
        let Some(Party { account, company }) = counted.party() else { return };
        one_of(&mut self.accounts, account, &change);
        if let Some(company) = company {
            one_of(&mut self.companies, company, &change);
        }
    }

    fn held_by(&self, counted: Counted) -> Count {
        counted.network.and_then(|network| self.of.get(&network)).copied().unwrap_or_default()
    }

    fn held_by_account(&self, party: Party) -> usize {
        self.accounts.get(&party.account).copied().unwrap_or_default()
    }

    fn held_by_company(&self, party: Party) -> usize {
        party.company.and_then(|company| self.companies.get(&company)).copied().unwrap_or_default()
    }

    /// Whether somebody holds more than would be left to them if one more were there.
    fn is_greedy(&self, places: Places, party: Party) -> bool {
        let share = |many: usize| (places.all / (many + 1)).max(1);
        self.held_by_account(party) > share(self.accounts.len())
            || self.held_by_company(party) > share(self.companies.len())
    }

    /// Room for one more, made by others where it must be. A connection that is there already needs none of its own.
    fn make_room(&mut self, places: Places, newcomer: Counted, there: Option<u64>) -> Option<()> {
        if newcomer.network.is_some() && self.held_by(newcomer).all >= places.of_address {
            self.send_away(places, |counted| counted.network == newcomer.network)?;
        }
        if newcomer.is_strangers() && self.strangers >= places.strangers {
            self.send_away(places, Counted::is_strangers)?;
        }
        if there.is_none() && self.there.len() >= places.all {
            self.send_away(places, |_| true)?;
        }
        Some(())
    }

    /// Sends one of these away. It does not count any more from this moment on.
    fn send_away(&mut self, places: Places, of_these: impl Fn(Counted) -> bool) -> Option<()> {
        let rank = |(guest, counted): &(Arc<Guest>, Counted)| {
            let (doing, since) = guest.doing();
            let (held, of_account) = match counted.whose {
                Whose::Ours => (0, 0),
                Whose::Strangers => (self.held_by(*counted).strangers, 0),
                // Whoever is in no company is one by themselves.
                Whose::Known(party) => {
                    let of_account = self.held_by_account(party);
                    (self.held_by_company(party).max(of_account), of_account)
                }
            };
            let is_greedy = counted.party().is_some_and(|party| self.is_greedy(places, party));
            let may_go = match doing {
                Doing::Ours => false,
                Doing::Idle => true,
                Doing::Theirs => counted.is_strangers() || is_greedy,
            };
            // Of those whom we know, what is idle goes before what is not.
            let is_idle = doing == Doing::Idle && counted.party().is_some();
            let rank = (counted.is_strangers(), held, of_account, is_idle, std::cmp::Reverse(since));
            (may_go && of_these(*counted)).then_some(rank)
        };
        let ranked = self.there.iter().filter_map(|(id, one)| Some((rank(one)?, *id)));
        let (_, id) = ranked.max_by_key(|(rank, _)| *rank)?;
        let (guest, _) = self.leave(id)?;
        guest.send_away();
        Some(())
    }
}

fn one_of<K: Eq + Hash>(all: &mut HashMap<K, usize>, one: K, change: impl Fn(usize, usize) -> Option<usize>) {
    let changed = change(all.get(&one).copied().unwrap_or_default(), 1).unwrap_or_default();
    if changed == 0 {
        all.remove(&one);
    } else {
        all.insert(one, changed);
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
            admission.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Places = Places { all: 8, strangers: 4, of_address: 3, of_account: 8 };

    fn party(account: u32, company: Option<u32>) -> Party {
        let id = |number: u32| format!("00000000-0000-7000-8000-{number:012x}");
        let company = company.map(|company| BusinessId::parse(&id(company)).unwrap());
        Party { account: UserId::parse(&id(account)).unwrap(), company }
    }

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
            assert!(place.guest.is_of(party(1, None)));
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
        let places = Places { all: 2, strangers: 2, of_address: 2, of_account: 2 };
        let admission = Admission::new(places);
        let held: Vec<Place> = ["10.0.0.1", "10.0.0.2"].map(|address| from(&admission, address).unwrap()).into();
        for (account, place) in (1..).zip(&held) {
            assert!(place.guest.is_of(party(account, None)));
            place.guest.ours();
            place.guest.theirs();
        }
        assert!(from(&admission, "10.0.0.3").is_none(), "both are in the midst of a request");
        held[1].guest.answered();
        held[1].guest.flushed();
        assert!(from(&admission, "10.0.0.3").is_some() && is_gone(&held[1]) && !is_gone(&held[0]));
    }

    #[tokio::test]
    async fn whoever_waits_for_room_hears_of_the_next_who_leaves() {
        let admission = Admission::new(HALF);
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|address| from(&admission, address).unwrap());
        let hears = admission.is_left();
        let mut hears = std::pin::pin!(hears);
        assert!(polled(hears.as_mut()).is_pending());
        drop(one);
        hears.await;
        // However many left meanwhile, it is one word, and it waits for whoever asks.
        drop(other);
        admission.is_left().await;
        assert!(polled(std::pin::pin!(admission.is_left())).is_pending());
    }

    fn polled<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> std::task::Poll<T> {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }

    #[test]
    fn a_proxy_comes_for_many_and_each_of_them_counts() {
        let places = Places { all: 8, strangers: 8, of_address: 1, of_account: 8 };
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

    /// Somebody in the midst of a request that the client draws out.
    fn busy(admission: &Arc<Admission>, address: &str, party: Party) -> Option<Place> {
        let place = from(admission, address)?;
        place.guest.ours();
        if !place.guest.is_of(party) {
            return None;
        }
        place.guest.theirs();
        Some(place)
    }

    #[test]
    fn an_account_has_its_share_from_however_many_addresses() {
        let places = Places { all: 16, strangers: 16, of_address: 4, of_account: 6 };
        let admission = Admission::new(places);
        // Whatever company it names, and whatever key it uses.
        let addresses = (1..=8).map(|host| format!("10.0.0.{host}"));
        let held: Vec<Option<Place>> = (0..)
            .zip(addresses)
            .map(|(number, address)| busy(&admission, &address, party(1, Some(number % 2))))
            .collect();
        assert_eq!(
            held.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, true, true, true, true, true, false, false]
        );
        assert_eq!(admission.state().accounts.len(), 1);
        // One of its own that is idle gives way, and others have places anyway.
        let first = held[0].as_ref().unwrap();
        first.guest.answered();
        first.guest.flushed();
        assert!(busy(&admission, "10.0.0.9", party(1, None)).is_some() && is_gone(first));
        assert!((2..6).all(|account| busy(&admission, "10.0.1.1", party(account, None)).is_some()));
    }

    #[test]
    fn who_draws_out_all_there_is_makes_room_for_everybody_else() {
        let places = Places { all: 12, strangers: 12, of_address: 12, of_account: 12 };
        let admission = Admission::new(places);
        let greedy: Vec<Place> =
            (0..12).map(|number| busy(&admission, &format!("10.0.{number}.1"), party(1, None)).unwrap()).collect();
        let modest: Vec<Place> =
            (2..=4).map(|account| busy(&admission, "10.1.0.1", party(account, None)).unwrap()).collect();
        assert_eq!(greedy.iter().filter(|place| is_gone(place)).count(), 3);
        assert!(greedy.iter().take(3).all(is_gone), "those that waited longest");
        assert!(!modest.iter().any(is_gone));
        // What we work for is not given up.
        for place in &greedy {
            place.guest.ours();
        }
        assert!(busy(&admission, "10.1.0.1", party(5, None)).is_none());
    }

    #[test]
    fn a_company_of_many_makes_room_for_others() {
        let places = Places { all: 12, strangers: 12, of_address: 12, of_account: 12 };
        let admission = Admission::new(places);
        let many: Vec<Place> =
            (1..=12).map(|account| busy(&admission, "10.0.0.1", party(account, Some(1))).unwrap()).collect();
        let other = busy(&admission, "10.0.0.2", party(99, Some(2))).unwrap();
        assert_eq!(many.iter().filter(|place| is_gone(place)).count(), 1);
        // Until both have the same.
        let others: Vec<Place> =
            (100..105).map(|account| busy(&admission, "10.0.0.2", party(account, Some(2))).unwrap()).collect();
        assert_eq!(many.iter().filter(|place| is_gone(place)).count(), 6);
        assert!(!is_gone(&other) && !others.iter().any(is_gone));
    }

    #[test]
    fn what_ends_is_counted_no_more() {
        let admission = Admission::new(HALF);
        for round in 0..100 {
            let held: Vec<Place> =
                (0..8).filter_map(|host| from(&admission, &format!("10.0.{round}.{host}"))).collect();
            for (number, place) in (0..).zip(held.iter().filter(|place| !is_gone(place))) {
                assert!(place.guest.is_of(party(number % 2, Some(number % 3))));
                // The next request on it is somebody else's.
                assert!(place.guest.is_of(party(number % 2 + 1, None)));
            }
        }
        let state = admission.state();
        assert!(state.there.is_empty() && state.of.is_empty() && state.strangers == 0);
        assert!(state.accounts.is_empty() && state.companies.is_empty());
    }
}
