// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/picks.h"

#define NICE_0_WEIGHT 1048576.0 /* NICE_0_LOAD of kernel/sched/sched.h on 64-bit machines */
#define FAR (INT64_C(1) << 61) /* larger than any difference of virtual times */

#define ROOT_QUEUE 1 /* the queue of the CPU's root group */

int tap_picked_parent(const struct tap_sched_pick *pick, unsigned int level)
{
	return level + 1 < pick->nr_levels   ? pick->levels[level + 1].group
	       : level + 1 < TAP_PICK_LEVELS ? ROOT_QUEUE
					     : 0;
}

void tap_picked_init(struct tap_picked *picked, const struct tap_sched_pick *pick)
{
	picked->tid = pick->tid;
	picked->prev_queued = pick->prev_queued;
	picked->nr = pick->tid ? 1 + pick->nr_levels : 0;
	picked->v[0] = (struct tap_picked_entity){
		.ts_ns = pick->ts_ns,
		.queue = pick->group,
		.weight = pick->weight,
		.vtime = pick->vtime,
		.v = pick->v,
		.deadline = pick->deadline,
		.left_ns = pick->left_ns,
		.protected_ns = pick->protected_ns,
		.slice_ns = pick->slice_ns,
		.nr_queued = pick->nr_queued,
	};
	for (unsigned int i = 0; i < pick->nr_levels; i++) {
		const struct tap_pick_level *l = &pick->levels[i];

		picked->v[i + 1] = (struct tap_picked_entity){
			.ts_ns = pick->ts_ns,
			.queue = tap_picked_parent(pick, i),
			.weight = l->weight,
			.vtime = l->vtime,
			.v = l->v,
			.deadline = l->deadline,
			.left_ns = l->left_ns,
			.protected_ns = l->protected_ns,
			.slice_ns = l->slice_ns,
		};
	}
}

/* ---- a run's virtual times ---- */

static int64_t add_virtual(int64_t vtime, double ns)
{
	if (!(ns < (double)FAR))
		ns = (double)FAR;
	return (int64_t)((uint64_t)vtime +
			 (uint64_t)(int64_t)(ns > (double)-FAR ? ns : (double)-FAR));
}

static double virtual_diff(int64_t a, int64_t b)
{
	return (double)(int64_t)((uint64_t)a - (uint64_t)b);
}

static double virtual_ns(const struct tap_picked_entity *pick, uint64_t ns)
{
	return (double)ns * NICE_0_WEIGHT / (double)pick->weight;
}

static uint64_t ns_since(const struct tap_picked_entity *pick, uint64_t ns)
{
	return ns > pick->ts_ns ? ns - pick->ts_ns : 0;
}

/*
 * Compute V at the end of a run whose entity left the queue. The entity took its lag with it, so V
 * as next reported, @without, is that of the remaining entities. Their lags have not changed since
 * the pick, so the difference to V at the pick yields the queue's total weight. Return false if the
 * weight cannot be computed.
 */
static bool put_back(struct tap_picked_run *run, int64_t without, uint64_t to_ns)
{
	const struct tap_picked_entity *pick = &run->pick;
	double moved = virtual_diff(without, pick->vtime), weight;

	if (run->nr_joined || moved <= 0)
		return false;
	weight = (double)pick->weight * virtual_diff(without, pick->v) / moved;
	if (weight <= (double)pick->weight)
		return false;
	run->end_vtime =
		add_virtual(pick->vtime, (double)ns_since(pick, to_ns) * NICE_0_WEIGHT / weight);
	return true;
}

void tap_picked_put_end(struct tap_picked_run *run, const struct tap_picked_entity *next,
			uint64_t to_ns)
{
	run->nr_joined =
		next->nr_queued ? (int)(next->nr_queued - run->pick.nr_queued + run->has_left) : 0;
	run->end_ns = to_ns;
	run->end_vtime = next->vtime;
	run->has_end_vtime = !run->has_left || put_back(run, next->vtime, to_ns);
}

/* Return how fast V rose during the run, in virtual ns per ns. */
static double rise_of(const struct tap_picked_run *run)
{
	uint64_t ns = ns_since(&run->pick, run->end_ns);

	return ns ? virtual_diff(run->end_vtime, run->pick.vtime) / (double)ns : 0;
}

/* Return V at @ns, within a run whose V at the end is known. */
static int64_t vtime_at(const struct tap_picked_run *run, uint64_t ns)
{
	return add_virtual(run->pick.vtime, rise_of(run) * (double)ns_since(&run->pick, ns));
}

/* Return true if V rose at a constant rate, because no entity joined the queue during the run. */
static bool is_even(const struct tap_picked_run *run)
{
	return run->has_end_vtime && run->nr_joined <= 0 &&
	       !tap_vtime_before(run->end_vtime, run->pick.vtime);
}

static uint64_t add_ns(uint64_t from_ns, double ns)
{
	return ns < 0x1p62 ? from_ns + (uint64_t)ns : UINT64_MAX;
}

/*
 * Until when the running task was certainly eligible, and from when on it certainly was not;
 * UINT64_MAX: never.
 */
struct eligible {
	uint64_t sure_until_ns, until_ns;
};

/* Return when the running task's virtual time reaches @vtime, at a rate of @rise per ns. */
static uint64_t time_reached(const struct tap_picked_entity *pick, int64_t vtime, double rise)
{
	double ns = virtual_diff(vtime, pick->v) / rise;

	return ns <= 0 ? pick->ts_ns : add_ns(pick->ts_ns, ns);
}

static struct eligible find_eligible(const struct tap_picked_run *run)
{
	const struct tap_picked_entity *pick = &run->pick;
	double rise = NICE_0_WEIGHT / (double)pick->weight;
	bool falls = tap_vtime_before(run->end_vtime, pick->vtime);
	struct eligible e = { .sure_until_ns = time_reached(pick, pick->vtime, rise),
			      .until_ns = UINT64_MAX };

	/*
	 * with delayed dequeue (6.12) an ineligible task stays queued when it sleeps, so one that
	 * left was eligible
	 */
	if (run->has_left && pick->protected_ns)
		e.sure_until_ns = UINT64_MAX;
	if (!run->has_end_vtime)
		return e;
	if (!falls)
		e.sure_until_ns = rise > rise_of(run)
					  ? time_reached(pick, pick->vtime, rise - rise_of(run))
					  : UINT64_MAX;
	e.until_ns = is_even(run) ? e.sure_until_ns
		     : falls	  ? UINT64_MAX
				  : time_reached(pick, run->end_vtime, rise);
	return e;
}

/* ---- cutting a wait at picks ---- */

/* A run, and the times at which the reason for a wait changes within it. */
struct cut {
	const struct tap_picked_run *run;
	struct tap_repicks repicks;
	uint64_t from_ns, to_ns;
	uint64_t protected_until, slice_until;
	struct eligible eligible; /* valid once the protection is over */
	/*
	 * the kernel protects slices; once the protection is over it asks for a pick at each tick
	 */
	bool tells_protection;
	bool is_over; /* the slice is over, and the task was not picked again */
};

static void end_at(struct cut *c, uint64_t ns)
{
	if (ns < c->to_ns)
		c->to_ns = ns;
}

/* Return the running task's virtual time. */
static int64_t v_at(const struct cut *c, uint64_t ns)
{
	return add_virtual(c->run->pick.v, virtual_ns(&c->run->pick, ns_since(&c->run->pick, ns)));
}

/*
 * It is unknown whether a pick would have chosen the running task: drop its deadline's upper bound.
 */
static void doubt_deadline(struct tap_piece_pick *p)
{
	p->delays = false;
	p->to_deadline = add_virtual(p->to_deadline, (double)FAR);
}

/* Return true if the running task was certainly not eligible. */
static bool is_ineligible(struct cut *c)
{
	if (c->from_ns >= c->eligible.until_ns)
		return true;
	if (c->from_ns < c->eligible.sure_until_ns)
		end_at(c, c->eligible.sure_until_ns);
	else
		end_at(c, c->eligible.until_ns);
	return false;
}

/*
 * The first slice is over, and there may have been picks that began further slices: set the
 * deadline that a pick would have found, and whether the last slice is certainly over.
 */
static void put_later_deadlines(struct cut *c, struct tap_piece_pick *p)
{
	const struct tap_picked_entity *pick = &c->run->pick;
	double slice = virtual_ns(pick, pick->slice_ns);
	bool is_again = c->repicks.last_ns >= c->slice_until;

	if (c->repicks.are_known && is_again && c->from_ns < c->repicks.last_ns + pick->slice_ns) {
		end_at(c, c->repicks.last_ns + pick->slice_ns);
		p->from_deadline = p->to_deadline = add_virtual(v_at(c, c->repicks.last_ns), slice);
	} else {
		c->is_over = c->repicks.are_known;
		p->delays = true;
		p->from_deadline = add_virtual(v_at(c, c->from_ns), slice);
		p->to_deadline = add_virtual(v_at(c, c->to_ns), slice);
	}
	p->min_deadline = c->is_over ? p->from_deadline : add_virtual(pick->deadline, slice);
	if (!pick->slice_ns)
		doubt_deadline(p);
}

/*
 * Return a preliminary kind for what begins at .from_ns. For an eligible waiter choose_kind()
 * decides later.
 */
static enum tap_piece_kind phase_of(struct cut *c, struct tap_piece_pick *p)
{
	bool is_first = c->from_ns < c->slice_until;

	if (c->from_ns < c->protected_until) {
		end_at(c, c->protected_until);
		return TAP_PIECE_PROTECTED;
	}
	c->eligible = find_eligible(c->run);
	if (is_first)
		end_at(c, c->slice_until);
	if ((c->tells_protection || !is_first) && is_ineligible(c) &&
	    (c->tells_protection || c->repicks.are_known))
		return TAP_PIECE_OVERRUN;
	if (!is_first)
		put_later_deadlines(c, p);
	if ((c->tells_protection || !is_first) && c->from_ns >= c->eligible.sure_until_ns)
		doubt_deadline(p);
	return is_first ? TAP_PIECE_EARLIER : TAP_PIECE_QUEUED;
}

/*
 * Set V at the component's start and end. If the run is not over, V rises at most as fast as the
 * running task's virtual time.
 */
static void put_vtimes(const struct cut *c, struct tap_piece_pick *p)
{
	const struct tap_picked_entity *pick = &c->run->pick;

	p->from_v = pick->vtime;
	p->to_v = add_virtual(pick->vtime, virtual_ns(pick, ns_since(pick, c->to_ns)));
	p->goes_on = !c->run->has_end_vtime && !c->run->has_left;
	if (!c->run->has_end_vtime)
		return;
	p->rises = is_even(c->run);
	if (!tap_vtime_before(c->run->end_vtime, pick->vtime)) {
		double rise = rise_of(c->run);

		/* a lower bound, since V rises ever more slowly */
		p->from_v = add_virtual(pick->vtime, rise * (double)ns_since(pick, c->from_ns));
		if (p->rises)
			p->to_v = add_virtual(pick->vtime, rise * (double)ns_since(pick, c->to_ns));
		else if (tap_vtime_before(c->run->end_vtime, p->to_v))
			p->to_v = c->run->end_vtime;
		return;
	}
	p->from_v = c->run->end_vtime; /* V fell: other entities joined or left */
	p->to_v = pick->vtime;
}

/* Return the latest virtual time that a waiter may have for the kind to be certain. */
static int64_t certain_v(const struct cut *c, enum tap_piece_kind kind,
			 const struct tap_piece_pick *p)
{
	if (kind == TAP_PIECE_PROTECTED)
		return c->run->pick.vtime;
	if (c->tells_protection || c->is_over)
		return add_virtual(p->to_v, (double)FAR);
	if (kind == TAP_PIECE_EARLIER || c->repicks.are_known)
		return add_virtual(p->from_v, (double)-FAR);
	return c->run->has_end_vtime ? vtime_at(c->run, c->slice_until) : c->run->pick.vtime;
}

void tap_picked_cut(const struct tap_picked_run *run, struct tap_repicks repicks,
		    uint64_t queued_ns, uint64_t from_ns, uint64_t *to_ns, struct tap_piece *piece)
{
	const struct tap_picked_entity *pick = &run->pick;
	uint64_t slice_ns = pick->left_ns > pick->protected_ns ? pick->left_ns : pick->protected_ns;
	struct cut c = {
		.run = run,
		.repicks = repicks,
		.from_ns = from_ns,
		.to_ns = *to_ns,
		.tells_protection = pick->protected_ns != 0,
		.protected_until = pick->ts_ns + pick->protected_ns,
		.slice_until = pick->ts_ns + slice_ns,
	};
	struct tap_piece_pick p = {
		.is_open = true,
		.came_later = queued_ns > pick->ts_ns,
		.queue = pick->queue,
		.min_deadline = pick->deadline,
		.from_deadline = pick->deadline,
		.to_deadline = pick->deadline,
	};

	piece->kind = phase_of(&c, &p);
	put_vtimes(&c, &p);
	p.certain_v = certain_v(&c, piece->kind, &p);
	piece->pick = p;
	*to_ns = c.to_ns;
}

void tap_picked_go_on(const struct tap_picked_run *run, struct tap_piece *piece)
{
	const struct cut c = { .run = run,
			       .from_ns = piece->from_ns,
			       .to_ns = piece->from_ns + piece->ns };

	put_vtimes(&c, &piece->pick);
}

/* ---- closing components ---- */

/*
 * Return the weight of the entities that were queued before the waiter came. In a queue, weights
 * times lags add up to 0. So the CPU time since the pick, minus what accounts for the waiter's v,
 * moved V from its value at the pick to its value at the end of the run.
 */
static double weight_of_others(const struct tap_picked_entity *waited,
			       const struct tap_picked_run *run)
{
	double ns = (double)ns_since(&run->pick, run->end_ns) * NICE_0_WEIGHT;
	double weight = (ns - (double)waited->weight * virtual_diff(run->end_vtime, waited->v)) /
			virtual_diff(run->end_vtime, run->pick.vtime);

	return weight > (double)run->pick.weight ? weight : (double)run->pick.weight;
}

void tap_picked_refine(const struct tap_picked_entity *waited,
		       const struct tap_picked_run *came_into, bool was_moved,
		       struct tap_piece *piece)
{
	struct tap_piece_pick *p = &piece->pick;
	/* only the waiter joined */
	bool is_alone = came_into->nr_joined == 1 &&
			tap_vtime_before(came_into->pick.vtime, came_into->end_vtime);
	uint64_t to_ns = piece->from_ns + piece->ns;
	double rise;

	if (!p->is_open || !p->came_later || came_into->nr_joined <= 0)
		return;
	if (came_into->has_end_vtime && to_ns <= came_into->end_ns) {
		rise = NICE_0_WEIGHT / ((is_alone ? weight_of_others(waited, came_into)
						  : (double)came_into->pick.weight) +
					(double)waited->weight);
		p->rises = is_alone;
		/* a lower bound if other entities joined */
		p->from_v = add_virtual(came_into->end_vtime,
					-rise * (double)(came_into->end_ns - piece->from_ns));
		p->to_v = is_alone ? add_virtual(came_into->end_vtime,
						 -rise * (double)(came_into->end_ns - to_ns))
				   : came_into->end_vtime;
	}
	/*
	 * with delayed dequeue (6.12) a waking task was eligible when it went to sleep, or is still
	 * queued, so it is eligible
	 */
	if (!p->rises && !was_moved && came_into->pick.protected_ns &&
	    tap_vtime_before(p->from_v, waited->v))
		p->from_v = waited->v;
}

static bool is_known(const struct tap_picked_entity *waited, const struct tap_piece_pick *p)
{
	return p->is_open && waited && waited->queue == p->queue && !p->is_past;
}

/* Return the kind of a component during which the waiter was eligible. */
static enum tap_piece_kind choose_kind(const struct tap_picked_entity *waited,
				       const struct tap_piece *piece)
{
	const struct tap_piece_pick *p = &piece->pick;
	bool is_certain = !tap_vtime_before(p->certain_v, waited->v);

	if (piece->kind == TAP_PIECE_OVERRUN)
		return is_certain ? TAP_PIECE_OVERRUN : TAP_PIECE_QUEUED;
	/*
	 * a waiter that was eligible at the pick was passed over then; the protection changed
	 * nothing
	 */
	if (piece->kind == TAP_PIECE_PROTECTED && (p->came_later || !is_certain))
		return p->came_later || p->rises ? TAP_PIECE_PROTECTED : TAP_PIECE_QUEUED;
	if (!tap_vtime_before(waited->deadline, p->to_deadline))
		return TAP_PIECE_EARLIER;
	/* a protected group stays picked, whichever of its tasks runs */
	if (piece->kind == TAP_PIECE_PROTECTED)
		return p->is_group ? TAP_PIECE_PROTECTED : TAP_PIECE_QUEUED;
	if (tap_vtime_before(p->min_deadline, waited->deadline))
		return TAP_PIECE_QUEUED;
	return is_certain ? TAP_PIECE_OVERRUN : TAP_PIECE_QUEUED;
}

/*
 * Close a component by the values at one moment within it. @share: 0 to 1, from its start to its
 * end.
 */
static void close_at(const struct tap_picked_entity *waited, double share, struct tap_piece *piece)
{
	struct tap_piece_pick *p = &piece->pick;

	if (p->rises)
		p->from_v = p->to_v =
			add_virtual(p->from_v, virtual_diff(p->to_v, p->from_v) * share);
	if (p->delays) {
		bool is_exact = p->min_deadline == p->from_deadline;

		p->from_deadline = p->to_deadline = add_virtual(
			p->from_deadline, virtual_diff(p->to_deadline, p->from_deadline) * share);
		if (is_exact)
			p->min_deadline = p->from_deadline;
	}
	if (!tap_vtime_before(p->from_v, waited->v))
		piece->kind = choose_kind(waited, piece);
	else
		piece->kind = tap_vtime_before(waited->v, p->to_v) ? TAP_PIECE_QUEUED
								   : TAP_PIECE_INELIGIBLE;
	p->is_open = false;
}

/*
 * A value changes at a constant rate from @from to @to within @ns. Return the time, in ns, after
 * which it reaches @at; 0: it does not.
 */
static uint64_t find_crossing(int64_t from, int64_t to, int64_t at, uint64_t ns)
{
	uint64_t after_ns;

	if (!tap_vtime_before(from, at) || !tap_vtime_before(at, to))
		return 0;
	after_ns = (uint64_t)((double)ns * (virtual_diff(at, from) / virtual_diff(to, from)));
	return after_ns < ns ? after_ns : 0;
}

/*
 * Find the times, relative to the component's start, at which the waiter becomes eligible or its
 * deadline becomes the earlier one. Return: the number of times.
 */
static unsigned int changes_of(const struct tap_picked_entity *waited,
			       const struct tap_piece *piece, uint64_t at[TAP_PICKED_PARTS - 1])
{
	const struct tap_piece_pick *p = &piece->pick;
	uint64_t eligible_ns, earlier_ns;
	unsigned int nr = 0;

	eligible_ns = p->rises ? find_crossing(p->from_v, p->to_v, waited->v, piece->ns) : 0;
	earlier_ns = p->delays ? find_crossing(p->from_deadline, p->to_deadline, waited->deadline,
					       piece->ns)
			       : 0;
	if (eligible_ns && eligible_ns <= earlier_ns)
		at[nr++] = eligible_ns;
	if (earlier_ns && earlier_ns != eligible_ns)
		at[nr++] = earlier_ns;
	if (eligible_ns > earlier_ns)
		at[nr++] = eligible_ns;
	return nr;
}

unsigned int tap_picked_parts(const struct tap_picked_entity *waited, const struct tap_piece *piece)
{
	uint64_t at[TAP_PICKED_PARTS - 1];

	return is_known(waited, &piece->pick) ? 1 + changes_of(waited, piece, at) : 1;
}

static void close_part(const struct tap_picked_entity *waited, uint64_t from, uint64_t to,
		       struct tap_piece *piece)
{
	double share = ((double)from + (double)to) / 2 / (double)piece->ns;

	piece->from_ns += from;
	piece->ns = to - from;
	close_at(waited, share, piece);
}

unsigned int tap_picked_close(const struct tap_picked_entity *waited, struct tap_piece *piece,
			      struct tap_piece out[TAP_PICKED_PARTS])
{
	uint64_t at[TAP_PICKED_PARTS + 1] = { 0 };
	unsigned int nr;

	if (!piece->pick.is_open)
		return 1;
	if (!is_known(waited, &piece->pick)) {
		piece->kind = piece->pick.level || (waited && waited->queue != piece->pick.queue)
				      ? TAP_PIECE_GROUP
				      : TAP_PIECE_QUEUED;
		piece->pick.is_open = false;
		return 1;
	}
	nr = 1 + changes_of(waited, piece, &at[1]);
	if (nr == 1) {
		close_at(waited, 0.5, piece);
		return 1;
	}
	at[nr] = piece->ns;
	for (unsigned int i = 0; i < nr; i++) {
		out[i] = *piece;
		close_part(waited, at[i], at[i + 1], &out[i]);
	}
	return nr;
}

void tap_picked_close_other(int queue, struct tap_piece *piece)
{
	if (!piece->pick.is_open || piece->pick.level || piece->pick.queue == queue)
		return;
	piece->kind = TAP_PIECE_GROUP;
	piece->pick = (struct tap_piece_pick){ 0 };
}

void tap_picked_leave(struct tap_piece *piece)
{
	piece->pick.is_past = piece->pick.is_open;
}
