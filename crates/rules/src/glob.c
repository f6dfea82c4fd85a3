// SPDX-License-Identifier: GPL-2.0-only
/* glob.c - the matcher as the host links it */
#include "policy/glob.h"

int alight_glob_matches(const u8 *name, u32 nlen, const u8 *pattern, u32 plen)
{
	return policy_glob_matches(name, nlen, pattern, plen);
}
