//! SQLSTATEs that the driver itself reports.

/// An SQLSTATE: a class of two characters, and a subclass of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State(&'static str);

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl State {
            $($(#[$doc])* pub(crate) const $name: Self = Self($text);)*

            const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

states! {
    /// General warning
    WARNING = "01000";
    /// Cursor operation conflict
    CURSOR_CONFLICT = "01001";
    /// String data, right-truncated
    CUT = "01004";
    /// Invalid connection string attribute
    BAD_KEYWORD = "01S00";
    /// Option value changed
    OPTION_CHANGED = "01S02";
    /// Attempt to fetch before the result set returned the first rowset
    BEFORE_FIRST_ROWSET = "01S06";
    /// Fractional truncation
    FRACTION_CUT = "01S07";
    /// Wrong number of parameters
    PARAMETER_COUNT = "07002";
    /// Prepared statement not a cursor-specification
    NOT_A_CURSOR = "07005";
    /// Restricted data type attribute violation
    NO_CONVERSION = "07006";
    /// Invalid descriptor index
    BAD_INDEX = "07009";
    /// Invalid use of default parameter
    DEFAULT_PARAMETER = "07S01";
    /// Client unable to establish connection
    CANNOT_CONNECT = "08001";
    /// Connection name in use
    CONNECTED = "08002";
    /// Connection not open
    NOT_CONNECTED = "08003";
    /// Server rejected the connection
    REJECTED = "08004";
    /// Connection failure during transaction
    COMMIT_UNKNOWN = "08007";
    /// Communication link failure
    LINK_FAILURE = "08S01";
    /// Insert value list does not match column list
    VALUE_COUNT = "21S01";
    /// Degree of derived table does not match column list
    DERIVED_COUNT = "21S02";
    /// Cardinality violation
    CARDINALITY = "21000";
    /// String data, right truncation
    TOO_LONG = "22001";
    /// Indicator variable required but not supplied
    NO_INDICATOR = "22002";
    /// Numeric value out of range
    OUT_OF_RANGE = "22003";
    /// Invalid datetime format
    BAD_DATETIME = "22007";
    /// Datetime field overflow
    DATETIME_OVERFLOW = "22008";
    /// Division by zero
    DIVISION_BY_ZERO = "22012";
    /// Invalid character value for cast specification
    BAD_CHARACTER_VALUE = "22018";
    /// Integrity constraint violation
    CONSTRAINT = "23000";
    /// Invalid cursor state
    CURSOR_STATE = "24000";
    /// Invalid transaction state
    TRANSACTION_STATE = "25000";
    /// Invalid authorization specification
    AUTHORIZATION = "28000";
    /// Invalid cursor name
    CURSOR_NAME = "34000";
    /// Duplicate cursor name
    CURSOR_NAME_TAKEN = "3C000";
    /// Serialization failure
    CONFLICT = "40001";
    /// Syntax error or access violation
    SYNTAX = "42000";
    /// Base table or view already exists
    TABLE_EXISTS = "42S01";
    /// Base table or view not found
    NO_TABLE = "42S02";
    /// Index already exists
    INDEX_EXISTS = "42S11";
    /// Index not found
    NO_INDEX = "42S12";
    /// Column already exists
    COLUMN_EXISTS = "42S21";
    /// Column not found
    NO_COLUMN = "42S22";
    /// General error
    GENERAL = "HY000";
    /// Memory allocation error
    MEMORY = "HY001";
    /// Invalid application buffer type
    BUFFER_TYPE = "HY003";
    /// Invalid SQL data type
    SQL_TYPE = "HY004";
    /// Associated statement is not prepared
    NOT_PREPARED = "HY007";
    /// Operation canceled
    CANCELLED = "HY008";
    /// Invalid use of null pointer
    NULL_POINTER = "HY009";
    /// Function sequence error
    SEQUENCE = "HY010";
    /// Attribute cannot be set now
    NOT_NOW = "HY011";
    /// Invalid transaction operation code
    COMPLETION = "HY012";
    /// Cannot modify an implementation row descriptor
    READ_ONLY_DESCRIPTOR = "HY016";
    /// Invalid use of an automatically allocated descriptor handle
    IMPLICIT_DESCRIPTOR = "HY017";
    /// Non-character and non-binary data sent in pieces
    PIECES = "HY019";
    /// Attempt to concatenate a null value
    NULL_PIECE = "HY020";
    /// Inconsistent descriptor information
    INCONSISTENT = "HY021";
    /// Invalid attribute value
    ATTRIBUTE_VALUE = "HY024";
    /// Invalid string or buffer length
    BUFFER_LENGTH = "HY090";
    /// Invalid descriptor field identifier
    FIELD = "HY091";
    /// Invalid attribute/option identifier
    ATTRIBUTE = "HY092";
    /// Function type out of range
    FUNCTION = "HY095";
    /// Information type out of range
    INFO = "HY096";
    /// Column type out of range
    COLUMN_TYPE = "HY097";
    /// Scope type out of range
    SCOPE = "HY098";
    /// Nullable type out of range
    NULLABLE_TYPE = "HY099";
    /// Uniqueness option type out of range
    UNIQUENESS = "HY100";
    /// Accuracy option type out of range
    ACCURACY = "HY101";
    /// Invalid retrieval code
    RETRIEVAL = "HY103";
    /// Invalid precision or scale value
    PRECISION = "HY104";
    /// Invalid parameter type
    PARAMETER_TYPE = "HY105";
    /// Fetch type out of range
    FETCH_TYPE = "HY106";
    /// Row value out of range
    ROW = "HY107";
    /// Invalid cursor position
    POSITION = "HY109";
    /// Invalid driver completion
    DRIVER_COMPLETION = "HY110";
    /// Invalid bookmark value
    BOOKMARK = "HY111";
    /// Optional feature not implemented
    NOT_IMPLEMENTED = "HYC00";
    /// Timeout expired
    TIMEOUT = "HYT00";
    /// Connection timeout expired
    CONNECTION_TIMEOUT = "HYT01";
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }

    /// The state with this text, if the driver knows it.
    pub(crate) fn known(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.0 == text)
    }

    /// Whether it is a warning.
    pub(crate) fn is_warning(self) -> bool {
        self.0.starts_with("01")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_five_characters_and_differ() {
        for (at, state) in State::ALL.iter().enumerate() {
            assert_eq!(state.as_str().len(), 5);
            assert_eq!(State::known(state.as_str()), Some(*state), "{at}");
        }
    }
}
