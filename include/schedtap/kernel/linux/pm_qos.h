/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_PM_QOS_H
#define SCHEDTAP_KERNEL_PM_QOS_H

enum pm_qos_flags_status {
	PM_QOS_FLAGS_UNDEFINED = -1,
	PM_QOS_FLAGS_NONE,
	PM_QOS_FLAGS_SOME,
	PM_QOS_FLAGS_ALL,
};

enum pm_qos_type {
	PM_QOS_UNITIALIZED,
	PM_QOS_MAX,
	PM_QOS_MIN,
};

enum freq_qos_req_type {
	FREQ_QOS_MIN = 1,
	FREQ_QOS_MAX,
};

enum dev_pm_qos_req_type {
	DEV_PM_QOS_RESUME_LATENCY = 1,
	DEV_PM_QOS_LATENCY_TOLERANCE,
	DEV_PM_QOS_MIN_FREQUENCY,
	DEV_PM_QOS_MAX_FREQUENCY,
	DEV_PM_QOS_FLAGS,
};

enum pm_qos_req_action {
	PM_QOS_ADD_REQ,
	PM_QOS_UPDATE_REQ,
	PM_QOS_REMOVE_REQ,
};

#endif
