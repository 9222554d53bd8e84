/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The C library's commands, and those that came later. */
#ifndef SCHEDTAP_KERNEL_SCSI_PROTO_H
#define SCHEDTAP_KERNEL_SCSI_PROTO_H

#include <scsi/scsi.h>

#ifndef UNMAP
#define UNMAP 0x42
#endif
#ifndef READ_16
#define READ_16 0x88
#endif
#ifndef WRITE_16
#define WRITE_16 0x8a
#endif

#endif
