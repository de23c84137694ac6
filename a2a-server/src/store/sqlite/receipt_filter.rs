//! Index of received messages, in memory. The file has them in order of arrival, so that adding or
//! removing one writes only at an end of the table.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::MessageId;
use ahash::RandomState;
use hashbrown::HashTable;
use rusqlite::Connection;

use super::super::StoreError;
use super::tables;

/// Finds the rows of a message.
pub(super) struct ReceiptFilter(Mutex<Index>);

#[derive(Default)]
struct Index {
    hasher: RandomState,
    /// The hash of owner and name, and the number in the tables.
    rows: HashTable<(u64, i64)>,
    /// The last number that a row was given.
    last: i64,
    /// Bytes that all of them hold.
    bytes: u64,
}

/// A row: the hash of owner and name, the number in the tables, and how many bytes it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiptRow {
    hash: u64,
    pub(super) seq: i64,
    pub(super) bytes: u64,
}

impl ReceiptFilter {
    /// The index of what the tables hold.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let (receipt_filter, mut last) = (Self(Mutex::default()), 0);
        tables::each_receipt(connection, i64::MAX, |stored| {
            last = stored.seq;
            let row = receipt_filter.row(last, &stored.owner, &stored.message, stored.answer);
            receipt_filter.add(row);
            Ok(true)
        })?;
        receipt_filter.lock().last = last;
        Ok(receipt_filter)
    }

    /// Rows that may contain a message; nearly always none if it was never received.
    pub(super) fn find(&self, of: &str, message: &MessageId) -> Vec<i64> {
        let index = self.lock();
        let hash = index.hasher.hash_one((of, message.as_str()));
        let rows = index.rows.iter_hash(hash);
        let same = rows.filter(|(of_row, _)| *of_row == hash);
        same.map(|(_, seq)| *seq).collect()
    }

    /// A place for a message after all others.
    pub(super) fn next(&self, of: &str, message: &MessageId, answer: usize) -> ReceiptRow {
        let seq = {
            let mut index = self.lock();
            index.last += 1;
            index.last
        };
        self.row(seq, of, message.as_str(), answer)
    }

    /// Returns the index entry of a row that holds this.
    pub(super) fn row(&self, seq: i64, of: &str, message: &str, answer: usize) -> ReceiptRow {
        ReceiptRow {
            hash: self.lock().hasher.hash_one((of, message)),
            seq,
            bytes: (of.len() + message.len() + answer) as u64,
        }
    }

    pub(super) fn add(&self, row: ReceiptRow) {
        let index = &mut *self.lock();
        let entry = (row.hash, row.seq);
        index.rows.insert_unique(row.hash, entry, |(hash, _)| *hash);
        index.bytes += row.bytes;
    }

    pub(super) fn remove(&self, row: ReceiptRow) {
        let index = &mut *self.lock();
        if let Ok(known) = index.rows.find_entry(row.hash, |(_, seq)| *seq == row.seq) {
            known.remove();
            index.bytes -= row.bytes;
        }
    }

    /// Returns the number of messages, and the bytes of their names and answers.
    pub(super) fn size(&self) -> (usize, u64) {
        let index = self.lock();
        (index.rows.len(), index.bytes)
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Index> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
