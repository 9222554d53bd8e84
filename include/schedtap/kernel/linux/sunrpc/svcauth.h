/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In v6.1 these are macros. */
#ifndef SCHEDTAP_KERNEL_SVCAUTH_H
#define SCHEDTAP_KERNEL_SVCAUTH_H

enum svc_auth_status {
	SVC_GARBAGE = 1,
	SVC_VALID,
	SVC_NEGATIVE,
	SVC_OK,
	SVC_DROP,
	SVC_CLOSE,
	SVC_DENIED,
	SVC_PENDING,
	SVC_COMPLETE,
};

#endif
