//! Choices for generated programs, from a seed or from a tape.

use sapwood_types::Rng;

/// A source of choices: a random number generator, or a tape of bytes.
///
/// A shorter tape with smaller bytes gives a smaller program, so that proptest and fuzzers can shrink it. Zeros are the simplest
/// choices; the end of the tape is followed by zeros.
pub struct ChoiceSource {
    rng: Rng,
    tape: Option<std::vec::IntoIter<u8>>,
    /// True for programs without the constructs that [`plain_program`](super::plain_program) leaves out.
    pub(super) plain: bool,
}

impl ChoiceSource {
    /// Creates a source of choices from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), tape: None, plain: false }
    }

    /// Creates a source of choices for a plain program from a seed.
    pub(super) fn plain(seed: u64) -> Self {
        Self { plain: true, ..Self::new(seed) }
    }

    /// Creates a source of choices from a tape.
    #[must_use]
    pub fn from_tape(tape: &[u8]) -> Self {
        Self { rng: Rng::new(0), tape: Some(Vec::from(tape).into_iter()), plain: false }
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        if let Some(tape) = &mut self.tape {
            return (0..8).fold(0, |number, _| number << 8 | u64::from(tape.next().unwrap_or(0)));
        }
        self.rng.bits()
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        if let Some(tape) = &mut self.tape
            && limit <= 256
        {
            return usize::from(tape.next().unwrap_or(0)) % limit.max(1);
        }
        (self.number() % limit.max(1) as u64) as usize
    }

    /// Returns an item of a list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns true with a probability of one in `n`.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
