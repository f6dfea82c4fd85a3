// SPDX-License-Identifier: GPL-2.0-only
use alight_recording::Header;
use alight_recording::workload::{CPUS, DMA_LATENCY};

use super::number;

#[test]
fn a_fact_that_is_no_number_is_refused_and_not_passed_over() {
    let facts = [(CPUS, "many"), (DMA_LATENCY, "20")].map(|(fact, is)| (fact.into(), is.into()));
    let header = Header {
        facts: facts.into(),
        ..Header::default()
    };
    assert_eq!(number(&header, DMA_LATENCY).unwrap(), Some(20_u64));
    assert_eq!(number::<u64>(&header, "not there").unwrap(), None);
    assert_eq!(
        number::<usize>(&header, CPUS).unwrap_err().to_string(),
        "says in its header that cpus is 'many', not a number: it is damaged; record again"
    );
}
