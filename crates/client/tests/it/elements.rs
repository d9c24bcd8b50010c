//! Values of every type as elements of arrays.

use crate::cases::{Case, cases};
use crate::support::fresh;
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field};
use firearrow::{Connection, Params};
use firearrow_testkit::Target;
use std::sync::Arc;

/// Lists of `length` of these values each; `None` for a null list, which takes none of them.
pub(crate) fn lists(values: ArrayRef, length: usize, valid: &[bool]) -> ArrayRef {
    let lengths = valid.iter().map(|valid| if *valid { length } else { 0 });
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let nulls = NullBuffer::from(valid);
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths), values, nulls))
}

/// One list.
pub(crate) fn list(values: ArrayRef) -> ArrayRef {
    let length = values.len();
    lists(values, length, &[true])
}

/// One row, or as many as the columns have, into table t.
pub(crate) fn insert(
    connection: &Connection,
    columns: impl IntoIterator<Item = ArrayRef>,
) -> firearrow::Result<()> {
    let columns: Vec<ArrayRef> = columns.into_iter().collect();
    let marks = vec!["?"; columns.len()].join(", ");
    connection.execute_with(&format!("INSERT INTO t VALUES ({marks})"), Params::row(columns)).map(|_| ())
}

/// `TYPE CHARACTER SET X` with dimensions where they belong.
pub(crate) fn dimensioned(declaration: &str, dimensions: &str) -> String {
    match declaration.split_once(" CHARACTER SET ") {
        Some((element, charset)) => format!("{element} [{dimensions}] CHARACTER SET {charset}"),
        None => format!("{declaration} [{dimensions}]"),
    }
}

/// Whether there are arrays of this type.
pub(crate) fn can_be_element(target: &Target, case: &Case) -> bool {
    case.since <= target.generation() && !case.declaration.starts_with("BLOB")
}

/// Writes the values as elements of an array, reads that, and asks SQL for each element.
pub(crate) fn element_round_trip(target: &Target, case: &Case) -> Result<(), String> {
    let connection = fresh(target);
    let is_varbinary = *case.expected.data_type() == DataType::Binary;
    // Zero bytes in VARBINARY elements are refused, see below.
    let can_be = |index: &usize| {
        case.expected.is_valid(*index)
            && (!is_varbinary || !case.expected.as_binary::<i32>().value(*index).contains(&0))
    };
    let chosen: Vec<usize> = (0..case.expected.len()).filter(can_be).collect();
    // Twice, for engines have no arrays of one element.
    let chosen = [chosen.clone(), chosen].concat();
    let indices = UInt32Array::from_iter_values(chosen.iter().map(|&index| index as u32));
    let values = take(&case.expected, &indices, None).map_err(|error| error.to_string())?;
    let declaration = dimensioned(case.declaration, &format!("0:{}", values.len() - 1));
    connection.execute(&format!("CREATE TABLE t (a {declaration})")).map_err(|error| error.to_string())?;
    insert(&connection, [list(Arc::clone(&values))]).map_err(|error| format!("parameter: {error}"))?;
    let first = |sql: &str| -> Result<ArrayRef, String> {
        let batch = connection.query(sql).and_then(|mut cursor| cursor.next_batch());
        let batch = batch.map_err(|error| format!("{sql}: {error}"))?;
        Ok(Arc::clone(batch.ok_or("no row")?.column(0)))
    };
    let same = |what: &str, expected: &ArrayRef, found: &ArrayRef| {
        // The declared precision is not on the wire.
        let found = cast(found, expected.data_type()).map_err(|error| error.to_string())?;
        if found.as_ref() == expected.as_ref() {
            Ok(())
        } else {
            Err(format!("{what}: expected {expected:?}, found {found:?}"))
        }
    };
    same("array", &values, first("SELECT a FROM t")?.as_list::<i32>().values())?;
    for (at, &index) in chosen.iter().enumerate() {
        same("element", &values.slice(at, 1), &first(&format!("SELECT a[{at}] FROM t"))?)?;
        let sql = format!("SELECT COUNT(*) FROM t WHERE a[{at}] = {}", case.literals[index]);
        same("equality in the engine", &(Arc::new(Int64Array::from(vec![1])) as ArrayRef), &first(&sql)?)?;
    }
    Ok(())
}

/// Arrays of every type that the target has.
pub(crate) fn all_elements(target: &Target) {
    let cases: Vec<Case> = cases().into_iter().filter(|case| can_be_element(target, case)).collect();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            element_round_trip(target, case).err().map(|error| format!("{}: {error}", case.declaration))
        })
        .collect();
    assert!(failures.is_empty() && cases.len() >= 20, "{}", failures.join("\n"));
}
