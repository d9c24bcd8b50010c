//! Values of every type, in and out.

use super::{Engine, Message, Scratch, varying};
use firearrow_fbapi::{MessageBuffer, Metadata, Statement, Transaction};
use firearrow_proto::api::descriptor::SqlType;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::row::{Native, NativeRows, RowSource, ValueFormat};

/// A column type, the bytes of a value, the SQL for the same value, and its API type.
struct Case {
    declaration: &'static str,
    value: Vec<u8>,
    sql: &'static str,
    sql_type: SqlType,
}

fn cases(major: u8) -> Vec<Case> {
    let case =
        |declaration, value: &[u8], sql, sql_type| Case { declaration, value: value.to_vec(), sql, sql_type };
    // 2024-02-29 is day 60369 of the modified Julian count; 01:02:03.4567 in units of 100 µs.
    let (date, time) = (60369_i32.to_le_bytes(), 37_234_567_u32.to_le_bytes());
    let timestamp = [date, time].concat();
    let mut cases = vec![
        case("smallint", &(-2_i16).to_le_bytes(), "-2", SqlType::SHORT),
        case("integer", &70_000_i32.to_le_bytes(), "70000", SqlType::LONG),
        case("bigint", &(-5_000_000_000_i64).to_le_bytes(), "-5000000000", SqlType::INT64),
        case("numeric(4,2)", &1234_i16.to_le_bytes(), "12.34", SqlType::SHORT),
        case("decimal(9,3)", &(-1500_i32).to_le_bytes(), "-1.5", SqlType::LONG),
        case("numeric(18,4)", &123_456_i64.to_le_bytes(), "12.3456", SqlType::INT64),
        case("float", &1.5_f32.to_le_bytes(), "1.5", SqlType::FLOAT),
        case("double precision", &(-2.25_f64).to_le_bytes(), "-2.25", SqlType::DOUBLE),
        case("date", &date, "date '2024-02-29'", SqlType::DATE),
        case("time", &time, "time '01:02:03.4567'", SqlType::TIME),
        case("timestamp", &timestamp, "timestamp '2024-02-29 01:02:03.4567'", SqlType::TIMESTAMP),
        case("boolean", &[1], "true", SqlType::BOOLEAN),
        case("varchar(10)", &varying("Grüße"), "'Grüße'", SqlType::VARYING),
        case("char(3)", b"ab          ", "'ab'", SqlType::TEXT),
        case("char(4) character set octets", &[0, 1, 2, 255], "x'000102ff'", SqlType::TEXT),
    ];
    if major >= 4 {
        let int128 = (-(10_i128.pow(30))).to_le_bytes();
        // 1.25 in densely packed decimal.
        let dec16 = 0x2230_0000_0000_00a5_u64.to_le_bytes();
        let dec34 = (0x2207_8000_0000_0000_u128 << 64 | 0xa5).to_le_bytes();
        // UTC and the zone: 01:02:03.4567 at +05:30 (zone 1769) is 19:32:03.4567 UTC of the day before.
        let utc = (37_234_567_u32 + 24 * 36_000_000 - 198 * 100_000 * 10).to_le_bytes();
        let zone = 1769_u16.to_le_bytes();
        let time_tz = [&utc[..], &zone, &[0, 0]].concat();
        let timestamp_tz = [&60368_i32.to_le_bytes()[..], &utc, &zone, &[0, 0]].concat();
        cases.extend([
            case("int128", &int128, "-1000000000000000000000000000000", SqlType::INT128),
            case("decfloat(16)", &dec16, "1.25", SqlType::DEC16),
            case("decfloat(34)", &dec34, "1.25", SqlType::DEC34),
            case("time with time zone", &time_tz, "time '01:02:03.4567 +05:30'", SqlType::TIME_TZ),
            case(
                "timestamp with time zone",
                &timestamp_tz,
                "timestamp '2024-02-29 01:02:03.4567 +05:30'",
                SqlType::TIMESTAMP_TZ,
            ),
        ]);
    }
    cases
}

fn table(scratch: &Scratch, cases: &[Case]) {
    let columns: Vec<_> =
        cases.iter().enumerate().map(|(i, case)| format!("C{i} {}", case.declaration)).collect();
    scratch.run(&[&format!("create table T (N integer, {})", columns.join(", "))]);
}

pub fn every_type_survives_a_round_trip(engine: &Engine) {
    let scratch = engine.scratch();
    let cases = cases(engine.major);
    table(&scratch, &cases);
    let mut transaction = scratch.begin();
    // Row 1 through parameters in the engine's own format, row 2 through SQL, row 3 all NULL.
    let marks = vec!["?"; cases.len()].join(", ");
    let mut insert = scratch
        .attachment
        .prepare(&transaction, &format!("insert into T values (?, {marks})"), Dialect::Three)
        .unwrap();
    let format = insert.input().unwrap();
    let mut message = Message::new(&format);
    for (number, is_null) in [(1_i32, false), (3, true)] {
        message.set(&format, 0, Some(&number.to_le_bytes()));
        for (index, case) in cases.iter().enumerate() {
            message.set(&format, index + 1, (!is_null).then_some(&case.value));
        }
        insert.execute(&mut transaction, Some((&format, message.buffer.bytes_mut())), None).unwrap();
        assert_eq!(insert.affected_records().unwrap(), 1);
    }
    let literals: Vec<_> = cases.iter().map(|case| case.sql).collect();
    let sql = format!("insert into T values (2, {})", literals.join(", "));
    scratch.attachment.execute_immediate(Some(&mut transaction), &sql, Dialect::Three).unwrap();
    // All three come back in one block, in the engine's own format.
    let mut select =
        scratch.attachment.prepare(&transaction, "select * from T order by N", Dialect::Three).unwrap();
    let output = select.output().unwrap();
    let mut cursor = select.open_cursor(&transaction, None, None, Default::default()).unwrap();
    let stride = output.stride();
    let mut buffer = MessageBuffer::new(10 * stride);
    assert_eq!(cursor.fetch_block(&mut buffer, stride, 10).unwrap(), (3, true));
    for (index, case) in cases.iter().enumerate() {
        let (offset, null) = (output.offset(index + 1).unwrap(), output.null_offset(index + 1).unwrap());
        for row in 0..3 {
            let bytes = &buffer.bytes()[row * stride..];
            let is_null = bytes[null..null + 2] != [0, 0];
            assert_eq!(is_null, row == 2, "{} in row {row}", case.declaration);
            if !is_null {
                let value = &bytes[offset..offset + case.value.len()];
                assert_eq!(value, case.value, "{} in row {row}", case.declaration);
            }
        }
        assert_eq!(output.descriptors().unwrap()[index + 1].sql_type, case.sql_type, "{}", case.declaration);
    }
}

pub fn layouts_of_this_crate_are_those_of_the_engine(engine: &Engine) {
    let scratch = engine.scratch();
    let cases = cases(engine.major);
    table(&scratch, &cases);
    let transaction = scratch.begin();
    // Every type once at every offset that its predecessors leave.
    for first in 0..cases.len() {
        let columns: Vec<_> =
            (0..cases.len()).map(|i| format!("C{}", (first + i * 7) % cases.len())).collect();
        let sql = format!("select {} from T", columns.join(", "));
        let statement = scratch.attachment.prepare(&transaction, &sql, Dialect::Three).unwrap();
        let native = statement.output().unwrap();
        let descriptors = native.descriptors().unwrap();
        let layout = RowLayout::for_descriptors(&descriptors).unwrap();
        let made = Metadata::for_layout(&engine.library, &layout).unwrap();
        assert_eq!(
            (native.message_length(), native.stride()),
            (layout.native_length(), layout.native_stride())
        );
        for (index, field) in layout.fields().iter().enumerate() {
            assert_eq!(native.offset(index).unwrap(), field.offset);
            assert_eq!(made.null_offset(index).unwrap(), field.null_offset);
        }
        assert_eq!(made.count(), native.count());
    }
    let mut kinds = vec![
        FieldKind::Boolean,
        FieldKind::Blob,
        FieldKind::Text(1),
        FieldKind::Varying(5),
        FieldKind::Array,
        FieldKind::Double,
        FieldKind::Text(32767),
    ];
    if engine.major >= 4 {
        kinds.extend([FieldKind::TimeTzEx, FieldKind::Boolean, FieldKind::TimestampTzEx, FieldKind::Int128]);
    }
    let layout = RowLayout::new(kinds.into_iter().map(FieldLayout::plain));
    Metadata::for_layout(&engine.library, &layout).unwrap();
    let nothing = Metadata::for_layout(&engine.library, &RowLayout::default()).unwrap();
    assert_eq!((nothing.count(), nothing.message_length()), (0, 0));
    assert!(nothing.offset(0).is_err());
}

pub fn values_are_converted_to_the_format_asked_for(engine: &Engine) {
    let scratch = engine.scratch();
    let transaction = scratch.begin();
    let sql = "select cast(12.34 as numeric(9,2)), cast('ab' as char(5)), 7, cast(null as integer) from RDB$DATABASE";
    let mut statement = scratch.attachment.prepare(&transaction, sql, Dialect::Three).unwrap();
    let mut scaled = FieldLayout::plain(FieldKind::Int64);
    scaled.scale = -4;
    let mut text = FieldLayout::plain(FieldKind::Varying(20));
    text.charset = 4;
    let double = FieldLayout::plain(FieldKind::Double);
    let layout = RowLayout::new([scaled, text, double.clone(), double]);
    let row = fetch_one(engine, &mut statement, &transaction, &layout);
    let rows = NativeRows::new(&layout, row.bytes(), 1).unwrap();
    assert_eq!(rows.field(0, 0).and_then(Native::i64), Some(123_400));
    assert_eq!(rows.field(0, 1).and_then(Native::varying), Some(&b"ab   "[..]));
    assert_eq!(rows.field(0, 2).and_then(Native::f64), Some(7.0));
    assert_eq!(rows.field(0, 3), None);
}

fn fetch_one(
    engine: &Engine,
    statement: &mut Statement,
    transaction: &Transaction,
    layout: &RowLayout,
) -> MessageBuffer {
    let format = Metadata::for_layout(&engine.library, layout).unwrap();
    let mut cursor = statement.open_cursor(transaction, None, Some(&format), Default::default()).unwrap();
    // The cursor must no longer need the format with which it was opened.
    drop(format);
    let mut buffer = MessageBuffer::new(layout.native_stride());
    assert_eq!(cursor.fetch_block(&mut buffer, layout.native_stride(), 1).unwrap(), (1, false));
    assert_eq!(cursor.fetch_block(&mut buffer.clone(), layout.native_stride(), 1).unwrap(), (0, true));
    buffer
}

pub fn descriptions_are_those_of_the_wire(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (A varchar(10) not null, B blob sub_type text character set win1252, \
                   C numeric(9,3), D blob, E char(2) character set octets)"]);
    let transaction = scratch.begin();
    let statement = scratch
        .attachment
        .prepare(&transaction, "select A, B as LABEL, C, D, E, 1 from T", Dialect::Three)
        .unwrap();
    let fields = statement.output().unwrap().descriptors().unwrap();
    let [a, b, c, d, e, one] = &fields[..] else { panic!("{fields:?}") };
    assert_eq!((a.sql_type, a.length, a.charset(), a.nullable), (SqlType::VARYING, 40, 4, false));
    assert_eq!((a.field.as_str(), a.relation.as_str(), a.owner.as_str()), ("A", "T", "SYSDBA"));
    assert_eq!((b.sql_type, b.sub_type, b.label(), b.field.as_str()), (SqlType::BLOB, 1, "LABEL", "B"));
    assert_eq!(b.charset(), 4, "the engine delivers text in the character set of the attachment");
    assert_eq!((c.sql_type, c.sub_type, c.scale, c.nullable), (SqlType::LONG, 1, -3, true));
    assert_eq!((d.sql_type, d.sub_type, d.charset()), (SqlType::BLOB, 0, 0));
    assert!(e.is_octets());
    assert_eq!((one.relation.as_str(), one.alias.as_str()), ("", "CONSTANT"));
}

pub fn null_parameters_arrive(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&["create table T (A integer, B varchar(5), C blob)"]);
    let mut transaction = scratch.begin();
    let mut insert =
        scratch.attachment.prepare(&transaction, "insert into T values (?, ?, ?)", Dialect::Three).unwrap();
    // In a format of our own, whose types lack the nullable bit.
    let layout = RowLayout::for_descriptors(&insert.input().unwrap().descriptors().unwrap()).unwrap();
    let format = Metadata::for_layout(&engine.library, &layout).unwrap();
    let mut message = Message::new(&format);
    for index in 0..3 {
        message.set(&format, index, None);
    }
    insert.execute(&mut transaction, Some((&format, message.buffer.bytes_mut())), None).unwrap();
    transaction.commit().unwrap();
    let sql = "select count(*) from T where A is null and B is null and C is null";
    assert_eq!(scratch.text(sql), "1");
}

pub fn text_of_other_character_sets_arrives_as_utf8(engine: &Engine) {
    let scratch = engine.scratch();
    // WIN1252 lives in a module of its own, so this also shows that the private root has it.
    scratch.run(&[
        "create table T (A varchar(10) character set win1252 collate pxw_intl)",
        "insert into T values ('Grüße €')",
    ]);
    assert_eq!(scratch.text("select A from T"), "Grüße €");
    assert_eq!(scratch.text("select octet_length(A) from T"), "7");
}
