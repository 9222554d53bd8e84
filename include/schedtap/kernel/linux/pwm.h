/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SCHEDTAP_KERNEL_PWM_H
#define SCHEDTAP_KERNEL_PWM_H

#include <linux/types.h>

enum pwm_polarity {
	PWM_POLARITY_NORMAL,
	PWM_POLARITY_INVERSED,
};

struct pwm_state {
	u64 period;	/* ns */
	u64 duty_cycle; /* ns */
	enum pwm_polarity polarity;
	bool enabled;
	bool usage_power;
};

/* not in v6.12 */
struct pwm_waveform {
	u64 period_length_ns;
	u64 duty_length_ns;
	u64 duty_offset_ns;
};

#endif
