//! The authentication plugins that earlier connections of this process logged in with.
//!
//! A client guesses which plugin the server wants and sends that one's data with its first packet. If the server wants another
//! one, it asks for that, which takes one more round trip. The next connection to the same server does not guess.

use super::known_links::Server;
use firearrow_proto::wire::auth::AuthPlugin;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Servers to remember.
const CAPACITY: usize = 256;

static PLUGINS: LazyLock<Mutex<HashMap<Server, AuthPlugin>>> = LazyLock::new(Mutex::default);

fn plugins() -> MutexGuard<'static, HashMap<Server, AuthPlugin>> {
    PLUGINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts the plugin that this server wanted last time first. Only if it is offered anyway, and not Legacy_Auth: its data are all that
/// somebody needs who wants to log in.
pub(super) fn put_first(server: &Server, offered: &mut [AuthPlugin]) {
    let known = plugins().get(server).copied();
    let at = known.filter(|known| *known != AuthPlugin::Legacy);
    if let Some(at) = at.and_then(|known| offered.iter().position(|plugin| *plugin == known)) {
        offered[..=at].rotate_right(1);
    }
}

/// Remembers the plugin of a login; `None` = it failed, so that what was known is not to be relied on.
pub(super) fn remember(server: &Server, plugin: Option<AuthPlugin>) {
    let mut plugins = plugins();
    let Some(plugin) = plugin else {
        plugins.remove(server);
        return;
    };
    if plugins.len() >= CAPACITY && !plugins.contains_key(server) {
        plugins.clear();
    }
    plugins.insert(server.clone(), plugin);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(server: &Server, offered: &[AuthPlugin]) -> Vec<AuthPlugin> {
        let mut offered = offered.to_vec();
        put_first(server, &mut offered);
        offered
    }

    #[test]
    fn the_plugin_of_the_last_login_comes_first() {
        use AuthPlugin::{Legacy, Srp, Srp256};
        let server = ("plugins.example".to_owned(), 1);
        let all = [Srp256, Srp, Legacy];
        assert_eq!(offered(&server, &all), all, "nothing is known");
        remember(&server, Some(Srp));
        assert_eq!(offered(&server, &all), [Srp, Srp256, Legacy]);
        assert_eq!(offered(&server, &[Srp256]), [Srp256], "nothing is offered that was not");
        remember(&server, Some(Legacy));
        assert_eq!(offered(&server, &all), all, "a password is not sent on suspicion");
        remember(&server, Some(Srp));
        remember(&server, None);
        assert_eq!(offered(&server, &all), all, "the login failed");
    }
}
