//! Whole results through bound buffers, in every layout, and through `SQLGetData`.

use crate::odbc::*;
use crate::support::*;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A value's bytes, without a terminator; `None` for NULL.
pub(crate) type Cell = Option<Vec<u8>>;

/// The buffer of a column: its C type, and its length in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) c_type: i16,
    pub(crate) capacity: usize,
}

/// How the buffers of a row set lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// An array for each column.
    Columns,
    /// A structure for each row, whose members are not aligned.
    Rows,
    /// The same, with addresses that are counted from an offset.
    Shifted,
}

pub(crate) const LAYOUTS: [Layout; 3] = [Layout::Columns, Layout::Rows, Layout::Shifted];

pub(crate) const ROW_BIND_TYPE: i32 = 5;
pub(crate) const BIND_OFFSET_PTR: i32 = 23;
pub(crate) const ROW_STATUS_PTR: i32 = 25;
pub(crate) const ROWS_FETCHED_PTR: i32 = 26;
pub(crate) const ROW_ARRAY_SIZE: i32 = 27;

/// Bytes of the terminator of a C type.
fn terminator(c_type: i16) -> usize {
    match c_type {
        1 => 1,
        -8 => 2,
        _ => 0,
    }
}

impl Buffer {
    fn cell(self, data: &[u8], length: isize) -> Cell {
        let room = self.capacity - terminator(self.c_type);
        (length != NULL_DATA).then(|| data[..room.min(length.try_into().expect("a length"))].to_vec())
    }
}

/// Rows of an open result, through buffers that are bound for row sets of `size` rows.
pub(crate) fn fetch_bound(
    statement: &Statement,
    buffers: &[Buffer],
    size: usize,
    layout: Layout,
) -> Vec<Vec<Cell>> {
    const LENGTH: usize = size_of::<isize>();
    /// Nothing is at the addresses before it is added.
    const SHIFT: isize = 0x1000;
    let row: usize = 1 + buffers.iter().map(|buffer| LENGTH + buffer.capacity).sum::<usize>();
    let mut memory = vec![0xAA_u8; row * size];
    let base = memory.as_mut_ptr();
    // Where the length and the data of a cell are.
    let place = |column: usize, at: usize| {
        let before: usize = buffers[..column].iter().map(|buffer| LENGTH + buffer.capacity).sum();
        match layout {
            Layout::Columns => {
                let start = before * size;
                (start + at * LENGTH, start + size * LENGTH + at * buffers[column].capacity)
            }
            Layout::Rows | Layout::Shifted => {
                let start = at * row + 1 + before;
                (start, start + LENGTH)
            }
        }
    };
    let (mut fetched, mut statuses, mut shift) = (usize::MAX, vec![9_u16; size], SHIFT);
    assert_eq!(statement.set(ROW_ARRAY_SIZE, size), SUCCESS);
    assert_eq!(statement.set(ROWS_FETCHED_PTR, (&raw mut fetched).expose_provenance()), SUCCESS);
    assert_eq!(statement.set(ROW_STATUS_PTR, statuses.as_mut_ptr().expose_provenance()), SUCCESS);
    assert_eq!(statement.set(ROW_BIND_TYPE, if layout == Layout::Columns { 0 } else { row }), SUCCESS);
    let is_shifted = layout == Layout::Shifted;
    let offset = if is_shifted { (&raw mut shift).expose_provenance() } else { 0 };
    assert_eq!(statement.set(BIND_OFFSET_PTR, offset), SUCCESS);
    for (column, buffer) in buffers.iter().enumerate() {
        let (length, data) = place(column, 0);
        let address = |at: usize| base.wrapping_add(at).wrapping_offset(if is_shifted { -SHIFT } else { 0 });
        // SAFETY: the buffers have room for the row set.
        let code = unsafe {
            SQLBindCol(
                statement.handle,
                column as u16 + 1,
                buffer.c_type,
                address(data).cast(),
                buffer.capacity as isize,
                address(length).cast(),
            )
        };
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
    }
    let mut rows = Vec::new();
    loop {
        let code = statement.fetch();
        if code == NO_DATA {
            assert_eq!(fetched, 0);
            assert!(statuses.iter().all(|status| *status == 3));
            break;
        }
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
        let (done, rest) = statuses.split_at(fetched);
        assert!(done.iter().all(|status| *status == 0) && rest.iter().all(|status| *status == 3));
        for at in 0..fetched {
            let cell = |(column, buffer): (usize, &Buffer)| {
                let (length, data) = place(column, at);
                let bytes = |at: usize, count: usize| {
                    // SAFETY: they are within the memory.
                    unsafe { std::slice::from_raw_parts(base.add(at), count) }
                };
                let length = isize::from_ne_bytes(bytes(length, LENGTH).try_into().expect("a length"));
                buffer.cell(bytes(data, buffer.capacity), length)
            };
            rows.push(buffers.iter().enumerate().map(cell).collect());
        }
    }
    // SAFETY: handles are checked.
    assert_eq!(unsafe { SQLFreeStmt(statement.handle, 2) }, SUCCESS);
    for (attribute, value) in
        [(ROW_ARRAY_SIZE, 1), (ROWS_FETCHED_PTR, 0), (ROW_STATUS_PTR, 0), (BIND_OFFSET_PTR, 0)]
    {
        assert_eq!(statement.set(attribute, value), SUCCESS);
    }
    rows
}

/// One call of `SQLGetData`: its code, the bytes of the buffer, and the indicator.
pub(crate) fn get(statement: &Statement, column: u16, buffer: Buffer) -> (Return, Vec<u8>, isize) {
    let (mut data, mut length) = (vec![0xAA_u8; buffer.capacity], -77);
    // SAFETY: the buffer has its length.
    let code = unsafe {
        SQLGetData(
            statement.handle,
            column,
            buffer.c_type,
            data.as_mut_ptr().cast::<c_void>(),
            buffer.capacity as isize,
            &mut length,
        )
    };
    (code, data, length)
}

/// A value of the current row, in as many pieces as the buffer makes of it.
pub(crate) fn get_whole(statement: &Statement, column: u16, buffer: Buffer) -> Cell {
    let mut whole = Vec::new();
    loop {
        let (code, data, length) = get(statement, column, buffer);
        assert!(
            matches!(code, SUCCESS | SUCCESS_WITH_INFO),
            "column {column}: {code} {:?}",
            statement.records()
        );
        if length == NULL_DATA {
            assert_eq!(code, SUCCESS);
            break assert_no_more(statement, column, buffer, None);
        }
        if code == SUCCESS {
            whole.extend(buffer.cell(&data, length)?);
            break assert_no_more(statement, column, buffer, Some(whole));
        }
        assert_eq!(statement.state(), "01004");
        // As much as fits, up to the terminator.
        let piece = match buffer.c_type {
            1 => data.iter().position(|byte| *byte == 0).expect("a terminator"),
            -8 => 2 * data.chunks(2).position(|unit| unit == [0, 0]).expect("a terminator"),
            _ => buffer.capacity,
        };
        whole.extend(&data[..piece]);
    }
}

fn assert_no_more(statement: &Statement, column: u16, buffer: Buffer, cell: Cell) -> Cell {
    assert_eq!(get(statement, column, buffer).0, NO_DATA);
    cell
}

/// Rows of an open result, through `SQLGetData`.
pub(crate) fn fetch_got(statement: &Statement, buffers: &[Buffer]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    loop {
        match statement.fetch() {
            NO_DATA => return rows,
            code => assert_eq!(code, SUCCESS, "{:?}", statement.records()),
        }
        let cell = |(at, buffer): (usize, &Buffer)| get_whole(statement, at as u16 + 1, *buffer);
        rows.push(buffers.iter().enumerate().map(cell).collect());
    }
}

/// Binds a column to a place that stays valid; rows of a row set follow each other.
pub(crate) fn bind<T>(statement: &Statement, column: u16, c_type: i16, to: &mut [T], lengths: &mut [isize]) {
    let lengths = if lengths.is_empty() { null_mut() } else { lengths.as_mut_ptr() };
    // SAFETY: the caller keeps them.
    let code = unsafe {
        let data = to.as_mut_ptr().cast();
        SQLBindCol(statement.handle, column, c_type, data, size_of::<T>() as isize, lengths)
    };
    assert_eq!(code, SUCCESS, "{:?}", statement.records());
}

/// Runs SQL with one long parameter.
pub(crate) fn run_with(connection: &Connection, sql: &str, c_type: i16, value: &[u8]) {
    let statement = connection.statement();
    statement.prepare(sql);
    let mut length = value.len() as isize;
    let sql_type = if c_type == -2 { -4 } else { -1 };
    // SAFETY: the value is there until it is executed.
    let code = unsafe {
        let data = value.as_ptr().cast_mut().cast();
        SQLBindParameter(statement.handle, 1, 1, c_type, sql_type, value.len(), 0, data, length, &mut length)
    };
    assert_eq!(code, SUCCESS, "{:?}", statement.records());
    assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
}

/// Text as UTF-16.
pub(crate) fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_ne_bytes).collect()
}
