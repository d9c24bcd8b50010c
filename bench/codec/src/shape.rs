//! Shapes of rows.

use crate::column::{Column, Text};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use firearrow::ReadOptions;
use firearrow::arrow::NoneEncoding;
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::wire::packed::PackedFormat;
use std::fmt;

/// Rows per iteration of a benchmark: a fetch returns hundreds to thousands.
pub const ROWS: usize = 1000;

/// A table: a name and its columns.
#[derive(Clone, Debug)]
pub struct Shape {
    name: &'static str,
    columns: Vec<Column>,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Shape {
    /// Returns a table of one column.
    fn of(name: &'static str, column: Column) -> Self {
        Self { name, columns: vec![column] }
    }

    /// One column each, to measure single values.
    pub fn values() -> Vec<Self> {
        use Column::*;
        vec![
            Self::of("bigint", Int64),
            Self::of("boolean", Boolean),
            Self::of("date", Date),
            Self::of("decfloat34", DecFloat),
            Self::of("double", Double),
            Self::of("int", Long),
            Self::of("int_half_null", Nullable(Box::new(Long))),
            Self::of("numeric18", Numeric18(4)),
            Self::of("numeric38", Numeric38(6)),
            Self::of("smallint", Short),
            Self::of("timestamp", Timestamp),
            Self::of("timestamp_tz", TimestampTz),
            Self::of("varchar_20", Varchar(20, Text::Ascii(20))),
            Self::of("varchar_20_accented", Varchar(20, Text::Accented(20))),
            Self::of("varchar_20_windows1252", Varchar(20, Text::Stored(20))),
            Self::of("varchar_255", Varchar(255, Text::Ascii(255))),
        ]
    }

    /// Whole rows.
    pub fn rows() -> Vec<Self> {
        use Column::*;
        let five = |last| vec![Long, Varchar(64, Text::Name), Long, Double, last];
        let texts = |text| vec![Varchar(20, text), Varchar(40, text), Long, Long, Long];
        vec![
            Self { name: "decimals", columns: vec![Numeric18(2), Numeric18(4), Numeric38(6), DecFloat] },
            Self { name: "five", columns: five(Date) },
            Self { name: "five_null", columns: five(Null(Box::new(Date))) },
            Self { name: "half_null", columns: vec![Nullable(Box::new(Long)); 10] },
            Self::of("int", Long),
            Self { name: "ten_int", columns: vec![Long; 10] },
            Self { name: "texts", columns: texts(Text::Accented(20)) },
            Self { name: "texts_windows1252", columns: texts(Text::Stored(20)) },
            Self { name: "times", columns: vec![Date, Timestamp, TimestampTz] },
            Self {
                name: "wide",
                columns: [
                    vec![
                        Int64,
                        Short,
                        Long,
                        Boolean,
                        Double,
                        Numeric18(2),
                        Numeric38(4),
                        Int64,
                        Timestamp,
                        Date,
                    ],
                    vec![Varchar(20, Text::Ascii(10)); 8],
                    vec![Varchar(200, Text::Ascii(80)); 2],
                    vec![Nullable(Box::new(Long)), Nullable(Box::new(Varchar(64, Text::Name)))],
                ]
                .concat(),
            },
        ]
    }

    /// What parameters are measured with.
    pub fn parameters() -> Vec<Self> {
        use Column::*;
        let insert = vec![Long, Varchar(64, Text::Name), Double];
        let named = ["decimals", "five", "ten_int", "texts", "times"];
        let mut shapes = Self::rows();
        shapes.retain(|shape| named.contains(&shape.name));
        // DECFLOAT is sent as text.
        shapes.iter_mut().for_each(|shape| shape.columns.retain(|column| !matches!(column, DecFloat)));
        shapes.push(Self { name: "three", columns: insert });
        shapes
    }

    /// Returns the shape with this name among those of [`rows`](Self::rows).
    pub fn named(name: &str) -> Option<Self> {
        Self::rows().into_iter().find(|shape| shape.name == name)
    }

    /// Returns how the engine describes the columns.
    pub fn descriptors(&self) -> Vec<Descriptor> {
        let columns = self.columns.iter().zip(1..);
        columns.map(|(column, number)| column.descriptor(&format!("C{number}"))).collect()
    }

    /// Returns how the rows are read.
    pub fn options() -> ReadOptions {
        ReadOptions::default().none_encoding(NoneEncoding::CodePage(encoding_rs::WINDOWS_1252))
    }

    /// Returns a row as it travels.
    pub fn packed(&self, format: &PackedFormat, row: usize) -> Vec<u8> {
        let layout = format.layout();
        let mut message = vec![0; layout.native_stride()];
        for (column, field) in self.columns.iter().zip(layout.fields()) {
            match column.native(row) {
                Some(value) => message[field.offset..][..value.len()].copy_from_slice(&value),
                None => message[field.null_offset..][..2].fill(0xff),
            }
        }
        let mut packed = Vec::new();
        format.pack(&message, &mut packed).expect("a full message");
        packed
    }

    /// Returns what [`ROWS`] rows are in Arrow.
    pub fn batch(&self) -> RecordBatch {
        let schema: SchemaRef =
            firearrow::arrow::schema(&self.descriptors(), &Self::options()).expect("known types");
        let arrays = self.columns.iter().zip(schema.fields());
        let arrays = arrays.map(|(column, field)| column.array(ROWS, field.data_type())).collect();
        RecordBatch::try_new(schema, arrays).expect("arrays of the types of the schema")
    }
}
