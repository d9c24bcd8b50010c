//! Who may change a file or folder.
//!
//! Each component of a path must belong to this user, to administrators or to the system, and nobody else may change
//! it. On the way, others may add files and folders, as they may in `C:\`, but not remove or replace what is there.

use super::sid;
use std::io;
use std::path::{Component, Path, Prefix};

/// How to make it nobody else's.
pub(crate) const REMEDY: &str =
    "you or administrators alone, and let nobody else write there (properties, security)";
/// Users and groups that can do everything anyway: the system, administrators, the installer of Windows; and the
/// placeholders for an object's owner.
const TRUSTED: [&str; 5] = [
    "S-1-5-18",
    "S-1-5-32-544",
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
    "S-1-3-0",
    "S-1-3-4",
];
/// Rights to replace an object or what it contains: `FILE_DELETE_CHILD`, `DELETE`, `WRITE_DAC`, `WRITE_OWNER`,
/// `GENERIC_ALL`.
const REPLACES: u32 = 0x40 | 0x1_0000 | 0x4_0000 | 0x8_0000 | 0x1000_0000;
/// Also those to write to a file or add to a folder: `FILE_WRITE_DATA`, `FILE_APPEND_DATA`, `GENERIC_WRITE`.
const CHANGES: u32 = REPLACES | 0x2 | 0x4 | 0x4000_0000;

/// Why other users could change `path`; `None` if they cannot.
pub(crate) fn defect(path: &Path, is_on_the_way: bool) -> io::Result<Option<String>> {
    // Owner and rights are what that server says, and it may be anybody's.
    if let Some(Component::Prefix(prefix)) = path.components().next()
        && matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
    {
        return Ok(Some(
            "is on a file server, which alone knows who may write there; copy it to this machine".into(),
        ));
    }
    let rights = if is_on_the_way { REPLACES } else { CHANGES };
    Ok(found(&sid::access(path)?, &sid::own()?, rights))
}

/// Why others than `own` and the trusted could use one of `rights`; `None` if they cannot.
fn found(access: &sid::Access, own: &str, rights: u32) -> Option<String> {
    let is_trusted = |user: &str| user == own || TRUSTED.contains(&user);
    if !is_trusted(&access.owner) {
        return Some(format!("belongs to {}", access.owner));
    }
    let Some(allowed) = &access.allowed else {
        return Some("is writable by every user".into());
    };
    let other = allowed.iter().find(|(user, mask)| mask & rights != 0 && !is_trusted(user));
    other.map(|(user, _)| format!("is writable by {}", name(user)))
}

/// A name for the groups that are usual.
fn name(user: &str) -> &str {
    match user {
        "S-1-1-0" => "every user",
        "S-1-5-11" => "every user who has logged in",
        "S-1-5-32-545" => "the group Users",
        _ => user,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sid::Access;

    const OWN: &str = "S-1-5-21-1-2-3-1001";

    fn allowed(user: &str, mask: u32) -> Access {
        Access { owner: OWN.into(), allowed: Some(vec![("S-1-5-18".into(), u32::MAX), (user.into(), mask)]) }
    }

    #[test]
    fn who_may_write_is_named() {
        assert_eq!(found(&allowed(OWN, u32::MAX), OWN, CHANGES), None);
        // Users may read and execute.
        assert_eq!(found(&allowed("S-1-5-32-545", 0x0012_00a9), OWN, CHANGES), None);
        assert_eq!(
            found(&allowed("S-1-5-32-545", 0x2), OWN, CHANGES).unwrap(),
            "is writable by the group Users"
        );
        // In `C:\` they may add folders.
        assert_eq!(found(&allowed("S-1-5-11", 0x4), OWN, REPLACES), None);
        assert!(found(&allowed("S-1-5-11", 0x1_0000), OWN, REPLACES).is_some());
    }

    #[test]
    fn owners_and_missing_lists_count() {
        let of = |owner: &str, allowed| Access { owner: owner.into(), allowed };
        assert!(found(&of("S-1-5-21-9-9-9-1002", Some(Vec::new())), OWN, CHANGES).is_some());
        assert_eq!(found(&of("S-1-5-32-544", Some(Vec::new())), OWN, CHANGES), None);
        assert_eq!(found(&of(OWN, None), OWN, CHANGES).unwrap(), "is writable by every user");
    }
}
