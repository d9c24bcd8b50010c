//! Arrays, which SQL cannot fill: the client does.

use crate::buffers::*;
use crate::support::*;
use arrow::array::{ArrayRef, Int32Array, ListArray, RecordBatch};
use arrow::datatypes::Int32Type;
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

matrix!(
    wire,
    fn arrays_with_values_are_text_in_braces(target: &Target) {
        let url = target.fresh_url();
        let connection = unconnected(380);
        connection.connect(&format!("URL={{{url}}};CREATE_DB=Y"));
        connection.run("CREATE TABLE T (N INTEGER, A INTEGER[3])");
        let lists = [Some([1, -2, 3]), None, Some([7, 8, 2_147_483_647])];
        let lists = lists.map(|list| list.map(|list| list.map(Some)));
        let columns: [(&str, ArrayRef); 2] = [
            ("N", Arc::new(Int32Array::from(vec![1, 2, 3]))),
            ("A", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
        ];
        let rows = RecordBatch::try_from_iter(columns).expect("three rows");
        let client = firearrow::Connection::connect(&url).expect("it opens");
        let mut transaction = client.begin(firearrow::TransactionOptions::default()).expect("it starts");
        transaction.execute_with("INSERT INTO T VALUES (?, ?)", &rows).expect("they are inserted");
        transaction.commit().expect("it commits");
        let text = |text: &str| Some(text.to_owned());
        let expected = [[text("{1, -2, 3}")], [None], [text("{7, 8, 2147483647}")]];
        assert_eq!(connection.texts("SELECT A FROM T ORDER BY N"), expected);
        let statement = connection.statement();
        statement.run("SELECT A FROM T ORDER BY N");
        let rows = fetch_bound(&statement, &[Buffer { c_type: -8, capacity: 60 }], 2, Layout::Rows);
        let units = expected.map(|[text]| [text.map(|text| wide(&text))]);
        assert_eq!(rows, units);
    },
);
