//! The parameters of an execution, as APD and IPD describe them, and data that is supplied while it waits.

use super::outputs::wrong_direction;
use super::run::Statuses;
use crate::abi::{self, Len, Return, ULen, USmallInt, c_type};
use crate::convert;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Record, Statement};
use crate::params::{self, Binding, Given, Read, Source, Supplied};
use crate::text::NarrowEncoding;
use firearrow::StatementKind;
use std::collections::VecDeque;

/// Sets of parameters of one execution: more are taken for a mistake, such as an address in place of a number.
const MOST_SETS: usize = 1 << 28;

/// The inputs of one execution.
pub(crate) struct Inputs {
    bindings: Vec<Binding>,
    supplied: Supplied,
    /// The sets that are wanted.
    wanted: Vec<usize>,
    /// Sets in all.
    sets: usize,
    /// Whether a procedure is called.
    is_call: bool,
    statuses: *mut USmallInt,
    processed: *mut ULen,
}

// SAFETY: the pointers are dereferenced only within a call that holds the object's lock; the application promised
// when it set them that they stay valid until it takes them back.
unsafe impl Send for Inputs {}

/// An execution that waits for data.
pub(crate) struct NeedData {
    inputs: Inputs,
    /// The sets and parameters that are still to come, counted from 0.
    left: VecDeque<(usize, usize)>,
    /// The one that data is being supplied for.
    current: Option<(usize, usize)>,
}

impl NeedData {
    pub(crate) fn new(inputs: Inputs, left: VecDeque<(usize, usize)>) -> Self {
        Self { inputs, left, current: None }
    }
}

impl Statement {
    /// Collects what is bound to the parameters of what was prepared.
    pub(crate) fn inputs(&self) -> Result<Inputs> {
        let prepared = self.expect_prepared()?;
        let parameters = &prepared.parameters;
        let (apd, ipd) = (self.apd.lock(), self.ipd.lock());
        let offset = apd.offset();
        let missing = |number: usize| {
            let text = format!("parameter {number} is not bound; the statement has {}", prepared.markers());
            Failure::new(State::PARAMETER_COUNT, text)
        };
        let direction = |number: usize| ipd.record(number).map(|described| described.parameter_type);
        let values = usize::from(prepared.returns_value);
        if prepared.returns_value {
            apd.record(1).filter(|record| record.is_bound()).ok_or_else(|| missing(1))?;
            if direction(1) == Some(abi::PARAM_INPUT) {
                return Err(wrong_direction(1, "receives the value: bind it as an output"));
            }
        }
        // The server knows the inputs only. Outputs of a procedure usually come after them, but need not.
        let mut inputs =
            (values + 1..=prepared.markers()).filter(|number| direction(*number) != Some(abi::PARAM_OUTPUT));
        let mut bindings = Vec::with_capacity(parameters.len());
        for at in 0..parameters.len() {
            let number = values + at + 1;
            let number = inputs
                .next()
                .ok_or_else(|| wrong_direction(number, "is an input: it is bound as an output"))?;
            let buffer =
                apd.record(number).filter(|record| record.is_bound()).ok_or_else(|| missing(number))?;
            let described = ipd.record(number).ok_or_else(|| missing(number))?;
            bindings.push(binding(number, buffer, described, apd.bind_type, offset, self.link.types.narrow));
        }
        let sets = if bindings.is_empty() { 1 } else { apd.array_size.max(1) };
        let operations = apd.array_status_ptr;
        let is_wanted = |set: &usize| {
            // SAFETY: the application promises that the array has an element for each set.
            operations.is_null() || unsafe { operations.add(*set).read_unaligned() } != abi::PARAM_IGNORE
        };
        let mut wanted = Vec::new();
        if sets > MOST_SETS || wanted.try_reserve(sets).is_err() {
            let text = format!(
                "{sets} sets of parameters are too many; SQL_ATTR_PARAMSET_SIZE may be at most {MOST_SETS}"
            );
            return Err(Failure::new(State::MEMORY, text));
        }
        wanted.extend((0..sets).filter(is_wanted));
        Ok(Inputs {
            bindings,
            supplied: Supplied::default(),
            wanted,
            sets,
            is_call: prepared.description.kind == StatementKind::ExecuteProcedure,
            statuses: ipd.array_status_ptr,
            processed: ipd.rows_processed_ptr,
        })
    }

    /// `SQLParamData`: the token of the next parameter that needs data, or the execution when all have theirs.
    pub(crate) fn parameter_data(&mut self, token: *mut *mut std::ffi::c_void) -> Result<Return> {
        let Some(mut need) = self.need.take() else {
            return Err(Failure::new(State::SEQUENCE, "no parameter needs data"));
        };
        if let Some((set, parameter)) = need.current
            && !need.inputs.supplied.has(set, parameter)
        {
            self.need = Some(need);
            return Err(Failure::new(State::SEQUENCE, "SQLPutData has supplied nothing for the parameter"));
        }
        need.current = None;
        if let Some((set, parameter)) = need.left.pop_front() {
            let binding = &need.inputs.bindings[parameter];
            let address = binding.data.wrapping_add(binding.data_step.wrapping_mul(set));
            if !token.is_null() {
                // SAFETY: the application's place for the token.
                unsafe { token.write_unaligned(address.cast_mut().cast()) };
            }
            need.current = Some((set, parameter));
            self.need = Some(need);
            return Ok(abi::NEED_DATA);
        }
        self.execute_with(need.inputs)
    }

    /// Gives up an execution that waits for data.
    pub(crate) fn stop_waiting(&mut self) {
        if self.need.take().is_some() && self.prepared.as_ref().is_some_and(|prepared| prepared.is_direct) {
            self.forget();
        }
    }

    /// `SQLPutData`: the next piece of a parameter.
    ///
    /// # Safety
    /// The data has this length.
    pub(crate) unsafe fn put_data(&mut self, data: *const u8, length: Len) -> Result<Return> {
        let none = || Failure::new(State::SEQUENCE, "SQLParamData has not asked for data");
        let need = self.need.as_mut().ok_or_else(none)?;
        let (set, parameter) = need.current.ok_or_else(none)?;
        let inputs = &mut need.inputs;
        let binding = &inputs.bindings[parameter];
        // SAFETY: the caller's promise.
        let put = unsafe { inputs.supplied.pieces(set, parameter).put(binding, data, length) };
        let place = binding.number;
        put.map_err(|failure| {
            // A piece that cannot be taken ends the execution, says the standard's state table.
            self.need = None;
            failure.in_row(set + 1).in_column(place)
        })?;
        Ok(abi::SUCCESS)
    }
}

/// A parameter as both of its records describe it.
fn binding(
    number: usize,
    buffer: &Record,
    described: &Record,
    bind_type: usize,
    offset: isize,
    narrow: NarrowEncoding,
) -> Binding {
    let c_type = match buffer.concise {
        c_type::DEFAULT => convert::default_c_type(described.concise),
        concise => concise,
    };
    let capacity = buffer.octet_length;
    let (data_step, length_step) = match bind_type {
        0 => {
            (convert::fixed_size(c_type).unwrap_or(usize::try_from(capacity).unwrap_or(0)), size_of::<Len>())
        }
        row => (row, row),
    };
    let moved = |pointer: *mut Len| match pointer.is_null() {
        true => pointer,
        false => pointer.wrapping_byte_offset(offset),
    };
    let data = if buffer.data.is_null() { buffer.data } else { buffer.data.wrapping_offset(offset) };
    Binding {
        number,
        c_type,
        sql_type: described.concise,
        digits: described.scale,
        scale: buffer.scale,
        data,
        data_step,
        length: moved(buffer.octet_length_ptr),
        indicator: moved(buffer.indicator_ptr),
        length_step,
        narrow,
    }
}

impl Inputs {
    /// Whether there is one set, and it is wanted.
    pub(crate) fn is_single(&self) -> bool {
        self.sets == 1 && self.wanted.len() == 1
    }

    /// Which sets and parameters are to be supplied while the execution waits. What makes no sense is left to reading
    /// them, which reports it.
    pub(crate) fn at_execution(&self) -> VecDeque<(usize, usize)> {
        let mut left = VecDeque::new();
        for &set in &self.wanted {
            for (parameter, binding) in self.bindings.iter().enumerate() {
                // SAFETY: the application promises that its indicators are there while it executes.
                if matches!(unsafe { params::given(binding, set) }, Ok(Given::AtExecution(_))) {
                    left.push_back((set, parameter));
                }
            }
        }
        left
    }

    /// Reads the values of all wanted sets.
    ///
    /// # Safety
    /// The buffers are as they were bound.
    pub(crate) unsafe fn read(&self, parameters: &[firearrow::Descriptor]) -> Result<Read> {
        let source = Source { supplied: &self.supplied, sets: &self.wanted, is_call: self.is_call };
        // SAFETY: the caller's promise.
        unsafe { params::read(&self.bindings, source, parameters) }
    }

    /// Statuses of all sets, none of which was executed yet.
    pub(crate) fn statuses(&self) -> Statuses {
        Statuses::new(self.sets)
    }

    /// Tells the application what became of each set.
    pub(crate) fn report(&self, statuses: &Statuses) {
        // SAFETY: the application promises room for all sets.
        unsafe {
            if !self.processed.is_null() {
                self.processed.write_unaligned(statuses.executed());
            }
            if !self.statuses.is_null() {
                for (set, code) in statuses.codes().iter().enumerate() {
                    self.statuses.add(set).write_unaligned(*code);
                }
            }
        }
    }

    /// Tells the application what became of the only set.
    pub(crate) fn report_all(&self, code: USmallInt) {
        // SAFETY: as above.
        unsafe {
            if !self.processed.is_null() {
                self.processed.write_unaligned(self.sets);
            }
            if !self.statuses.is_null() {
                for set in 0..self.sets {
                    self.statuses.add(set).write_unaligned(code);
                }
            }
        }
    }
}
