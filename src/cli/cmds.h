/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every command, in the order of `schedtap help`: TAP_CMD(x) stands for the struct tap_cmd
 * tap_cmd_x of cmd_x.c. The includer defines TAP_CMD. No include guard: cmds.c reads it twice.
 */
TAP_CMD(record)
TAP_CMD(dump)
TAP_CMD(summary)
TAP_CMD(timehist)
TAP_CMD(latency)
TAP_CMD(wakers)
TAP_CMD(map)
TAP_CMD(pelt)
TAP_CMD(states)
TAP_CMD(migrations)
TAP_CMD(balance)
TAP_CMD(list)
TAP_CMD(tracefs)
TAP_CMD(doctor)
TAP_CMD(module)
TAP_CMD(repair)
TAP_CMD(help)
TAP_CMD(complete)
TAP_CMD(man_options)
