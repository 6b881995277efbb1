//! Black-box suites live in `main.rs`.
