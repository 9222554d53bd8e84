/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes simulated events to a trace.dat. */
#ifndef TAP_TRUTH_WRITE_DAT_H
#define TAP_TRUTH_WRITE_DAT_H

#include "base/buf.h"
#include "event/defs.h"
#include "file/pack.h"
#include "file/page.h"
#include "file/spool.h"
#include "picks.h"
#include "sim.h"
#include "wakeup_format.h"

static const char *const event_names[] = {
	[SWITCH] = "sched_switch",
	[WAKING] = "sched_waking",
	[WAKEUP] = "sched_waking",
	[WAKEUP_NEW] = "sched_wakeup_new",
	[MIGRATE] = "sched_migrate_task",
	[FORK] = "sched_process_fork",
	[EXEC] = "sched_process_exec",
	[EXIT] = "sched_process_exit",
	[HOTPLUG] = "cpuhp_exit",
	[THROTTLE] = "sched_throttle",
	[UNTHROTTLE] = "sched_unthrottle",
	[THROTTLE_WAKEUP] = "sched_throttle_wakeup",
	[LOST] = "events_lost",
	[PICK] = "sched_pick",
	[IRQ_ENTRY] = "irq_handler_entry",
	[IRQ_EXIT] = "irq_handler_exit",
	[SOFTIRQ_ENTRY] = "softirq_entry",
	[SOFTIRQ_EXIT] = "softirq_exit",
	[CPU_IDLE] = "cpu_idle",
	[RESCHED] = "sched_set_need_resched",
	[SCX_WAKEUP] = "sched_scx_wakeup",
	[SCX_WAKEUP_NEW] = "sched_scx_wakeup_new",
	[SCX_SWITCH] = "sched_scx_switch",
};

struct record {
	const struct tap_def *def;
	struct tap_buf bytes;
};

static inline const struct tap_field *record_field(struct record *r, const char *name)
{
	for (unsigned int i = 0; i < r->def->nr_fields; i++) {
		if (!strcmp(r->def->fields[i].name, name))
			return &r->def->fields[i];
	}
	abort();
}

static inline void set_number(struct record *r, const char *name, uint64_t v)
{
	const struct tap_field *f = record_field(r, name);

	memcpy(r->bytes.data + f->offset, &v, f->size);
}

static inline void set_text(struct record *r, const char *name, const char *text)
{
	const struct tap_field *f = record_field(r, name);
	uint32_t len = (uint32_t)strlen(text) + 1, loc = (uint32_t)r->bytes.len | len << 16;

	if (f->kind == TAP_FIELD_CHARS) {
		memcpy(r->bytes.data + f->offset, text, len);
		return;
	}
	tap_buf_add(&r->bytes, text, len);
	memcpy(r->bytes.data + f->offset, &loc, sizeof(loc));
}

static inline void set_task(struct record *r, const struct event *e)
{
	set_text(r, "comm", e->comm);
	set_number(r, "pid", (uint64_t)e->tid);
	set_number(r, "prio", (uint64_t)e->prio);
}

static inline void set_switch(struct record *r, const struct event *e)
{
	char idle[16];

	snprintf(idle, sizeof(idle), "swapper/%d", e->cpu);
	set_text(r, "prev_comm", e->current < 0 ? idle : e->current_comm);
	set_number(r, "prev_pid", (uint64_t)e->current_tid);
	set_number(r, "prev_prio", (uint64_t)e->current_prio);
	set_number(r, "prev_state", e->state);
	set_text(r, "next_comm", e->task < 0 ? idle : e->comm);
	set_number(r, "next_pid", (uint64_t)e->tid);
	set_number(r, "next_prio", (uint64_t)e->prio);
	set_number(r, "next_queued_ns", e->queued_ns);
	set_number(r, "next_delay_ns", e->delay_ns);
}

static inline void set_lean_switch(struct record *r, const struct event *e)
{
	set_number(r, "prev_pid", (uint64_t)e->current_tid);
	set_number(r, "prev_prio", (uint64_t)e->current_prio);
	set_number(r, "prev_state", e->state);
	set_number(r, "prev_delayed", e->delayed);
	set_number(r, "next_pid", (uint64_t)e->tid);
	set_number(r, "next_prio", (uint64_t)e->prio);
	set_number(r, "next_queued_ns", e->queued_ns);
	set_number(r, "next_delay_ns", e->delay_ns);
}

static inline void set_pick(struct record *r, const struct event *e)
{
	struct pick p = { 0 };
	struct event of = *e;

	of.kind = SWITCH;
	pick_of(&of, &p);
	set_number(r, "next_pid", (uint64_t)e->tid);
	set_number(r, "vtime", (uint64_t)p.vtime);
	set_number(r, "next_lag", (uint64_t)p.lag);
	set_number(r, "next_deadline", (uint64_t)p.deadline);
	set_number(r, "next_vprot", (uint64_t)p.vprot);
	set_number(r, "next_weight", p.weight);
	set_number(r, "group", (uint64_t)p.group);
}

static inline void set_scx(struct record *r, const struct event *e)
{
	set_number(r, "pid", (uint64_t)e->tid);
	set_number(r, "target_cpu", (uint64_t)e->to);
	set_number(r, "dsq", e->dsq);
	set_number(r, "held", e->held);
}

static inline void set_scx_switch(struct record *r, const struct event *e)
{
	set_number(r, "prev_pid", (uint64_t)e->current_tid);
	set_number(r, "next_pid", (uint64_t)e->tid);
	set_number(r, "prev_dsq", e->dsq);
	set_number(r, "prev_held", e->held);
	set_number(r, "prev_queued", e->held || e->dsq != 1ull << 63);
}

/*
 * Bits beside those of event kinds: sched_switch has next_queued_ns and next_delay_ns; it is
 * sched_switch_lean.
 */
#define SIM_QUEUEINGS (1u << 31)
#define SIM_LEAN (1u << 30)
_Static_assert(NR_KINDS <= 30, "room for the bits");

static inline const struct tap_def *def_of(enum event_kind kind, unsigned int kinds)
{
	return tap_def_find(NULL, kind == SWITCH && kinds & SIM_LEAN ? "sched_switch_lean"
								     : event_names[kind]);
}

static inline void set_fields(struct record *r, const struct event *e)
{
	switch (e->kind) {
	case SWITCH:
		if (r->def->form_of)
			set_lean_switch(r, e);
		else
			set_switch(r, e);
		break;
	case WAKING:
	case WAKEUP:
	case WAKEUP_NEW:
		set_task(r, e);
		set_number(r, "target_cpu", (uint64_t)e->to);
		break;
	case MIGRATE:
		set_task(r, e);
		set_number(r, "orig_cpu", (uint64_t)e->from);
		set_number(r, "dest_cpu", (uint64_t)e->to);
		break;
	case FORK:
		set_text(r, "parent_comm", e->current_comm);
		set_number(r, "parent_pid", (uint64_t)e->current_tid);
		set_text(r, "child_comm", e->comm);
		set_number(r, "child_pid", (uint64_t)e->tid);
		break;
	case EXEC:
		set_text(r, "filename", "/bin/true");
		set_number(r, "pid", (uint64_t)e->tid);
		set_number(r, "old_pid", (uint64_t)e->tid);
		break;
	case EXIT:
		set_task(r, e);
		break;
	case HOTPLUG:
		set_number(r, "cpu", (uint64_t)e->to);
		break;
	case THROTTLE:
	case THROTTLE_WAKEUP:
	case UNTHROTTLE:
		set_text(r, "comm", e->comm);
		set_number(r, "pid", (uint64_t)e->tid);
		break;
	case PICK:
		set_pick(r, e);
		break;
	case IRQ_ENTRY:
		set_text(r, "name", "nic");
		break;
	case IRQ_EXIT:
	case SOFTIRQ_ENTRY:
	case SOFTIRQ_EXIT:
		break; /* all of them have one number */
	case CPU_IDLE:
		set_number(r, "state", e->state);
		set_number(r, "cpu_id", (uint64_t)e->to);
		break;
	case RESCHED:
		set_text(r, "comm", e->comm);
		set_number(r, "pid", (uint64_t)e->tid);
		set_number(r, "cpu", (uint64_t)e->to);
		set_number(r, "tif", e->state);
		break;
	case SCX_WAKEUP:
	case SCX_WAKEUP_NEW:
		set_scx(r, e);
		break;
	case SCX_SWITCH:
		set_scx_switch(r, e);
		break;
	default:
		set_number(r, "count", e->count);
		set_number(r, "first_ns", e->first_ns);
		set_number(r, "last_ns", e->ts_ns);
		set_number(r, "lost_cpu", (uint64_t)e->cpu);
	}
}

static inline void make_record(struct record *r, const struct event *e, unsigned int kinds)
{
	uint16_t id;

	r->def = def_of(e->kind, kinds);
	id = (uint16_t)(e->kind == WAKEUP ? WAKEUP_ID : r->def->id);
	tap_buf_clear(&r->bytes);
	tap_buf_reserve(&r->bytes, r->def->size);
	memset(r->bytes.data, 0, r->def->size);
	r->bytes.len = r->def->size;
	memcpy(r->bytes.data, &id, sizeof(id));
	memcpy(r->bytes.data + 4, &e->current_tid, sizeof(e->current_tid));
	set_fields(r, e);
}

static inline void end_page(struct tap_page *page, bool missed, struct tap_buf *out)
{
	uint64_t commit;

	if (!page->bytes)
		return;
	tap_page_end(page, 0);
	memcpy(&commit, page->bytes + 8, sizeof(commit));
	commit |= missed ? TAP_PAGE_MISSED : 0;
	memcpy(page->bytes + 8, &commit, sizeof(commit));
	tap_buf_add(out, page->bytes, TAP_PAGE_SIZE);
	page->bytes = NULL;
}

/* A CPU's sub-buffers while they are filled. */
struct stream_pages {
	unsigned char bytes[TAP_PAGE_SIZE];
	struct tap_page page;
	bool missed, missed_next;
	unsigned int kinds;
	struct tap_buf *out;
};

static inline void add_record(struct stream_pages *p, struct record *r, const struct event *e)
{
	unsigned char *at;

	make_record(r, e, p->kinds);
	at = p->page.bytes ? tap_page_add(&p->page, e->ts_ns, (uint32_t)r->bytes.len) : NULL;
	if (!at) {
		end_page(&p->page, p->missed, p->out);
		p->missed = p->missed_next;
		p->missed_next = false;
		tap_page_begin(&p->page, p->bytes, e->ts_ns);
		at = tap_page_add(&p->page, e->ts_ns, (uint32_t)r->bytes.len);
	}
	memcpy(at, r->bytes.data, r->bytes.len);
}

static inline void make_pages(const struct event *events, unsigned int nr, int cpu,
			      unsigned int kinds, struct tap_buf *out)
{
	struct stream_pages p = { .kinds = kinds, .out = out };
	struct record r = { 0 };
	struct event pick;

	for (const struct event *e = events; e < events + nr; e++) {
		if (e->cpu != cpu || e->gone)
			continue;
		if (e->kind == MISSED) {
			end_page(&p.page, p.missed, out);
			p.missed_next = true;
			continue;
		}
		if (kinds & 1u << PICK && pick_of(e, &(struct pick){ 0 })) {
			pick = *e;
			pick.kind = PICK;
			add_record(&p, &r, &pick);
		}
		add_record(&p, &r, e);
	}
	end_page(&p.page, p.missed, out);
	tap_buf_release(&r.bytes);
}

static inline struct tap_head_format make_format(enum event_kind kind, unsigned int kinds)
{
	const struct tap_def *def = def_of(kind, kinds);
	bool absent[TAP_FORMAT_MAX_FIELDS] = { false };
	struct tap_buf text = { 0 };

	if (kind == SWITCH && !(kinds & SIM_QUEUEINGS))
		absent[def->nr_fields - 1] = absent[def->nr_fields - 2] = true;
	if (kind == WAKEUP)
		wakeup_format(&text);
	else
		tap_def_format(def, absent, NULL, &text);
	return (struct tap_head_format){ def->system, text.data, text.len };
}

/*
 * Write a recording. It contains and describes only the event kinds in @kinds (bits); losses are
 * always recorded. Return: 0 or -errno.
 */
static inline int write_dat(const char *file, const struct sim *s, const struct event *events,
			    unsigned int kinds, const char *meta, struct tap_err *err)
{
	struct tap_head_format formats[NR_KINDS];
	struct tap_head head = { .formats = formats,
				 .uname = "Linux sim",
				 .tool = "generate",
				 .cmdlines = "",
				 .meta = meta,
				 .clock = "mono",
				 .printk = "",
				 .nr_cpus = s->nr_cpus };
	struct tap_spool *spool;
	char path[4096];
	int ret;

	for (enum event_kind k = 0; k < NR_KINDS; k++) {
		if (k == LOST || kinds & 1u << k)
			formats[head.nr_formats++] = make_format(k, kinds);
	}
	tap_head_defaults(&head);
	ret = tap_spool_create(file, &head, &spool, err);
	if (ret)
		return ret;
	ret = tap_spool_add_buffer(spool, "", "mono", TAP_PAGE_SIZE, s->nr_cpus, err);
	for (int cpu = 0; ret >= 0 && cpu < (int)s->nr_cpus; cpu++) {
		struct tap_buf pages = { 0 };

		make_pages(events, s->nr_events, cpu, kinds, &pages);
		if (pages.len)
			ret = tap_spool_write(spool, 0, (unsigned int)cpu, pages.data, pages.len,
					      err);
		tap_buf_release(&pages);
	}
	snprintf(path, sizeof(path), "%s", tap_spool_path(spool));
	tap_spool_free(spool);
	return ret < 0 ? ret : tap_pack(path, file, &(struct tap_pack_opts){ 0 }, err);
}

#endif
