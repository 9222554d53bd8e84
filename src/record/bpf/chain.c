// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/chain.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>

#include "record/object/object.h"
#include "ring.h"

#define MAX_EVENTS 512u
/*
 * The kernel allows 33 tail calls in a row (MAX_TAIL_CALL_CNT), and each program of a chain may
 * have a filter before it.
 */
#define MAX_LENGTH 16u

/* A program's index among the programs of its tracepoint, and their number. */
struct place {
	unsigned int at, nr;
};

static bool on_same(const struct bpf_program *a, const struct bpf_program *b)
{
	return tap_bpf_records(a) && tap_bpf_records(b) &&
	       !strcmp(tap_bpf_tracepoint_of(bpf_program__name(a)),
		       tap_bpf_tracepoint_of(bpf_program__name(b)));
}

static struct place find_place(const struct bpf_object *obj, const struct bpf_program *prog)
{
	struct place p = { 0, 0 };
	struct bpf_program *other;

	if (!tap_bpf_records(prog))
		return (struct place){ 0, 1 };
	bpf_object__for_each_program(other, obj) {
		if (other == prog)
			p.at = p.nr;
		p.nr += on_same(other, prog);
	}
	return p;
}

static bool begins_chain(const struct place *p)
{
	return p->at % MAX_LENGTH == 0;
}

unsigned int tap_bpf_chain_length(const struct bpf_object *obj, const struct bpf_program *prog)
{
	const struct place p = find_place(obj, prog);
	unsigned int left = p.nr - p.at;

	return !begins_chain(&p) ? 0 : left < MAX_LENGTH ? left : MAX_LENGTH;
}

unsigned int tap_bpf_chain_next(const struct bpf_object *obj, const struct bpf_program *prog)
{
	const struct place p = find_place(obj, prog), next = { p.at + 1, p.nr };

	return next.at == next.nr || begins_chain(&next) ? 0 : next.at;
}

bool tap_bpf_chain_leads_to(const struct bpf_object *obj, const struct bpf_program *prog,
			    const struct bpf_program *other)
{
	const struct place p = find_place(obj, prog), o = find_place(obj, other);

	return prog == other ||
	       (on_same(other, prog) && p.at <= o.at && p.at / MAX_LENGTH == o.at / MAX_LENGTH);
}

static struct bpf_map *array_of(const struct bpf_object *obj, const struct bpf_program *prog)
{
	char name[128];

	snprintf(name, sizeof(name), "tap_chain_%s",
		 tap_bpf_tracepoint_of(bpf_program__name(prog)));
	return bpf_object__find_map_by_name(obj, name);
}

int tap_bpf_chain_array(const struct bpf_object *obj, const struct bpf_program *prog)
{
	return bpf_map__fd(array_of(obj, prog));
}

/* Return: whether a program of a filter or of triggers runs before it. */
static bool has_front(struct tap_plan *plan, const struct bpf_program *prog)
{
	return plan->nr_triggers || tap_bpf_event_of(plan, bpf_program__name(prog))->filter;
}

/*
 * Choose where a program gets its time stamp from. The first program without a filter reads the
 * clock for itself and all later ones: it runs at each hit of the tracepoint, so the later ones
 * never use an outdated stamp. Programs before it read the clock themselves.
 */
static enum tap_stamp stamp_of(const struct bpf_object *obj, struct tap_plan *plan,
			       const struct bpf_program *prog)
{
	struct bpf_program *other;

	bpf_object__for_each_program(other, obj)
		if (other != prog && tap_bpf_chain_leads_to(obj, other, prog) &&
		    !has_front(plan, other))
			return TAP_STAMP_AGAIN;
	return has_front(plan, prog) || !tap_bpf_chain_next(obj, prog) ? TAP_STAMP_OWN
								       : TAP_STAMP_FIRST;
}

int tap_bpf_chain_prepare(struct bpf_object *obj, struct tap_plan *plan)
{
	uint8_t next[MAX_EVENTS] = { 0 }, stamps[MAX_EVENTS] = { 0 };
	struct bpf_program *prog;
	unsigned int nr = 0;
	int ret = 0;

	bpf_object__for_each_program(prog, obj) {
		const struct tap_plan_event *ev =
			tap_bpf_records(prog) ? tap_bpf_event_of(plan, bpf_program__name(prog))
					      : NULL;
		unsigned int index = ev ? tap_bpf_index(ev->def) : 0;
		const struct place p = find_place(obj, prog);

		if (!ev || p.nr < 2)
			continue;
		if (index >= MAX_EVENTS)
			return -E2BIG;
		nr = index < nr ? nr : index + 1;
		next[index] = (uint8_t)tap_bpf_chain_next(obj, prog);
		stamps[index] = (uint8_t)stamp_of(obj, plan, prog);
		ret = ret ?: bpf_map__set_autocreate(array_of(obj, prog), true);
		ret = ret ?: bpf_map__set_max_entries(array_of(obj, prog), p.nr);
	}
	ret = ret ?: tap_bpf_set(obj, "tap_chain_next", next, nr);
	return ret ?: tap_bpf_set(obj, "tap_chain_stamp", stamps, nr);
}

int tap_bpf_chain_tie(const struct bpf_object *obj, const struct bpf_program *prog, int entry)
{
	const struct place p = find_place(obj, prog);

	if (begins_chain(&p))
		return 0;
	return bpf_map_update_elem(tap_bpf_chain_array(obj, prog), &p.at, &entry, BPF_ANY) ? -errno
											   : 0;
}
