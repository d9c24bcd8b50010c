//! Privileges.

use super::database::Database;
use super::name::{name, names};
use super::script::Script;
use crate::failure::Result;
use firearrow::catalog::{Action, Name, ObjectKind, Privilege};
use std::collections::HashSet;

/// Privileges that one statement grants.
struct Grant {
    object: String,
    object_kind: ObjectKind,
    grantee: String,
    grantee_kind: ObjectKind,
    /// Who granted it, unless the owner did.
    grantor: Option<String>,
    grantable: bool,
    default_role: bool,
    /// Each with its columns, if it is for some only.
    actions: Vec<(Action, Vec<String>)>,
}

const OWNERS: &str =
    "SELECT R.RDB$OWNER_NAME FROM RDB$RELATIONS R WHERE R.RDB$RELATION_NAME = 'RDB$DATABASE'";
const ROLES: &str =
    "SELECT R.RDB$ROLE_NAME, R.RDB$OWNER_NAME FROM RDB$ROLES R WHERE R.RDB$OWNER_NAME IS NOT NULL";
const SYSTEM_PRIVILEGES: &str = "SELECT CAST(T.RDB$TYPE AS VARCHAR(10)), T.RDB$TYPE_NAME FROM RDB$TYPES T \
     WHERE T.RDB$FIELD_NAME = 'RDB$SYSTEM_PRIVILEGES'";

/// Adds the privileges on objects with these names; `kind` keeps those on objects of one kind.
pub(super) fn create(
    database: &Database,
    object: Name<'_>,
    kind: Option<ObjectKind>,
    script: &mut Script,
) -> Result<()> {
    let mut privileges = database.catalog.privileges(object)?;
    // What has no grantor is the engine's.
    privileges.retain(|one| one.grantor.is_some() && kind.is_none_or(|kind| one.object_kind == kind));
    if privileges.is_empty() {
        return Ok(());
    }
    // What owners have, they have from themselves.
    let is_own = |one: &Privilege| {
        one.grantee_kind == ObjectKind::User
            && one.grantor.as_ref() == Some(&one.grantee)
            && one.action != Action::Member
    };
    let key = |object: &str, kind: ObjectKind| (object.to_owned(), kind.name());
    let mut owners: HashSet<_> = privileges
        .iter()
        .filter(|one| is_own(one))
        .map(|one| (key(&one.object, one.object_kind), one.grantee.clone()))
        .collect();
    let owner = database.ask(OWNERS, &[], |row| row.get::<String>(0))?;
    for (role, owner) in database.ask(ROLES, &[], |row| Ok((row.get::<String>(0)?, row.get(1)?)))? {
        owners.insert((key(&role, ObjectKind::Role), owner));
    }
    let mut grants = Vec::<Grant>::new();
    for one in privileges.iter().filter(|one| !is_own(one)) {
        let grantor = one.grantor.clone().filter(|grantor| {
            !owners.contains(&(key(&one.object, one.object_kind), grantor.clone()))
                && !owner.contains(grantor)
        });
        add(&mut grants, one, grantor);
    }
    let numbers = match grants.iter().any(|grant| grant.grantee_kind == ObjectKind::SystemPrivilege) {
        true => database.ask(SYSTEM_PRIVILEGES, &[], |row| Ok((row.get(0)?, row.get(1)?)))?,
        false => Vec::<(String, String)>::new(),
    };
    for grant in &mut grants {
        if let Some((_, name)) = numbers.iter().find(|(number, _)| *number == grant.grantee) {
            grant.grantee.clone_from(name);
        }
    }
    for grant in in_order(grants) {
        if let Some(sql) = grant.sql() {
            script.add("GRANT", &grant.object, sql);
        }
    }
    Ok(())
}

/// Adds a privilege to the grant that has everything else in common with it, or to a new one.
fn add(grants: &mut Vec<Grant>, one: &Privilege, grantor: Option<String>) {
    // They are sorted by their object.
    let of_object = |grant: &Grant| grant.object == one.object && grant.object_kind == one.object_kind;
    let place =
        grants.iter().enumerate().rev().take_while(|(_, grant)| of_object(grant)).find(|(_, grant)| {
            grant.grantee == one.grantee
            && grant.grantee_kind == one.grantee_kind
            && grant.grantor == grantor
            && grant.grantable == one.grantable
            && grant.default_role == one.default_role
            // Names of DDL privileges have their action within.
            && one.object_kind != ObjectKind::Ddl
        });
    let place = place.map(|(at, _)| at);
    let at = place.unwrap_or_else(|| {
        grants.push(Grant {
            object: one.object.clone(),
            object_kind: one.object_kind,
            grantee: one.grantee.clone(),
            grantee_kind: one.grantee_kind,
            grantor,
            grantable: one.grantable,
            default_role: one.default_role,
            actions: Vec::new(),
        });
        grants.len() - 1
    });
    let actions = &mut grants[at].actions;
    match (
        &one.column,
        actions.iter_mut().find(|(action, columns)| *action == one.action && !columns.is_empty()),
    ) {
        (Some(column), Some((_, columns))) => columns.push(column.clone()),
        (column, _) => actions.push((one.action, column.iter().cloned().collect())),
    }
}

/// Sorts grants so that everybody who grants something has it by then.
fn in_order(grants: Vec<Grant>) -> Vec<Grant> {
    let (mut sorted, mut left): (Vec<Grant>, Vec<Grant>) =
        grants.into_iter().partition(|grant| grant.grantor.is_none());
    while !left.is_empty() {
        let has = |grant: &Grant| {
            sorted.iter().any(|earlier: &Grant| {
                earlier.grantable
                    && earlier.object == grant.object
                    && Some(&earlier.grantee) == grant.grantor.as_ref()
            })
        };
        let (next, later): (Vec<Grant>, Vec<Grant>) = left.into_iter().partition(has);
        left = later;
        if next.is_empty() {
            // Their grantors have lost it since.
            sorted.append(&mut left);
        }
        sorted.extend(next);
    }
    sorted
}

impl Grant {
    /// Returns the statement; `None` for what the engine grants to everybody and has no statement for.
    fn sql(&self) -> Option<String> {
        let object = name(&self.object);
        let all = |actions: &[(Action, Vec<String>)]| {
            let mut actions = actions.to_vec();
            actions.sort_by_key(|(action, _)| CUSTOMARY.iter().position(|other| other == action));
            let action = |(action, columns): &(Action, Vec<String>)| match columns.as_slice() {
                [] => action.name().to_owned(),
                columns => format!("{} ({})", action.name(), names(columns)),
            };
            actions.iter().map(action).collect::<Vec<_>>().join(", ")
        };
        let what = match self.object_kind {
            ObjectKind::Table | ObjectKind::View => format!("{} ON {object}", all(&self.actions)),
            ObjectKind::Procedure | ObjectKind::Function | ObjectKind::Package | ObjectKind::Exception => {
                format!("{} ON {} {object}", all(&self.actions), self.object_kind.name())
            }
            ObjectKind::Generator => format!("{} ON SEQUENCE {object}", all(&self.actions)),
            ObjectKind::Role if self.default_role => format!("DEFAULT {object}"),
            ObjectKind::Role => object,
            ObjectKind::Ddl => ddl(&self.object, self.actions.first()?.0)?,
            _ => return None,
        };
        let option = match (self.grantable, self.object_kind) {
            (false, _) => "",
            (true, ObjectKind::Role) => " WITH ADMIN OPTION",
            (true, _) => " WITH GRANT OPTION",
        };
        let grantor = self.grantor.as_ref().map(|grantor| format!(" GRANTED BY {}", name(grantor)));
        Some(format!("GRANT {what} TO {}{option}{}", self.to(), grantor.unwrap_or_default()))
    }

    fn to(&self) -> String {
        match self.grantee_kind {
            ObjectKind::User if self.grantee == "PUBLIC" => "PUBLIC".to_owned(),
            ObjectKind::SystemPrivilege => format!("SYSTEM PRIVILEGE {}", self.grantee),
            kind => format!("{} {}", kind.name(), name(&self.grantee)),
        }
    }
}

/// The order in which people expect them; others have one action only.
const CUSTOMARY: [Action; 5] =
    [Action::Select, Action::Insert, Action::Update, Action::Delete, Action::References];

/// Returns the name of a privilege for DDL: `CREATE TABLE`, `ALTER ANY TABLE`, `DROP DATABASE`.
fn ddl(object: &str, action: Action) -> Option<String> {
    let object = match object.strip_prefix("SQL$")? {
        "DATABASE" => return Some(format!("{} DATABASE", action.name())),
        "CHARSETS" => "CHARACTER SET".to_owned(),
        "GENERATORS" => "SEQUENCE".to_owned(),
        plural => plural.strip_suffix('S')?.to_owned(),
    };
    let any = if action == Action::Create { "" } else { "ANY " };
    Some(format!("{} {any}{object}", action.name()))
}
