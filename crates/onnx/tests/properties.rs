//! Random messages round-trip, and damaged ones are refused or round-trip.

use crate::common::{Choices, cat, float, int, long, varint};
use proptest::prelude::*;
use sapwood_onnx::{read, verify, write};

/// The type of a field. `Vec`s may be repeated.
#[derive(Clone, Copy)]
enum Kind {
    Int,
    Float,
    Text,
    Texts,
    Ints,
    Floats,
    PackedInts,
    PackedFloats,
    Message(&'static &'static [Field]),
    Messages(&'static &'static [Field]),
}

/// Numbers of which one at most is chosen, and the type of each.
type Field = &'static [(u64, Kind)];

use Kind::{Float, Floats, Int, Ints, Message, Messages, PackedFloats, PackedInts, Text, Texts};

static ENTRY: &[Field] = &[&[(1, Text)], &[(2, Text)]];
static DIM: &[Field] = &[&[(1, Int), (2, Text)], &[(3, Text)]];
static SHAPE: &[Field] = &[&[(1, Messages(&DIM))]];
static TENSOR_TYPE: &[Field] = &[&[(1, Int)], &[(2, Message(&SHAPE))]];
static SEQUENCE: &[Field] = &[&[(1, Message(&TYPE))]];
static TYPE: &[Field] = &[
    &[
        (1, Message(&TENSOR_TYPE)),
        (4, Message(&SEQUENCE)),
        (8, Message(&TENSOR_TYPE)),
        (9, Message(&SEQUENCE)),
    ],
    &[(6, Text)],
];
static INFO: &[Field] =
    &[&[(1, Text)], &[(2, Message(&TYPE))], &[(3, Text)], &[(4, Messages(&ENTRY))]];
static TENSOR: &[Field] = &[
    &[(1, Ints)],
    &[(2, Int)],
    &[(4, PackedFloats), (5, PackedInts), (6, Texts), (7, PackedInts), (9, Text), (11, PackedInts)],
    &[(8, Text)],
    &[(12, Text)],
    &[(13, Messages(&ENTRY))],
    &[(14, Int)],
    &[(16, Messages(&ENTRY))],
];
static SPARSE: &[Field] = &[&[(1, Message(&TENSOR))], &[(2, Message(&TENSOR))], &[(3, Ints)]];
static ATTRIBUTE: &[Field] = &[
    &[(1, Text)],
    &[
        (2, Float),
        (3, Int),
        (4, Text),
        (5, Message(&TENSOR)),
        (6, Message(&GRAPH)),
        (7, Floats),
        (8, Ints),
        (9, Texts),
        (10, Messages(&TENSOR)),
        (11, Messages(&GRAPH)),
        (14, Message(&TYPE)),
        (15, Messages(&TYPE)),
        (22, Message(&SPARSE)),
        (23, Messages(&SPARSE)),
    ],
    &[(13, Text)],
    &[(20, Int)],
    &[(21, Text)],
];
static NODE: &[Field] = &[
    &[(1, Texts)],
    &[(2, Texts)],
    &[(3, Text)],
    &[(4, Text)],
    &[(5, Messages(&ATTRIBUTE))],
    &[(7, Text)],
    &[(8, Text)],
    &[(9, Messages(&ENTRY))],
];
static GRAPH: &[Field] = &[
    &[(1, Messages(&NODE))],
    &[(2, Text)],
    &[(5, Messages(&TENSOR))],
    &[(11, Messages(&INFO))],
    &[(12, Messages(&INFO))],
    &[(13, Messages(&INFO))],
    &[(15, Messages(&SPARSE))],
];
static SET: &[Field] = &[&[(1, Text)], &[(2, Int)]];
static FUNCTION: &[Field] = &[
    &[(1, Text)],
    &[(4, Texts)],
    &[(5, Texts)],
    &[(6, Texts)],
    &[(7, Messages(&NODE))],
    &[(9, Messages(&SET))],
    &[(10, Text)],
    &[(11, Messages(&ATTRIBUTE))],
];
static MODEL: &[Field] = &[
    &[(1, Int)],
    &[(2, Text)],
    &[(5, Int)],
    &[(7, Message(&GRAPH))],
    &[(8, Messages(&SET))],
    &[(14, Messages(&ENTRY))],
    &[(25, Messages(&FUNCTION))],
];

/// Writes a message: fields in any order, lists packed or not, unknown fields in between.
fn message(fields: &[Field], depth: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for field in fields {
        if choices.0.is_empty() || choices.below(3) == 0 {
            continue;
        }
        let (number, kind) = field[choices.below(field.len())];
        parts.extend(occurrences(number, kind, depth, choices));
    }
    if choices.below(4) == 0 {
        let number = 100 + choices.next() as u64;
        parts.push(match choices.below(4) {
            0 => int(number, choices.number()),
            1 => float(number, 1.5),
            2 => cat(&[varint(number << 3 | 3), int(1, 1), varint(number << 3 | 4)]),
            _ => long(number, [1, 2, 3]),
        });
    }
    if choices.below(3) == 0 {
        for at in (1..parts.len()).rev() {
            let other = choices.below(at + 1);
            parts.swap(at, other);
        }
    }
    parts.concat()
}

fn occurrences(number: u64, kind: Kind, depth: usize, choices: &mut Choices<'_>) -> Vec<Vec<u8>> {
    let count = choices.below(4);
    let text = |choices: &mut Choices<'_>| long(number, &b"xyz\xff"[..choices.below(5)]);
    let floats = |choices: &mut Choices<'_>| f32::from_bits(choices.number() as u32);
    let inner = |fields, choices: &mut Choices<'_>| match depth {
        0 => long(number, []),
        _ => long(number, message(fields, depth - 1, choices)),
    };
    match kind {
        Int => vec![int(number, i64::from(choices.number() as i32))],
        Float => vec![float(number, floats(choices))],
        Text => vec![text(choices)],
        Texts => (0..count).map(|_| text(choices)).collect(),
        Message(fields) => vec![inner(fields, choices)],
        Messages(fields) => (0..count).map(|_| inner(fields, choices)).collect(),
        Ints | PackedInts if choices.below(2) == 0 => {
            (0..count).map(|_| int(number, i64::from(choices.number() as i32))).collect()
        }
        Floats | PackedFloats if choices.below(2) == 0 => {
            (0..count).map(|_| float(number, floats(choices))).collect()
        }
        Ints | PackedInts => {
            let numbers =
                (0..count).flat_map(|_| varint(i64::from(choices.number() as i32) as u64));
            vec![long(number, numbers.collect::<Vec<u8>>())]
        }
        Floats | PackedFloats => {
            let numbers = (0..count).flat_map(|_| floats(choices).to_le_bytes());
            vec![long(number, numbers.collect::<Vec<u8>>())]
        }
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let choices = proptest::collection::vec(any::<u8>(), 0..400);
    choices.prop_map(|choices| message(MODEL, 8, &mut Choices(&choices)))
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn any_order_and_form_of_fields_is_byte_equal(bytes in bytes()) {
        let model = read(bytes.clone()).unwrap();
        prop_assert_eq!(write(&model).unwrap(), bytes);
        let _ = verify(&model);
    }

    #[test]
    fn damage_is_refused_or_round_trips_by_field(
        bytes in bytes(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = bytes;
        if !bytes.is_empty() {
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len()) + 1);
        }
        if let Ok(model) = read(bytes) {
            let _ = verify(&model);
            let written = write(&model).unwrap();
            let again = read(written.clone()).unwrap();
            // The output is written the same way again.
            prop_assert_eq!(write(&again).unwrap(), written);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(model) = read(bytes) {
            let _ = verify(&model);
            prop_assert!(write(&model).is_ok());
        }
    }
}
