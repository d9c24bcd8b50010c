//! The answers of recorded servers about statements, rows, errors, BLOBs and bulk operations.

use crate::player::{Delivery, Said, Value};
use crate::requests::described;
use crate::sessions::{Played, Session};
use firearrow_proto::api::describe::{Describer, RecordCounts, StatementKind};
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::gds;
use firearrow_proto::api::status::{StatusArg, StatusVector};
use firearrow_proto::wire::packet::batch::Completion;
use firearrow_proto::wire::packet::blob::{STATE_END, append_segments};

fn play(name: &'static str) -> Played {
    let played = Session::load(name).play(Delivery::whole());
    assert_eq!(played.result, Ok(()), "{name}");
    played
}

/// Type, nullable, sub type, scale, length and name of each column of the table with all types.
const ALL_TYPES: [(SqlType, bool, i32, i32, u32, &str); 24] = [
    (SqlType::LONG, false, 0, 0, 4, "ID"),
    (SqlType::SHORT, true, 0, 0, 2, "SM"),
    (SqlType::LONG, true, 0, 0, 4, "I"),
    (SqlType::INT64, true, 0, 0, 8, "B"),
    (SqlType::LONG, true, 1, -2, 4, "N9"),
    (SqlType::INT64, true, 2, -4, 8, "N18"),
    (SqlType::FLOAT, true, 0, 0, 4, "F"),
    (SqlType::DOUBLE, true, 0, 0, 8, "D"),
    (SqlType::DATE, true, 0, 0, 4, "DT"),
    (SqlType::TIME, true, 0, 0, 4, "TM"),
    (SqlType::TIMESTAMP, true, 0, 0, 8, "TS"),
    (SqlType::TEXT, true, 4, 0, 40, "C10"),
    (SqlType::VARYING, true, 4, 0, 40, "V10"),
    (SqlType::TEXT, true, 1, 0, 5, "OC"),
    (SqlType::VARYING, true, 1, 0, 5, "OV"),
    (SqlType::BOOLEAN, true, 0, 0, 1, "BO"),
    (SqlType::BLOB, true, 1, 4, 8, "BT"),
    (SqlType::VARYING, true, 4, 0, 40, "W"),
    (SqlType::INT128, true, 0, 0, 16, "I128"),
    (SqlType::INT128, true, 1, -5, 16, "N38"),
    (SqlType::DEC16, true, 0, 0, 8, "D16"),
    (SqlType::DEC34, true, 0, 0, 16, "D34"),
    (SqlType::TIME_TZ, true, 0, 0, 8, "TMZ"),
    (SqlType::TIMESTAMP_TZ, true, 0, 0, 12, "TSZ"),
];

pub(crate) fn all_types() -> Vec<Descriptor> {
    let descriptor =
        |&(sql_type, nullable, sub_type, scale, length, name): &(_, _, _, _, _, &str)| Descriptor {
            sql_type,
            nullable,
            sub_type,
            scale,
            length,
            field: name.into(),
            relation: "ALLTYPES".into(),
            owner: "SYSDBA".into(),
            alias: name.into(),
            array: None,
        };
    ALL_TYPES.iter().map(descriptor).collect()
}

#[test]
fn describes_columns_of_every_type() {
    let played = play("describe-types-p19");
    let responses = played.responses();
    let [started, allocated, prepared, freed, ..] = responses[..] else { panic!("{responses:?}") };
    assert_eq!((started.object, allocated.object, freed.object), (1, 2, 0xffff));
    let mut describer = Describer::new();
    assert_eq!(describer.read(&prepared.data), Ok(true));
    let info = describer.finish();
    assert_eq!((info.kind, info.has_cursor), (StatementKind::Select, true));
    assert_eq!(info.parameters, []);
    assert_eq!(info.columns, all_types());
}

#[test]
fn describes_parameters_of_every_scalar_type() {
    let info = described(&Session::load("params-types-p19").transcript);
    assert_eq!((info.kind, info.has_cursor), (StatementKind::Insert, false));
    assert_eq!(info.columns, []);
    // All columns except the BLOB and the one of mixed contents; parameters have neither names nor relations.
    let columns = all_types().into_iter().filter(|column| column.field != "BT" && column.field != "W");
    let nameless = columns.map(|column| Descriptor {
        field: String::new(),
        relation: String::new(),
        owner: String::new(),
        alias: String::new(),
        ..column
    });
    assert_eq!(info.parameters, nameless.collect::<Vec<_>>());
}

#[test]
fn fetches_values_of_every_type_then_nulls_then_the_end() {
    let played = play("fetch-nulls-p19");
    let first_row = played.said().iter().position(|said| matches!(said, Said::Row(..))).expect("rows");
    let [Said::Response(_, executed), Said::Row(fetch, values), Said::Row(same, nulls), end, sync, ..] =
        &played.said()[first_row - 1..]
    else {
        panic!("{:?}", played.said());
    };
    assert_eq!((executed.object, fetch), (1, same));
    const TIME: u32 = 452_967_890; // 12:34:56.789
    const BERLIN: u16 = 65091;
    let expected = [
        Value::Int(1),
        Value::Int(-5),
        Value::Int(-100_000),
        Value::Int(-(1 << 40)),
        Value::Int(-12_345),
        Value::Int(123_456_789_012),
        Value::Float(1.5),
        Value::Double(-2.25),
        Value::Date(58_849),
        Value::Time(TIME),
        Value::Timestamp(40_587, TIME),
        Value::text(&format!("{:<39}", "äb")),
        Value::text("größe"),
        Value::Bytes(vec![1, 2, 3, 0, 0]),
        Value::Bytes(vec![0xff, 0]),
        Value::Boolean(true),
        Value::Quad(0x80_0000_0000),
        Value::text("ÄÖÜ"),
        Value::Int128(-(1 << 100)),
        Value::Int128(12_345_678_901_234_567_890),
        Value::Decimal("1.5".into()),
        Value::Decimal("1".into()),
        Value::TimeTz(TIME, BERLIN),
        Value::TimestampTz(60_000, TIME, BERLIN),
    ];
    assert_eq!(*values, expected);
    assert_eq!(nulls[0], Value::Int(2));
    assert_eq!(nulls[1..], [const { Value::Null }; 23]);
    assert_eq!(*end, Said::FetchEnd(*fetch, true));
    // The second fetch was sent together with the first, and so found the cursor at its end.
    let Said::Response(second, response) = sync else { panic!("{sync:?}") };
    assert!(second > fetch);
    assert_eq!(response.status, StatusVector(vec![StatusArg::Gds(gds::ISC_REQ_SYNC)]));
    assert_eq!(response.status.sqlstate(), "HY000");
}

#[test]
fn counts_the_affected_rows_of_an_insert() {
    let played = play("params-types-p19");
    let responses = played.responses();
    let [_, _, _, executed, counted, ..] = responses[..] else { panic!("{responses:?}") };
    assert_eq!((executed.object, counted.object), (1, 2));
    assert_eq!(RecordCounts::decode(&counted.data), Some(RecordCounts::ONE_INSERTED));
}

#[test]
fn errors_keep_their_whole_vector_and_read_as_in_the_client_library() {
    use StatusArg::{Gds, Number, Text};
    let text = |text: &str| Text(text.into());
    for (name, transaction) in [("errors-p15", 1), ("errors-p19", 1)] {
        let played = play(name);
        let responses = played.responses();
        let [started, allocated, errors @ .., _rollback, _detach] = &responses[..] else { panic!("{name}") };
        assert_eq!((started.object, allocated.object), (transaction, 2), "{name}");
        let expected: [(&[StatusArg], &str, i32, &str); 6] = [
            (
                &[
                    Gds(gds::ISC_DSQL_ERROR),
                    Gds(gds::ISC_SQLERR),
                    Number(-104),
                    Gds(gds::ISC_DSQL_TOKEN_UNK_ERR),
                    Number(1),
                    Number(8),
                    Gds(gds::ISC_RANDOM),
                    text("from"),
                ],
                "42000",
                -104,
                "Dynamic SQL Error\n-SQL error code = -104\n-Token unknown - line 1, column 8\n-from",
            ),
            (
                &[
                    Gds(gds::ISC_DSQL_ERROR),
                    Gds(gds::ISC_SQLERR),
                    Number(-204),
                    Gds(gds::ISC_DSQL_RELATION_ERR),
                    Gds(gds::ISC_RANDOM),
                    text("NO_SUCH_TABLE"),
                    Gds(336_397_208),
                    Number(1),
                    Number(15),
                ],
                "42S02",
                -204,
                "Dynamic SQL Error\n-SQL error code = -204\n-Table unknown\n-NO_SUCH_TABLE\n-At line 1, column 15",
            ),
            (
                &[
                    Gds(gds::ISC_ARITH_EXCEPT),
                    Gds(335_544_778),
                    Gds(335_544_842),
                    text("At block line: 1, col: 43"),
                ],
                "22012",
                -802,
                "arithmetic exception, numeric overflow, or string truncation\n\
                 -Integer divide by zero.  The code attempted to divide an integer value by an integer divisor of \
                 zero.\n-At block line: 1, col: 43",
            ),
            (
                &[
                    Gds(gds::ISC_EXCEPT),
                    Number(2),
                    Gds(gds::ISC_RANDOM),
                    text("TR_EXC"),
                    Gds(gds::ISC_RANDOM),
                    text("größer"),
                    Gds(335_544_842),
                    text("At block line: 1, col: 53"),
                ],
                "HY000",
                -836,
                "exception 2\n-TR_EXC\n-größer\n-At block line: 1, col: 53",
            ),
            (&[Gds(gds::ISC_BAD_SEGSTR_ID)], "42000", -901, "invalid BLOB ID"),
            (
                &[Gds(gds::ISC_BAD_TRANS_HANDLE)],
                "HY000",
                -901,
                "invalid transaction handle (expecting explicit transaction start)",
            ),
        ];
        assert_eq!(errors.len(), expected.len(), "{name}");
        for (response, (args, sqlstate, sqlcode, lines)) in errors.iter().zip(expected) {
            let status = &response.status;
            assert_eq!(status.0, args, "{name}");
            assert_eq!(status.to_string(), lines, "{name}");
            assert_eq!((status.sqlstate(), status.sqlcode()), (sqlstate, sqlcode), "{name}: {status}");
            assert!(status.is_error() && status.warnings().next().is_none(), "{name}: {status}");
        }
    }
}

/// An SQLSTATE has five characters; front ends have room for no more.
#[test]
fn an_sqlstate_of_another_form_is_ignored() {
    for (state, expected) in
        [("42S02", "42S02"), ("42S0", "22012"), ("42S022", "22012"), ("42 02", "22012"), ("", "22012")]
    {
        let args = vec![StatusArg::Gds(335_544_778), StatusArg::SqlState(state.into())];
        assert_eq!(StatusVector(args).sqlstate(), expected, "{state:?}");
    }
}

#[test]
fn small_blobs_come_before_their_rows() {
    let played = play("inline-blob-p19");
    let long = format!("{}abcdefghix", "abcdefghij".repeat(29));
    // The contents of each fetch: inlined BLOBs, and the number and BLOB id of each row.
    let mut fetches: Vec<Vec<String>> = vec![Vec::new()];
    for said in played.said() {
        let line = match said {
            Said::InlineBlob { transaction, id, info, segments } => {
                assert_eq!((*transaction, info.len()), (1, 26));
                let mut contents = Vec::new();
                append_segments(segments, &mut contents).expect("good segments");
                format!("{id:x} = {}", String::from_utf8(contents).expect("text"))
            }
            Said::Row(_, row) => match row[..] {
                [Value::Int(number), Value::Quad(id)] => format!("{number}: {id:x}"),
                [Value::Int(number), Value::Null] => format!("{number}: NULL"),
                _ => panic!("{row:?}"),
            },
            Said::FetchEnd(_, cursor_end) => {
                assert!(cursor_end);
                fetches.push(Vec::new());
                continue;
            }
            _ => continue,
        };
        fetches.last_mut().expect("never empty").push(line);
    }
    let [first, second, _] = &fetches[..] else { panic!("{fetches:?}") };
    let contents = format!("8d00000002 = {long}");
    let expected = [
        "8d00000000 = short text",
        "1: 8d00000000",
        "2: NULL",
        "8d00000001 = ",
        "3: 8d00000001",
        &contents,
        "4: 8d00000002",
    ];
    assert_eq!(first[..], expected);
    // The second time, 300 bytes are above the limit.
    let short: Vec<&str> = expected.into_iter().filter(|line| *line != contents).collect();
    assert_eq!(second[..], short);

    let responses = played.responses();
    let [.., opened, segment, closed, _commit, _detach] = responses[..] else { panic!("{responses:?}") };
    assert_eq!((opened.object, segment.object, closed.object), (3, STATE_END, 0));
    let mut contents = Vec::new();
    append_segments(&segment.data, &mut contents).expect("good segments");
    assert_eq!(contents, long.as_bytes());
}

#[test]
fn a_bulk_operation_reports_every_record_and_the_vector_of_the_failed_one() {
    for name in ["batch-error-p17", "batch-error-p19"] {
        let played = play(name);
        let completion = played.said().iter().find_map(|said| match said {
            Said::Completion(_, completion) => Some(completion),
            _ => None,
        });
        let text = |text: &str| StatusArg::Text(text.into());
        let duplicate = StatusVector(vec![
            StatusArg::Gds(gds::ISC_UNIQUE_KEY_VIOLATION),
            text("INTEG_8"),
            text("TR_BAT"),
            StatusArg::Gds(335_545_072),
            text("(\"ID\" = 1)"),
        ]);
        assert_eq!(
            duplicate.to_string(),
            "violation of PRIMARY or UNIQUE KEY constraint \"INTEG_8\" on table \"TR_BAT\"\n\
             -Problematic key value is (\"ID\" = 1)"
        );
        assert_eq!(duplicate.sqlstate(), "23000");
        let expected = Completion {
            statement: 2,
            records: 4,
            updates: vec![1, 1, -1, 1],
            errors: vec![(2, duplicate)],
            bare_errors: vec![],
        };
        assert_eq!(completion, Some(&expected), "{name}");
        // Create, sync and messages before it; release, ping, rollback and detach after it.
        let completed = played.said().iter().position(|said| matches!(said, Said::Completion(..)));
        assert_eq!(completed, Some(7), "{name}");
        assert_eq!(played.said().len(), 12, "{name}");
        assert!(played.responses().iter().all(|response| !response.status.is_error()), "{name}");
    }
}
