// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::sync::Mutex;

#[test]
fn a_run_is_told_once_and_as_a_whole() {
    for (says, parts) in [
        (&[][..], &[WHOLE][..]),
        (&[0, 10, 10, 5, 30], &[10, 20, WHOLE - 30]),
        (&[WHOLE + 1], &[WHOLE]),
    ] {
        let heard = Mutex::new(vec![]);
        let listener = |progress| heard.lock().unwrap().push(progress);
        let outcome = one_run(&listener, |tell| {
            says.iter().for_each(|&parts| tell(parts));
            says.len()
        });
        assert_eq!(outcome, says.len());
        let mut expected: Vec<Progress> = parts.iter().map(|&n| Progress::Parts(n)).collect();
        expected.push(Progress::Run);
        assert_eq!(heard.into_inner().unwrap(), expected, "{says:?}");
    }
}
