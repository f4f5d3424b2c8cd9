//! A small random number generator: the same numbers from the same seed, everywhere.

/// A random number generator: SplitMix64, or the bytes of a given tape.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
    // The rest of the tape, the next byte last.
    tape: Vec<u8>,
}

impl Rng {
    /// Creates a generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed, tape: Vec::new() }
    }

    /// Creates a generator whose choices are the bytes of a tape, one byte each where that is enough, and then
    /// the numbers of seed zero. A fuzzer that changes a byte changes one choice.
    #[must_use]
    pub fn from_tape(tape: &[u8]) -> Self {
        Self { state: 0, tape: tape.iter().rev().copied().collect() }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        if !self.tape.is_empty() {
            return self.read_tape(8);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn read_tape(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |sum, n| sum | u64::from(self.tape.pop().unwrap_or(0)) << (8 * n))
    }

    /// Returns a number below `n`; zero if `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        let bits = match n {
            ..=0x100 if !self.tape.is_empty() => self.read_tape(1),
            ..=0x1_0000 if !self.tape.is_empty() => self.read_tape(2),
            _ => self.bits(),
        };
        (bits % n as u64) as usize
    }

    /// Returns true once in `n` times on average.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns a random element of a list; `None` if it is empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())]) }
    }
}
