/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_TIMER_MIGRATION_H
#define SCHEDTAP_KERNEL_TIMER_MIGRATION_H

#include <linux/types.h>

union tmigr_state {
	u32 state;
	struct {
		u8 active;
		u8 migrator;
		u16 seq;
	} __attribute__((packed));
};

#endif
