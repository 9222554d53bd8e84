/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of the backend "user" besides its operations. */
#ifndef TAP_RECORD_USER_USER_H
#define TAP_RECORD_USER_USER_H

#include "record/backend.h"
#include "record/user/programs.h"

/* Like the backend's open(), for the programs in @set. Takes ownership of @set, also on error. */
int tap_user_open_set(struct tap_plan *plan, struct tap_user_set *set, void **state,
		      struct tap_err *err);

#endif
