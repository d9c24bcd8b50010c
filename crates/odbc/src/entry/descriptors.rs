//! Descriptors.

use super::guard;
use super::output::{Argument, DONE, Encoding, Output, Unit, put};
use crate::abi::field::descriptor as field;
use crate::abi::{self, Char, Handle, Integer, Len, Pointer, Return, SmallInt, WChar};
use crate::descriptor::{self, Field, Setting};
use crate::diagnostics::Result;
use crate::handle::{Descriptor, DescriptorHandle, Id, SharedDescriptor, registry};

fn get_field(handle: Handle, number: SmallInt, identifier: SmallInt, output: Output) -> Return {
    guard::descriptor(handle, |object| {
        let Some(found) = descriptor::get(&object.descriptor.lock(), number, identifier)? else {
            return Ok(abi::NO_DATA);
        };
        let to = output.buffer;
        // SAFETY: the application's buffer, which has the size of the field.
        let size = unsafe {
            match found {
                Field::Short(value) => write(to, value),
                Field::Integer(value) => write(to, value),
                Field::Length(value) => write(to, value),
                Field::Unsigned(value) => write(to, value),
                Field::Pointer(value) => write(to, value),
                Field::Text(text) => {
                    output.put(&text, &mut object.diagnostics)?;
                    return DONE;
                }
            }
        };
        // SAFETY: as above.
        unsafe { output.length.write(size) };
        DONE
    })
}

/// # Safety
/// `to` is NULL or has room for the value.
unsafe fn write<T>(to: Pointer, value: T) -> usize {
    // SAFETY: the caller's promise.
    unsafe { put(to.cast(), value) };
    size_of::<T>()
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDescField(
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_field(
        handle,
        number,
        identifier,
        Output::long(Encoding::Narrow, Unit::Bytes, value, capacity, length),
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDescFieldW(
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    capacity: Integer,
    length: *mut Integer,
) -> Return {
    get_field(handle, number, identifier, Output::long(Encoding::Wide, Unit::Bytes, value, capacity, length))
}

fn set_field(
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    text: Argument,
) -> Return {
    guard::descriptor(handle, |object| {
        // SAFETY: the application's text, of a field that has text.
        let text = || unsafe { text.required() };
        let setting = Setting { value: value.expose_provenance(), text: &text };
        descriptor::set(&mut object.descriptor.lock(), number, identifier, &setting)?;
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetDescField(
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    length: Integer,
) -> Return {
    set_field(handle, number, identifier, value, Argument::narrow(value.cast(), length as isize))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetDescFieldW(
    handle: Handle,
    number: SmallInt,
    identifier: SmallInt,
    value: Pointer,
    length: Integer,
) -> Return {
    // In bytes, unless it is SQL_NTS.
    let units = if length > 0 { length / 2 } else { length };
    set_field(handle, number, identifier, value, Argument::wide(value.cast(), units as isize))
}

/// Where `SQLGetDescRec` writes.
struct Places {
    kind: *mut SmallInt,
    sub_type: *mut SmallInt,
    length: *mut Len,
    precision: *mut SmallInt,
    scale: *mut SmallInt,
    nullable: *mut SmallInt,
}

fn get_record(handle: Handle, number: SmallInt, name: Output, to: &Places) -> Return {
    guard::descriptor(handle, |object| {
        let DescriptorHandle { descriptor: shared, diagnostics, .. } = object;
        let descriptor = shared.lock();
        let get = |identifier| descriptor::get(&descriptor, number, identifier);
        let Some(Field::Text(text)) = get(field::NAME)? else { return Ok(abi::NO_DATA) };
        let short = |identifier| -> Result<SmallInt> {
            Ok(match get(identifier)? {
                Some(Field::Short(value)) => value,
                _ => 0,
            })
        };
        let length = match get(field::OCTET_LENGTH)? {
            Some(Field::Length(length)) => length,
            _ => 0,
        };
        // SAFETY: the application's places.
        unsafe {
            put(to.kind, short(field::TYPE)?);
            put(to.sub_type, short(field::DATETIME_INTERVAL_CODE)?);
            put(to.length, length);
            put(to.precision, short(field::PRECISION)?);
            put(to.scale, short(field::SCALE)?);
            put(to.nullable, short(field::NULLABLE)?);
            name.put(&text, diagnostics)?;
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDescRec(
    handle: Handle,
    number: SmallInt,
    name: *mut Char,
    capacity: SmallInt,
    written: *mut SmallInt,
    kind: *mut SmallInt,
    sub_type: *mut SmallInt,
    length: *mut Len,
    precision: *mut SmallInt,
    scale: *mut SmallInt,
    nullable: *mut SmallInt,
) -> Return {
    let name = Output::short(Encoding::Narrow, Unit::Characters, name.cast(), capacity, written);
    get_record(handle, number, name, &Places { kind, sub_type, length, precision, scale, nullable })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetDescRecW(
    handle: Handle,
    number: SmallInt,
    name: *mut WChar,
    capacity: SmallInt,
    written: *mut SmallInt,
    kind: *mut SmallInt,
    sub_type: *mut SmallInt,
    length: *mut Len,
    precision: *mut SmallInt,
    scale: *mut SmallInt,
    nullable: *mut SmallInt,
) -> Return {
    let name = Output::short(Encoding::Wide, Unit::Characters, name.cast(), capacity, written);
    get_record(handle, number, name, &Places { kind, sub_type, length, precision, scale, nullable })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetDescRec(
    handle: Handle,
    number: SmallInt,
    kind: SmallInt,
    sub_type: SmallInt,
    length: Len,
    precision: SmallInt,
    scale: SmallInt,
    data: Pointer,
    octet_length: *mut Len,
    indicator: *mut Len,
) -> Return {
    guard::descriptor(handle, |object| {
        let mut descriptor = object.descriptor.lock();
        let text = || Ok(String::new());
        let mut set = |identifier, value| {
            descriptor::set(&mut descriptor, number, identifier, &Setting { value, text: &text })
        };
        set(field::TYPE, kind as usize)?;
        if descriptor::verbose(kind).0 != kind || sub_type != 0 {
            set(field::DATETIME_INTERVAL_CODE, sub_type as usize)?;
        }
        set(field::OCTET_LENGTH, length as usize)?;
        set(field::PRECISION, precision as usize)?;
        set(field::SCALE, scale as usize)?;
        if descriptor.role != crate::handle::Role::Parameters {
            let mut set = |identifier, value| {
                descriptor::set(&mut descriptor, number, identifier, &Setting { value, text: &text })
            };
            set(field::OCTET_LENGTH_PTR, octet_length.expose_provenance())?;
            set(field::INDICATOR_PTR, indicator.expose_provenance())?;
            set(field::DATA_PTR, data.expose_provenance())?;
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLCopyDesc(from: Handle, to: Handle) -> Return {
    let source: Option<SharedDescriptor> = registry::get(Id::from(from))
        .and_then(|mut in_use| in_use.descriptor().map(|object| object.descriptor.clone()));
    let Some(source) = source else { return abi::INVALID_HANDLE };
    guard::descriptor(to, |object| {
        if object.descriptor.is(&source) {
            return DONE;
        }
        // Copied first: two threads may copy in both directions at once.
        let copied = {
            let role = object.descriptor.lock().role;
            let mut copied = Descriptor::new(role, false);
            descriptor::copy(&source.lock(), &mut copied)?;
            copied
        };
        descriptor::copy(&copied, &mut object.descriptor.lock())?;
        DONE
    })
}
