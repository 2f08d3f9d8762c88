//! Finds again what was seen before: contacts whose rows are the same to the last bit.

/// Slots of the smallest table.
const LEAST: usize = 64;

/// A table from keys to numbers with open addressing. What it finds depends on the order of entry alone. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Twins {
    /// A power of two of them, at most half of which are taken.
    slots: Vec<Slot>,
    /// Slots of other epochs are free.
    epoch: u64,
    taken: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    epoch: u64,
    key: u64,
    number: usize,
}

/// How things are found is no part of what they are.
impl PartialEq for Twins {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Twins {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.epoch += 1;
        self.taken = 0;
    }

    /// The number entered before under `key` that is the `same`, or `number` itself, which is then entered.
    pub(crate) fn find_or_enter(&mut self, key: u64, number: usize, same: impl Fn(usize) -> bool) -> usize {
        if 2 * (self.taken + 1) > self.slots.len() {
            self.widen();
        }
        let mut at = self.first_slot(key);
        while self.slots[at].epoch == self.epoch {
            if self.slots[at].key == key && same(self.slots[at].number) {
                return self.slots[at].number;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = Slot { epoch: self.epoch, key, number };
        self.taken += 1;
        number
    }

    /// A table of twice the size with the same entries.
    fn widen(&mut self) {
        let size = (2 * self.slots.len()).max(LEAST);
        // Epoch 0 is that of slots never taken.
        let epoch = self.epoch.max(1);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.epoch == self.epoch && self.taken > 0) {
            let mut at = self.first_slot(slot.key);
            while self.slots[at].epoch == epoch {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Slot { epoch, ..slot };
        }
        self.epoch = epoch;
    }

    fn first_slot(&self, key: u64) -> usize {
        // The last bits of a product are its poorest.
        (key >> 32) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_entered_and_nothing_else() {
        let mut twins = Twins::default();
        for _ in 0..3 {
            let content: Vec<usize> = (0..1000).map(|i| i % 300).collect();
            for (i, value) in content.iter().enumerate() {
                // Few keys: most of the work is left to the comparison.
                let key = (*value as u64 % 50) << 32;
                let found = twins.find_or_enter(key, i, |j| content[j] == *value);
                assert_eq!(found, *value, "the first one with this content");
            }
            twins.clear();
        }
    }
}
