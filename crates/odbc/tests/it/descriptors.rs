//! Descriptors and their fields.

use crate::handles::allocate;
use crate::odbc::*;
use crate::support::{Connection, Statement, fresh, number, records};
use firearrow_testkit::{Target, matrix};
use std::ptr::{null_mut, without_provenance_mut};

const ROLES: [i32; 4] = [10010, 10011, 10012, 10013];
const ARD: usize = 0;
const APD: usize = 1;
const IRD: usize = 2;
const IPD: usize = 3;

fn of(statement: &Statement, role: usize) -> Handle {
    without_provenance_mut(statement.get(ROLES[role]))
}

fn get(descriptor: Handle, record: i16, field: i16, value: *mut std::ffi::c_void) -> Return {
    // SAFETY: the place has room for any number.
    unsafe { SQLGetDescField(descriptor, record, field, value, 0, null_mut()) }
}

/// A number of exactly `N` bytes.
fn bytes<const N: usize>(descriptor: Handle, record: i16, field: i16) -> [u8; N] {
    let mut buffer = [0xAA_u8; 16];
    let (value, mut length) = (buffer.as_mut_ptr().cast(), -1);
    // SAFETY: the buffer is larger than any number.
    let code = unsafe { SQLGetDescField(descriptor, record, field, value, 0, &mut length) };
    assert_eq!(code, SUCCESS, "field {field}: {:?}", records(DESC, descriptor));
    assert!(buffer[N..].iter().all(|byte| *byte == 0xAA), "field {field} has {N} bytes");
    assert_eq!(length as usize, N, "field {field}");
    buffer[..N].try_into().expect("N bytes")
}

fn short(descriptor: Handle, record: i16, field: i16) -> i16 {
    i16::from_ne_bytes(bytes(descriptor, record, field))
}

fn long(descriptor: Handle, record: i16, field: i16) -> i64 {
    i64::from_ne_bytes(bytes(descriptor, record, field))
}

fn text(descriptor: Handle, record: i16, field: i16) -> String {
    let (mut buffer, mut length) = ([0_u8; 300], 0);
    // SAFETY: the buffer has its length.
    let code =
        unsafe { SQLGetDescField(descriptor, record, field, buffer.as_mut_ptr().cast(), 300, &mut length) };
    assert_eq!(code, SUCCESS, "field {field}: {:?}", records(DESC, descriptor));
    String::from_utf8(buffer[..length as usize].to_vec()).expect("UTF-8")
}

fn set(descriptor: Handle, record: i16, field: i16, value: usize) -> Return {
    // SAFETY: the value is no address, or one that the caller keeps.
    unsafe { SQLSetDescField(descriptor, record, field, number(value), 0) }
}

fn refused(descriptor: Handle, code: Return) -> String {
    assert_eq!(code, ERROR);
    records(DESC, descriptor)[0].state.clone()
}

/// A statement that has selected a row from a table with a number and a text.
fn selected(connection: &Connection) -> Statement {
    connection.run("CREATE TABLE T (AMOUNT NUMERIC(9, 2) NOT NULL, NAME VARCHAR(20), MOMENT TIMESTAMP)");
    connection.run("INSERT INTO T VALUES (12.34, 'Zoë', '2024-02-29 12:00:00')");
    let statement = connection.statement();
    statement.run("SELECT AMOUNT, NAME AS N, MOMENT, 1 + 1 FROM T");
    statement
}

matrix!(
    all,
    fn columns_are_described_with_the_widths_of_the_standard(target: &Target) {
        let connection = fresh(target);
        let statement = selected(&connection);
        let ird = of(&statement, IRD);
        assert_eq!((short(ird, 0, 1001), short(ird, 0, 1099)), (4, 1));
        // Types, concise and verbose.
        assert_eq!(
            (short(ird, 1, 2), short(ird, 1, 1002), short(ird, 3, 2), short(ird, 3, 1002)),
            (2, 2, 93, 9)
        );
        assert_eq!((short(ird, 3, 1007), short(ird, 1, 1006), short(ird, 1, 1005)), (3, 2, 9));
        assert_eq!((short(ird, 1, 1008), short(ird, 2, 1008)), (0, 1));
        // A text's display size is in bytes, for applications that make narrow buffers of it.
        // The number may have ten digits: the engine does not enforce nine.
        assert_eq!((long(ird, 2, 1003), long(ird, 2, 6), long(ird, 1, 6)), (20, 80, 12));
        assert!(long(ird, 2, 1013) >= 20);
        for field in [11, 12, 32, 26] {
            bytes::<4>(ird, 1, field);
        }
        for field in [8, 9, 10, 13, 35, 1012] {
            bytes::<2>(ird, 1, field);
        }
        let names = |record| [1011, 18, 22, 23, 15, 16, 17].map(|field| text(ird, record, field));
        assert_eq!(names(2), ["N", "N", "NAME", "T", "T", "", ""]);
        assert_eq!(names(4)[2..4], ["", ""]);
        assert_eq!(
            (text(ird, 2, 14), text(ird, 2, 27), text(ird, 2, 28)),
            ("VARCHAR".into(), "'".into(), "'".into())
        );
        assert_eq!((get(ird, 5, 2, null_mut()), get(ird, i16::MAX, 1011, null_mut())), (NO_DATA, NO_DATA));
        assert_eq!(refused(ird, get(ird, -1, 2, null_mut())), "07009");
        for unknown in [1211, 1212, 4711, 0, -1] {
            assert_eq!(refused(ird, get(ird, 1, unknown, null_mut())), "HY091", "{unknown}");
        }
    },
    fn the_descriptor_of_columns_is_only_read(target: &Target) {
        let connection = fresh(target);
        let statement = selected(&connection);
        let ird = of(&statement, IRD);
        for (field, value) in [(1001, 2), (1002, 4), (1011, 0), (20, 5), (1010, 0)] {
            assert_eq!(refused(ird, set(ird, 1, field, value)), "HY016", "{field}");
        }
        let (mut rows, mut status) = (0_usize, 0_u16);
        assert_eq!(set(ird, 0, 34, (&raw mut rows).expose_provenance()), SUCCESS);
        assert_eq!(set(ird, 0, 21, (&raw mut status).expose_provenance()), SUCCESS);
        assert_eq!(
            (statement.get(26), statement.get(25)),
            ((&raw mut rows).addr(), (&raw mut status).addr())
        );
        assert_eq!((statement.fetch(), rows), (SUCCESS, 1));
        // SAFETY: handles are checked.
        let copied = unsafe { SQLCopyDesc(of(&statement, ARD), ird) };
        assert_eq!(refused(ird, copied), "HY016");
        // Without columns there is nothing to tell.
        let other = connection.statement();
        let unprepared = of(&other, IRD);
        for (record, field) in [(0, 1001), (1, 2), (1, 1011)] {
            assert_eq!(refused(unprepared, get(unprepared, record, field, null_mut())), "HY007", "{field}");
        }
        assert_eq!(short(unprepared, 0, 1099), 1);
        other.run("INSERT INTO T VALUES (1, NULL, NULL)");
        assert_eq!(short(unprepared, 0, 1001), 0);
        other.run("CREATE TABLE U (ID INTEGER)");
        assert_eq!(short(unprepared, 0, 1001), 0);
        assert_eq!(other.try_prepare("SELEC"), ERROR);
        assert_eq!(refused(unprepared, get(unprepared, 0, 1001, null_mut())), "HY007");
    },
    fn parameters_are_described_once_they_are_prepared(target: &Target) {
        let connection = fresh(target);
        drop(selected(&connection));
        let statement = connection.statement();
        let ipd = of(&statement, IPD);
        assert_eq!(short(ipd, 0, 1001), 0);
        statement.prepare("INSERT INTO T VALUES (?, ?, ?)");
        assert_eq!(short(ipd, 0, 1001), 3);
        assert_eq!([1, 2, 3].map(|record| short(ipd, record, 2)), [2, 12, 93]);
        assert_eq!((short(ipd, 1, 1005), short(ipd, 1, 1006), long(ipd, 2, 1003)), (9, 2, 20));
        assert_eq!((short(ipd, 1, 1012), short(ipd, 1, 1008), short(ipd, 1, 33)), (1, 1, 1));
        assert_eq!((text(ipd, 2, 14), text(ipd, 2, 1011)), ("VARCHAR".into(), "".into()));
        assert_eq!(
            (get(ipd, 4, 2, null_mut()), refused(ipd, get(ipd, -3, 2, null_mut()))),
            (NO_DATA, "07009".into())
        );
        // What the application says stays when something else is prepared.
        let mut value = 7_i32;
        // SAFETY: the value outlives the execution.
        let code = unsafe {
            let data = (&raw mut value).cast();
            SQLBindParameter(statement.handle, 1, 1, 4, 4, 0, 0, data, 0, null_mut())
        };
        assert_eq!(code, SUCCESS);
        statement.prepare("SELECT NAME FROM T WHERE AMOUNT > ?");
        assert_eq!((short(ipd, 0, 1001), short(ipd, 1, 2)), (1, 4));
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(statement.all_texts(), [[Some("Zoë".to_owned())]]);
        statement.close();
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLFreeStmt(statement.handle, 3) }, SUCCESS);
        assert_eq!((short(ipd, 0, 1001), short(ipd, 1, 2)), (1, 2));
        assert_eq!(statement.execute(), ERROR);
        assert_eq!(statement.state(), "07002");
    },
    fn fields_bind_columns_and_parameters(target: &Target) {
        let connection = fresh(target);
        let statement = selected(&connection);
        let ard = of(&statement, ARD);
        // The usual recipe for exact numbers.
        let (mut numeric, mut indicator) = ([0_u8; 19], 0_isize);
        for (field, value) in
            [(1002, 2), (1005, 9), (1006, 2), (1009, (&raw mut indicator).expose_provenance())]
        {
            assert_eq!(set(ard, 1, field, value), SUCCESS);
        }
        assert_eq!(set(ard, 1, 1004, (&raw mut indicator).expose_provenance()), SUCCESS);
        assert_eq!(set(ard, 1, 1010, numeric.as_mut_ptr().expose_provenance()), SUCCESS);
        assert_eq!((short(ard, 1, 1005), short(ard, 1, 1006), short(ard, 0, 1001)), (9, 2, 1));
        assert_eq!((statement.fetch(), indicator), (SUCCESS, 19));
        assert_eq!(
            (numeric[0], numeric[1], numeric[2], u16::from_le_bytes([numeric[3], numeric[4]])),
            (9, 2, 1, 1234)
        );
        // Unbound, it does not count any more.
        assert_eq!(
            (set(ard, 1, 1010, 0), set(ard, 1, 1009, 0), set(ard, 1, 1004, 0)),
            (SUCCESS, SUCCESS, SUCCESS)
        );
        statement.close();
        numeric = [0xAA; 19];
        statement.run("SELECT AMOUNT FROM T");
        assert_eq!((statement.fetch(), numeric), (SUCCESS, [0xAA; 19]));
        // Inconsistent records are not bound.
        assert_eq!((set(ard, 1, 1002, 2), set(ard, 1, 1005, 99)), (SUCCESS, SUCCESS));
        assert_eq!(refused(ard, set(ard, 1, 1010, numeric.as_mut_ptr().addr())), "HY021");
    },
    fn counts_make_and_free_records(target: &Target) {
        let connection = fresh(target);
        let descriptor = allocate(DESC, connection.handle);
        assert_eq!((short(descriptor, 0, 1099), short(descriptor, 0, 1001)), (2, 0));
        assert_eq!(get(descriptor, 1, 2, null_mut()), NO_DATA);
        assert_eq!(set(descriptor, 3, 2, 4), SUCCESS);
        assert_eq!(
            (short(descriptor, 0, 1001), short(descriptor, 3, 2), short(descriptor, 1, 2)),
            (3, 4, 99)
        );
        assert_eq!((set(descriptor, 0, 1001, 1), get(descriptor, 3, 2, null_mut())), (SUCCESS, NO_DATA));
        assert_eq!((set(descriptor, 0, 1001, 5), short(descriptor, 3, 2)), (SUCCESS, 99));
        assert_eq!(set(descriptor, 1, 2, 93), SUCCESS);
        assert_eq!((short(descriptor, 1, 1002), short(descriptor, 1, 1007)), (9, 3));
        for (record, field, value, expected) in [
            (0, 1001, usize::MAX, "07009"),
            (-1, 2, 4, "07009"),
            (1, 4711, 4, "HY091"),
            (1, 1099, 1, "HY091"),
            (0, 20, 0, "HY024"),
        ] {
            assert_eq!(refused(descriptor, set(descriptor, record, field, value)), expected, "{field}");
        }
        assert_eq!(long(descriptor, 0, 20), 1);
        assert_eq!(i32::from_ne_bytes(bytes(descriptor, 0, 25)), 0);
    },
    fn headers_are_attributes_of_the_statement(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        for (role, field, attribute) in [
            (ARD, 20, 27),
            (ARD, 24, 23),
            (ARD, 21, 24),
            (APD, 20, 22),
            (APD, 24, 17),
            (APD, 21, 19),
            (IPD, 21, 20),
            (IPD, 34, 21),
            (IRD, 21, 25),
            (IRD, 34, 26),
        ] {
            let descriptor = of(&statement, role);
            assert_eq!(
                (statement.set(attribute, 4096), long(descriptor, 0, field)),
                (SUCCESS, 4096),
                "{attribute}"
            );
            assert_eq!(
                (set(descriptor, 0, field, 8192), statement.get(attribute)),
                (SUCCESS, 8192),
                "{attribute}"
            );
        }
        for (role, attribute) in [(ARD, 5), (APD, 18)] {
            assert_eq!((set(of(&statement, role), 0, 25, 24), statement.get(attribute)), (SUCCESS, 24));
        }
    },
    fn descriptors_are_copied(target: &Target) {
        let (connection, other) = (fresh(target), fresh(target));
        let statement = selected(&connection);
        let (from, to) = (allocate(DESC, connection.handle), allocate(DESC, other.handle));
        // SAFETY: handles are checked, the places are there.
        unsafe {
            assert_eq!(SQLCopyDesc(from, to), SUCCESS);
            assert_eq!(short(to, 0, 1001), 0);
            assert_eq!(SQLCopyDesc(of(&statement, IRD), to), SUCCESS);
            assert_eq!((short(to, 0, 1001), short(to, 1, 2), short(to, 1, 1006)), (4, 2, 2));
            let mut value = 0_i32;
            let data = (&raw mut value).cast();
            assert_eq!(SQLSetDescRec(from, 1, 4, 0, 4, 0, 0, data, null_mut(), null_mut()), SUCCESS);
            assert_eq!(set(from, 0, 20, 3), SUCCESS);
            assert_eq!(SQLCopyDesc(from, of(&statement, ARD)), SUCCESS);
            assert_eq!((statement.get(27), long(of(&statement, ARD), 1, 1010) as usize), (3, data.addr()));
            assert_eq!(
                (SQLCopyDesc(from, from), SQLCopyDesc(from, connection.handle)),
                (SUCCESS, INVALID_HANDLE)
            );
            assert_eq!(SQLCopyDesc(connection.handle, from), INVALID_HANDLE);
            let empty = connection.statement();
            assert_eq!(refused(to, SQLCopyDesc(of(&empty, IRD), to)), "HY007");
        }
    },
    fn records_are_read_and_written_whole(target: &Target) {
        let connection = fresh(target);
        let statement = selected(&connection);
        let (mut name, mut length) = ([0_u8; 10], 0);
        let (mut kind, mut code, mut octets, mut precision, mut scale, mut nullable) = (0, 0, 0, 0, 0, 0);
        // SAFETY: the places are there.
        unsafe {
            let mut get = |descriptor, number, capacity| {
                SQLGetDescRec(
                    descriptor,
                    number,
                    name.as_mut_ptr(),
                    capacity,
                    &mut length,
                    &mut kind,
                    &mut code,
                    &mut octets,
                    &mut precision,
                    &mut scale,
                    &mut nullable,
                )
            };
            let ird = of(&statement, IRD);
            assert_eq!(get(ird, 1, 10), SUCCESS);
            assert_eq!(get(ird, 5, 10), NO_DATA);
            assert_eq!(refused(ird, get(ird, -1, 10)), "07009");
            assert_eq!(refused(ird, get(ird, 1, -1)), "HY090");
            assert_eq!(get(ird, 1, 4), SUCCESS_WITH_INFO);
            assert_eq!(records(DESC, ird)[0].state, "01004");
            assert_eq!((&name[..4], length), (&b"AMO\0"[..], 6));
            assert_eq!((kind, precision, scale, nullable), (2, 9, 2, 0));
        }
        assert_eq!((code, octets > 0), (0, true));
    },
);
