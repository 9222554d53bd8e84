/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What <linux/tracepoint.h> is to the event headers when bpf/schedtap.bpf.c reads them: nothing. */
