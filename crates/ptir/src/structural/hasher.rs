//! A 128-bit mixer: two lanes of folded multiplication. Stable across processes and platforms.

/// Collects words and bytes into 128 bits.
#[derive(Clone)]
pub(super) struct Mixer {
    a: u64,
    b: u64,
}

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xc2b2_ae3d_27d4_eb4f;
const K2: u64 = 0x1656_67b1_9e37_79f9;

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product as u64) ^ (product >> 64) as u64
}

impl Mixer {
    /// A mixer for things of one kind; other kinds with the same content hash otherwise.
    pub(super) fn new(tag: u64) -> Self {
        let mut mixer = Self { a: K1, b: K2 };
        mixer.word(super::hash::HASH_VERSION << 32 | tag);
        mixer
    }

    pub(super) fn word(&mut self, word: u64) {
        self.a = fold(self.a ^ word, K0).wrapping_add(self.b.rotate_left(23));
        self.b = fold(self.b.wrapping_add(word), K1) ^ self.a.rotate_left(41);
    }

    pub(super) fn hash(&mut self, hash: u128) {
        self.word(hash as u64);
        self.word((hash >> 64) as u64);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub(super) fn finish(mut self) -> u128 {
        self.word(K2);
        self.word(K0);
        u128::from(fold(self.a, K2) ^ self.b) | u128::from(fold(self.b, K0) ^ self.a) << 64
    }
}
