//! Arrays of parameters: many sets at once.

use crate::odbc::*;
use crate::parameter::*;
use crate::support::{Connection, Statement, fresh, fresh_string, unconnected};
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};

const SUCCEEDED: u16 = 0;
const UNUSED: u16 = 7;

/// What the driver told about each set.
pub(crate) struct Told {
    pub(crate) statuses: Vec<u16>,
    pub(crate) processed: usize,
}

impl Told {
    /// Room for so many sets, which the statement is told about.
    pub(crate) fn about(statement: &Statement, sets: usize) -> Box<Self> {
        let mut told = Box::new(Self { statuses: vec![99; sets], processed: 99 });
        assert_eq!(statement.set(PARAMSET_SIZE, sets), SUCCESS);
        statement.set_pointer(PARAM_STATUS_PTR, told.statuses.as_mut_ptr());
        statement.set_pointer(PARAMS_PROCESSED_PTR, &raw mut told.processed);
        told
    }
}

/// The integers, texts and bytes of some sets: every seventh integer, fifth text and third byte string is NULL.
fn sets(count: usize) -> (Values, Values, Values) {
    let number = |at: usize| (!at.is_multiple_of(7)).then(|| (at as i32 * 3).to_ne_bytes().to_vec());
    let text = |at: usize| (!at.is_multiple_of(5)).then(|| format!("é{at}").into_bytes());
    let bytes = |at: usize| (!at.is_multiple_of(3)).then(|| vec![0, (at % 256) as u8, 0xFF]);
    (
        Values::of(C_SLONG, 4, &(0..count).map(number).collect::<Vec<_>>()),
        Values::of(C_CHAR, 12, &(0..count).map(text).collect::<Vec<_>>()),
        Values::of(C_BINARY, -3, &(0..count).map(bytes).collect::<Vec<_>>()),
    )
}

fn one(connection: &Connection, sql: &str) -> String {
    connection.texts(sql)[0][0].clone().unwrap_or_default()
}

/// Checks on the server that the sets are there, each once and unaltered.
fn check_sets(connection: &Connection, count: usize) {
    let count = count.to_string();
    assert_eq!(one(connection, "SELECT COUNT(DISTINCT ID) FROM T"), count);
    assert_eq!(one(connection, "SELECT COUNT(*) FROM T"), count);
    let good = "SELECT COUNT(*) FROM T WHERE \
        N IS NOT DISTINCT FROM IIF(MOD(ID, 7) = 0, NULL, ID * 3) AND \
        V IS NOT DISTINCT FROM IIF(MOD(ID, 5) = 0, NULL, 'é' || ID) AND \
        B IS NOT DISTINCT FROM IIF(MOD(ID, 3) = 0, NULL, \
            x'00' || CAST(ASCII_CHAR(MOD(ID, 256)) AS CHAR(1) CHARACTER SET OCTETS) || x'FF')";
    assert_eq!(one(connection, good), count);
}

const TABLE: &str = "CREATE TABLE T (ID INTEGER, N INTEGER, V VARCHAR(20) CHARACTER SET UTF8, B VARCHAR(5) CHARACTER SET OCTETS)";

fn ids(count: usize) -> Values {
    Values::integers(&(0..count as i32).map(Some).collect::<Vec<_>>())
}

fn insert_by_column(connection: &Connection, count: usize) {
    let statement = connection.statement();
    statement.prepare("INSERT INTO T VALUES (?, ?, ?, ?)");
    let (mut ids, (mut numbers, mut texts, mut bytes)) = (ids(count), sets(count));
    for (number, values) in (1..).zip([&mut ids, &mut numbers, &mut texts, &mut bytes]) {
        statement.bind(number, INPUT, values);
    }
    let told = Told::about(&statement, count);
    assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
    assert_eq!((told.processed, statement.row_count()), (count, count as isize));
    assert!(told.statuses.iter().all(|status| *status == SUCCEEDED));
}

/// Binds the same by rows, with everything shifted by an offset.
fn insert_by_row(connection: &Connection, count: usize) {
    const OFFSET: usize = 5;
    let statement = connection.statement();
    statement.prepare("INSERT INTO T VALUES (?, ?, ?, ?)");
    let (numbers, texts, bytes) = sets(count);
    let columns = [&ids(count), &numbers, &texts, &bytes];
    let row: usize = columns.iter().map(|values| values.capacity + 8).sum::<usize>() + 3;
    let mut memory = vec![0xEE_u8; OFFSET + row * count];
    assert_eq!(statement.set(PARAM_BIND_TYPE, row), SUCCESS);
    let mut at = 0;
    for (number, values) in (1..).zip(columns) {
        for set in 0..count {
            let place = OFFSET + set * row + at;
            let value = &values.data[set * values.capacity..][..values.capacity];
            memory[place..][..values.capacity].copy_from_slice(value);
            memory[place + values.capacity..][..8].copy_from_slice(&values.lengths[set].to_ne_bytes());
        }
        let base = memory.as_mut_ptr().wrapping_add(at);
        let indicator = base.wrapping_add(values.capacity).cast();
        let Values { c_type, sql_type, capacity, .. } = *values;
        // SAFETY: the memory has all rows.
        let code = unsafe {
            let capacity = capacity as isize;
            SQLBindParameter(
                statement.handle,
                number,
                INPUT,
                c_type,
                sql_type,
                100,
                0,
                base.cast(),
                capacity,
                indicator,
            )
        };
        assert_eq!(code, SUCCESS);
        at += values.capacity + 8;
    }
    let mut offset = OFFSET;
    statement.set_pointer(PARAM_BIND_OFFSET_PTR, &raw mut offset);
    let told = Told::about(&statement, count);
    assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
    assert_eq!((told.processed, statement.row_count()), (count, count as isize));
}

matrix!(
    all,
    fn sets_bound_by_column_are_inserted(target: &Target) {
        for count in [1, 2, 1000, 2500] {
            let connection = fresh(target);
            connection.run(TABLE);
            insert_by_column(&connection, count);
            check_sets(&connection, count);
        }
    },
    fn sets_bound_by_row_with_an_offset_are_inserted(target: &Target) {
        for count in [1, 2, 1000, 2500] {
            let connection = fresh(target);
            connection.run(TABLE);
            insert_by_row(&connection, count);
            check_sets(&connection, count);
        }
    },
    fn a_hundred_thousand_sets_are_inserted(target: &Target) {
        let connection = fresh(target);
        connection.run(TABLE);
        insert_by_column(&connection, 100_000);
        check_sets(&connection, 100_000);
    },
    fn ignored_sets_are_not_executed(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        let mut values = ids(6);
        statement.bind(1, INPUT, &mut values);
        let mut operations = [0_u16, 1, 0, 1, 1, 0];
        statement.set_pointer(PARAM_OPERATION_PTR, operations.as_mut_ptr());
        let told = Told::about(&statement, 6);
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(told.statuses, [SUCCEEDED, UNUSED, SUCCEEDED, UNUSED, UNUSED, SUCCEEDED]);
        assert_eq!((told.processed, statement.row_count()), (3, 3));
        let rows = connection.texts("SELECT ID FROM T ORDER BY ID");
        assert_eq!(rows, ["0", "2", "5"].map(|id| vec![Some(id.to_owned())]));
        operations = [1; 6];
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!((&told.statuses[..], told.processed, operations[0]), (&[UNUSED; 6][..], 0, 1));
        let told = Told::about(&statement, 1);
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!((&told.statuses[..], told.processed), (&[UNUSED][..], 0));
        assert_eq!(one(&connection, "SELECT COUNT(*) FROM T"), "3");
    },
    fn sizes_and_types_can_change_between_executions(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, V VARCHAR(20))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?)");
        let mut expected = Vec::new();
        for (round, size) in [3_usize, 1, 50, 2].into_iter().enumerate() {
            let first = (round * 100) as i32;
            let numbers = first..first + size as i32;
            let mut ids = Values::integers(&numbers.clone().map(Some).collect::<Vec<_>>());
            let texts: Vec<_> = numbers.clone().map(|number| Some(number.to_string().into_bytes())).collect();
            let wide: Vec<_> = numbers.clone().map(|number| Some(units(&number.to_string()))).collect();
            let longs: Vec<_> = numbers.clone().map(|number| Some(number.to_ne_bytes().to_vec())).collect();
            let mut values = match round {
                0 => Values::of(C_CHAR, 12, &texts),
                1 => Values::of(C_WCHAR, -9, &wide),
                _ => Values::of(C_SLONG, 4, &longs),
            };
            statement.bind(1, INPUT, &mut ids);
            statement.bind(2, INPUT, &mut values);
            let told = Told::about(&statement, size);
            assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
            assert_eq!((told.processed, statement.row_count()), (size, size as isize));
            expected.extend(numbers.map(|number| vec![Some(number.to_string()); 2]));
        }
        assert_eq!(connection.texts("SELECT ID, V FROM T ORDER BY ID"), expected);
    },
    fn sets_update_and_delete_rows(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, V INTEGER)");
        let statement = connection.statement();
        let (mut id, mut value) = (ids(100), ids(100));
        statement.bind(1, INPUT, &mut id);
        statement.bind(2, INPUT, &mut value);
        let told = Told::about(&statement, 100);
        for sql in ["INSERT INTO T VALUES (?, ?)", "UPDATE T SET V = -V WHERE ID = ? AND V = ?"] {
            // SAFETY: the text has its length, and what is bound is there.
            let code = unsafe { SQLExecDirect(statement.handle, sql.as_ptr(), sql.len() as i32) };
            assert_eq!((code, statement.row_count(), told.processed), (SUCCESS, 100, 100));
        }
        assert_eq!(one(&connection, "SELECT SUM(V) FROM T"), "-4950");
        statement.prepare("DELETE FROM T WHERE ID = ?");
        let told = Told::about(&statement, 40);
        assert_eq!((statement.execute(), statement.row_count(), told.processed), (SUCCESS, 40, 40));
        assert_eq!(one(&connection, "SELECT MIN(ID) FROM T"), "40");
    },
    fn what_sets_return_follows_each_other(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        let statement = connection.statement();
        let mut values = ids(5);
        statement.bind(1, INPUT, &mut values);
        statement.prepare("INSERT INTO T VALUES (?) RETURNING ID * 10");
        let told = Told::about(&statement, 5);
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        let rows: Vec<_> = statement.all_texts().into_iter().flatten().flatten().collect();
        assert_eq!(rows, ["0", "10", "20", "30", "40"]);
        assert_eq!((&told.statuses[..], told.processed), (&[SUCCEEDED; 5][..], 5));
        statement.close();
        statement.prepare("SELECT ID FROM T WHERE ID >= ? ORDER BY ID");
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(statement.all_texts().len(), 5 + 4 + 3 + 2 + 1);
        assert_eq!(one(&connection, "SELECT COUNT(*) FROM T"), "5");
    },
);

matrix!(
    wire,
    fn round_trips_are_those_of_batches(target: &Target) {
        let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("it listens");
        let port = target.server().address().port();
        let text = fresh_string(target);
        let through = text.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
        assert_ne!(text, through);
        let connection = unconnected(380);
        connection.connect(&through);
        connection.run(TABLE);
        let seen = proxy.round_trips();
        insert_by_column(&connection, 2500);
        let trips = proxy.round_trips() - seen;
        check_sets(&connection, 2500);
        // Batches, or pipelined executions.
        assert!(trips <= 8, "{trips} round trips");
    },
);
