//! Which keyword an error of the server comes from. The server knows statements and parameters only.

use firearrow_driver::shortened;

/// An error of a statement of CONNSETTINGS.
#[must_use]
pub fn of_statement(sql: &str, error: &str) -> String {
    // What follows may be the password of a user that is created or altered.
    let password = sql.to_ascii_uppercase().find("PASSWORD");
    let sql = match password {
        Some(at) => format!("{}…", &sql[..at + "PASSWORD".len()]),
        None => sql.to_owned(),
    };
    format!("CONNSETTINGS '{}': {error}", shortened(&sql))
}

/// An error of connecting.
#[must_use]
pub fn of_connecting(error: &str) -> String {
    match error.contains("isc_dpb_set_bind") {
        true => format!("SETCOMPATBIND: {error}"),
        false => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_keyword_and_statement() {
        assert_eq!(of_statement("SELEC 1", "bad"), "CONNSETTINGS 'SELEC 1': bad");
        let hidden = of_statement("ALTER USER ä Password 'secret'", "bad");
        assert_eq!(hidden, "CONNSETTINGS 'ALTER USER ä Password…': bad");
        assert!(of_statement(&"x".repeat(1000), "bad").len() < 200);
        let text = "Error processing isc_dpb_set_bind clumplet \"NONSENSE\"";
        assert_eq!(of_connecting(text), format!("SETCOMPATBIND: {text}"));
        assert_eq!(of_connecting("no such host"), "no such host");
    }
}
