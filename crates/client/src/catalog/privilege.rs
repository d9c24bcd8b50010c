//! Privileges.

use super::question::{Question, Row};
use super::{Name, View};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;

/// A privilege that somebody has been granted. Owners have theirs granted by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Privilege {
    /// The object. For DDL on objects of one kind, `SQL$` and the kind: `SQL$TABLES`.
    pub object: String,
    /// Its kind.
    pub object_kind: ObjectKind,
    /// The column, if the privilege is for a single one.
    pub column: Option<String>,
    /// The privilege.
    pub action: Action,
    /// Who may do it: a user, `PUBLIC`, a role, or an object such as a procedure. For system privileges, a number.
    pub grantee: String,
    /// The kind of the grantee; `PUBLIC` is a user.
    pub grantee_kind: ObjectKind,
    /// Who granted it. The engine itself granted what has nobody.
    pub grantor: Option<String>,
    /// Whether the grantee may grant it to others (`WITH GRANT OPTION`, for roles `WITH ADMIN OPTION`).
    pub grantable: bool,
    /// Whether a role is in effect without `SET ROLE` (`GRANT DEFAULT`, Firebird 4 and later).
    pub default_role: bool,
}

/// What a privilege allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum Action {
    Select,
    Insert,
    Update,
    Delete,
    References,
    Execute,
    Usage,
    Create,
    Alter,
    Drop,
    /// Having a role.
    Member,
    /// A letter of `RDB$PRIVILEGE` that this crate does not know.
    Other(char),
}

/// The kind of an object or grantee of a privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum ObjectKind {
    /// A table, or a view as the object of a privilege.
    Table,
    /// A view that has a privilege.
    View,
    Trigger,
    Procedure,
    Function,
    Package,
    Exception,
    User,
    /// A group of users of the operating system.
    Group,
    Role,
    Generator,
    Domain,
    CharacterSet,
    Collation,
    Filter,
    /// All who have a system privilege (Firebird 4 and later).
    SystemPrivilege,
    /// All objects of a kind, or the database: what DDL statements are for.
    Ddl,
    /// A number of `jrd/obj.h` that this crate does not know.
    Other(i16),
}

impl Action {
    /// The word of SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::References => "REFERENCES",
            Self::Execute => "EXECUTE",
            Self::Usage => "USAGE",
            Self::Create => "CREATE",
            Self::Alter => "ALTER",
            Self::Drop => "DROP",
            Self::Member => "MEMBER",
            Self::Other(_) => "UNKNOWN",
        }
    }

    /// `RDB$PRIVILEGE`.
    fn of(letter: &str) -> Self {
        match letter.chars().next().unwrap_or_default() {
            'S' => Self::Select,
            'I' => Self::Insert,
            'U' => Self::Update,
            'D' => Self::Delete,
            'R' => Self::References,
            'X' => Self::Execute,
            'G' => Self::Usage,
            'C' => Self::Create,
            'L' => Self::Alter,
            'O' => Self::Drop,
            'M' => Self::Member,
            other => Self::Other(other),
        }
    }
}

impl ObjectKind {
    /// The word of SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "TABLE",
            Self::View => "VIEW",
            Self::Trigger => "TRIGGER",
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
            Self::Package => "PACKAGE",
            Self::Exception => "EXCEPTION",
            Self::User => "USER",
            Self::Group => "GROUP",
            Self::Role => "ROLE",
            Self::Generator => "GENERATOR",
            Self::Domain => "DOMAIN",
            Self::CharacterSet => "CHARACTER SET",
            Self::Collation => "COLLATION",
            Self::Filter => "FILTER",
            Self::SystemPrivilege => "SYSTEM PRIVILEGE",
            Self::Ddl => "DDL",
            Self::Other(_) => "UNKNOWN",
        }
    }

    /// `obj_…` of `jrd/obj.h`. From 20 on the numbers depend on the release.
    fn of(number: i16) -> Self {
        match number {
            0 => Self::Table,
            1 => Self::View,
            2 => Self::Trigger,
            5 => Self::Procedure,
            7 => Self::Exception,
            8 => Self::User,
            9 => Self::Domain,
            11 => Self::CharacterSet,
            12 => Self::Group,
            13 => Self::Role,
            14 => Self::Generator,
            15 => Self::Function,
            16 => Self::Filter,
            17 => Self::Collation,
            18 | 19 => Self::Package,
            other => Self::Other(other),
        }
    }

    fn of_object(number: i16, name: &str) -> Self {
        match Self::of(number) {
            Self::Other(20..) if name.starts_with("SQL$") => Self::Ddl,
            kind => kind,
        }
    }

    fn of_grantee(number: i16) -> Self {
        if number == 20 { Self::SystemPrivilege } else { Self::of(number) }
    }
}

const PRIVILEGES: &str = "SELECT P.RDB$RELATION_NAME, P.RDB$OBJECT_TYPE, P.RDB$FIELD_NAME, P.RDB$PRIVILEGE, \
     P.RDB$USER, P.RDB$USER_TYPE, P.RDB$GRANTOR, P.RDB$GRANT_OPTION FROM RDB$USER_PRIVILEGES P";

impl View {
    /// Returns the privileges on the objects with these names.
    pub(crate) async fn privileges<B: Backend>(
        self,
        session: &mut Session<B>,
        object: Name<'_>,
    ) -> Result<Vec<Privilege>> {
        let mut question = Question::new(PRIVILEGES).and_name("P.RDB$RELATION_NAME", object);
        if !self.with_system {
            question = question.and("P.RDB$GRANTOR IS NOT NULL");
        }
        let question = question.order_by(
            "P.RDB$RELATION_NAME, P.RDB$OBJECT_TYPE, P.RDB$FIELD_NAME, P.RDB$PRIVILEGE, P.RDB$USER, \
             P.RDB$USER_TYPE, P.RDB$GRANTOR",
        );
        self.ask(session, &question, privilege).await
    }
}

fn privilege(row: &Row<'_>) -> Result<Privilege> {
    let object = row.name(0)?;
    let action = Action::of(row.text(3).unwrap_or_default());
    // Default roles are marked where other privileges have a column.
    let field = row.remark(2);
    let (column, default_role) = match action {
        Action::Member => (None, field.as_deref() == Some("D")),
        _ => (field, false),
    };
    Ok(Privilege {
        object_kind: ObjectKind::of_object(row.number(1), &object),
        object,
        column,
        action,
        grantee: row.name(4)?,
        grantee_kind: ObjectKind::of_grantee(row.number(5)),
        grantor: row.owned(6),
        grantable: row.is_set(7),
        default_role,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_have_letters() {
        use Action::*;
        let all = [Select, Insert, Update, Delete, References, Execute, Usage, Create, Alter, Drop, Member];
        for (letter, action) in ["S", "I", "U", "D", "R", "X", "G", "C", "L", "O", "M"].into_iter().zip(all) {
            assert_eq!(Action::of(letter), action);
        }
        assert_eq!([Action::of("Z"), Action::of("")], [Other('Z'), Other('\0')]);
    }

    #[test]
    fn kinds_have_numbers_that_depend_on_the_release() {
        assert_eq!(ObjectKind::of_object(0, "SQL$TABLES"), ObjectKind::Table);
        // TABLES in Firebird 4, and in 3 DATABASE.
        for number in [22, 20] {
            assert_eq!(ObjectKind::of_object(number, "SQL$TABLES"), ObjectKind::Ddl);
        }
        assert_eq!(ObjectKind::of_object(20, ""), ObjectKind::Other(20));
        assert_eq!(ObjectKind::of_object(3, "SQL$TABLES"), ObjectKind::Other(3));
        assert_eq!(ObjectKind::of_grantee(20), ObjectKind::SystemPrivilege);
        assert_eq!(ObjectKind::of_grantee(13), ObjectKind::Role);
    }
}
