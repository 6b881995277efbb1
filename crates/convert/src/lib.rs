//! How books of before come into a new database, and how books change engines.
//!
//! Owns: the steps that schemas went through before there was one first schema, and how rows are read, carried through these
//! steps and written anew. Refuses: to know what rows mean, and what proves them; whoever asks brings a hand that seals.
//!
//! The old books are only read, in one snapshot. Their rows are copied at their own version into a scratch file, where the
//! rest of the steps run; from there they go table by table into the new database, as the first schema has them. That is
//! marked as unfinished from its first statement to its last, and no server takes it as long as it is.

pub mod codes;
mod facts;
mod lean;
mod months;
mod place;
mod rows;
mod standing;
pub mod steps;
mod taking;
mod taxes;

pub use place::Place;
pub use rows::{Hand, Progress, Written};
pub use taking::{Columns, Kept, Seals, Taken, check_same, compare, finish, put, remove_unfinished, step_up, take};
