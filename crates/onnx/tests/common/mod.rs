//! Messages written by hand: fields as bytes, without the crate's own writer.
#![allow(dead_code)] // every test target uses a part of it

/// A source of choices.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl Choices<'_> {
    pub(crate) fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.next()) % n
    }

    pub(crate) fn number(&mut self) -> i64 {
        i64::from_le_bytes(std::array::from_fn(|_| self.next())) >> (8 * self.below(8))
    }
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = value as u8 & 0x7f;
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}

pub(crate) fn int(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value as u64)].concat()
}

pub(crate) fn float(number: u64, value: f32) -> Vec<u8> {
    [varint(number << 3 | 5), value.to_le_bytes().to_vec()].concat()
}

/// A string, bytes, a packed list or a message.
pub(crate) fn long(number: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [varint(number << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

pub(crate) fn cat(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// A NodeProto.
pub(crate) fn node(
    name: &str,
    op: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[Vec<u8>],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    inputs.iter().for_each(|input| bytes.extend(long(1, input)));
    outputs.iter().for_each(|output| bytes.extend(long(2, output)));
    bytes.extend(long(3, name));
    bytes.extend(long(4, op));
    attributes.iter().for_each(|attribute| bytes.extend(long(5, attribute)));
    bytes
}

/// A ValueInfoProto: a float tensor of two elements.
pub(crate) fn value(name: &str) -> Vec<u8> {
    let dim = long(1, int(1, 2));
    let tensor = cat(&[int(1, 1), long(2, dim)]);
    cat(&[long(1, name), long(2, long(1, tensor))])
}

/// A GraphProto with inputs `x` and outputs `y`.
pub(crate) fn graph(nodes: &[Vec<u8>], inputs: &[&str], outputs: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    nodes.iter().for_each(|node| bytes.extend(long(1, node)));
    bytes.extend(long(2, "g"));
    inputs.iter().for_each(|name| bytes.extend(long(11, value(name))));
    outputs.iter().for_each(|name| bytes.extend(long(12, value(name))));
    bytes
}

/// A ModelProto of this graph, IR version 10, opset 21.
pub(crate) fn model(graph: impl AsRef<[u8]>) -> Vec<u8> {
    cat(&[int(1, 10), long(7, graph), long(8, int(2, 21))])
}
