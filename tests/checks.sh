# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # who sources it reads the counts
#
# What scripts that test have in common: sourced, from the root of the tree.
# One line a check; the counts are in $passed and $failed.

passed=0 failed=0

check() { # NAME EXPECTED FOUND
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		printf 'ok    %s: %s\n' "$1" "$3"
	else
		failed=$((failed + 1))
		printf 'FAIL  %s: expected %s, found %s\n' "$1" "$2" "${3:-nothing}"
	fi
}

# Like check, for a value that is not known beforehand.
matches() { # NAME PATTERN FOUND
	if [[ $3 =~ ^$2$ ]]; then check "$1" "$3" "$3"; else check "$1" "like $2" "$3"; fi
}

at_least() { # NAME LEAST FOUND
	if [ "${3:-0}" -ge "$2" ]; then check "$1 (at least $2)" "$3" "$3"; else check "$1" "$2 or more" "$3"; fi
}
