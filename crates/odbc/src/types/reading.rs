//! How results are read, so that few Arrow types remain.

use super::TypeOptions;
use firearrow::ReadOptions;
use firearrow::arrow::{
    BlobPolicy, DecfloatAs, DecimalPrecision, Int128As, NoneEncoding, TimestampTzAs, TimetzAs,
};

/// Returns how the driver reads results, without any loss. The options of the connection say how text without a
/// character set is decoded.
///
/// | Firebird | Arrow |
/// |---|---|
/// | SMALLINT, INTEGER, BIGINT | Int16, Int32, Int64 |
/// | NUMERIC, DECIMAL in 16, 32 or 64 bits | Decimal128 of 5, 10 or 19 digits |
/// | NUMERIC, DECIMAL in 128 bits, INT128 | Decimal256 of 39 digits; every value fits an `i128` |
/// | FLOAT, DOUBLE PRECISION | Float32, Float64 |
/// | DECFLOAT | Utf8, or Float64 by option |
/// | BOOLEAN | Boolean |
/// | DATE, TIME, TIMESTAMP | Date32, Time64(µs), Timestamp(µs) |
/// | CHAR, VARCHAR | Utf8 |
/// | BINARY(n) | FixedSizeBinary(n) |
/// | VARBINARY | Binary |
/// | BLOBs | UInt64, their ids |
/// | arrays | List of these, nested once per dimension |
/// | a parameter of any type | Null |
///
/// Columns of 128 bits may hold 39 digits, which are errors in a Decimal128.
///
/// Where a BLOB cannot be read by its id, because its row comes from a change or outlives its transaction, it is Utf8 or
/// Binary. So it is if text without a character set has a code page, which the client decodes with rows only.
///
/// Sessions bind TIME ZONE TO LEGACY, so times with a zone arrive as plain ones. Where an application has changed that, they
/// are text: the zone is all that it can have wanted.
pub(crate) fn read_options(of_connection: ReadOptions, options: &TypeOptions) -> ReadOptions {
    let blobs = match of_connection.none_encoding {
        NoneEncoding::Utf8 => BlobPolicy::Lazy,
        _ => BlobPolicy::Adaptive,
    };
    of_connection
        .blobs(blobs)
        .decimal_precision(DecimalPrecision::Range)
        .int128(Int128As::Decimal256)
        .decfloat(if options.decfloat_as_double { DecfloatAs::Float64 } else { DecfloatAs::Utf8 })
        .timetz(TimetzAs::Utf8)
        .timestamptz(TimestampTzAs::Utf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;
    use firearrow::Descriptor;
    use firearrow_proto::api::descriptor::SqlType;

    #[test]
    fn results_have_few_arrow_types() {
        let arrow = |column: Descriptor, options: &TypeOptions| {
            let schema = firearrow::arrow::schema(&[column], &read_options(ReadOptions::default(), options))
                .expect("an Arrow type");
            schema.field(0).data_type().clone()
        };
        let default = TypeOptions::default();
        let of = |sql_type, sub_type, scale, length| {
            arrow(Descriptor { sql_type, sub_type, scale, length, ..Descriptor::default() }, &default)
        };
        assert_eq!(of(SqlType::SHORT, 1, -2, 2), DataType::Decimal128(5, 2));
        assert_eq!(of(SqlType::LONG, 1, -2, 4), DataType::Decimal128(10, 2));
        assert_eq!(of(SqlType::INT64, 2, 0, 8), DataType::Decimal128(19, 0));
        assert_eq!(of(SqlType::INT128, 1, -2, 16), DataType::Decimal256(39, 2));
        assert_eq!(of(SqlType::INT128, 0, 0, 16), DataType::Decimal256(39, 0));
        assert_eq!(of(SqlType::DEC34, 0, 0, 16), DataType::Utf8);
        assert_eq!(of(SqlType::TEXT, 1, 0, 8), DataType::FixedSizeBinary(8));
        assert_eq!(of(SqlType::VARYING, 1, 0, 8), DataType::Binary);
        assert_eq!(of(SqlType::BLOB, 1, 4, 8), DataType::UInt64);
        assert_eq!(of(SqlType::BLOB, 0, 0, 8), DataType::UInt64);
        assert_eq!(of(SqlType::TIMESTAMP_TZ, 0, 0, 12), DataType::Utf8);
        let double = TypeOptions { decfloat_as_double: true, ..default };
        assert_eq!(
            arrow(Descriptor { sql_type: SqlType::DEC16, ..Descriptor::default() }, &double),
            DataType::Float64
        );
    }
}
