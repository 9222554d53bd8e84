/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system's <linux/ioprio.h>, which has a parameter called class and so is not for C++. */
#ifndef SCHEDTAP_KERNEL_UAPI_IOPRIO_H
#define SCHEDTAP_KERNEL_UAPI_IOPRIO_H

#ifndef __cplusplus
#include <linux/ioprio.h>
#endif

#endif
