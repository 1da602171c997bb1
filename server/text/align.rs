//! Where two sequences differ, by Myers' algorithm. Takes the items of both, gives the runs that are equal,
//! gone, new or replaced. The items are numbered first, so that one instance of the algorithm serves them all.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// The runs that lead from `old` to `new`, in order. Beyond `budget` they are still right, but coarser.
pub fn align<T: Hash + Eq>(old: &[T], new: &[T], budget: Duration) -> Vec<DiffOp> {
    let mut numbers: HashMap<&T, u32> = HashMap::with_capacity(old.len());
    let mut number = |item| {
        let next = numbers.len() as u32;
        *numbers.entry(item).or_insert(next)
    };
    let old: Vec<u32> = old.iter().map(&mut number).collect();
    let new: Vec<u32> = new.iter().map(&mut number).collect();
    capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(Instant::now() + budget))
}
