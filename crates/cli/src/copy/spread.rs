//! Rows by the values of some columns, into folders of these values.

use super::part::Layout;
use super::rolling::Rolling;
use crate::failure::{Failure, Result};
use crate::folder::hive::Names;
use crate::folder::manifest::Entry;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::row::{RowConverter, SortField};
use std::collections::HashMap;

/// The files of a part in the folders of all values. Rows wait in memory until they are enough for a row group, or too many
/// of all values wait.
pub(super) struct Spread<'a> {
    layout: &'a Layout,
    part: usize,
    converter: RowConverter,
    /// Which group has these values.
    known: HashMap<Box<[u8]>, usize>,
    groups: Vec<Group<'a>>,
    /// Bytes of rows that wait.
    waiting: usize,
}

/// The rows of one folder.
struct Group<'a> {
    files: Rolling<'a>,
    waiting: Vec<RecordBatch>,
    bytes: usize,
    /// Rows of the current batch.
    rows: Vec<u32>,
}

impl<'a> Spread<'a> {
    pub(super) fn new(layout: &'a Layout, part: usize) -> Result<Self> {
        let types = layout.by.iter().map(|(_, field)| SortField::new(field.data_type().clone()));
        let converter = RowConverter::new(types.collect())?;
        Ok(Self { layout, part, converter, known: HashMap::new(), groups: Vec::new(), waiting: 0 })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rest = batch.project(&self.layout.kept)?;
        for group in self.assign(batch)? {
            let Some(group) = self.groups.get_mut(group) else { continue };
            let rows = UInt32Array::from(std::mem::take(&mut group.rows));
            let rows =
                if rows.len() == rest.num_rows() { rest.clone() } else { take_record_batch(&rest, &rows)? };
            let bytes = rows.get_array_memory_size();
            group.waiting.push(rows);
            group.bytes += bytes;
            self.waiting += bytes;
        }
        if self.waiting > self.layout.memory {
            self.relieve(self.layout.memory / 2)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for mut group in std::mem::take(&mut self.groups) {
            group.write(self.layout)?;
            entries.extend(group.files.finish()?);
        }
        Ok(entries)
    }

    /// Says in each group which rows of a batch are its own. Returns the groups that have any.
    fn assign(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let arrays: Vec<_> = self.layout.by.iter().map(|(index, _)| batch.column(*index).clone()).collect();
        let keys = self.converter.convert_columns(&arrays)?;
        let fields = self.layout.by.iter().zip(&arrays);
        let names =
            fields.map(|((_, field), array)| Names::new(field.name(), array)).collect::<Result<Vec<_>>>()?;
        let mut touched = Vec::new();
        for (row, key) in keys.iter().enumerate() {
            let group = match self.known.get(key.as_ref()) {
                Some(group) => *group,
                None => {
                    if self.groups.len() == MOST_FOLDERS {
                        let columns = self.layout.by.iter().map(|(_, field)| field.name().as_str());
                        let columns = columns.collect::<Vec<_>>().join(", ");
                        let text =
                            "choose columns with fewer for --partition-by, or expressions in the query";
                        return Err(Failure::other(format!(
                            "{columns}: these have more than {MOST_FOLDERS} values; {text}"
                        )));
                    }
                    let folders = names.iter().map(|names| Ok(names.of(row)? + "/"));
                    let files = Rolling::new(self.layout, self.part, folders.collect::<Result<String>>()?);
                    self.groups.push(Group { files, waiting: Vec::new(), bytes: 0, rows: Vec::new() });
                    self.known.insert(key.as_ref().into(), self.groups.len() - 1);
                    self.groups.len() - 1
                }
            };
            let Some(Group { rows, .. }) = self.groups.get_mut(group) else { continue };
            if rows.is_empty() {
                touched.push(group);
            }
            rows.push(row as u32);
        }
        Ok(touched)
    }

    /// Writes the rows of the largest groups until no more than `most` bytes wait.
    fn relieve(&mut self, most: usize) -> Result<()> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|group| std::cmp::Reverse(self.groups[*group].bytes));
        for group in order {
            if self.waiting <= most {
                break;
            }
            let group = &mut self.groups[group];
            self.waiting -= group.bytes;
            group.write(self.layout)?;
            group.files.rest()?;
        }
        // Files with many row groups need memory, too.
        let mut resting: usize = self.groups.iter().map(|group| group.files.resting()).sum();
        while resting > self.layout.memory / 2 {
            let most = self.groups.iter_mut().max_by_key(|group| group.files.resting());
            let Some(group) = most else { break };
            resting -= group.files.resting();
            group.files.end_file()?;
        }
        Ok(())
    }
}

impl Group<'_> {
    /// Hands the rows that wait to the file.
    fn write(&mut self, layout: &Layout) -> Result<()> {
        if !self.waiting.is_empty() {
            self.files.write(&concat_batches(&layout.schema, &std::mem::take(&mut self.waiting))?)?;
        }
        self.bytes = 0;
        Ok(())
    }
}

/// Folders of one part: more would be files of a few rows each.
const MOST_FOLDERS: usize = 10_000;
