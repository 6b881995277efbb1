//! Which addresses may be spoken to: those of the world, and networks that the operator names.
//!
//! Whoever may say where something is sent could else have this server ask what only it can reach: itself, its neighbours, and
//! what clouds keep for it alone. An address within another one is judged as that which it stands for.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks beside those of the world.
#[derive(Debug, Clone, Default)]
pub struct Places(Vec<IpNet>);

impl Places {
    pub fn and(allowed: Vec<IpNet>) -> Self {
        Self(allowed)
    }

    pub fn allow(&self, address: IpAddr) -> bool {
        let address = meant(address);
        is_of_the_world(address) || self.0.iter().any(|network| network.contains(&address))
    }
}

/// The address that is reached by this one: some of the sixth version stand for one of the fourth.
fn meant(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let of = |[high, low]: [u16; 2]| {
        let [[one, two], [three, four]] = [high.to_be_bytes(), low.to_be_bytes()];
        IpAddr::V4(Ipv4Addr::new(one, two, three, four))
    };
    match six.segments() {
        // Mapped, by NAT64, and compatible.
        [0, 0, 0, 0, 0, 0xffff, last @ ..] | [0x64, 0xff9b, 0, 0, 0, 0, last @ ..] => of(last),
        [0, 0, 0, 0, 0, 0, last @ ..] if six != Ipv6Addr::LOCALHOST && six != Ipv6Addr::UNSPECIFIED => of(last),
        // 6to4.
        [0x2002, high, low, ..] => of([high, low]),
        _ => address,
    }
}

fn is_of_the_world(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            let [a, b, c, _] = four.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let of_protocols = (a, b, c) == (192, 0, 0);
            let of_benchmarks = a == 198 && (b == 18 || b == 19);
            !(four.is_private()
                || four.is_loopback()
                || four.is_link_local()
                || four.is_multicast()
                || four.is_documentation()
                || a == 0
                || a >= 240
                || shared
                || of_protocols
                || of_benchmarks)
        }
        // What is given out to be reached by everybody.
        IpAddr::V6(six) => {
            let [a, b, ..] = six.segments();
            // Tunnels are among these, which lead wherever their other end is.
            let of_protocols = a == 0x2001 && b < 0x0200;
            let of_documentation = (a, b) == (0x2001, 0x0db8) || (a == 0x3fff && b < 0x1000);
            a & 0xe000 == 0x2000 && !of_protocols && !of_documentation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_let_in_and_what_lies_behind_us_is_not() {
        let places = Places::default();
        for (address, is_allowed) in [
            ("93.184.215.14", true),
            ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", true),
            ("127.0.0.1", false),
            ("127.1.2.3", false),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("100.128.0.1", true),
            ("192.0.0.8", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("3fff:fff::1", false),
            ("3fff:1000::1", true),
            ("2001::7f00:1", false),
            ("2001:1ff::1", false),
            ("2001:200::1", true),
            // What stands for another one.
            ("::ffff:127.0.0.1", false),
            ("::ffff:93.184.215.14", true),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::5db8:d70e", true),
            ("2002:7f00:1::", false),
            ("2002:a9fe:a9fe::", false),
        ] {
            assert_eq!(places.allow(address.parse().unwrap()), is_allowed, "{address}");
        }
    }

    #[test]
    fn a_network_that_is_named_is_let_in_by_whichever_name() {
        let places = Places::and(vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        for (address, is_allowed) in
            [("127.0.0.1", true), ("::ffff:127.0.0.1", true), ("fd12::1", true), ("10.0.0.1", false), ("::1", false)]
        {
            assert_eq!(places.allow(address.parse().unwrap()), is_allowed, "{address}");
        }
    }
}
