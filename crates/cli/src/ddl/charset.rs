//! Character sets, collations, and what else belongs to the database as a whole.

use super::database::{Database, text};
use super::name::{literal, name};
use super::script::Script;
use super::table::security;
use crate::failure::Result;

/// Adds the default character set, which types have that name none, and the default SQL SECURITY of Firebird 4.
pub(super) fn set_defaults(database: &Database, script: &mut Script) -> Result<()> {
    let charset = name(&database.charset);
    script.add("DATABASE", "", format!("ALTER DATABASE SET DEFAULT CHARACTER SET {charset}"));
    let sql = format!("SELECT {} FROM RDB$DATABASE D", database.since_4("D.RDB$SQL_SECURITY"));
    for definer in database.ask(&sql, &[], |row| row.get::<Option<bool>>(0))?.into_iter().flatten() {
        script.add("DATABASE", "", format!("ALTER DATABASE SET DEFAULT {}", security(definer)));
    }
    Ok(())
}

const COLLATIONS: &str = "SELECT O.RDB$COLLATION_NAME, S.RDB$CHARACTER_SET_NAME, O.RDB$BASE_COLLATION_NAME, \
     O.RDB$COLLATION_ATTRIBUTES, O.RDB$SPECIFIC_ATTRIBUTES, O.RDB$DESCRIPTION FROM RDB$COLLATIONS O \
     JOIN RDB$CHARACTER_SETS S ON S.RDB$CHARACTER_SET_ID = O.RDB$CHARACTER_SET_ID \
     WHERE COALESCE(O.RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1";

/// Adds the collations of users with their comments, then makes default those that are.
pub(super) fn create_collations(database: &Database, script: &mut Script) -> Result<()> {
    let collations = database.ask(COLLATIONS, &[], |row| {
        let names: (String, String) = (row.get(0)?, row.get(1)?);
        Ok((names, text(&row, 2)?, row.get::<Option<i64>>(3)?, text(&row, 4)?, text(&row, 5)?))
    })?;
    for ((collation, charset), base, attributes, specific, remarks) in collations {
        let mut sql = format!("CREATE COLLATION {} FOR {}", name(&collation), name(&charset));
        if let Some(base) = base {
            sql += &format!(" FROM EXTERNAL ({})", literal(&base));
        }
        // `TEXTTYPE_ATTR_…` of `intlobj_new.h`.
        let attributes = attributes.unwrap_or_default();
        sql += if attributes & 1 != 0 { " PAD SPACE" } else { " NO PAD" };
        for (bit, attribute) in [(2, " CASE INSENSITIVE"), (4, " ACCENT INSENSITIVE")] {
            if attributes & bit != 0 {
                sql += attribute;
            }
        }
        if let Some(specific) = specific.as_deref().map(chosen).filter(|specific| !specific.is_empty()) {
            sql += &format!(" {}", literal(&specific));
        }
        script.add("COLLATION", &collation, sql);
        script.comment("COLLATION", &collation, remarks.as_ref());
    }
    for (charset, collation) in database.changed_collations() {
        let (charset_name, collation) = (name(charset), name(collation));
        let sql = format!("ALTER CHARACTER SET {charset_name} SET DEFAULT COLLATION {collation}");
        script.add("CHARACTER SET", charset, sql);
    }
    Ok(())
}

/// Returns specific attributes without the versions of ICU, which the engine adds, and which another server may not
/// have.
fn chosen(specific: &str) -> String {
    let is_added =
        |attribute: &str| ["COLL-VERSION=", "ICU-VERSION="].iter().any(|key| attribute.starts_with(key));
    let all = specific.split(';').filter(|attribute| !is_added(attribute));
    all.collect::<Vec<_>>().join(";")
}

const FILTERS: &str = "SELECT F.RDB$FUNCTION_NAME, F.RDB$INPUT_SUB_TYPE, F.RDB$OUTPUT_SUB_TYPE, F.RDB$ENTRYPOINT, \
     F.RDB$MODULE_NAME, F.RDB$DESCRIPTION FROM RDB$FILTERS F WHERE COALESCE(F.RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1";

/// Adds the BLOB filters with their comments.
pub(super) fn create_filters(database: &Database, script: &mut Script) -> Result<()> {
    let filters = database.ask(FILTERS, &[], |row| {
        let (input, output): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok((row.get::<String>(0)?, (input, output), text(&row, 3)?, text(&row, 4)?, text(&row, 5)?))
    })?;
    for (filter, (input, output), entry_point, module, remarks) in filters {
        let (entry_point, module) = (entry_point.unwrap_or_default(), module.unwrap_or_default());
        let sql = format!(
            "DECLARE FILTER {} INPUT_TYPE {input} OUTPUT_TYPE {output} ENTRY_POINT {} MODULE_NAME {}",
            name(&filter),
            literal(&entry_point),
            literal(&module)
        );
        script.add("FILTER", &filter, sql);
        script.comment("FILTER", &filter, remarks.as_ref());
    }
    Ok(())
}

const OF_DATABASE: &str = "SELECT D.RDB$DESCRIPTION FROM RDB$DATABASE D";
const OF_CHARSETS: &str = "SELECT S.RDB$CHARACTER_SET_NAME, S.RDB$DESCRIPTION FROM RDB$CHARACTER_SETS S \
     WHERE S.RDB$DESCRIPTION IS NOT NULL ORDER BY 1";

/// Adds the comments on the database and its character sets.
pub(super) fn comment(database: &Database, script: &mut Script) -> Result<()> {
    for remarks in database.ask(OF_DATABASE, &[], |row| text(&row, 0))? {
        script.comment_on("DATABASE", "", "", remarks.as_ref());
    }
    for (charset, remarks) in
        database.ask(OF_CHARSETS, &[], |row| Ok((row.get::<String>(0)?, text(&row, 1)?)))?
    {
        script.comment("CHARACTER SET", &charset, remarks.as_ref());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn versions_of_icu_are_left_out() {
        assert_eq!(chosen("COLL-VERSION=153.88;LOCALE=de_DE"), "LOCALE=de_DE");
        assert_eq!(chosen("COLL-VERSION=153.88;ICU-VERSION=72.1"), "");
    }
}
