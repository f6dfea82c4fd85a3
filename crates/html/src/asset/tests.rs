// SPDX-License-Identifier: GPL-2.0-only
//! A policy names a script by the hash of its text.

use super::*;

#[test]
fn a_script_is_named_by_its_hash_and_a_style_not_at_all() {
    // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
    let script = Asset {
        script: "alert(1)",
        style: "",
    };
    assert_eq!(
        script.source(),
        " 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    );
    let style = Asset {
        script: "",
        style: "p { margin: 0 }",
    };
    assert_eq!(style.source(), "");
}
