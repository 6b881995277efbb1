//! Holds what two dialects, or two servers, answer to the same request side by side.
//!
//! A request is said once, without a dialect ([`neutral`]). What a dialect makes of it is read off its OpenAPI
//! document ([`dialect`]): path, company, body. Both answers are taken out of their wrapping ([`wrapping`], [`meaning`]) and
//! compared by path ([`difference`]); so is what they did to the books ([`pair`]). Owns: the one normaliser. Refuses:
//! to know a resource, or anything of a dialect that its document does not say.

mod alignment;
pub mod batch;
pub mod client;
pub mod conformity;
mod consequence;
pub mod curl;
pub mod declared;
pub mod dialect;
pub mod difference;
pub mod discretion;
pub mod document;
pub mod explore;
pub mod findings;
pub mod guide;
mod junit;
pub mod meaning;
pub mod neutral;
pub mod page;
pub mod pair;
pub mod recording;
pub mod report;
mod secrets;
pub mod shadow;
pub mod shrink;
pub mod translate;
pub mod twins;
pub mod wire;
pub mod wrapping;
