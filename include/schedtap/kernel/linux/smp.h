/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_SMP_H
#define SCHEDTAP_KERNEL_SMP_H

#include <sched.h>

#if !defined(_GNU_SOURCE) && !defined(__cplusplus)
int sched_getcpu(void);
#endif

typedef void (*smp_call_func_t)(void *info);
typedef struct __call_single_data call_single_data_t;

#define raw_smp_processor_id() sched_getcpu()
#define smp_processor_id() sched_getcpu()

#endif
