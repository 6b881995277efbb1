//! People of a company: invited, and come in.

use super::http::{Answer, Request};
use super::server::{Company, Said};
use super::{Dialect, Server};
use ledger_core::clock::Clock;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

pub fn fresh_email(name: &str) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}-{}@example.test", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// Where somebody who was invited opens an account.
pub const ACCEPT: [(Dialect, &str); 2] =
    [(Dialect::A, "/a/api/Users/accept-invitation"), (Dialect::B, "/b/api/auth/accept-invitation")];

impl Server {
    /// Opens an account by a code, with a password that only its owner knows.
    pub fn accept(&self, dialect: Dialect, code: &str, password: &str) -> Answer {
        let (_, path) = ACCEPT.into_iter().find(|(known, _)| *known == dialect).expect("a path");
        self.send(&super::server::authorised(Request::new("POST", path), code).json(&json!({"password": password})))
    }
}

impl Company<'_> {
    /// Invites somebody; the code is in what is answered.
    pub fn invite(&self, dialect: Dialect, email: &str, permission: &str) -> Said {
        let body = json!({"email": email, "displayName": "A person", "memberships": [{"permissionId": permission}]});
        self.ask(dialect, "POST", "users", "", Some(&body))
    }

    /// A member with an account of their own, as the company sees them, and what they do there.
    pub fn joined(&self, email: &str, permission: &str, password: &str) -> (Value, Self) {
        let invited = self.invite(Dialect::B, email, permission).expect(201);
        let code = invited.data["invitationCode"].as_str().expect("a code").to_owned();
        self.server.accept(Dialect::B, &code, password).expect(200);
        let path = format!("/{}", invited.id());
        let made = self.ask(Dialect::B, "GET", "users", &path, None).expect(200).data;
        (made, Company { token: self.server.login(email, password), ..self.clone() })
    }

    /// Somebody with an account comes in with it.
    pub fn joins(&self, dialect: Dialect, token: &str, email: &str, permission: &str) -> Answer {
        let code = self.invite(dialect, email, permission).expect(201).data["invitationCode"].clone();
        let own = if dialect == Dialect::A { "/a/api/Users/me/invitations" } else { "/b/api/auth/me/invitations" };
        let request = super::server::authorised(Request::new("POST", own), token);
        self.server.send(&request.json(&json!({"invitationCode": code})))
    }
}

/// The step of codes that this machine is in, and the servers that it runs.
pub fn this_step() -> u64 {
    u64::try_from(Clock::system().now().micros()).unwrap() / 30_000_000
}

/// A step whose code is good at this moment, after one whose code is spent, however long ago that was.
pub fn next_step(spent: u64) -> u64 {
    Ord::max(this_step(), spent + 1)
}

/// The code of a secret at a step, reckoned here once more by the standard.
pub fn code(secret: &str, step: u64) -> String {
    let mut bits: Vec<bool> = Vec::new();
    for letter in secret.bytes() {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == letter).unwrap();
        bits.extend((0..5).rev().map(|bit| value >> bit & 1 == 1));
    }
    let key: Vec<u8> =
        bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let at = usize::from(tag.as_ref()[19] & 15);
    let four: [u8; 4] = tag.as_ref()[at..at + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
}
