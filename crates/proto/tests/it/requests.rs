//! The requests of each recorded client after its handshake, as requests of this crate.

use crate::player::Ask;
use crate::transcript::Transcript;
use firearrow_proto::api::describe::{self, Describer, StatementInfo};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::transaction::TransactionOptions;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::{Detach, Disconnect, Ping};
use firearrow_proto::wire::packet::batch::{
    BatchMessages, BatchOptions, CreateBatch, ExecuteBatch, ReleaseBatch, SyncBatch,
};
use firearrow_proto::wire::packet::blob::{CloseBlob, GetSegment, OpenBlob};
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::statement::{
    AllocateStatement, Execute, ExecuteImmediate, ExecuteOptions, Fetch, FreeOption, FreeStatement,
    Parameters, PrepareStatement,
};
use firearrow_proto::wire::packet::transaction::{Commit, Rollback, StartTransaction};
use firearrow_proto::wire::packet::{LAST_OBJECT, Request};
use firearrow_proto::wire::xdr::{Reader, Writer};
use firearrow_proto::wire::{Limits, Op, ProtocolVersion};
use std::sync::{Arc, LazyLock};

/// The requests of one turn.
type Turn = Vec<Box<dyn Ask>>;

/// Handles in all recordings: each has one transaction and one statement.
const TRANSACTION: u16 = 1;
const STATEMENT: u16 = 2;

static ITEMS: LazyLock<Vec<u8>> = LazyLock::new(describe::prepare_items);
static TPB: LazyLock<Vec<u8>> = LazyLock::new(|| TransactionOptions::default().tpb());

const SELECT_ALL_TYPES: &str = "select id,sm,i,b,n9,n18,f,d,dt,tm,ts,c10,v10,oc,ov,bo,bt,w,i128,n38,d16,d34,tmz,tsz \
    from alltypes where id in (1,2) order by id";

/// The requests of a recording, turn by turn.
pub(crate) fn of(transcript: &Transcript) -> Vec<Turn> {
    let subject = transcript.name.rsplit_once("-p").map_or(transcript.name, |(subject, _)| subject);
    let mut requests = match subject {
        "batch-error" => batch(),
        "describe-truncated" => describe_truncated(),
        "describe-types" => describe_types(),
        "errors" => errors(),
        "fetch-nulls" => fetch_nulls(transcript),
        "inline-blob" => inline_blob(transcript),
        "params-types" => params_types(transcript),
        _ => vec![turn([Box::new(Ping)])],
    };
    requests.push(turn([Box::new(Detach)]));
    requests.push(turn([Box::new(Disconnect)]));
    requests
}

fn turn<const N: usize>(requests: [Box<dyn Ask>; N]) -> Turn {
    requests.into()
}

fn start() -> Turn {
    turn([Box::new(StartTransaction { tpb: &TPB })])
}

fn prepare(sql: &'static str, buffer_length: u32) -> Turn {
    let (transaction, statement) = (TRANSACTION, LAST_OBJECT);
    let prepare = PrepareStatement {
        transaction,
        statement,
        dialect: Dialect::Three,
        sql,
        items: &ITEMS,
        buffer_length,
    };
    turn([Box::new(AllocateStatement), Box::new(prepare)])
}

fn commit() -> Turn {
    turn([Box::new(Commit { transaction: TRANSACTION })])
}

fn rollback() -> Turn {
    turn([Box::new(Rollback { transaction: TRANSACTION })])
}

fn free_and_ping(option: FreeOption) -> Turn {
    turn([Box::new(FreeStatement { statement: STATEMENT, option }), Box::new(Ping)])
}

fn describe_types() -> Vec<Turn> {
    let prepare = prepare(SELECT_ALL_TYPES, describe::PREPARE_BUFFER);
    vec![start(), prepare, free_and_ping(FreeOption::Drop), commit()]
}

/// Items that continue a description from the third column on; `describe.rs` checks that a describer requests them.
pub(crate) const FROM_THE_THIRD_COLUMN: [u8; 17] =
    [20, 2, 3, 0, 4, 7, 9, 11, 12, 13, 14, 16, 17, 18, 19, 25, 8];

fn describe_truncated() -> Vec<Turn> {
    let more = InfoSql { object: STATEMENT, items: &FROM_THE_THIRD_COLUMN, buffer_length: 400 };
    vec![start(), prepare(SELECT_ALL_TYPES, 200), turn([Box::new(more)]), commit()]
}

fn errors() -> Vec<Turn> {
    let unknown_table = PrepareStatement {
        transaction: TRANSACTION,
        statement: STATEMENT,
        dialect: Dialect::Three,
        sql: "select * from no_such_table",
        items: &ITEMS,
        buffer_length: describe::PREPARE_BUFFER,
    };
    let run =
        |sql| turn([Box::new(ExecuteImmediate { transaction: TRANSACTION, dialect: Dialect::Three, sql })]);
    vec![
        start(),
        prepare("select from where", describe::PREPARE_BUFFER),
        turn([Box::new(unknown_table)]),
        run("execute block as declare x integer; begin x = 1/0; end"),
        run("execute block as begin in autonomous transaction do exception tr_exc 'größer'; end"),
        turn([Box::new(OpenBlob { transaction: TRANSACTION, id: 0x7777, bpb: &[] })]),
        turn([Box::new(Commit { transaction: 77 })]),
        rollback(),
    ]
}

/// The description that a recorded server gave of its statement: second answer of the turn that prepares.
pub(crate) fn described(transcript: &Transcript) -> StatementInfo {
    let is_prepare = |client: &[u8]| client.starts_with(&Op::ALLOCATE_STATEMENT.0.to_be_bytes());
    let turn = transcript.turns.iter().find(|turn| is_prepare(&turn.client)).expect("a prepare");
    let mut reader = Reader::new(&turn.server);
    let mut answer = || {
        assert_eq!(reader.op(), Ok(Op::RESPONSE));
        Response::decode(&mut reader, &Limits::default()).expect("a recorded answer")
    };
    let (_allocated, prepared) = (answer(), answer());
    let mut describer = Describer::new();
    assert_eq!(describer.read(&prepared.data), Ok(true));
    describer.finish()
}

fn format_of(columns: &[Descriptor]) -> Arc<PackedFormat> {
    let layout = RowLayout::for_descriptors(columns).expect("known types");
    Arc::new(PackedFormat::new(Arc::new(layout)))
}

fn execute(inline_blob_limit: u32) -> Box<dyn Ask> {
    Box::new(Execute {
        statement: STATEMENT,
        transaction: TRANSACTION,
        parameters: Parameters::default(),
        options: ExecuteOptions { inline_blob_limit, ..ExecuteOptions::default() },
    })
}

fn fetch(output: &Arc<PackedFormat>, first: bool) -> Box<dyn Ask> {
    Box::new(Fetch { statement: STATEMENT, output: Arc::clone(output), first, rows: 100 })
}

fn fetch_nulls(transcript: &Transcript) -> Vec<Turn> {
    let output = format_of(&described(transcript).columns);
    vec![
        start(),
        prepare(SELECT_ALL_TYPES, describe::PREPARE_BUFFER),
        turn([execute(0), fetch(&output, true), fetch(&output, false)]),
        free_and_ping(FreeOption::Close),
        commit(),
    ]
}

/// Id of the BLOB of 300 bytes.
const LONG_BLOB: u64 = 0x8d_0000_0002;

fn inline_blob(transcript: &Transcript) -> Vec<Turn> {
    let output = format_of(&described(transcript).columns);
    vec![
        start(),
        prepare("select id,b from tr_inl order by id", describe::PREPARE_BUFFER),
        turn([execute(65535), fetch(&output, true)]),
        free_and_ping(FreeOption::Close),
        turn([execute(20), fetch(&output, true)]),
        turn([
            Box::new(OpenBlob { transaction: TRANSACTION, id: LONG_BLOB, bpb: &[] }),
            Box::new(GetSegment { blob: LAST_OBJECT }),
            Box::new(CloseBlob { blob: LAST_OBJECT }),
        ]),
        commit(),
    ]
}

/// [`Execute`] that owns its parameters.
struct ExecuteWith {
    blr: Vec<u8>,
    message: Vec<u8>,
}

impl Request for ExecuteWith {
    const OP: Op = Op::EXECUTE;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        let parameters = Parameters { blr: &self.blr, message: &self.message };
        let options = ExecuteOptions::default();
        Execute { statement: STATEMENT, transaction: TRANSACTION, parameters, options }.encode(version, out);
    }
}

fn params_types(transcript: &Transcript) -> Vec<Turn> {
    let input = format_of(&described(transcript).parameters);
    let mut message = Vec::new();
    input.pack(&all_types_message(input.layout()), &mut message).expect("a full message");
    let counts = InfoSql { object: STATEMENT, items: &[RECORDS], buffer_length: 100 };
    let sql = "insert into alltypes(id,sm,i,b,n9,n18,f,d,dt,tm,ts,c10,v10,oc,ov,bo,i128,n38,d16,d34,tmz,tsz) \
        values(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
    vec![
        start(),
        prepare(sql, describe::PREPARE_BUFFER),
        turn([Box::new(ExecuteWith { blr: input.layout().blr(), message }), Box::new(counts)]),
        rollback(),
    ]
}

/// The parameters of the recording as the engine would lay them out in memory.
fn all_types_message(layout: &RowLayout) -> Vec<u8> {
    const TIME: u32 = 452_967_890;
    const EUROPE_BERLIN: u16 = 65091;
    let (time, zone) = (TIME.to_le_bytes(), EUROPE_BERLIN.to_le_bytes());
    let varying = |text: &[u8]| [&(text.len() as u16).to_le_bytes(), text].concat();
    let values: [Vec<u8>; 22] = [
        100_i32.to_le_bytes().into(),
        (-5_i16).to_le_bytes().into(),
        (-100_000_i32).to_le_bytes().into(),
        (-(1_i64 << 40)).to_le_bytes().into(),
        (-12_345_i32).to_le_bytes().into(),
        123_456_789_012_i64.to_le_bytes().into(),
        1.5_f32.to_le_bytes().into(),
        (-2.25_f64).to_le_bytes().into(),
        58_849_i32.to_le_bytes().into(),
        time.into(),
        [40_587_i32.to_le_bytes(), time].concat(),
        format!("{:<39}", "äb").into(), // 40 bytes
        varying("größe".as_bytes()),
        vec![1, 2, 3, 0, 0],
        varying(&[0xff, 0]),
        vec![1],
        (-(1_i128 << 100)).to_le_bytes().into(),
        12_345_678_901_234_567_890_i128.to_le_bytes().into(),
        0x2234_0000_0000_0015_u64.to_le_bytes().into(),
        0x2208_0000_0000_0000_0000_0000_0000_0001_u128.to_le_bytes().into(),
        [&time[..], &zone].concat(),
        [&60_000_i32.to_le_bytes()[..], &time, &zone].concat(),
    ];
    let mut message = vec![0; layout.native_length()];
    for (field, value) in layout.fields().iter().zip(&values) {
        message[field.offset..][..value.len()].copy_from_slice(value);
    }
    message
}

fn batch() -> Vec<Turn> {
    let mut text = FieldLayout::plain(FieldKind::Varying(40));
    text.charset = 4;
    let layout = RowLayout::new([FieldLayout::plain(FieldKind::Long), text]);
    let input = PackedFormat::new(Arc::new(layout));
    let blr = input.layout().blr();
    let options = BatchOptions { multi_error: true, record_counts: true, ..BatchOptions::default() }.block();
    let records = [(1, Some("one")), (2, Some("größe")), (1, Some("dup")), (3, None)];
    let messages = records.into_iter().flat_map(|(id, text)| record(&input, id, text)).collect();
    let create = Create { blr, message_length: input.layout().native_length() as u32, options };
    vec![
        start(),
        prepare("insert into tr_bat(id,v) values(?,?)", describe::PREPARE_BUFFER),
        turn([Box::new(create), Box::new(SyncBatch)]),
        turn([
            Box::new(Messages { count: 4, messages }),
            Box::new(ExecuteBatch { statement: STATEMENT, transaction: TRANSACTION }),
        ]),
        turn([Box::new(ReleaseBatch { statement: STATEMENT }), Box::new(Ping)]),
        rollback(),
    ]
}

/// [`CreateBatch`] with its bytes.
struct Create {
    blr: Vec<u8>,
    message_length: u32,
    options: Vec<u8>,
}

impl Request for Create {
    const OP: Op = Op::BATCH_CREATE;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        let Self { blr, message_length, options } = self;
        CreateBatch { statement: STATEMENT, blr, message_length: *message_length, options }
            .encode(version, out);
    }
}

/// [`BatchMessages`] with its bytes.
struct Messages {
    count: u32,
    messages: Vec<u8>,
}

impl Request for Messages {
    const OP: Op = Op::BATCH_MSG;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        let Self { count, messages } = self;
        BatchMessages { statement: STATEMENT, count: *count, messages }.encode(version, out);
    }
}

/// One packed record of the batch.
fn record(input: &PackedFormat, id: i32, text: Option<&str>) -> Vec<u8> {
    let [number, varying] = input.layout().fields() else { unreachable!("two fields") };
    let mut native = vec![0; input.layout().native_length()];
    native[number.offset..][..4].copy_from_slice(&id.to_le_bytes());
    match text {
        Some(text) => {
            native[varying.offset] = text.len() as u8;
            native[varying.offset + 2..][..text.len()].copy_from_slice(text.as_bytes());
        }
        None => native[varying.null_offset..][..2].fill(0xff),
    }
    let mut packed = Vec::new();
    input.pack(&native, &mut packed).expect("a full message");
    packed
}
