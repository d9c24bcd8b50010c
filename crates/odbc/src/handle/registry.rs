//! All handles of the process.
//!
//! A handle is no address but the number of a place and of its use: what was freed, never made or belongs to somebody
//! else is recognised without being touched. Places are never given back; what they hold is.

use crate::abi::{Handle, SmallInt};
use crate::handle::{Connection, DescriptorHandle, Environment, Statement};
use firearrow_driver::Activity;
use std::sync::atomic::{AtomicI16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// The number of a handle; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(usize);

/// Bits of the place within a handle; the others count its uses.
const PLACE_BITS: u32 = usize::BITS / 2;
const USES: usize = usize::MAX >> PLACE_BITS;
/// Places are made so many at a time.
const PAGE: usize = 256;
const PAGES: usize = 1 << 12;

impl Id {
    fn new(place: usize, used: usize) -> Self {
        // Places count from 1, so that no handle is NULL.
        Self((used & USES) << PLACE_BITS | (place + 1))
    }

    fn place(self) -> Option<usize> {
        (self.0 & (usize::MAX >> (usize::BITS - PLACE_BITS))).checked_sub(1)
    }

    fn used(self) -> usize {
        self.0 >> PLACE_BITS
    }

    pub(crate) fn handle(self) -> Handle {
        std::ptr::without_provenance_mut(self.0)
    }
}

impl From<Handle> for Id {
    fn from(handle: Handle) -> Self {
        Self(handle.addr())
    }
}

/// What a handle stands for.
pub(crate) enum Object {
    Environment(Box<Environment>),
    Connection(Box<Connection>),
    Statement(Box<Statement>),
    Descriptor(DescriptorHandle),
}

impl Object {
    fn kind(&self) -> SmallInt {
        match self {
            Self::Environment(_) => crate::abi::HANDLE_ENV,
            Self::Connection(_) => crate::abi::HANDLE_DBC,
            Self::Statement(_) => crate::abi::HANDLE_STMT,
            Self::Descriptor(_) => crate::abi::HANDLE_DESC,
        }
    }
}

/// A place for an object, which is locked while a call works with it.
#[derive(Default)]
struct Place {
    contents: Mutex<Contents>,
    /// Cancels what goes on in the object, without waiting for it.
    activity: Mutex<Option<(usize, Arc<Activity>)>>,
    /// The kind of the object, 0 without one; for those who must not wait for it.
    kind: AtomicI16,
}

#[derive(Default)]
struct Contents {
    used: usize,
    object: Option<Object>,
}

type Page = Box<[Place]>;

static PLACES: [OnceLock<Page>; PAGES] = [const { OnceLock::new() }; PAGES];
/// Places that are free, and how many there are in all.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(at: usize) -> Option<&'static Place> {
    PLACES.get(at / PAGE)?.get()?.get(at % PAGE)
}

/// An object in use.
pub(crate) struct InUse {
    contents: MutexGuard<'static, Contents>,
}

macro_rules! object {
    ($name:ident, $kind:ident, $type:ty) => {
        impl InUse {
            pub(crate) fn $name(&mut self) -> Option<&mut $type> {
                match &mut self.contents.object {
                    Some(Object::$kind(object)) => Some(object),
                    _ => None,
                }
            }
        }
    };
}

object!(environment, Environment, Environment);
object!(connection, Connection, Connection);
object!(statement, Statement, Statement);
object!(descriptor, Descriptor, DescriptorHandle);

/// Gives an object a handle. `None` if there are too many.
pub(crate) fn add(make: impl FnOnce(Id) -> Object, activity: Option<Arc<Activity>>) -> Option<Id> {
    let at = {
        let mut free = lock(&FREE);
        match free.0.pop() {
            Some(at) => at,
            None => {
                let at = free.1;
                PLACES.get(at / PAGE)?.get_or_init(|| (0..PAGE).map(|_| Place::default()).collect());
                free.1 += 1;
                at
            }
        }
    };
    let place = place(at)?;
    let mut contents = lock(&place.contents);
    let id = Id::new(at, contents.used);
    let object = make(id);
    place.kind.store(object.kind(), Ordering::SeqCst);
    contents.object = Some(object);
    *lock(&place.activity) = activity.map(|activity| (id.used(), activity));
    Some(id)
}

/// The object of a handle, for this call alone. Waits for a call of another thread that uses it.
pub(crate) fn get(id: Id) -> Option<InUse> {
    let contents = lock(&place(id.place()?)?.contents);
    (contents.used & USES == id.used() && contents.object.is_some()).then_some(InUse { contents })
}

/// Whether this may be the handle of such an object: what is known without waiting for it.
pub(crate) fn may_be(id: Id, kind: SmallInt) -> bool {
    id.place().and_then(place).is_some_and(|place| place.kind.load(Ordering::SeqCst) == kind)
}

/// What an attempt to use an object found.
pub(crate) enum Attempt {
    InUse(InUse),
    /// A call of another thread uses it.
    Busy,
    /// It was freed, or never made.
    Gone,
}

/// As [`get`], but without waiting.
pub(crate) fn attempt(id: Id) -> Attempt {
    let Some(place) = id.place().and_then(place) else { return Attempt::Gone };
    let contents = match place.contents.try_lock() {
        Ok(contents) => contents,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Attempt::Busy,
    };
    match contents.used & USES == id.used() && contents.object.is_some() {
        true => Attempt::InUse(InUse { contents }),
        false => Attempt::Gone,
    }
}

/// As [`get`], unless a call of another thread uses it.
pub(crate) fn try_get(id: Id) -> Option<InUse> {
    match attempt(id) {
        Attempt::InUse(in_use) => Some(in_use),
        Attempt::Busy | Attempt::Gone => None,
    }
}

/// Frees a handle of this kind, and returns its object once no call uses it any more.
pub(crate) fn remove(id: Id, kind: SmallInt) -> Option<Object> {
    let at = id.place()?;
    let place = place(at)?;
    let mut contents = lock(&place.contents);
    if contents.used & USES != id.used()
        || contents.object.as_ref().is_none_or(|object| object.kind() != kind)
    {
        return None;
    }
    let object = contents.object.take();
    place.kind.store(0, Ordering::SeqCst);
    contents.used = contents.used.wrapping_add(1) & USES;
    *lock(&place.activity) = None;
    drop(contents);
    lock(&FREE).0.push(at);
    object
}

/// What cancels the calls of a handle. Does not wait for them.
pub(crate) fn activity(id: Id) -> Option<Arc<Activity>> {
    let activity = lock(&place(id.place()?)?.activity);
    activity.as_ref().filter(|(used, _)| *used == id.used()).map(|(_, activity)| Arc::clone(activity))
}

/// Replaces what cancels the calls of a handle.
pub(crate) fn set_activity(id: Id, activity: Option<Arc<Activity>>) {
    if let Some(place) = id.place().and_then(place) {
        *lock(&place.activity) = activity.map(|activity| (id.used(), activity));
    }
}
