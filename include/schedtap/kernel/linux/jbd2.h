/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_JBD2_H
#define SCHEDTAP_KERNEL_JBD2_H

#include <linux/blk_types.h>

typedef struct jbd2_journal_handle handle_t;
typedef struct journal_s journal_t;
typedef struct transaction_s transaction_t;
typedef unsigned int tid_t;

#endif
