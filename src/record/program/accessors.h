/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tp_*() functions of events/ as expressions over the kernel's types, for programs generated at
 * run time; bpf/vocabulary.h has them for clang. exists(x): whether the running kernel has the
 * member; container(p, T, m): the struct T whose member m is at p.
 */
TAP_ACCESSOR(tp_task_cpu, "p", "exists(p->thread_info.cpu) ? p->thread_info.cpu : p->cpu")
TAP_ACCESSOR(tp_task_group_dead, "p", "!p->signal->live.counter")
/*
 * tap_highest(): the highest bit of s; each tap_upper() clears the lowest bit unless it is the only
 * one
 */
TAP_ACCESSOR(tap_upper, "s", "s & (s - 1) ? s & (s - 1) : s")
TAP_ACCESSOR(
	tap_highest, "s",
	"s & (s - 1) ? tap_upper(tap_upper(tap_upper(tap_upper(tap_upper(tap_upper(s)))))) : s")
TAP_ACCESSOR(tp_switch_state, "preempt, state, prev",
	     "preempt ? 0x100 : (state & 0x402) == 0x402 ? 0x80 : state & 0x9000 ? 2 : "
	     "tap_highest((state | prev->exit_state) & 0x7f)")
TAP_ACCESSOR(tap_queued_ns, "clock, since",
	     "since && clock - since < 0xffffffff ? clock - since : 0xffffffff")
TAP_ACCESSOR(tp_queued_ns, "prev, next",
	     "!exists(next->sched_info.last_queued) ? 0xffffffff : !exists(prev->se.cfs_rq) ? "
	     "0xffffffff : tap_queued_ns(prev->se.cfs_rq->rq->clock, next->sched_info.last_queued)")
TAP_ACCESSOR(tp_delay_ns, "next",
	     "exists(next->sched_info.run_delay) ? next->sched_info.run_delay : 0")
TAP_ACCESSOR(tp_cfs_rq_rq, "cfs_rq", "cfs_rq->rq")
TAP_ACCESSOR(tp_cfs_rq_cpu, "cfs_rq", "exists(cfs_rq->rq) ? cfs_rq->rq->cpu : 0")
TAP_ACCESSOR(tp_cfs_rq_cgroup, "cfs_rq", "exists(cfs_rq->tg) ? cfs_rq->tg->css.cgroup->kn->id : 0")
TAP_ACCESSOR(tp_cfs_rq_is_root, "cfs_rq",
	     "exists(cfs_rq->tg) ? cfs_rq->tg->css.cgroup->level == 0 : 1")
TAP_ACCESSOR(tap_se_task, "se", "container(se, task_struct, se)")
TAP_ACCESSOR(tp_se_is_task, "se", "exists(se->my_q) ? !se->my_q : 1")
TAP_ACCESSOR(tp_se_pid, "se", "tp_se_is_task(se) ? tap_se_task(se)->pid : -1")
TAP_ACCESSOR(tp_se_rq, "se", "se->cfs_rq->rq")
TAP_ACCESSOR(tp_se_cpu, "se", "exists(se->cfs_rq) ? se->cfs_rq->rq->cpu : 0")
TAP_ACCESSOR(tp_se_cgroup, "se",
	     "exists(se->my_q) ? (se->my_q ? tp_cfs_rq_cgroup(se->my_q) : "
	     "tp_cfs_rq_cgroup(se->cfs_rq)) : 0")
TAP_ACCESSOR(
	tp_util_est_enqueued, "avg",
	"(exists(avg->util_est.enqueued) ? avg->util_est.enqueued : avg->util_est) & 0x7fffffff")
TAP_ACCESSOR(tp_util_est_ewma, "avg", "exists(avg->util_est.ewma) ? avg->util_est.ewma : 0")
TAP_ACCESSOR(tp_rq_avg_irq, "rq", "exists(rq->avg_irq) ? &rq->avg_irq : &rq->avg_rt")
TAP_ACCESSOR(tp_rq_avg_hw, "rq",
	     "exists(rq->avg_hw) ? &rq->avg_hw : exists(rq->avg_thermal) ? &rq->avg_thermal : "
	     "&rq->avg_rt")
TAP_ACCESSOR(tp_rq_h_nr_queued, "rq", "exists(rq->cfs.h_nr_queued) ? rq->cfs.h_nr_queued : 0")
TAP_ACCESSOR(tp_rq_h_nr_runnable, "rq", "exists(rq->cfs.h_nr_runnable) ? rq->cfs.h_nr_runnable : 0")
TAP_ACCESSOR(tp_picked, "next",
	     "exists(next->se.cfs_rq->rq->donor) ? next->se.cfs_rq->rq->donor : next")
TAP_ACCESSOR(tp_se_queue, "se", "exists(se->h_load) ? &se->cfs_rq->rq->cfs : se->cfs_rq")
TAP_ACCESSOR(tp_cfs_rq_group, "cfs_rq",
	     "!cfs_rq->tg->css.id && exists(cfs_rq->tg->autogroup) ? "
	     "-(s32)cfs_rq->tg->autogroup->id : cfs_rq->tg->css.id")
TAP_ACCESSOR(tp_se_weight, "se", "exists(se->h_load) ? se->h_load.weight : se->load.weight")
TAP_ACCESSOR(tap_sum_shift, "cfs_rq", "exists(cfs_rq->sum_shift) ? cfs_rq->sum_shift : 10")
TAP_ACCESSOR(tap_scaled, "weight, shift",
	     "!shift ? weight : weight >> shift < 2 ? 2 : weight >> shift")
TAP_ACCESSOR(tap_curr_weight, "cfs_rq",
	     "cfs_rq->curr && cfs_rq->curr->on_rq ? tap_scaled(tp_se_weight(cfs_rq->curr), "
	     "tap_sum_shift(cfs_rq)) : 0")
TAP_ACCESSOR(tap_vtime_zero, "cfs_rq",
	     "exists(cfs_rq->zero_vruntime) ? cfs_rq->zero_vruntime : cfs_rq->min_vruntime")
TAP_ACCESSOR(
	tap_vtime_sum, "cfs_rq",
	"(s64)((exists(cfs_rq->sum_w_vruntime) ? cfs_rq->sum_w_vruntime : cfs_rq->avg_vruntime) + "
	"tap_curr_weight(cfs_rq) * (cfs_rq->curr->vruntime - tap_vtime_zero(cfs_rq)))")
TAP_ACCESSOR(tap_vtime_load, "cfs_rq",
	     "(s64)((exists(cfs_rq->sum_weight) ? cfs_rq->sum_weight : cfs_rq->avg_load) + "
	     "tap_curr_weight(cfs_rq))")
TAP_ACCESSOR(tap_floor, "sum, load",
	     "!load ? 0 : sum < 0 ? -((load - 1 - sum) / load) : sum / load")
TAP_ACCESSOR(tp_cfs_rq_vtime, "cfs_rq, se",
	     "tap_vtime_zero(cfs_rq) + tap_floor(tap_vtime_sum(cfs_rq), tap_vtime_load(cfs_rq))")
TAP_ACCESSOR(tp_se_vprot, "se", "exists(se->vprot) ? se->vprot : 0")
TAP_ACCESSOR(tp_se_delayed, "se", "exists(se->sched_delayed) ? se->sched_delayed : 0")
TAP_ACCESSOR(tp_se_custom_slice, "se", "exists(se->custom_slice) ? se->custom_slice : 0")
TAP_ACCESSOR(tp_task_throttled, "p",
	     "exists(p->throttled) ? p->throttled : exists(p->se.cfs_rq->throttle_count) ? "
	     "p->se.cfs_rq->throttle_count != 0 : 0")
TAP_ACCESSOR(tp_task_blocked, "p", "exists(p->is_blocked) ? p->is_blocked : 0")
TAP_ACCESSOR(tp_task_llc, "p", "exists(p->preferred_llc) ? p->preferred_llc : 0")
TAP_ACCESSOR(tp_cfs_rq_h_nr_queued, "cfs_rq",
	     "exists(cfs_rq->h_nr_queued) ? cfs_rq->h_nr_queued : 0")
TAP_ACCESSOR(tp_cfs_rq_h_nr_runnable, "cfs_rq",
	     "exists(cfs_rq->h_nr_runnable) ? cfs_rq->h_nr_runnable : 0")
/* SCX_TASK_ENABLED, whose value changed in v7.1 */
TAP_ACCESSOR(
	tp_scx_has, "p",
	"exists(p->scx.sched) ? (p->scx.flags & 0x700) == 0x400 : (p->scx.flags & 0x300) == 0x300")
TAP_ACCESSOR(tp_scx_queued, "p", "p->scx.flags & 1") /* SCX_TASK_QUEUED */
TAP_ACCESSOR(tp_scx_held, "p", "(p->scx.ops_state.counter & 3) == 2") /* SCX_OPSS_QUEUED */
TAP_ACCESSOR(
	tp_scx_dsq, "p",
	"p->scx.dsq ? p->scx.dsq->id : tp_scx_held(p) ? 0x8000000000000000 : p->scx.ddsp_dsq_id")
TAP_ACCESSOR(tp_scx_nr, "p", "p->scx.dsq ? p->scx.dsq->nr : 0")
TAP_ACCESSOR(tp_rq_capacity_orig, "rq", /* not a member since v6.7 */
	     "exists(rq->cpu_capacity_orig) ? rq->cpu_capacity_orig : tap_cpu_capacity(rq->cpu)")
TAP_ACCESSOR(tp_rq_uclamp, "rq, which", "exists(rq->uclamp) ? rq->uclamp[which].value : 0")
TAP_ACCESSOR(tp_se_uclamp, "se, which",
	     "exists(tap_se_task(se)->uclamp) ? tap_se_task(se)->uclamp[which].value : 0")
TAP_ACCESSOR(tp_clamp, "v, min, max", "v < min ? min : v > max ? max : v")
TAP_ACCESSOR(tp_dl_is_server, "dl_se", "exists(dl_se->dl_server) ? dl_se->dl_server : 0")
TAP_ACCESSOR(tp_is_dl, "p", "p->policy == 6")
TAP_ACCESSOR(tp_dl_left, "p", "(s64)(p->dl.deadline - p->se.cfs_rq->rq->clock)")
TAP_ACCESSOR(tp_by_server, "p", "exists(p->dl_server) ? !!p->dl_server : 0")
TAP_ACCESSOR(tap_by_fair_server, "p",
	     "exists(p->se.cfs_rq->rq->fair_server) ? p->dl_server == "
	     "&p->se.cfs_rq->rq->fair_server : 0")
TAP_ACCESSOR(
	tap_by_ext_server, "p",
	"exists(p->se.cfs_rq->rq->ext_server) ? p->dl_server == &p->se.cfs_rq->rq->ext_server : 0")
TAP_ACCESSOR(tp_server_type, "p",
	     "!tp_by_server(p) ? 0 : tap_by_fair_server(p) ? 2 : tap_by_ext_server(p) ? 3 : 0")
TAP_ACCESSOR(tp_task_yielded, "p", "p->dl.dl_yielded")
TAP_ACCESSOR(tp_dl_yielded, "dl_se", "dl_se->dl_yielded")
TAP_ACCESSOR(tp_dl_pid, "dl_se",
	     "tp_dl_is_server(dl_se) ? 0 : container(dl_se, task_struct, dl)->pid")
TAP_ACCESSOR(tp_rd_span, "rd", "rd->span")
/* text accessors: the text, and the condition without which it is empty */
TAP_TEXT_ACCESSOR(tp_comm, "p", "p->comm", NULL)
TAP_TEXT_ACCESSOR(tp_se_comm, "se", "tap_se_task(se)->comm", "tp_se_is_task(se)")
TAP_TEXT_ACCESSOR(tp_dl_comm, "dl_se", "container(dl_se, task_struct, dl)->comm",
		  "!tp_dl_is_server(dl_se)")
