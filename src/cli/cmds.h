/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every command, in the order of `schedtap help`: TAP_CMD(x) stands for the struct tap_cmd
 * tap_cmd_x of cmd_x.c, TAP_REPORT(x) for the struct tap_report_type tap_report_x of report/x.c. The
 * includer defines both. No include guard: cmds.c reads it twice.
 */
TAP_CMD(record)
TAP_CMD(dump)
TAP_REPORT(summary)
TAP_REPORT(timehist)
TAP_REPORT(latency)
TAP_REPORT(explain)
TAP_REPORT(critical)
TAP_REPORT(wakers)
TAP_REPORT(map)
TAP_REPORT(pelt)
TAP_REPORT(states)
TAP_REPORT(migrations)
TAP_REPORT(balance)
TAP_REPORT(placement)
TAP_REPORT(resched)
TAP_REPORT(eevdf)
TAP_CMD(diff)
TAP_CMD(ab)
TAP_CMD(export)
TAP_CMD(list)
TAP_CMD(tracefs)
TAP_CMD(doctor)
TAP_CMD(module)
TAP_CMD(mark)
TAP_CMD(repair)
TAP_CMD(help)
TAP_CMD(complete)
TAP_CMD(man_options)
