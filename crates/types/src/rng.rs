//! A small random number generator: the same numbers from the same seed, everywhere.

/// SplitMix64, or numbers that a tape of bytes gives.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
    // What is left of the tape, the next byte last.
    tape: Vec<u8>,
}

impl Rng {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed, tape: Vec::new() }
    }

    /// A generator whose choices are the bytes of a tape, one each where that is enough; then those of seed zero. A
    /// fuzzer that changes a byte changes a choice.
    #[must_use]
    pub fn from_tape(tape: &[u8]) -> Self {
        Self { state: 0, tape: tape.iter().rev().copied().collect() }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        if !self.tape.is_empty() {
            return self.read(8);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn read(&mut self, bytes: u32) -> u64 {
        (0..bytes).fold(0, |sum, n| sum | u64::from(self.tape.pop().unwrap_or(0)) << (8 * n))
    }

    /// A number below `n`; zero if that is zero.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        let bits = match n {
            ..=0x100 if !self.tape.is_empty() => self.read(1),
            ..=0x1_0000 if !self.tape.is_empty() => self.read(2),
            _ => self.bits(),
        };
        (bits % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())]) }
    }
}
