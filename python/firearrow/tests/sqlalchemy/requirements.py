"""What SQLAlchemy's suite may ask of Firebird, and what is left out, with the reason."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

# Closed in SQLAlchemy's defaults. Firebird has it.
HAS = """
    autocommit autoincrement_insert boolean_col_expressions check_constraint_reflection
    column_collation_reflection comment_reflection computed_columns ctes_with_update_delete date_historic
    datetime_historic datetime_interval datetime_literals empty_inserts_executemany fetch_expression
    fetch_first fetch_no_order_by fk_constraint_option_reflection_ondelete_noaction
    float_or_double_precision_behaves_generically foreign_key_constraint_name_reflection
    foreign_key_constraint_option_reflection_ondelete foreign_key_constraint_option_reflection_onupdate
    has_temp_table implicitly_named_constraints indexes_check_column_order infinity_floats
    inline_check_constraint_reflection isolation_level on_update_cascade order_by_label_with_expression
    percent_schema_names precision_numerics_enotation_small precision_numerics_retains_significant_digits
    recursive_fk_cascade reflects_pk_names savepoints server_defaults skip_autocommit_rollback
    supports_bitwise_and supports_bitwise_not supports_bitwise_or supports_bitwise_shift supports_bitwise_xor
    temp_table_comment_reflection temp_table_names temp_table_reflect_indexes unicode_ddl
    unique_constraints_reflect_as_index view_column_reflection view_reflection views
""".split()  # noqa: SIM905 # A list would be seventy lines.

# Only from the version at which they stand.
_ZONES = "types with time zones came with Firebird 4"
_DIGITS = "NUMERIC with more than 18 digits came with Firebird 4"
_FRAMES = "frames of windows came with Firebird 4"
_PARENTHESES = "query expressions in parentheses came with Firebird 5"
SINCE = {
    "comment_reflection_full_unicode": (4, "metadata of Firebird 3 is UNICODE_FSS, which ends at U+FFFF"),
    "datetime_timezone": (4, _ZONES),
    "datetime_timezone_historic": (4, _ZONES),
    "identity_columns": (4, "no GENERATED ALWAYS in Firebird 3, and START WITH is the number before"),
    "parens_in_union_contained_select_w_limit_offset": (5, _PARENTHESES),
    "parens_in_union_contained_select_wo_limit_offset": (5, _PARENTHESES),
    "precision_numerics_enotation_large": (4, _DIGITS),
    "precision_numerics_many_significant_digits": (4, _DIGITS),
    "time_timezone": (4, _ZONES),
    "window_range": (4, _FRAMES),
    "window_range_non_numeric": (4, _FRAMES),
    "window_range_numeric": (4, _FRAMES),
}

# Firebird does not have it, up to 5.0.
LACKS = {
    "aggregate_order_by": "LIST has no order",
    "array_type": "arrays of Firebird are no type of an expression, and SQLAlchemy's ARRAY is PostgreSQL's",
    "computed_columns_default_persisted": "computed columns are virtual, and there is no word for it",
    "computed_columns_reflect_persisted": "computed columns are virtual, and there is no word for it",
    "computed_columns_stored": "computed columns are virtual, and there is no word for it",
    "computed_columns_virtual": "computed columns are virtual, and there is no word for it",
    "constraint_comment_reflection": "constraints have no comments",
    "create_or_replace_view": "the words are CREATE OR ALTER",
    "create_table_as": "no CREATE TABLE AS",
    "create_temp_table_as": "no CREATE TABLE AS",
    "cross_schema_fk_reflection": "schemas came with Firebird 6",
    "ctes_on_dml": "no INSERT, UPDATE or DELETE in a WITH",
    "datetime_microseconds": "times have 100 microseconds",
    "dbapi_lastrowid": "there is no last row id; RETURNING gives keys",
    "deferrable_fks": "constraints are checked at once",
    "delete_from": "no DELETE with several tables",
    "emulated_lastrowid": "there is no last row id; RETURNING gives keys",
    "except_": "EXCEPT came with Firebird 6",
    "expression_server_defaults": "a default is a literal or a context variable such as CURRENT_DATE",
    "fetch_offset_with_options": "no PERCENT and WITH TIES",
    "fetch_percent": "no PERCENT",
    "fetch_ties": "no WITH TIES",
    "fk_constraint_option_reflection_ondelete_restrict": "no RESTRICT; NO ACTION checks at once",
    "fk_constraint_option_reflection_onupdate_restrict": "no RESTRICT; NO ACTION checks at once",
    "foreign_keys_reflect_as_index": "the index of a foreign key is not reflected by itself",
    "identity_columns_standard": "identity columns have no MINVALUE, MAXVALUE, CYCLE and CACHE",
    "implements_get_lastrowid": "there is no last row id; RETURNING gives keys",
    "index_ddl_if_exists": "IF [NOT] EXISTS came with Firebird 6",
    "index_reflects_included_columns": "indexes have no INCLUDE",
    "indexes_with_ascdesc": "an index is descending as a whole: Index(…, firebird_descending=True)",
    "indexes_with_expressions": "an index has one expression, the suite's has three",
    "intersect": "INTERSECT came with Firebird 6",
    "json_type": "there is no JSON type",
    "materialized_views": "there are none",
    "materialized_views_reflect_pk": "there are no materialized views",
    "mod_operator_as_percent_sign": "MOD is a function",
    "multivalues_inserts": "VALUES takes one row; executemany sends many at once",
    "non_updating_cascade": "ON UPDATE CASCADE works",
    "nvarchar_types": "NCHAR is ISO8859_1, and holds no Unicode",
    "reflect_indexes_with_ascdesc": "an index is descending as a whole",
    "reflect_indexes_with_ascdesc_as_expression": "an index is descending as a whole",
    "reflect_indexes_with_expressions": "an index has one expression, the suite's has three",
    "reflect_table_options": "tables have no options",
    "reflect_tables_no_columns": "no table is without columns",
    "regexp_match": "SIMILAR TO has the SQL standard's patterns, not those of regular expressions",
    "regexp_replace": "no function for it",
    "repeated_remote_col_foreign_keys": "a foreign key names each column of the key once",
    "schemas": "schemas came with Firebird 6",
    "server_side_cursors": "the suite asks for drivers' names",
    "supports_distinct_on": "no DISTINCT ON",
    "table_ddl_if_exists": "IF [NOT] EXISTS came with Firebird 6",
    "table_value_constructor": "no VALUES as a table",
    "temporary_views": "there are none",
    "time_microseconds": "times have 100 microseconds",
    "timestamp_microseconds": "times have 100 microseconds",
    "tuple_in": "no comparison of rows",
    "two_phase_transactions": "the dialect has no two-phase commit",
    "unique_index_reflect_as_unique_constraints": "a unique index is not a constraint",
    "update_from": "no UPDATE with several tables; MERGE does it",
    "uuid_data_type": "there is no UUID type; BINARY_UUID keeps them in BINARY(16)",
}


def _always() -> Any:
    return property(lambda self: exclusions.open())


def _never(reason: str) -> Any:
    return property(lambda self: exclusions.skip_if(exclusions.BooleanPredicate(True, reason)))


def _since(major: int, reason: str) -> Any:
    return property(
        lambda self: exclusions.skip_if(
            lambda config: config.db.dialect.server_version_info < (major,), reason
        )
    )


class Requirements(SuiteRequirements):
    """The suite's view of Firebird."""

    @property
    def async_dialect(self) -> Any:
        return exclusions.only_if(lambda config: config.db.dialect.is_async, "this is the blocking dialect")

    def get_order_by_collation(self, config: Any) -> str:
        return "UNICODE"

    def get_isolation_levels(self, config: Any) -> dict[str, Any]:
        dialect = config.db.dialect
        supported = dialect.get_isolation_level_values(None)
        # The two others are further names of levels.
        return {
            "default": "REPEATABLE READ",
            "supported": [level for level in supported if not level.startswith("SNAPSHOT")],
        }


for _name in HAS:
    setattr(Requirements, _name, _always())
for _name, (_major, _reason) in SINCE.items():
    setattr(Requirements, _name, _since(_major, _reason))
for _name, _reason in LACKS.items():
    setattr(Requirements, _name, _never(_reason))
