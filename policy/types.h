/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * types.h - the kernel's integer types, where vmlinux.h does not define them
 */
#ifndef ALIGHT_TYPES_H
#define ALIGHT_TYPES_H

#ifndef __VMLINUX_H__
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef unsigned long long u64;
typedef __INT32_TYPE__ s32;
typedef long long s64;
#endif

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#endif
