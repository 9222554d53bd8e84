/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The members that conditions of events and records use. */
#ifndef SCHEDTAP_KERNEL_FIREWIRE_H
#define SCHEDTAP_KERNEL_FIREWIRE_H

enum {
	FW_ISO_CONTEXT_TRANSMIT = 0,
	FW_ISO_CONTEXT_RECEIVE = 1,
	FW_ISO_CONTEXT_RECEIVE_MULTICHANNEL = 2,
};

struct fw_card {
	int index;
};

struct fw_iso_context {
	struct fw_card *card;
	int type;
};

#endif
