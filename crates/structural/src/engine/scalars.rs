//! Equality and hash of values that are neither nodes nor lists.

use crate::hasher::{Hash128, Mixer};
use crate::view::View;

const TAG_STR: u64 = 0x11;
const TAG_BYTES: u64 = 0x12;
const TAG_TENSOR: u64 = 0x13;
const TAG_BIG: u64 = 0x14;

const TAG_NONE: u64 = 0x21;
const TAG_BOOL: u64 = 0x22;
const TAG_INT: u64 = 0x23;
const TAG_FLOAT: u64 = 0x24;

/// Compares two scalars. Returns `None` if both values are nodes or lists.
#[inline]
pub(super) fn equal(left: &View<'_>, right: &View<'_>, skip_tensor_content: bool) -> Option<bool> {
    Some(match (left, right) {
        (View::Node(_) | View::List(_), View::Node(_) | View::List(_)) => return None,
        (View::Int(l), View::Int(r)) => l == r,
        (View::None, View::None) => true,
        (View::Bool(l), View::Bool(r)) => l == r,
        (View::Float(l), View::Float(r)) => l.to_bits() == r.to_bits() || l.is_nan() && r.is_nan(),
        (View::Str(l), View::Str(r)) => l == r,
        (View::Wide(l), View::Wide(r)) => l == r,
        (View::Big(l), View::Big(r)) => l == r,
        (View::Bytes(l), View::Bytes(r)) => l == r,
        (View::Tensor(l), View::Tensor(r)) => {
            l.dtype() == r.dtype()
                && l.shape() == r.shape()
                && (skip_tensor_content || l.content() == r.content())
        }
        _ => false,
    })
}

/// Returns the contribution of a scalar to a hash: two words, already mixed where that is needed. Returns
/// `None` for nodes and lists.
#[inline(always)]
pub(super) fn contribution(view: &View<'_>, skip_tensor_content: bool) -> Option<Hash128> {
    let plain = |word: u64, tag: u64| Hash128 { lo: word, hi: tag };
    Some(match view {
        View::Node(_) | View::List(_) => return None,
        View::None => plain(0, TAG_NONE),
        View::Bool(b) => plain(u64::from(*b), TAG_BOOL),
        View::Int(i) => int(*i),
        View::Float(f) => {
            plain(if f.is_nan() { f64::NAN.to_bits() } else { f.to_bits() }, TAG_FLOAT)
        }
        View::Str(text) => Mixer::new(TAG_STR).absorb_bytes(text.as_bytes()).finish(),
        View::Bytes(bytes) => Mixer::new(TAG_BYTES).absorb_bytes(bytes).finish(),
        View::Wide(wide) => big_int(wide.negative(), &wide.limbs()),
        View::Big(value) => big_int(value.negative(), value.limbs()),
        View::Tensor(tensor) => {
            let start = Mixer::new(TAG_TENSOR)
                .absorb(u64::from(tensor.dtype().code()), tensor.shape().len() as u64);
            let shaped = tensor.shape().iter().fold(start, |state, &dim| state.absorb(dim, 1));
            if skip_tensor_content {
                shaped.finish()
            } else {
                shaped.absorb_bytes(tensor.content().as_slice()).finish()
            }
        }
    })
}

/// Returns the hash contribution of an integer.
#[inline]
pub(super) const fn int(value: i64) -> Hash128 {
    Hash128 { lo: value as u64, hi: TAG_INT }
}

fn big_int(negative: bool, limbs: &[u64]) -> Hash128 {
    let used = limbs.len() - limbs.iter().rev().take_while(|&&limb| limb == 0).count();
    limbs[..used]
        .iter()
        .fold(Mixer::new(TAG_BIG).absorb(u64::from(negative), used as u64), |state, &limb| {
            state.absorb(limb, 1)
        })
        .finish()
}
