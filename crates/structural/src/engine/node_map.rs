//! Hash maps keyed by node identity.

use std::hash::{BuildHasher, Hasher};

/// A hash map keyed by the node ids of [`crate::NodeRef::id`].
pub(super) type NodeMap<V> = hashbrown::HashMap<usize, V, AddressHashBuilder>;

/// A hash builder that keeps neighbours in memory next to each other in the table. Nodes that are created one
/// after the other are mostly visited one after the other, and then so are their table slots. Blocks of
/// addresses are scattered, so that no stride between nodes fills one part of the table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AddressHashBuilder;

/// The hasher of [`AddressHashBuilder`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AddressHasher(u64);

impl BuildHasher for AddressHashBuilder {
    type Hasher = AddressHasher;

    fn build_hasher(&self) -> AddressHasher {
        AddressHasher::default()
    }
}

impl Hasher for AddressHasher {
    #[inline]
    fn write_usize(&mut self, address: usize) {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        // Nodes are 16 bytes apart at least; a block is 4 KiB.
        let cell = address as u64 >> 4;
        let (block, within) = (cell >> 8, cell & 0xff);
        let slot = (block.wrapping_mul(K) >> 24).wrapping_add(within);
        // The table takes its seven tag bits from the top, so these must differ inside a block.
        self.0 = slot | cell.wrapping_mul(K) & 0x7f << 57;
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0.rotate_left(8) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes spread over the table at every distance between them.
    #[test]
    fn no_stride_crowds_the_table() {
        for shift in 4..40 {
            let mut slots = [0u32; 1 << 10];
            for n in 0..1usize << 12 {
                let hash = AddressHashBuilder.hash_one(0x7f00_0000_0000 + (n << shift));
                slots[hash as usize % slots.len()] += 1;
            }
            let most = slots.iter().max().copied().unwrap_or(0);
            assert!(most <= 40, "stride 2^{shift}: {most} of 4096 nodes in one of 1024 slots");
        }
    }
}
