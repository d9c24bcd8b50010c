//! Buffers as applications lay them out.

use crate::abi::{self, Len, SmallInt, c_type};
use crate::params::Binding;
use firearrow::Descriptor;

/// A parameter with the bytes of its values in all sets.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) c_type: SmallInt,
    pub(super) sql_type: SmallInt,
    pub(super) digits: SmallInt,
    pub(super) scale: SmallInt,
    pub(super) described: Descriptor,
    /// Whether values end at a terminator instead of a length.
    pub(super) ends_with_zero: bool,
    pub(super) values: Vec<Option<Vec<u8>>>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub(super) by_row: bool,
    /// Bytes before everything, so that nothing is aligned.
    pub(super) offset: usize,
    /// Whether lengths and indicators are apart.
    pub(super) has_indicators: bool,
}

/// The memory of an application, and where its parameters are in it.
pub(super) struct Buffers {
    pub(super) bindings: Vec<Binding>,
    _memory: Vec<u8>,
}

/// Where a parameter is.
struct Place {
    data: usize,
    length: usize,
    indicator: usize,
    data_step: usize,
    length_step: usize,
}

const LENGTH: usize = size_of::<Len>();

impl Buffers {
    pub(super) fn new(parameters: &[Parameter], layout: Layout) -> Self {
        let sets = parameters.first().map_or(0, |parameter| parameter.values.len());
        let (places, size) = places(parameters, layout, sets);
        let mut memory = vec![0xA5_u8; size];
        let mut put = |at: usize, bytes: &[u8]| memory[at..at + bytes.len()].copy_from_slice(bytes);
        for (parameter, place) in parameters.iter().zip(&places) {
            for (set, value) in parameter.values.iter().enumerate() {
                let (length, indicator) = match value {
                    None if layout.has_indicators => (7, abi::NULL_DATA),
                    None => (abi::NULL_DATA, abi::NULL_DATA),
                    Some(_) if parameter.ends_with_zero => (abi::NTS, 0),
                    Some(value) => (value.len() as Len, 0),
                };
                put(place.data + set * place.data_step, value.as_deref().unwrap_or_default());
                if let Some(value) = value.as_ref().filter(|_| parameter.ends_with_zero) {
                    put(place.data + set * place.data_step + value.len(), &[0, 0]);
                }
                if layout.has_indicators {
                    put(place.indicator + set * place.length_step, &indicator.to_ne_bytes());
                }
                put(place.length + set * place.length_step, &length.to_ne_bytes());
            }
        }
        let base = memory.as_ptr();
        let numbered = (1..).zip(parameters.iter().zip(&places));
        let bindings = numbered.map(|(number, (parameter, place))| Binding {
            number,
            c_type: parameter.c_type,
            sql_type: parameter.sql_type,
            digits: parameter.digits,
            scale: parameter.scale,
            data: base.wrapping_add(place.data),
            data_step: place.data_step,
            length: base.wrapping_add(place.length).cast(),
            indicator: base.wrapping_add(place.indicator).cast(),
            length_step: place.length_step,
            narrow: crate::text::NarrowEncoding::Utf8,
        });
        Self { bindings: bindings.collect(), _memory: memory }
    }
}

/// The places of the parameters, and the bytes of it all.
fn places(parameters: &[Parameter], layout: Layout, sets: usize) -> (Vec<Place>, usize) {
    let capacity = |parameter: &Parameter| {
        let longest = parameter.values.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let is_variable = matches!(parameter.c_type, c_type::CHAR | c_type::WCHAR | c_type::BINARY);
        longest + if is_variable { 2 } else { 0 }
    };
    // An odd byte in each row, for the alignment.
    let row: usize = parameters.iter().map(|parameter| capacity(parameter) + 2 * LENGTH).sum::<usize>() + 1;
    let mut at = layout.offset;
    let places = parameters.iter().map(|parameter| {
        let capacity = capacity(parameter);
        let (count, data_step, length_step) =
            if layout.by_row { (1, row, row) } else { (sets, capacity, LENGTH) };
        let data = at;
        let length = data + capacity * count;
        let next = length + LENGTH * count;
        let indicator = if layout.has_indicators { next } else { length };
        at = next + LENGTH * count;
        Place { data, length, indicator, data_step, length_step }
    });
    let places = places.collect();
    let size = if layout.by_row { layout.offset + row * sets.max(1) } else { at };
    (places, size + 2)
}
