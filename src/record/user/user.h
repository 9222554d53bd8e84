/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the backend "user" offers beside its operations. */
#ifndef TAP_RECORD_USER_USER_H
#define TAP_RECORD_USER_USER_H

#include "record/backend.h"
#include "record/user/programs.h"

/* As the backend's open(), for the folders of @set, which it takes. */
int tap_user_open_set(struct tap_plan *plan, struct tap_user_set *set, void **state,
		      struct tap_err *err);

#endif
