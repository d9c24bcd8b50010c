//! Domains.

use super::data_type::Field;
use super::question::{Question, Row};
use super::{ColumnType, Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The type of its values, with their collation.
    pub data_type: ColumnType,
    /// Whether NULL is one of its values.
    pub nullable: bool,
    /// The expression after DEFAULT.
    pub default: Option<String>,
    /// The source of its CHECK, beginning with that word.
    pub check: Option<String>,
    /// The user who created it.
    pub owner: Option<String>,
    /// `COMMENT ON DOMAIN`.
    pub remarks: Option<String>,
}

const DOMAINS: &str = "SELECT F.RDB$FIELD_NAME, F.RDB$FIELD_TYPE, F.RDB$FIELD_SUB_TYPE, F.RDB$FIELD_SCALE, \
     F.RDB$FIELD_PRECISION, F.RDB$FIELD_LENGTH, F.RDB$CHARACTER_LENGTH, F.RDB$CHARACTER_SET_ID, \
     S.RDB$BYTES_PER_CHARACTER, S.RDB$CHARACTER_SET_NAME, O.RDB$COLLATION_NAME, F.RDB$NULL_FLAG, \
     F.RDB$DEFAULT_SOURCE, F.RDB$VALIDATION_SOURCE, F.RDB$OWNER_NAME, F.RDB$DESCRIPTION, F.RDB$DIMENSIONS \
     FROM RDB$FIELDS F \
     LEFT JOIN RDB$CHARACTER_SETS S ON S.RDB$CHARACTER_SET_ID = F.RDB$CHARACTER_SET_ID \
     LEFT JOIN RDB$COLLATIONS O ON O.RDB$CHARACTER_SET_ID = F.RDB$CHARACTER_SET_ID \
     AND O.RDB$COLLATION_ID = COALESCE(F.RDB$COLLATION_ID, 0)";

/// The engine makes a domain for each column or parameter that has none. Those have numbers for names, and are not listed.
const IS_EXPLICIT: &str = "F.RDB$FIELD_NAME NOT SIMILAR TO 'RDB$[0-9]+ *'";

impl View {
    /// Returns the domains with these names.
    pub(crate) async fn domains<B: Backend>(
        self,
        session: &mut Session<B>,
        name: Name<'_>,
    ) -> Result<Vec<Domain>> {
        let question = Question::new(DOMAINS).and_name("F.RDB$FIELD_NAME", name).and(IS_EXPLICIT);
        let question = self.without_system(question, "F").order_by("F.RDB$FIELD_NAME");
        let found = self.ask(session, &question, |row| Ok((domain(row)?, row.is_set(16)))).await?;
        let has_arrays = found.iter().any(|(_, is_array)| *is_array);
        let mut bounds = if has_arrays { self.dimensions(session).await? } else { Default::default() };
        let with_bounds = |(mut domain, is_array): (Domain, bool)| {
            if is_array {
                domain.data_type.dimensions = bounds.remove(&domain.name).unwrap_or_default();
            }
            domain
        };
        Ok(found.into_iter().map(with_bounds).collect())
    }
}

/// Without the bounds of an array.
fn domain(row: &Row<'_>) -> Result<Domain> {
    Ok(Domain {
        name: row.name(0)?,
        data_type: Field::read(row, 1).data_type(Vec::new()),
        nullable: !row.is_set(11),
        default: row.text(12).map(|source| default(source).to_owned()),
        check: row.remark(13).map(|source| source.trim().to_owned()),
        owner: row.owned(14),
        remarks: row.remark(15),
    })
}

/// Whether the engine made this domain for a single column or parameter: `RDB$` and a number.
pub(super) fn is_implicit(domain: &str) -> bool {
    domain.strip_prefix("RDB$").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The source of a default without `DEFAULT` or `=`.
pub(super) fn default(source: &str) -> &str {
    let source = source.trim();
    let (word, rest) = source.split_at_checked("DEFAULT".len()).unwrap_or(("", source));
    if word.eq_ignore_ascii_case("DEFAULT") {
        return rest.trim_start();
    }
    source.strip_prefix('=').map_or(source, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_what_follows_the_word() {
        for (source, expression) in [
            ("DEFAULT 'default'", "'default'"),
            (" default\n  -1 ", "-1"),
            ("= 5", "5"),
            ("DEFAULT'x'", "'x'"),
            ("'ä'", "'ä'"),
        ] {
            assert_eq!(default(source), expression);
        }
    }

    #[test]
    fn implicit_domains_have_numbers_for_names() {
        assert!(is_implicit("RDB$17") && !is_implicit("RDB$RELATION_NAME") && !is_implicit("D_17"));
    }
}
