//! The 128-bit structural hash: [`Mixer`] absorbs words in sequence, and [`HashSum`] adds up the contributions
//! of children. Both definitions are part of the stable interface: see [`HASH_VERSION`].

/// The version of the hash definition. It changes whenever the hash of any closed term changes.
pub const HASH_VERSION: u32 = 2;

/// The version of [`Mixer`] alone: other crates build their own hashes with it.
const MIXER_VERSION: u64 = 1;

/// A 128-bit structural hash. The 64-bit hash is its low half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Hash128 {
    /// The high half.
    pub hi: u64,
    /// The low half, which [`crate::hash`] returns.
    pub lo: u64,
}

impl Hash128 {
    /// Returns the hash as one number.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        (self.hi as u128) << 64 | self.lo as u128
    }
}

impl std::fmt::Display for Hash128 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}{:016x}", self.hi, self.lo)
    }
}

// Odd 64-bit constants: the fractional parts (the first made odd) of the square roots of 2, 3, 5, 7 and 11.
const C1: u64 = 0x6a09_e667_f3bc_c909;
const C2: u64 = 0xbb67_ae85_84ca_a73b;
const C3: u64 = 0x3c6e_f372_fe94_f82b;
const C4: u64 = 0xa54f_f53a_5f1d_36f1;
const C5: u64 = 0x510e_527f_ade6_82d1;

/// A running 128-bit hash state. Every step is invertible in the state for a fixed input and in the input for a
/// fixed state, so no step loses information; [`Mixer::finish`] spreads every bit.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    a: u64,
    b: u64,
}

impl Mixer {
    /// Creates the state for a domain (a tag, a type key, …).
    #[must_use]
    pub const fn new(domain: u64) -> Self {
        Self { a: C1, b: C2 ^ (MIXER_VERSION << 32) }.absorb(domain, C5)
    }

    /// Absorbs two words.
    #[must_use]
    #[inline]
    pub const fn absorb(self, x: u64, y: u64) -> Self {
        let a = (self.a ^ x).wrapping_mul(C3);
        let b = (self.b ^ y).wrapping_mul(C4);
        let a = (a ^ a >> 32).wrapping_add(b.rotate_left(23));
        let b = (b ^ b >> 29) ^ a.rotate_left(41);
        Self { a: a.wrapping_mul(C5) ^ C2, b: b.wrapping_add(C1) }
    }

    /// Absorbs a finished hash.
    #[must_use]
    #[inline]
    pub const fn absorb_hash(self, hash: Hash128) -> Self {
        self.absorb(hash.lo, hash.hi)
    }

    /// Absorbs bytes and their number.
    #[must_use]
    pub const fn absorb_bytes(self, bytes: &[u8]) -> Self {
        let mut state = self.absorb(bytes.len() as u64, C4);
        let mut rest = bytes;
        while let Some((chunk, tail)) = rest.split_first_chunk::<16>() {
            let word = u128::from_le_bytes(*chunk);
            state = state.absorb(word as u64, (word >> 64) as u64);
            rest = tail;
        }
        if !rest.is_empty() {
            let mut word = 0u128;
            let mut i = 0;
            while i < rest.len() {
                word |= (rest[i] as u128) << (8 * i);
                i += 1;
            }
            state = state.absorb(word as u64, (word >> 64) as u64);
        }
        state
    }

    /// Returns the hash of everything absorbed.
    #[must_use]
    #[inline]
    pub const fn finish(self) -> Hash128 {
        let s = self.absorb(C3, C1);
        Hash128 {
            hi: mix_bits(s.b ^ s.a.rotate_left(19)),
            lo: mix_bits(s.a.wrapping_add(s.b.rotate_left(37))),
        }
    }
}

/// The sum of the contributions of a node's children, in any order. Each child is mixed with a key of its
/// position, and the products are added up. So no child waits for another one, and a walk may go in either
/// direction without storing intermediate results.
#[derive(Clone, Copy, Debug)]
pub struct HashSum {
    total: u128,
}

/// The hash key of a position among children.
#[derive(Clone, Copy, Debug)]
pub struct ChildPosition {
    lo: u64,
    hi: u64,
}

impl ChildPosition {
    /// Returns the key of the child at `index`.
    #[must_use]
    #[inline]
    pub const fn of(index: usize) -> Self {
        if index < FIRST_POSITIONS.len() { FIRST_POSITIONS[index] } else { Self::computed(index) }
    }

    const fn computed(index: usize) -> Self {
        let lo = (index as u64).wrapping_mul(C3).wrapping_add(C1);
        let lo = (lo ^ lo >> 32).wrapping_mul(C5);
        let hi = (lo ^ lo >> 29 ^ C2).wrapping_mul(C4);
        Self { lo, hi: hi ^ hi >> 32 }
    }
}

/// Precomputed keys of the first 16 positions; most nodes have at most 16 children.
static FIRST_POSITIONS: [ChildPosition; 16] = {
    let mut all = [ChildPosition { lo: 0, hi: 0 }; 16];
    let mut index = 0;
    while index < all.len() {
        all[index] = ChildPosition::computed(index);
        index += 1;
    }
    all
};

/// The position of the number of children.
const COUNT_POSITION: ChildPosition = ChildPosition::of(usize::MAX);
/// The position of a contribution that is not a child.
const EXTRA_POSITION: ChildPosition = ChildPosition::of(usize::MAX - 1);

impl HashSum {
    /// Creates the sum for a domain (a tag, a type key, …) and the number of children.
    #[must_use]
    #[inline]
    pub const fn new(domain: Self, count: usize) -> Self {
        domain.add(COUNT_POSITION, Hash128 { hi: 1, lo: count as u64 })
    }

    /// Returns the domain that a mixer stands for.
    #[must_use]
    pub const fn domain(mixer: Mixer) -> Self {
        Self { total: mixer.absorb(HASH_VERSION as u64, C3).finish().as_u128() }
    }

    /// Adds the contribution of the child at a position.
    #[must_use]
    #[inline]
    pub const fn add(self, at: ChildPosition, part: Hash128) -> Self {
        let product = (part.lo ^ at.lo) as u128 * (part.hi ^ at.hi) as u128;
        Self { total: self.total.wrapping_add(product) }
    }

    /// Adds a contribution of the node that is not a child; at most once.
    #[must_use]
    pub const fn add_extra(self, part: Hash128) -> Self {
        self.add(EXTRA_POSITION, part)
    }

    /// Returns the hash of everything added.
    #[must_use]
    #[inline]
    pub const fn finish(self) -> Hash128 {
        let (a, b) = (self.total as u64, (self.total >> 64) as u64);
        let a = (a ^ a >> 32).wrapping_mul(C3);
        let b = (b ^ b >> 29).wrapping_mul(C4);
        let a = a.wrapping_add(b.rotate_left(23));
        let b = b ^ a.rotate_left(41);
        let lo = (a ^ a >> 31).wrapping_mul(C5);
        let hi = (b ^ b >> 31).wrapping_mul(C5);
        Hash128 { hi: hi ^ hi >> 32, lo: lo ^ lo >> 32 }
    }
}

/// Mixes the bits of a word: every output bit depends on every input bit, and the function is invertible.
#[inline]
const fn mix_bits(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(C5);
    let x = (x ^ x >> 29).wrapping_mul(C4);
    x ^ x >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_changes_about_half_of_the_output() {
        let base = Mixer::new(7).absorb(1, 2).absorb(3, 4);
        for word in 0..4 {
            for bit in 0..64 {
                let mut input = [1u64, 2, 3, 4];
                input[word] ^= 1 << bit;
                let other = Mixer::new(7).absorb(input[0], input[1]).absorb(input[2], input[3]);
                let flipped = (base.finish().as_u128() ^ other.finish().as_u128()).count_ones();
                assert!((32..=96).contains(&flipped), "word {word} bit {bit}: {flipped}");
            }
        }
    }

    #[test]
    fn one_flipped_bit_of_a_child_changes_about_half_of_the_output() {
        let of = |parts: [u64; 4]| {
            HashSum::new(HashSum::domain(Mixer::new(7)), 2)
                .add(ChildPosition::of(0), Hash128 { lo: parts[0], hi: parts[1] })
                .add(ChildPosition::of(1), Hash128 { lo: parts[2], hi: parts[3] })
                .finish()
                .as_u128()
        };
        for word in 0..4 {
            for bit in 0..64 {
                let mut parts = [1u64, 2, 3, 4];
                parts[word] ^= 1 << bit;
                let flipped = (of([1, 2, 3, 4]) ^ of(parts)).count_ones();
                assert!((32..=96).contains(&flipped), "word {word} bit {bit}: {flipped}");
            }
        }
    }

    /// Small numbers at neighbouring positions, the worst case in real programs.
    #[test]
    fn small_numbers_at_four_positions_do_not_collide() {
        let mut seen = std::collections::HashSet::new();
        for number in 0..20u64.pow(4) {
            let mut sum = HashSum::new(HashSum::domain(Mixer::new(2)), 4);
            for at in 0..4 {
                let lo = number / 20u64.pow(at) % 20;
                sum = sum.add(ChildPosition::of(at as usize), Hash128 { lo, hi: 0x23 });
            }
            assert!(seen.insert(sum.finish().lo), "{number}");
        }
    }

    #[test]
    fn the_order_of_adding_does_not_matter_and_the_position_does() {
        let (x, y) = (Hash128 { lo: 5, hi: 6 }, Hash128 { lo: 7, hi: 8 });
        let [first, second] = [0, 1].map(ChildPosition::of);
        let start = HashSum::domain(Mixer::new(1));
        let forth = start.add(first, x).add(second, y).finish();
        assert_eq!(forth, start.add(second, y).add(first, x).finish());
        assert_ne!(forth, start.add(first, y).add(second, x).finish());
    }

    #[test]
    fn bytes_know_their_length() {
        let h = |bytes: &[u8]| Mixer::new(0).absorb_bytes(bytes).finish();
        assert_ne!(h(b""), h(b"\0"));
        assert_ne!(h(b"\0"), h(b"\0\0"));
        assert_ne!(h(&[0; 16]), h(&[0; 17]));
    }
}
