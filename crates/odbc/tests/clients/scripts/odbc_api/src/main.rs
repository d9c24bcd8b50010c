//! Reads in row arrays and writes in parameter arrays with odbc-api.

use odbc_api::buffers::{BufferDesc, TextRowSet};
use odbc_api::{ConnectionOptions, Cursor, Environment, IntoParameter, ResultSetMetadata};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::new()?;
    let connection = environment.connect_with_connection_string(
        "DSN=fb",
        ConnectionOptions { login_timeout_sec: Some(20), ..Default::default() },
    )?;
    assert_eq!(connection.database_management_system_name()?, "Firebird");

    // Row by row, piece by piece.
    let mut cursor = connection.execute("SELECT ID, BT FROM KINDS ORDER BY ID", (), None)?.expect("rows");
    let mut texts = Vec::new();
    while let Some(mut row) = cursor.next_row()? {
        let mut text = Vec::new();
        texts.push(row.get_text(2, &mut text)?.then(|| String::from_utf8(text)).transpose()?);
    }
    drop(cursor);
    let expected = [Some("long text é😀"), Some("b"), Some(" "), None, Some("")];
    assert_eq!(texts, expected.map(|text| text.map(str::to_owned)));

    // Text in row arrays, as many tools do.
    let query = "SELECT ID, I64, F64, V, DT, TS FROM KINDS ORDER BY ID";
    let mut cursor = connection.execute(query, (), None)?.expect("rows");
    let names: Vec<String> = cursor.column_names()?.collect::<Result<_, _>>()?;
    assert_eq!(names, ["ID", "I64", "F64", "V", "DT", "TS"]);
    let mut buffer = TextRowSet::for_cursor(2, &mut cursor, Some(4096))?;
    let mut bound = cursor.bind_buffer(&mut buffer)?;
    let mut rows = Vec::new();
    while let Some(batch) = bound.fetch()? {
        for row in 0..batch.num_rows() {
            let text = |column| batch.at_as_str(column, row).map(|text| text.unwrap_or("NULL").to_owned());
            rows.push((0..6).map(text).collect::<Result<Vec<_>, _>>()?.join("|"));
        }
    }
    drop(bound);
    assert_eq!(
        rows,
        [
            "1|1234567890123|3.141592653589793|Zoë €😀|2024-02-29|2024-02-29 01:02:03.4567",
            &format!(
                "2|9223372036854775807|1.7976931348623157e308|{}|9999-12-31|9999-12-31 23:59:59.9999",
                "ß".repeat(40)
            ),
            "3|-9223372036854775808|-1.7976931348623157e308| z |0001-01-01|0001-01-01 00:00:00",
            "4|NULL|NULL|NULL|NULL|NULL",
            "5|0|0||2000-01-01|2000-01-01 12:00:00",
        ]
    );

    // Parameter arrays of changing sizes.
    connection.execute("INSERT INTO PARENT VALUES (?, ?)", (&-1, &"Zoë €😀".into_parameter()), None)?;
    let prepared = connection.prepare("INSERT INTO PARENT (ID, NAME) VALUES (?, ?)")?;
    let columns = [BufferDesc::I32 { nullable: false }, BufferDesc::Text { max_str_len: 40 }];
    let mut inserter = prepared.into_column_inserter(1000, columns)?;
    let all: Vec<i32> = (0..2500).collect();
    for part in all.chunks(1000) {
        inserter.set_num_rows(part.len());
        let keys = inserter.column_mut(0).as_slice::<i32>().expect("integers");
        keys[..part.len()].copy_from_slice(part);
        let mut names = inserter.column_mut(1).as_text_view().expect("text");
        for (at, key) in part.iter().enumerate() {
            names.set_cell(at, Some(format!("é{key}😀").as_bytes()));
        }
        inserter.execute()?;
    }
    drop(inserter);
    let mut cursor =
        connection.execute("SELECT ID, NAME FROM PARENT WHERE ID >= 0 ORDER BY ID", (), None)?.expect("rows");
    let mut buffer = TextRowSet::for_cursor(999, &mut cursor, None)?;
    let mut bound = cursor.bind_buffer(&mut buffer)?;
    let mut key = 0;
    while let Some(batch) = bound.fetch()? {
        for row in 0..batch.num_rows() {
            assert_eq!(batch.at_as_str(0, row)?, Some(key.to_string().as_str()));
            assert_eq!(batch.at_as_str(1, row)?, Some(format!("é{key}😀").as_str()));
            key += 1;
        }
    }
    assert_eq!(key, 2500);
    drop(bound);

    // A failing row, and the end of a transaction.
    let error =
        connection.execute("INSERT INTO PARENT VALUES (1, 'x')", (), None).err().expect("a duplicate");
    assert!(error.to_string().contains("23000"), "{error}");
    connection.set_autocommit(false)?;
    connection.execute("DELETE FROM PARENT", (), None)?;
    connection.rollback()?;
    println!("ok");
    Ok(())
}
