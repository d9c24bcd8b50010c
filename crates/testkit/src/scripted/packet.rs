//! Packets of a server.

use firearrow_proto::api::descriptor::SqlType;
use firearrow_proto::api::info::{self, statement as item};
use firearrow_proto::wire::Op;
use firearrow_proto::wire::xdr::Writer;

/// Ends an info buffer.
pub const INFO_END: u8 = info::END;
/// The object of an answer to `op_get_segment`: the BLOB ends here.
pub const BLOB_END: u16 = 2;

/// A column or a parameter of a statement.
#[derive(Clone, Debug)]
pub struct Column {
    /// Type.
    pub sql_type: SqlType,
    /// Sub type, or character set.
    pub sub_type: i32,
    /// Bytes.
    pub length: u32,
    /// Its name, as field and as label.
    pub name: String,
    /// The relation it comes from.
    pub relation: String,
}

impl Column {
    /// A nullable column.
    pub fn new(sql_type: SqlType, length: u32, name: &str) -> Self {
        Self { sql_type, sub_type: 0, length, name: name.into(), relation: String::new() }
    }

    /// An INTEGER.
    pub fn integer(name: &str) -> Self {
        Self::new(SqlType::LONG, 4, name)
    }

    /// A VARCHAR of `length` bytes in UTF-8.
    pub fn varchar(name: &str, length: u32) -> Self {
        Self { sub_type: 4, ..Self::new(SqlType::VARYING, length, name) }
    }

    /// A binary BLOB.
    pub fn blob(name: &str) -> Self {
        Self::new(SqlType::BLOB, 8, name)
    }

    /// An array of a relation.
    pub fn array(name: &str, relation: &str) -> Self {
        Self { relation: relation.into(), ..Self::new(SqlType::ARRAY, 8, name) }
    }
}

/// Bytes of packets.
pub fn packet(op: Op, build: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes);
    out.op(op);
    build(&mut out);
    bytes
}

/// `op_response` without an error.
pub fn response(object: u16, data: &[u8]) -> Vec<u8> {
    packet(Op::RESPONSE, |out| {
        out.short(object);
        out.quad(0);
        out.cstr(data);
        [1, 0, 0].into_iter().for_each(|word| out.word(word));
    })
}

/// `op_response` with a warning and its text, and without an error.
pub fn warning(text: &[u8]) -> Vec<u8> {
    packet(Op::RESPONSE, |out| {
        out.short(0);
        out.quad(0);
        out.cstr(&[]);
        // isc_random as a warning, and its text.
        [1, 0, 18, 335_544_382, 2].into_iter().for_each(|word| out.word(word));
        out.cstr(text);
        out.word(0);
    })
}

/// `op_cond_accept`: this protocol, and [`srp_data`].
pub fn cond_accept(protocol: u16) -> Vec<u8> {
    accept_with_data(Op::COND_ACCEPT, protocol, &srp_data(), false)
}

/// `op_accept_data`: this protocol, the plugin Srp256 with `data` for it, and whether that is enough of a login.
pub fn accept_data(protocol: u16, data: &[u8], authenticated: bool) -> Vec<u8> {
    accept_with_data(Op::ACCEPT_DATA, protocol, data, authenticated)
}

fn accept_with_data(op: Op, protocol: u16, data: &[u8], authenticated: bool) -> Vec<u8> {
    packet(op, |out| {
        accepted(protocol, out);
        out.cstr(data);
        out.cstr(b"Srp256");
        out.short(authenticated.into());
        out.cstr(&[]);
    })
}

/// `op_accept`: this protocol, and no login.
pub fn accept(protocol: u16) -> Vec<u8> {
    packet(Op::ACCEPT, |out| accepted(protocol, out))
}

/// Version, architecture and type of packets.
fn accepted(protocol: u16, out: &mut Writer<'_>) {
    [0xffff_8000 | u32::from(protocol), 1, 5].into_iter().for_each(|word| out.word(word));
}

/// What Srp256 sends to a client: a salt and a public key, of nobody's account.
pub fn srp_data() -> Vec<u8> {
    let counted = |text: &[u8]| [&(text.len() as u16).to_le_bytes(), text].concat();
    [counted(&[b'5'; 64]), counted(&[b'3'; 255])].concat()
}

/// `op_crypt_key_callback`: asks for the key of an encrypted database, as servers do before a protocol is agreed.
pub fn key_question() -> Vec<u8> {
    packet(Op::CRYPT_KEY_CALLBACK, |out| {
        out.cstr(b"give it to me");
        out.short(256);
    })
}

/// The description of a statement that opens a cursor.
pub fn description(columns: &[Column], parameters: &[Column]) -> Vec<u8> {
    let mut info = Vec::new();
    number(&mut info, item::STMT_TYPE, 1); // a SELECT
    number(&mut info, item::STMT_FLAGS, 1); // with a cursor
    for (marker, list) in [(item::BIND, parameters), (item::SELECT, columns)] {
        info.push(marker);
        number(&mut info, item::DESCRIBE_VARS, list.len() as u32);
        for (column, index) in list.iter().zip(1..) {
            number(&mut info, item::SQLDA_SEQ, index);
            number(&mut info, item::TYPE, u32::from(column.sql_type.0) | 1);
            number(&mut info, item::SUB_TYPE, column.sub_type.cast_unsigned());
            number(&mut info, item::SCALE, 0);
            number(&mut info, item::LENGTH, column.length);
            for (code, name) in
                [(item::FIELD, &column.name), (item::RELATION, &column.relation), (item::ALIAS, &column.name)]
            {
                item_of(&mut info, code, name.as_bytes());
            }
            info.push(item::DESCRIBE_END);
        }
    }
    info.push(INFO_END);
    info
}

/// Appends an info item with a number.
pub fn number(info: &mut Vec<u8>, item: u8, value: u32) {
    item_of(info, item, &value.to_le_bytes());
}

/// Appends an info item.
pub fn item_of(info: &mut Vec<u8>, item: u8, value: &[u8]) {
    info.push(item);
    info.extend_from_slice(&(value.len() as u16).to_le_bytes());
    info.extend_from_slice(value);
}

/// A row of `op_fetch`: a bitmap of NULLs, then the values.
pub fn row(values: &[u8]) -> Vec<u8> {
    packet(Op::FETCH_RESPONSE, |out| {
        out.word(0);
        out.short(1);
        out.bytes(values);
    })
}

/// The end of an answer to `op_fetch`, and perhaps of the cursor.
pub fn fetch_end(cursor_end: bool) -> Vec<u8> {
    packet(Op::FETCH_RESPONSE, |out| {
        out.word(if cursor_end { 100 } else { 0 });
        out.short(0);
    })
}

/// `op_sql_response` without a row.
pub fn no_row() -> Vec<u8> {
    packet(Op::SQL_RESPONSE, |out| out.short(0))
}

/// A segment as answers to `op_get_segment` have it.
///
/// # Panics
/// When it is longer than a segment can be.
pub fn segment(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a segment has 65535 bytes at most");
    [&length.to_le_bytes(), bytes].concat()
}

/// `op_inline_blob` with one segment.
pub fn inline_blob(transaction: u16, id: u64, contents: &[u8]) -> Vec<u8> {
    packet(Op::INLINE_BLOB, |out| {
        out.short(transaction);
        out.quad(id);
        out.cstr(&[]);
        out.cstr(&segment(contents));
    })
}
