//! Elements of arrays.

use super::Request;
use crate::api::array::Slice;
use crate::api::layout::FieldKind;
use crate::wire::op::Op;
use crate::wire::packed::pack_value;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;

/// `op_put_slice` for a new array: the answer contains its id, usable once a row refers to it.
#[derive(Clone, Copy, Debug)]
pub struct PutSlice<'a> {
    /// Handle of the transaction.
    pub transaction: u16,
    /// The elements.
    pub slice: Slice<'a>,
}

impl Request for PutSlice<'_> {
    const OP: Op = Op::PUT_SLICE;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        let (format, bytes) = (self.slice.format(), self.slice.bytes());
        let length = bytes.len() as u32; // below 2 GiB
        out.short(self.transaction);
        out.quad(0);
        out.word(length);
        out.cstr(format.sdl());
        out.word(0); // no variables
        out.word(length);
        let mut packed = Vec::new();
        for element in bytes.chunks_exact(format.element_size().max(1)) {
            match format.kind() {
                FieldKind::Varying(_) => {
                    let end = element.iter().position(|&byte| byte == 0).unwrap_or(element.len());
                    out.cstr(&element[..end]);
                }
                kind => {
                    packed.clear();
                    // It has the length of its kind.
                    let _ = pack_value(kind, element, &mut packed);
                    out.bytes(&packed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::array::ArrayShape;
    use crate::api::descriptor::Descriptor;
    use crate::api::layout::FieldLayout;

    fn elements(kind: FieldKind, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let shape = ArrayShape::new(Descriptor::default(), vec![(1, 2)]).expect("legal bounds");
        let format = shape.slice_format("T", "A", &FieldLayout::plain(kind));
        let put = PutSlice { transaction: 7, slice: format.slice(bytes).expect("two elements") };
        put.encode(ProtocolVersion::MIN, &mut Writer::new(&mut out));
        let head = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0];
        let length = (bytes.len() as u32).to_be_bytes();
        let mut sdl = Vec::new();
        Writer::new(&mut sdl).cstr(format.sdl());
        let head = [&head[..], &length, &sdl, &[0; 4], &length].concat();
        assert!(out.starts_with(&head), "{out:?}");
        out[head.len()..].to_vec()
    }

    #[test]
    fn numbers_are_swapped_and_widened() {
        assert_eq!(elements(FieldKind::Short, &[1, 2, 0xfe, 0xff]), [0, 0, 2, 1, 255, 255, 255, 254]);
        assert_eq!(elements(FieldKind::Boolean, &[1, 0]), [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn strings_end_with_a_zero_byte() {
        let slots = *b"abc\0\0\0\0\0";
        assert_eq!(elements(FieldKind::Varying(2), &slots), [0, 0, 0, 3, b'a', b'b', b'c', 0, 0, 0, 0, 0]);
        assert_eq!(elements(FieldKind::Text(4), &slots), slots);
    }
}
