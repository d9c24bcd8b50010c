//! Keys of the registry, with errors that name them.

use super::Entries;
use std::io;
use std::path::PathBuf;
use windows_registry::{CURRENT_USER, Key, LOCAL_MACHINE};

/// `ERROR_FILE_NOT_FOUND`: no such key or value.
const NOT_FOUND: i32 = 2;
/// `DELETE`
const DELETE: u32 = 0x1_0000;

/// A key that may or may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    is_of_user: bool,
    path: String,
}

impl Place {
    pub(super) fn of_user(path: &str) -> Self {
        Self { is_of_user: true, path: path.into() }
    }

    pub(super) fn of_system(path: &str) -> Self {
        Self { is_of_user: false, path: path.into() }
    }

    /// A key within it.
    pub(super) fn at(&self, name: &str) -> Self {
        Self { path: format!(r"{}\{name}", self.path), ..*self }
    }

    /// Its name for people.
    pub(super) fn path(&self) -> PathBuf {
        let root = if self.is_of_user { "HKEY_CURRENT_USER" } else { "HKEY_LOCAL_MACHINE" };
        format!(r"{root}\{}", self.path).into()
    }

    pub(super) fn exists(&self) -> io::Result<bool> {
        Ok(self.open()?.is_some())
    }

    /// The names of the keys within it.
    pub(super) fn keys(&self) -> io::Result<Vec<String>> {
        let Some(key) = self.open()? else { return Ok(Vec::new()) };
        let keys = self.result(key.keys())?;
        Ok(keys.map_or_else(Vec::new, Iterator::collect))
    }

    /// The texts in it; `None` if it does not exist. Driver managers read nothing but texts, too.
    pub(super) fn values(&self) -> io::Result<Option<Entries>> {
        let Some(key) = self.open()? else { return Ok(None) };
        let Some(values) = self.result(key.values())? else { return Ok(None) };
        let texts = values.filter_map(|(name, value)| {
            let text = String::try_from(value).ok()?;
            (!name.is_empty()).then_some((name, text))
        });
        Ok(Some(texts.collect()))
    }

    /// Sets texts. The key is created if it does not exist.
    pub(super) fn set(&self, entries: &[(&str, &str)]) -> io::Result<()> {
        let key = self.create()?;
        entries.iter().try_for_each(|(name, value)| self.done(key.set_string(name, value)))
    }

    pub(super) fn set_number_if_missing(&self, name: &str, number: u32) -> io::Result<()> {
        let key = self.create()?;
        match key.get_u32(name) {
            Ok(_) => Ok(()),
            Err(_) => self.done(key.set_u32(name, number)),
        }
    }

    /// Removes a key within it, with what is in that.
    pub(super) fn remove_key(&self, name: &str) -> io::Result<()> {
        let key = self.root().options().read().write().access(DELETE).open(&self.path);
        match self.result(key)? {
            Some(key) => self.result(key.remove_tree(name)).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Removes a value. Returns whether there was one.
    pub(super) fn remove_value(&self, name: &str) -> io::Result<bool> {
        let Some(key) = self.open_to_write()? else { return Ok(false) };
        // Not looked for in a list first: while others remove values, lists have gaps.
        Ok(self.result(key.remove_value(name))?.is_some())
    }

    fn root(&self) -> &'static Key {
        if self.is_of_user { CURRENT_USER } else { LOCAL_MACHINE }
    }

    fn open(&self) -> io::Result<Option<Key>> {
        self.result(self.root().open(&self.path))
    }

    fn open_to_write(&self) -> io::Result<Option<Key>> {
        self.result(self.root().options().read().write().open(&self.path))
    }

    fn create(&self) -> io::Result<Key> {
        self.done(self.root().create(&self.path))
    }

    /// `None` if it does not exist.
    fn result<T>(&self, result: windows_registry::Result<T>) -> io::Result<Option<T>> {
        match self.done(result) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn done<T>(&self, result: windows_registry::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            // The system's number is in an HRESULT.
            let code = error.code().0 & 0xFFFF;
            let error = io::Error::from_raw_os_error(code);
            let kind = if code == NOT_FOUND { io::ErrorKind::NotFound } else { error.kind() };
            io::Error::new(kind, format!("{}: {error}", self.path().display()))
        })
    }
}
