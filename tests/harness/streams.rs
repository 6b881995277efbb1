//! Random streams of commands that drive the server and a model side by side.

use super::server::Said;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::fmt::Debug;

pub fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), TestCaseError> {
    if holds { Ok(()) } else { Err(TestCaseError::fail(why())) }
}

pub fn expect(said: Said, status: u16) -> Result<Said, TestCaseError> {
    ensure(said.status == status, || format!("{status} expected: {} {}", said.status, said.answer.text))?;
    Ok(said)
}

/// The same streams each time, so that a failure stays until it is mended; more of them with `DUET_MODEL_CASES`.
pub fn each_stream<S: Strategy>(streams: &S, run: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S::Value: Debug,
{
    let cases = std::env::var("DUET_MODEL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(8);
    let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(failure) = runner.run(streams, run) {
        panic!("{failure}");
    }
}
