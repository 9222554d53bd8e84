/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of `summary`, from a pass that is over. */
#ifndef TAP_CLI_SUMMARY_PAGE_H
#define TAP_CLI_SUMMARY_PAGE_H

#include "cli/pass.h"

/* @top: tasks and cgroups to show. Return: 0; -ENOMEM; -errno of write. */
int tap_summary_page(struct tap_pass *p, unsigned int top);

#endif
