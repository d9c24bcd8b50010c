//! Roles and mappings.

use super::database::{Database, text};
use super::name::{literal, name};
use super::script::Script;
use crate::failure::Result;

const ROLES: &str = "SELECT R.RDB$ROLE_NAME, R.RDB$DESCRIPTION FROM RDB$ROLES R \
     WHERE COALESCE(R.RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1";

/// System privileges of roles are bits, from Firebird 4 on.
const PRIVILEGES: &str = "SELECT R.RDB$ROLE_NAME, T.RDB$TYPE_NAME FROM RDB$ROLES R \
     JOIN RDB$TYPES T ON T.RDB$FIELD_NAME = 'RDB$SYSTEM_PRIVILEGES' AND T.RDB$TYPE > 0 \
     WHERE COALESCE(R.RDB$SYSTEM_FLAG, 0) = 0 AND BIN_AND(ASCII_VAL(SUBSTRING(\
     CAST(R.RDB$SYSTEM_PRIVILEGES AS CHAR(8) CHARACTER SET OCTETS) FROM T.RDB$TYPE / 8 + 1 FOR 1)), \
     BIN_SHL(1, MOD(T.RDB$TYPE, 8))) <> 0 ORDER BY R.RDB$ROLE_NAME, T.RDB$TYPE";

/// Adds the roles of users with their comments.
pub(super) fn create_roles(database: &Database, script: &mut Script) -> Result<()> {
    let privileges = match database.is_at_least(4) {
        true => database.ask(PRIVILEGES, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?)))?,
        false => Vec::new(),
    };
    for (role, remarks) in database.ask(ROLES, &[], |row| Ok((row.get::<String>(0)?, text(&row, 1)?)))? {
        let mut sql = format!("CREATE ROLE {}", name(&role));
        let own: Vec<&str> = privileges
            .iter()
            .filter(|(owner, _)| *owner == role)
            .map(|(_, privilege)| privilege.as_str())
            .collect();
        if !own.is_empty() {
            sql += &format!(" SET SYSTEM PRIVILEGES TO {}", own.join(", "));
        }
        script.add("ROLE", &role, sql);
        script.comment("ROLE", &role, remarks.as_ref());
    }
    Ok(())
}

const MAPPINGS: &str = "SELECT M.RDB$MAP_NAME, M.RDB$MAP_USING, M.RDB$MAP_PLUGIN, M.RDB$MAP_DB, \
     M.RDB$MAP_FROM_TYPE, M.RDB$MAP_FROM, M.RDB$MAP_TO_TYPE, M.RDB$MAP_TO FROM RDB$AUTH_MAPPING M \
     WHERE COALESCE(M.RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1";

/// Adds the mappings of this database; global ones belong to the security database.
pub(super) fn create_mappings(database: &Database, script: &mut Script) -> Result<()> {
    let mappings = database.ask(MAPPINGS, &[], |row| {
        let names = [text(&row, 0)?, text(&row, 1)?, text(&row, 2)?, text(&row, 3)?];
        let from = [text(&row, 4)?, text(&row, 5)?];
        Ok((names, from, row.get::<Option<i64>>(6)?, text(&row, 7)?))
    })?;
    for ([mapping, using, plugin, place], [from_type, from], to_type, to) in mappings {
        let mapping = mapping.unwrap_or_default();
        let using = match (using.as_deref(), plugin) {
            (Some("S"), _) => "ANY PLUGIN SERVERWIDE".to_owned(),
            (Some("M"), _) => "MAPPING".to_owned(),
            (Some("*"), _) => "*".to_owned(),
            (_, Some(plugin)) => format!("PLUGIN {}", name(&plugin)),
            (_, None) => "ANY PLUGIN".to_owned(),
        };
        let place = place.map_or_else(String::new, |place| format!(" IN {}", name(&place)));
        let from_type = name(&from_type.unwrap_or_default());
        let from = match from.as_deref() {
            None | Some("*") => format!("ANY {from_type}"),
            Some(from) => format!("{from_type} {}", literal(from)),
        };
        let kind = if to_type == Some(0) { "USER" } else { "ROLE" };
        let to = to.map_or_else(String::new, |to| format!(" {}", name(&to)));
        let mapping_name = name(&mapping);
        let sql = format!("CREATE MAPPING {mapping_name} USING {using}{place} FROM {from} TO {kind}{to}");
        script.add("MAPPING", &mapping, sql);
    }
    Ok(())
}
