//! What the driver and the database can do.

use super::guard;
use super::output::{DONE, Encoding, Output, Unit, put};
use crate::abi::{Handle, Pointer, Return, SmallInt, USmallInt};
use crate::diagnostics::{Failure, State};
use crate::info::functions::{self, Functions};
use crate::info::{self, Answer, Facts};
use crate::text::Text;

fn get_info(handle: Handle, number: USmallInt, output: Output) -> Return {
    guard::connection(handle, |connection| {
        let answer = match &connection.link {
            Some(link) => info::answer(number, &link.facts),
            None if info::needs_connection(number) => None,
            None => info::answer(number, &Facts::default()),
        };
        let unknown = || match connection.link {
            Some(_) => Failure::new(State::INFO, format!("there is no information {number}")),
            None => Failure::new(State::NOT_CONNECTED, "the connection is not open"),
        };
        let answer = answer.ok_or_else(unknown)?;
        let size = match &answer {
            Answer::Text(_) => 0,
            Answer::Short(_) => size_of::<u16>(),
            Answer::Long(_) => size_of::<u32>(),
        };
        // SAFETY: the application's buffer, which has the size of the answer's type.
        unsafe {
            match answer {
                Answer::Text(text) => {
                    output.put(&Text::from(text.as_str()), &mut connection.diagnostics)?;
                    return DONE;
                }
                Answer::Short(value) => put(output.buffer.cast(), value),
                Answer::Long(value) => put(output.buffer.cast(), value),
            }
            output.length.write(size);
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetInfo(
    handle: Handle,
    number: USmallInt,
    value: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    get_info(handle, number, Output::short(Encoding::Narrow, Unit::Bytes, value, capacity, length))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetInfoW(
    handle: Handle,
    number: USmallInt,
    value: Pointer,
    capacity: SmallInt,
    length: *mut SmallInt,
) -> Return {
    get_info(handle, number, Output::short(Encoding::Wide, Unit::Bytes, value, capacity, length))
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLGetFunctions(
    handle: Handle,
    number: USmallInt,
    supported: *mut USmallInt,
) -> Return {
    guard::connection(handle, |_| {
        if supported.is_null() {
            return Err(Failure::new(State::NULL_POINTER, "there is no place for the answer"));
        }
        let functions = functions::answer(number)
            .ok_or_else(|| Failure::new(State::FUNCTION, format!("there is no function {number}")))?;
        let words: &[USmallInt] = match &functions {
            Functions::One(is_there) => &[(*is_there).into()],
            Functions::Former(flags) => flags,
            Functions::All(words) => words,
        };
        for (at, word) in words.iter().enumerate() {
            // SAFETY: the application has room for as many words as this number demands.
            unsafe { supported.add(at).write_unaligned(*word) };
        }
        DONE
    })
}
