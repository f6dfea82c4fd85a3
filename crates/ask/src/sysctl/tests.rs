// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_sysctl_is_a_name_and_a_number() {
    for (text, value) in [
        ("sched_util_clamp_max=900", 900),
        ("kernel.sched_rt_runtime_us=-1", -1),
        ("sched_base_slice_ns=3000000", 3_000_000),
    ] {
        let option = parse(text).expect(text);
        assert_eq!((option.sysctl.value, option.text.as_str()), (value, text));
    }
    for (text, words) in [
        ("sched_util_clamp_min", "no value"),
        ("sched_latency_ns=1", "'sched_latency_ns' is not modelled"),
        ("sched_rt_period_us=1s", "'1s' is no whole number"),
        ("sched_rt_period_us=", "'' is no whole number"),
    ] {
        let message = parse(text).unwrap_err();
        assert!(message.contains(words), "{text}: {message}");
        assert!(
            message.contains("like sched_util_clamp_min=512"),
            "{message}"
        );
    }
}
