//! What both dialects need of HTTP, written once.
//!
//! Owns: reading requests, the five handlers, the documents, the pages. Refuses: to know a resource or a
//! dialect by name.

pub mod body;
mod catalogue;
pub mod dialect;
pub mod failure;
mod handed;
pub mod handler;
pub mod openapi;
mod openapi_30;
pub mod pages;
mod prepared;
mod pretty;
pub mod quota;
pub mod request;
pub mod trace;
