// SPDX-License-Identifier: GPL-2.0-only
//! `alight`

fn main() -> std::process::ExitCode {
    alight_cli::main()
}
