// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define GOING_ON 2u /* levels whose last run is followed before its end is known */
#define MANY_PIECES 256u /* from this many on, alike components are joined before memory grows */
#define LATELY 4u /* recent components with which a new one is compared */
#define NEAR 16u /* neighbours that are joined with each other before all components are */
/* Limit of blocks that are computed for single groups of a log; then those for any group serve. */
#define BLOCKS_OF_GROUPS (16u * TAP_CPU_LOG_BLOCKS)
/*
 * A wakeup migrates its task directly after sched_waking, with interrupts disabled
 * (try_to_wake_up()).
 */
#define PLACED_WITHIN_NS 10000u
/* Once a wait has this many components, blocks replace single runs although they are less exact. */
#define BLOCKS_FROM 96u

/*
 * The components of a wait; or of a block of a CPU's log, as for a fair task that waits during the
 * whole block. A block without components was not computed yet.
 */
struct tap_explain_pieces {
	struct tap_piece *v; /* owned */
	unsigned int nr, cap;
	bool is_block;
	const struct tap_task *task; /* the waiter; of a block: one of its waiters */
	/*
	 * the waiter's group and those above it, as far as they are known: it waits in their queues
	 */
	int queues[TAP_PICK_LEVELS + 1];
	unsigned int nr_queues;
	unsigned int first_open; /* no earlier component is open with a .level above 0 */
	struct level_picks *level_picks; /* only of a block in .of_group */
	/*
	 * by level: a run whose end is not known yet, and the first component that may belong to it
	 */
	struct {
		struct tap_picked_run run;
		unsigned int from;
		bool is_open;
	} going_on[GOING_ON];
	unsigned int part; /* the part that new components belong to, if the wait is split */
	uint64_t queued_ns; /* when the waiter entered the present run queue */
	/* the run during which it entered that, if there was one */
	struct tap_picked_run came_into;
	bool was_moved; /* it came from another run queue */
	enum tap_scx_place place;
	/* it is on a CPU's wake list, and that CPU is to put it into its run queue */
	bool is_on_wake_list;
};

struct tap_explain_wait {
	const struct tap_task *task;
	enum tap_state state;
	uint64_t from_ns;
	uint64_t at_ns; /* it was cut into components up to here */
	bool is_placing, is_unknown;
	struct tap_explain_pieces pieces;
	/* idle CPUs found so far, up to .at_ns */
	struct tap_avoidable_idle idle; /* owned */
};

/* What the first picks within a block report about the waiter's groups. */
struct level_picks {
	unsigned int levels;
	struct tap_picked picked;
};

/* Cached blocks of one CPU's log. */
struct tap_explain_blocks {
	/* for fair tasks of any group */
	struct tap_explain_pieces v[TAP_CPU_LOG_BLOCKS];
	/* for tasks of one group, .queues[0]: the group that was asked for last */
	struct tap_explain_pieces of_group[TAP_CPU_LOG_BLOCKS];
	struct level_picks level_picks[TAP_CPU_LOG_BLOCKS]; /* for .of_group */
	unsigned int nr_of_groups; /* number of .of_group computed since the log was cleared */
};

struct tap_explain_task {
	unsigned int place; /* index in .waits, plus 1; 0: the task does not wait */
	int group; /* the group that its last pick reported; 0: unknown */
	enum tap_scx_place scx; /* its place since .scx_ns */
	uint64_t scx_ns;
};

static bool is_wait(enum tap_state state)
{
	return tap_state_is_wait(state) || state == TAP_STATE_THROTTLED;
}

void tap_explain_waits_init(struct tap_explain_waits *w, const struct tap_explain_waits_opts *opts)
{
	*w = (struct tap_explain_waits){ .opts = *opts };
}

void tap_explain_waits_release(struct tap_explain_waits *w)
{
	for (unsigned int i = 0; i < w->nr_waits; i++) {
		if (!w->waits[i])
			continue;
		free(w->waits[i]->pieces.v);
		tap_avoidable_idle_release(&w->waits[i]->idle);
		free(w->waits[i]);
	}
	for (unsigned int cpu = 0; cpu < w->nr_blocks; cpu++)
		for (unsigned int i = 0; i < TAP_CPU_LOG_BLOCKS; i++) {
			free(w->blocks[cpu].v[i].v);
			free(w->blocks[cpu].of_group[i].v);
		}
	free(w->blocks);
	free(w->alive);
	free(w->waits);
	free(w->tasks);
	tap_cpu_logs_release(&w->logs);
	tap_map_release(&w->parents);
	tap_avoidable_release(&w->avoidable);
	free(w->sources.v);
}

/* ---- pieces ---- */

/*
 * The waiter enters a run queue, where it gets a new virtual time and deadline: open components
 * keep no link to the old ones.
 */
static void queue_again(struct tap_explain_pieces *p, uint64_t ts_ns)
{
	for (unsigned int i = 0; i < p->nr; i++)
		tap_picked_leave(&p->v[i]);
	p->queued_ns = ts_ns;
	for (unsigned int i = 0; i < GOING_ON; i++)
		p->going_on[i].is_open = false;
}

/*
 * Find a component that @piece can be added to. If tasks run in turns, a recent component often has
 * the same values. In a block for any group, search all components for one that is alike.
 */
static struct tap_piece *find_piece(const struct tap_explain_pieces *p,
				    const struct tap_piece *piece)
{
	unsigned int nr = p->is_block && !p->nr_queues ? p->nr : LATELY;

	for (unsigned int i = p->nr; i && i + nr > p->nr; i--)
		if (tap_pieces_alike(&p->v[i - 1], piece, nr == LATELY))
			return &p->v[i - 1];
	return NULL;
}

/*
 * Join alike components, neighbours first, because that keeps the bounds of open components narrow.
 */
static void make_few(struct tap_explain_pieces *p)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < p->nr; i += NEAR) {
		unsigned int rest = p->nr - i,
			     joined = tap_pieces_merge(&p->v[i], rest < NEAR ? rest : NEAR);

		memmove(&p->v[nr], &p->v[i], joined * sizeof(*p->v));
		nr += joined;
	}
	p->nr = nr > p->cap / 2 ? tap_pieces_merge(p->v, nr) : nr;
	p->first_open = 0;
	for (unsigned int i = 0; i < GOING_ON; i++)
		p->going_on[i].from = 0;
}

static int add_piece(struct tap_explain_pieces *p, struct tap_piece *piece)
{
	struct tap_piece *same;

	piece->part = p->part;
	if (p->nr_queues)
		tap_picked_close_other(p->queues[0], piece);
	same = find_piece(p, piece);
	if (same) {
		tap_piece_join(same, piece);
		return 0;
	}
	if (p->nr >= MANY_PIECES && p->nr == p->cap)
		make_few(p);
	if (tap_array_grow(&p->v, p->nr, &p->cap, sizeof(*p->v)))
		return -ENOMEM;
	p->v[p->nr++] = *piece;
	return 0;
}

/* The end of the level's last run is known: update its components. */
static void put_end(struct tap_explain_pieces *p, unsigned int level, int64_t vtime)
{
	struct tap_picked_run *run = &p->going_on[level].run;

	run->has_end_vtime = true;
	run->end_vtime = vtime;
	for (unsigned int i = p->going_on[level].from; i < p->nr; i++)
		if (p->v[i].pick.is_open && p->v[i].pick.goes_on && p->v[i].pick.level == level)
			tap_picked_go_on(run, &p->v[i]);
	p->going_on[level].is_open = false;
}

/* Remember @run, as components of it are about to be added at this level. */
static void follow_run(struct tap_explain_pieces *p, unsigned int level,
		       const struct tap_picked_run *run, uint64_t to_ns)
{
	bool is_same;

	if (level >= GOING_ON)
		return;
	is_same =
		p->going_on[level].is_open && p->going_on[level].run.pick.ts_ns == run->pick.ts_ns;
	if (is_same && run->end_ns)
		p->going_on[level].run.end_ns = run->end_ns;
	if (is_same && run->has_end_vtime)
		put_end(p, level, run->end_vtime);
	else if (p->going_on[level].is_open && !is_same)
		put_end(p, level, run->pick.vtime);
	if (run->has_end_vtime || run->has_left)
		return;
	if (!p->going_on[level].is_open)
		p->going_on[level].from = p->nr;
	p->going_on[level].is_open = true;
	p->going_on[level].run = *run;
	if (!run->end_ns)
		p->going_on[level].run.end_ns = to_ns;
}

/* Return the pick that decides about a component; NULL: unknown. */
static const struct tap_picked_entity *find_entity(const struct tap_picked *picked,
						   const struct tap_piece *piece)
{
	return picked && piece->pick.level < picked->nr ? &picked->v[piece->pick.level] : NULL;
}

/*
 * If the waiter is the only task in its group's queue, its group joined the queue above together
 * with it.
 */
static void refine_piece(const struct tap_explain_pieces *p, const struct tap_picked *picked,
			 struct tap_piece *piece)
{
	struct tap_picked_run run = p->came_into;

	if (piece->pick.level == 1 && picked->v[0].nr_queued == 1)
		run.nr_joined = 1;
	tap_picked_refine(find_entity(picked, piece), &run, p->was_moved, piece);
}

#define ALL_LEVELS UINT32_MAX
#define ALL_GROUPS (ALL_LEVELS << 1)
/*
 * Close the components from index @from on whose levels are in @levels, a bit mask. @picked: what
 * is known about the waiter and its groups by now; NULL: nothing. Return: 0 or -ENOMEM.
 */
static int close_pieces(struct tap_explain_pieces *p, unsigned int from, uint32_t levels,
			const struct tap_picked *picked)
{
	struct tap_piece parts[TAP_PICKED_PARTS];
	unsigned int nr = p->nr, to = from;

	for (unsigned int level = 0; picked && level < GOING_ON && level < picked->nr; level++)
		if (p->going_on[level].is_open && levels >> level & 1 &&
		    p->going_on[level].run.pick.queue == picked->v[level].queue)
			put_end(p, level, picked->v[level].vtime);
	for (unsigned int i = from; i < nr; i++) {
		bool closes = levels >> p->v[i].pick.level & 1;

		if (closes && p->v[i].pick.is_open && p->v[i].pick.came_later &&
		    find_entity(picked, &p->v[i]))
			refine_piece(p, picked, &p->v[i]);
		to += closes ? tap_picked_parts(find_entity(picked, &p->v[i]), &p->v[i]) : 1;
	}
	while (p->cap < to)
		if (tap_array_grow(&p->v, p->cap, &p->cap, sizeof(*p->v)))
			return -ENOMEM;
	p->nr = to;
	for (unsigned int i = nr; i-- > from;) {
		bool closes = levels >> p->v[i].pick.level & 1;
		unsigned int nr_parts =
			closes ? tap_picked_close(find_entity(picked, &p->v[i]), &p->v[i], parts)
			       : 1;

		to -= nr_parts;
		if (nr_parts > 1)
			memcpy(&p->v[to], parts, nr_parts * sizeof(*parts));
		else if (to != i)
			p->v[to] = p->v[i];
	}
	return 0;
}

static enum tap_piece_kind kind_of(const struct tap_task *task, const struct tap_cpu_part *part)
{
	static const enum tap_piece_kind idle_kinds[] = {
		[TAP_IDLE_NOT_TOLD] = TAP_PIECE_IDLE,
		[TAP_IDLE_IN] = TAP_PIECE_IDLE_STATE,
		[TAP_IDLE_OUT] = TAP_PIECE_IDLE_EXIT,
	};

	if (part->what == TAP_CPU_UNKNOWN)
		return TAP_PIECE_UNKNOWN;
	if (part->what == TAP_CPU_OFFLINE)
		return TAP_PIECE_OFFLINE;
	if (part->irq != TAP_IN_NO_IRQ)
		return part->irq == TAP_IN_IRQ ? TAP_PIECE_IRQ : TAP_PIECE_SOFTIRQ;
	if (part->what == TAP_CPU_IDLE)
		return idle_kinds[part->idle];
	/* the most frequent case */
	return task->prio >= 100 && part->prio >= 100
		       ? TAP_PIECE_QUEUED
		       : tap_piece_of_runner(task, part->task, part->prio);
}

/* Make one component of a part of a CPU's log, without regard to picks. @task: the waiter. */
static inline struct tap_piece whole_part(const struct tap_task *task,
					  const struct tap_cpu_part *part)
{
	enum tap_piece_kind kind = kind_of(task, part);

	if (part->is_served && kind == TAP_PIECE_LOWER)
		kind = TAP_PIECE_SERVER;
	else if (part->asked && (kind == TAP_PIECE_QUEUED || kind == TAP_PIECE_LOWER))
		kind = part->asked == TAP_ASKED ? TAP_PIECE_RESCHED : TAP_PIECE_LAZY;
	return (struct tap_piece){
		.kind = kind,
		.task = kind >= TAP_PIECE_STOP ? part->task : NULL,
		.from_ns = part->from_ns,
		.ns = part->to_ns - part->from_ns,
	};
}

/* Adjust a component of a sched_ext task that is in no CPU's local queue. */
static void put_place(enum tap_scx_place place, struct tap_piece *piece)
{
	/* the CPU runs no task of a higher class, and no interrupt */
	bool is_below = piece->kind >= TAP_PIECE_RESCHED;
	bool is_idle = piece->kind >= TAP_PIECE_IDLE_STATE && piece->kind <= TAP_PIECE_IDLE;

	if (place == TAP_SCX_SHARED && is_below)
		piece->kind = TAP_PIECE_DSQ;
	if (place != TAP_SCX_HELD || (!is_below && !is_idle))
		return;
	piece->kind = TAP_PIECE_HELD;
	piece->task = NULL;
}

/*
 * Adjust a component of a task on a CPU's wake list (ttwu_queue_wakelist()). An idle CPU has to
 * wake up first, and a CPU in an interrupt has to finish that. In all other cases the wakeup is in
 * progress.
 */
static void put_on_wake_list(struct tap_piece *piece)
{
	if (piece->kind >= TAP_PIECE_IRQ && piece->kind <= TAP_PIECE_IDLE)
		return;
	piece->kind = TAP_PIECE_PLACING;
	piece->task = NULL;
}

/* Return the running task's group if the waiter is in another one, else 0. */
static int other_group(const struct tap_explain_pieces *p, const struct tap_cpu_part *part)
{
	int group = part->picked->pick.queue;

	return p->nr_queues && group != p->queues[0] ? group : 0;
}

/*
 * Add components for a part in which another fair task ran. @run: what was picked from the queue
 * that contains both tasks or groups above them. @level: the waiter's entity in that queue.
 */
static int add_picked(struct tap_explain_pieces *p, const struct tap_cpu_part *part,
		      const struct tap_picked_run *run, unsigned int level)
{
	struct tap_piece piece = { .task = part->task, .group = other_group(p, part) };
	uint64_t at_ns = part->from_ns;
	int ret = 0;

	if (p->queued_ns > run->pick.ts_ns)
		p->came_into = *run;
	follow_run(p, level, run, part->to_ns);
	while (!ret && at_ns < part->to_ns) {
		uint64_t to_ns = part->to_ns;

		tap_picked_cut(run, part->repicks, p->queued_ns, at_ns, &to_ns, &piece);
		piece.from_ns = at_ns;
		piece.ns = to_ns - at_ns;
		piece.pick.level = level;
		piece.pick.is_group = run != part->picked;
		ret = add_piece(p, &piece);
		at_ns = to_ns;
	}
	return ret;
}

/*
 * Find the lowest queue that contains both the waiter and the running task, or groups above them.
 * Return: NULL: none is known.
 */
static const struct tap_picked_run *find_shared(const struct tap_explain_pieces *p,
						const struct tap_cpu_part *part,
						unsigned int *level)
{
	for (*level = 0; *level < p->nr_queues; ++*level)
		for (unsigned int i = 0; i < part->nr_picked; i++)
			if (part->picked[i].pick.queue == p->queues[*level])
				return &part->picked[i];
	*level = 0;
	return p->nr_queues ? NULL : part->picked;
}

/* Close components about the waiter's groups with what is known of these now. */
static int close_groups(struct tap_explain_pieces *p, uint32_t levels,
			const struct tap_picked *picked)
{
	int ret = p->first_open < p->nr ? close_pieces(p, p->first_open, levels, picked) : 0;

	if (levels == ALL_GROUPS)
		p->first_open = p->nr;
	return ret;
}

/*
 * A task of one of the waiter's groups runs: its pick reports how the groups below the shared queue
 * compared until then.
 */
static int report_groups(struct tap_explain_pieces *p, const struct tap_cpu_part *part,
			 const struct tap_picked_run *shared, unsigned int level)
{
	unsigned int above = (unsigned int)(part->picked + part->nr_picked - shared);
	struct tap_picked picked = { .nr = p->nr_queues };
	uint32_t levels = ALL_GROUPS << level;

	for (unsigned int i = level; i < p->nr_queues && i < level + above; i++) {
		picked.v[i] = shared[i - level].pick;
		if (p->level_picks && i > level && !(p->level_picks->levels >> i & 1))
			p->level_picks->picked.v[i] = picked.v[i];
	}
	if (p->level_picks)
		p->level_picks->levels |= levels;
	return close_groups(p, levels, &picked);
}

static int add_part(struct tap_explain_pieces *p, const struct tap_cpu_part *part)
{
	struct tap_piece piece = whole_part(p->task, part);
	const struct tap_picked_run *shared;
	unsigned int level;
	int ret;

	if (p->is_on_wake_list)
		put_on_wake_list(&piece);
	else if (p->place != TAP_SCX_LOCAL)
		put_place(p->place, &piece);
	if (!part->picked || piece.kind != TAP_PIECE_QUEUED)
		return add_piece(p, &piece);
	shared = find_shared(p, part, &level);
	if (!shared) {
		piece.kind = TAP_PIECE_GROUP;
		piece.group = other_group(p, part);
		return add_piece(p, &piece);
	}
	ret = level + 1 < p->nr_queues && (p->first_open < p->nr || p->level_picks)
		      ? report_groups(p, part, shared, level)
		      : 0;
	return ret ?: add_picked(p, part, shared, level);
}

/*
 * Fast path for the frequent case that fair tasks run in turns and the reason is unknown: extend
 * the task's component. Return false if that is not possible.
 */
static bool join_again(struct tap_explain_pieces *b, const struct tap_cpu_part *part)
{
	if (part->prio < 100 || !part->task || part->picked || part->irq != TAP_IN_NO_IRQ ||
	    part->asked)
		return false;
	for (unsigned int i = b->nr; i; i--) {
		struct tap_piece *piece = &b->v[i - 1];

		if (piece->task == part->task && piece->kind == TAP_PIECE_QUEUED &&
		    !piece->pick.is_open) {
			piece->ns += part->to_ns - part->from_ns;
			return true;
		}
	}
	return false;
}

/* Return the cache entry of a block for this waiter. If it was not computed yet, its .nr is 0. */
static struct tap_explain_pieces *block_of(struct tap_explain_blocks *blocks, unsigned int block,
					   const struct tap_explain_pieces *p)
{
	struct tap_explain_pieces *b = &blocks->of_group[block];

	if (p->nr_queues < 2)
		return &blocks->v[block];
	if (b->nr && b->queues[0] == p->queues[0])
		return b;
	if (blocks->nr_of_groups >= BLOCKS_OF_GROUPS)
		return &blocks->v[block];
	blocks->nr_of_groups++;
	b->nr = b->first_open = 0;
	b->nr_queues = p->nr_queues;
	memcpy(b->queues, p->queues, sizeof(b->queues));
	b->level_picks = &blocks->level_picks[block];
	b->level_picks->levels = 0;
	b->level_picks->picked.nr = p->nr_queues;
	return b;
}

/* Return: NULL when out of memory. */
static const struct tap_explain_pieces *block_get(struct tap_explain_waits *w,
						  const struct tap_explain_pieces *p, int cpu,
						  const struct tap_cpu_parts *from,
						  unsigned int block, uint64_t to_ns)
{
	struct tap_explain_blocks *blocks =
		tap_array_at(&w->blocks, &w->nr_blocks, (unsigned int)cpu, sizeof(*blocks), NULL);
	struct tap_explain_pieces *b = blocks ? block_of(blocks, block, p) : NULL;
	struct tap_cpu_parts parts = *from;
	struct tap_cpu_part part;

	if (!b || b->nr)
		return b;
	b->task = p->task;
	b->is_block = true;
	memset(b->going_on, 0, sizeof(b->going_on));
	parts.to_ns = to_ns;
	while (tap_cpu_parts_next(&parts, &part))
		if (!join_again(b, &part) && add_part(b, &part))
			return NULL;
	if (b->nr_queues)
		make_few(b);
	return b;
}

static int add_block(struct tap_explain_pieces *p, const struct tap_explain_pieces *block)
{
	int ret = block->nr_queues
			  ? close_groups(p, block->level_picks->levels, &block->level_picks->picked)
			  : close_groups(p, ALL_GROUPS, NULL);

	for (unsigned int i = 0; i < block->nr && !ret; i++) {
		struct tap_piece piece = block->v[i];

		ret = add_piece(p, &piece);
	}
	return ret;
}

/* Add components for what the CPU did while the waiter was in its run queue. */
static int add_parts(struct tap_explain_waits *w, struct tap_explain_pieces *p, int cpu,
		     struct tap_cpu_parts *parts)
{
	bool is_fair = p->task->prio >= 100 && p->place == TAP_SCX_LOCAL && !p->is_on_wake_list;
	unsigned int blocks_from = parts->has_picks ? BLOCKS_FROM : 0;
	const struct tap_explain_pieces *block;
	struct tap_cpu_part part;
	unsigned int nr;
	uint64_t end_ns;
	int ret = 0;

	while (!ret) {
		if (is_fair && p->nr >= blocks_from && tap_cpu_parts_block(parts, &nr, &end_ns)) {
			block = block_get(w, p, cpu, parts, nr, end_ns);
			ret = block ? add_block(p, block) : -ENOMEM;
			tap_cpu_parts_pass(parts, end_ns);
		} else if (tap_cpu_parts_next(parts, &part)) {
			ret = add_part(p, &part);
		} else {
			break;
		}
	}
	return ret;
}

/* Return the kind of component for a waiter that is in no run queue. */
static enum tap_piece_kind kind_apart(enum tap_state state)
{
	return state == TAP_STATE_UNKNOWN     ? TAP_PIECE_UNKNOWN
	       : state == TAP_STATE_THROTTLED ? TAP_PIECE_THROTTLED
					      : TAP_PIECE_PLACING;
}

static uint64_t next_split(const struct tap_explain_waits *w, const struct tap_task *task,
			   uint64_t ns)
{
	return w->opts.split ? w->opts.split(w->opts.ctx, task, ns) : UINT64_MAX;
}

static int advance_part(struct tap_explain_waits *w, struct tap_explain_wait *wait, uint64_t to_ns,
			int cpu, enum tap_state state)
{
	unsigned int nr_cpus;
	const struct tap_cpu *cpus = tap_timeline_cpus(w->timeline, &nr_cpus);
	struct tap_cpu_parts parts;
	struct tap_cpu_part part;
	int ret = 0;

	if (!tap_state_is_wait(state) || (wait->is_placing && !wait->pieces.is_on_wake_list)) {
		ret = add_piece(&wait->pieces, &(struct tap_piece){ .kind = kind_apart(state),
								    .from_ns = wait->at_ns,
								    .ns = to_ns - wait->at_ns });
	} else if (tap_cpu_log_last(&w->logs, cpu, wait->at_ns, to_ns, &part)) {
		ret = add_part(&wait->pieces, &part);
	} else {
		tap_cpu_log_read(&w->logs, cpu, wait->at_ns, to_ns,
				 cpu >= 0 && (unsigned int)cpu < nr_cpus ? &cpus[cpu] : NULL,
				 &parts);
		ret = add_parts(w, &wait->pieces, cpu, &parts);
	}
	wait->at_ns = to_ns;
	return ret;
}

/* Cut the wait up to @to_ns. @cpu: the CPU in whose queue the task was; -1: unknown. */
static int advance_wait(struct tap_explain_waits *w, struct tap_explain_wait *wait, uint64_t to_ns,
			int cpu, enum tap_state state)
{
	int ret = 0;

	while (!ret && wait->at_ns < to_ns) {
		uint64_t split_ns = next_split(w, wait->task, wait->at_ns);

		ret = advance_part(w, wait, split_ns < to_ns ? split_ns : to_ns, cpu, state);
		wait->pieces.part += split_ns <= to_ns;
	}
	return ret;
}

/* Add the time up to @to_ns in which other CPUs were idle. */
static int add_avoidable(struct tap_explain_waits *w, struct tap_explain_wait *wait, uint64_t to_ns,
			 int cpu, enum tap_state state)
{
	if (!w->opts.asks_avoidable || !tap_state_is_wait(state) || wait->is_placing ||
	    to_ns <= wait->at_ns)
		return 0;
	return tap_avoidable_add(&w->avoidable, &w->logs, w->timeline, wait->task, cpu, wait->at_ns,
				 to_ns, &wait->idle);
}

/*
 * Return the task's state before a gap: unknown if the wakeup may have migrated the task within the
 * gap. Where sched_wakeup was not recorded, only such a migration shows that the task was not in a
 * run queue yet.
 */
static enum tap_state state_before_gap(const struct tap_explain_waits *w,
				       const struct tap_explain_wait *wait, enum tap_state state,
				       uint64_t gap_ns)
{
	bool was_looked_at = wait->at_ns > wait->from_ns;

	if (state != TAP_STATE_WAKING || w->has_placing || was_looked_at ||
	    gap_ns - wait->from_ns > PLACED_WITHIN_NS)
		return state;
	return TAP_STATE_UNKNOWN;
}

/*
 * Look at a wait that is in progress: before the CPU logs are cleared, or when the task enters
 * another queue.
 */
static int look_at(struct tap_explain_waits *w, struct tap_explain_wait *wait, uint64_t to_ns,
		   int cpu)
{
	enum tap_state state = wait->task->state;
	uint64_t sure_ns = tap_timeline_sure_until(w->timeline, wait->task);
	int ret;

	/*
	 * the timeline reports a hole when it is over, and a further migration may have been lost
	 * in it
	 */
	if (to_ns > sure_ns) {
		to_ns = sure_ns;
		cpu = wait->task->cpu;
		state = state_before_gap(w, wait, state, to_ns);
	}
	ret = add_avoidable(w, wait, to_ns, cpu, state);
	return ret ?: advance_wait(w, wait, to_ns, cpu, state);
}

/* ---- waits ---- */

static void forget_pieces(struct tap_explain_wait *wait)
{
	wait->at_ns = wait->from_ns;
	wait->pieces.nr = wait->pieces.first_open = 0;
	for (unsigned int i = 0; i < GOING_ON; i++)
		wait->pieces.going_on[i].is_open = false;
	tap_avoidable_idle_release(&wait->idle);
}

static void drop_wait(struct tap_explain_waits *w, struct tap_explain_wait *wait)
{
	struct tap_explain_wait *last = w->waits[--w->nr_waiting];
	unsigned int *place = &w->tasks[wait->task->index].place;

	w->waits[w->nr_waiting] = wait;
	w->waits[*place - 1] = last;
	w->tasks[last->task->index].place = *place;
	*place = 0;
	forget_pieces(wait);
}

/*
 * Get the task's wait, if it is still the one that has been in this state since @since_ns. A wait
 * of length 0 may have ended without an interval. Return: 0, *@out is NULL if there is no wait;
 * -ENOMEM.
 */
static int get_wait(struct tap_explain_waits *w, const struct tap_task *task, enum tap_state state,
		    uint64_t since_ns, struct tap_explain_wait **out)
{
	struct tap_explain_task *t =
		tap_array_at(&w->tasks, &w->nr_tasks, task->index, sizeof(*t), NULL);

	*out = t && t->place ? w->waits[t->place - 1] : NULL;
	if (*out && ((!is_wait(state) && state != TAP_STATE_UNKNOWN) || (*out)->at_ns < since_ns)) {
		drop_wait(w, *out);
		*out = NULL;
	}
	return t ? 0 : -ENOMEM;
}

/* Set .queues to the group and the groups above it, as reported by picks. */
static void put_queues(const struct tap_explain_waits *w, int group, struct tap_explain_pieces *p)
{
	p->nr_queues = 0;
	while (group && p->nr_queues <= TAP_PICK_LEVELS) {
		const uint64_t *parent = tap_map_get(&w->parents, (uint64_t)(uint32_t)group);

		p->queues[p->nr_queues++] = group;
		group = parent ? (int)(uint32_t)*parent : 0;
	}
}

static int begin_wait(struct tap_explain_waits *w, const struct tap_task *task,
		      enum tap_state state, uint64_t ts_ns, bool is_placing,
		      struct tap_explain_wait **out)
{
	struct tap_explain_wait **place = tap_array_at(&w->waits, &w->nr_waits, w->nr_waiting,
						       sizeof(*place), NULL),
				*wait;

	if (place && !*place)
		*place = calloc(1, sizeof(**place));
	wait = place ? *place : NULL;
	*out = wait;
	if (!wait)
		return -ENOMEM;
	wait->task = wait->pieces.task = task;
	wait->state = state;
	wait->from_ns = wait->at_ns = wait->pieces.queued_ns = ts_ns;
	wait->pieces.was_moved = false;
	wait->is_placing = is_placing;
	wait->is_unknown = false;
	put_queues(w, w->tasks[task->index].group, &wait->pieces);
	wait->pieces.place =
		w->tasks[task->index].scx_ns == ts_ns ? w->tasks[task->index].scx : TAP_SCX_LOCAL;
	w->tasks[task->index].place = ++w->nr_waiting;
	return 0;
}

static bool has_open(const struct tap_explain_pieces *p)
{
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->v[i].pick.is_open)
			return true;
	return false;
}

/* The task runs: report the wait. @queued_ns: when it entered the last run queue. */
static int end_wait(struct tap_explain_waits *w, struct tap_explain_wait *wait,
		    const struct tap_interval *s, uint64_t queued_ns)
{
	struct tap_picked picked;
	bool is_picked = tap_cpu_log_pick_of(&w->logs, s->next_cpu, s->task, &picked);
	struct tap_explain_pieces *p = &wait->pieces;

	if (has_open(p) && close_pieces(p, 0, ALL_LEVELS, is_picked ? &picked : NULL))
		return -ENOMEM;
	p->nr = tap_pieces_merge(p->v, p->nr);
	if (s->to_ns - wait->from_ns > TAP_LOWER_MAX_NS)
		tap_pieces_doubt_lower(p->v, p->nr);
	return w->opts.tell(w->opts.ctx,
			    &(struct tap_wait_told){
				    .task = s->task,
				    .state = wait->state,
				    .from_ns = wait->from_ns,
				    .to_ns = s->to_ns,
				    .cpu = s->next_cpu,
				    .whole = !wait->is_unknown,
				    .pieces = p->v,
				    .nr_pieces = p->nr,
				    .wait = wait,
				    .queued_ns = tap_state_is_wait(s->state) ? queued_ns : s->to_ns,
			    });
}

int tap_explain_waits_take_avoidable(struct tap_explain_waits *w, const struct tap_wait_told *ended,
				     struct tap_avoidable_idle *idle)
{
	struct tap_explain_wait *wait = ended->wait;

	*idle = wait ? wait->idle : (struct tap_avoidable_idle){ 0 };
	if (wait)
		wait->idle = (struct tap_avoidable_idle){ 0 };
	return tap_avoidable_add(&w->avoidable, &w->logs, w->timeline, ended->task, ended->cpu,
				 ended->queued_ns, ended->to_ns, idle);
}

static bool is_in_window(const struct tap_explain_waits *w, uint64_t ts_ns)
{
	return ts_ns >= tap_timeline_window(w->timeline).from_ns;
}

/* Return true if a wait that begins in this state begins outside of any run queue. */
static bool begins_placing(const struct tap_explain_waits *w, enum tap_state state)
{
	return state == TAP_STATE_WAKING && w->has_placing;
}

/*
 * Start tracking a wait when its interval is reported: it was not looked at before, or the task's
 * state was unknown throughout.
 */
static int begin_late(struct tap_explain_waits *w, const struct tap_interval *s,
		      struct tap_explain_wait **wait)
{
	enum tap_state state = s->state == TAP_STATE_UNKNOWN ? s->was : s->state;

	if (!is_wait(state) || (s->state == TAP_STATE_UNKNOWN && !is_in_window(w, s->from_ns)))
		return 0;
	return begin_wait(w, s->task, state, s->from_ns, begins_placing(w, state), wait);
}

static int cut_wait(struct tap_explain_waits *w, struct tap_explain_wait *wait,
		    const struct tap_interval *s)
{
	enum tap_state state = s->next == TAP_STATE_UNKNOWN
				       ? state_before_gap(w, wait, s->state, s->to_ns)
				       : s->state;
	uint64_t queued_ns;
	int ret;

	/*
	 * the timeline has revised to unknown some time that was already cut into components:
	 * discard them
	 */
	if (s->state == TAP_STATE_UNKNOWN && s->from_ns < wait->at_ns)
		forget_pieces(wait);
	queued_ns = wait->at_ns;
	/* if the task runs now, .tell asks for the idle time instead */
	ret = s->next == TAP_STATE_RUNNING ? 0 : add_avoidable(w, wait, s->to_ns, s->cpu, state);
	ret = ret ?: advance_wait(w, wait, s->to_ns, s->cpu, state);

	/* it left the queue, or may have left it */
	if (!tap_state_is_wait(s->state) || s->next == TAP_STATE_THROTTLED ||
	    s->next == TAP_STATE_UNKNOWN)
		queue_again(&wait->pieces, s->to_ns);
	/* only a task in a run queue is throttled, so its sched_wakeup was lost */
	wait->is_placing &= s->state != TAP_STATE_THROTTLED;
	wait->is_unknown |= s->state == TAP_STATE_UNKNOWN || !s->whole;
	return ret || s->next != TAP_STATE_RUNNING || s->unseen ? ret
								: end_wait(w, wait, s, queued_ns);
}

/* Return true if the wait consists of one component, as most do: such waits need no memory. */
static bool is_one_piece(const struct tap_explain_waits *w, const struct tap_interval *s,
			 struct tap_piece *piece)
{
	struct tap_cpu_part part;

	if (s->next != TAP_STATE_RUNNING || !s->whole || !tap_state_is_wait(s->state) ||
	    (s->state == TAP_STATE_WAKING && w->has_placing) ||
	    w->tasks[s->task->index].scx_ns == s->from_ns ||
	    (w->opts.split && next_split(w, s->task, s->from_ns) < s->to_ns) ||
	    !tap_cpu_log_last(&w->logs, s->cpu, s->from_ns, s->to_ns, &part))
		return false;
	*piece = whole_part(s->task, &part);
	if (piece->ns > TAP_LOWER_MAX_NS)
		tap_pieces_doubt_lower(piece, 1);
	return !part.picked || piece->kind != TAP_PIECE_QUEUED;
}

static int report_piece(struct tap_explain_waits *w, const struct tap_interval *s,
			const struct tap_piece *piece)
{
	return w->opts.tell(w->opts.ctx, &(struct tap_wait_told){
						 .task = s->task,
						 .state = s->state,
						 .from_ns = s->from_ns,
						 .to_ns = s->to_ns,
						 .cpu = s->next_cpu,
						 .whole = true,
						 .pieces = piece,
						 .nr_pieces = piece->ns != 0,
						 .queued_ns = s->from_ns,
					 });
}

void tap_explain_waits_follow(struct tap_explain_waits *w, const struct tap_timeline *t)
{
	const struct tap_survey *survey;

	if (w->timeline)
		return;
	survey = tap_timeline_survey(t);
	w->has_placing = survey && tap_survey_has_event(survey, "sched_wakeup");
	w->logs.survey = survey;
	w->timeline = t;
}

int tap_explain_waits_interval(void *waits, const struct tap_timeline *t,
			       const struct tap_interval *s)
{
	struct tap_explain_waits *w = waits;
	struct tap_explain_wait *wait;
	struct tap_piece piece;
	int ret;

	tap_explain_waits_follow(w, t);
	if (s->state == TAP_STATE_RUNNING && w->opts.asks_avoidable)
		return tap_avoidable_ran(&w->avoidable, s->task, s->cpu);
	if (!is_wait(s->state) && s->state != TAP_STATE_UNKNOWN)
		return 0;
	ret = get_wait(w, s->task, s->state, s->from_ns, &wait);
	if (!ret && s->next == TAP_STATE_RUNNING && !is_in_window(w, s->to_ns)) {
		if (wait)
			drop_wait(w, wait);
		return 0;
	}
	if (!ret && !wait && s->next == TAP_STATE_RUNNING &&
	    s->to_ns - s->from_ns < w->opts.least_ns)
		return 0;
	if (!ret && !wait && is_one_piece(w, s, &piece))
		return report_piece(w, s, &piece);
	if (!ret && !wait)
		ret = begin_late(w, s, &wait);
	if (ret || !wait)
		return ret;
	ret = cut_wait(w, wait, s);
	if (!is_wait(s->next) && s->next != TAP_STATE_UNKNOWN)
		drop_wait(w, wait);
	return ret;
}

/*
 * Get the task's wait, and start tracking it if the task waits. Return: 0, *@out is NULL if the
 * task does not wait; -ENOMEM.
 */
static int find_wait(struct tap_explain_waits *w, const struct tap_task *task,
		     struct tap_explain_wait **out)
{
	int ret = get_wait(w, task, task->state, task->since_ns, out);

	if (ret || *out || !is_wait(task->state))
		return ret;
	return begin_wait(w, task, task->state, task->since_ns, begins_placing(w, task->state),
			  out);
}

int tap_explain_waits_begin(void *waits, const struct tap_timeline *t, struct tap_task *task,
			    uint64_t ts_ns)
{
	struct tap_explain_waits *w = waits;
	struct tap_explain_wait *wait;

	(void)ts_ns;
	tap_explain_waits_follow(w, t);
	return find_wait(w, task, &wait);
}

int tap_explain_waits_migration(void *waits, const struct tap_timeline *t,
				const struct tap_migration *m)
{
	struct tap_explain_waits *w = waits;
	struct tap_explain_wait *wait;
	int ret;

	tap_explain_waits_follow(w, t);
	ret = find_wait(w, m->task, &wait);
	if (!ret && wait) {
		wait->is_placing |=
			m->why == TAP_MIGRATE_WAKEUP && m->task->state == TAP_STATE_WAKING;
		ret = look_at(w, wait, m->ts_ns, m->from);
		wait->is_placing = false;
		queue_again(&wait->pieces, m->ts_ns);
		wait->pieces.was_moved = m->why != TAP_MIGRATE_WAKEUP;
		wait->pieces.place = TAP_SCX_LOCAL;
	}
	return ret || !w->opts.asks_avoidable ? ret : tap_avoidable_moved(&w->avoidable, m);
}

int tap_explain_waits_placed(struct tap_explain_waits *w, const struct tap_task *task,
			     uint64_t ts_ns, int cpu)
{
	struct tap_explain_wait *wait;
	int ret = find_wait(w, task, &wait);

	if (ret || !wait)
		return ret;
	/* if another CPU began the wakeup, the task was on the wake list of the CPU that ends it */
	wait->pieces.is_on_wake_list = wait->is_placing && cpu == task->cpu &&
				       task->waker_cpu >= 0 && task->waker_cpu != cpu;
	ret = look_at(w, wait, ts_ns, task->cpu);
	wait->pieces.is_on_wake_list = false;
	if (wait->is_placing)
		queue_again(&wait->pieces, ts_ns);
	wait->is_placing = false;
	return ret;
}

int tap_explain_waits_scx(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			  enum tap_scx_place place)
{
	struct tap_explain_task *t =
		tap_array_at(&w->tasks, &w->nr_tasks, task->index, sizeof(*t), NULL);
	struct tap_explain_wait *wait;
	int ret;

	if (!t)
		return -ENOMEM;
	t->scx = place;
	t->scx_ns = ts_ns;
	ret = find_wait(w, task, &wait);
	if (ret || !wait)
		return ret;
	ret = look_at(w, wait, ts_ns, task->cpu);
	wait->pieces.place = place;
	return ret;
}

int tap_explain_waits_scx_early(struct tap_explain_waits *w, const struct tap_task *task,
				enum tap_scx_place place)
{
	struct tap_explain_task *t =
		tap_array_at(&w->tasks, &w->nr_tasks, task->index, sizeof(*t), NULL);

	if (!t)
		return -ENOMEM;
	t->scx = place;
	t->scx_ns = task->since_ns; /* as if it had been put there when the wait began */
	return 0;
}

/* ---- CPUs ---- */

/* Start tracking all waits that are not tracked yet. */
static int find_all(struct tap_explain_waits *w)
{
	unsigned int nr_tasks, nr = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(w->timeline, &nr_tasks);
	struct tap_explain_wait *wait;
	int ret = 0;

	for (; w->nr_seen < nr_tasks; w->nr_seen++) {
		if (tap_array_grow(&w->alive, w->nr_alive, &w->cap_alive,
				   sizeof(struct tap_task *)))
			return -ENOMEM;
		w->alive[w->nr_alive++] = tasks[w->nr_seen];
	}
	for (unsigned int i = 0; i < w->nr_alive && !ret; i++) {
		if (w->alive[i]->state == TAP_STATE_DEAD)
			continue;
		w->alive[nr++] = w->alive[i];
		ret = is_wait(w->alive[i]->state) ? find_wait(w, w->alive[i], &wait) : 0;
	}
	if (!ret)
		w->nr_alive = nr;
	return ret;
}

/* A log is full: look at all waits, after which the logs are not needed any more. */
static int make_room(struct tap_explain_waits *w, uint64_t now_ns)
{
	int ret = find_all(w);

	for (unsigned int i = 0; i < w->nr_waiting && !ret; i++)
		ret = look_at(w, w->waits[i], now_ns, w->waits[i]->task->cpu);
	tap_cpu_logs_clear(&w->logs);
	for (unsigned int cpu = 0; cpu < w->nr_blocks; cpu++) {
		w->blocks[cpu].nr_of_groups = 0;
		for (unsigned int i = 0; i < TAP_CPU_LOG_BLOCKS; i++)
			w->blocks[cpu].v[i].nr = w->blocks[cpu].of_group[i].nr = 0;
	}
	return ret;
}

int tap_explain_waits_cpu(void *waits, const struct tap_timeline *t,
			  const struct tap_cpu_interval *s)
{
	struct tap_explain_waits *w = waits;
	int ret = tap_cpu_log_interval(&w->logs, s);

	tap_explain_waits_follow(w, t);
	return ret > 0 ? make_room(w, s->to_ns) : ret;
}

int tap_explain_waits_irq(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_soft,
			  bool begins)
{
	int ret = tap_cpu_log_irq(&w->logs, cpu, ts_ns, is_soft, begins);

	return ret > 0 ? make_room(w, ts_ns) : ret;
}

int tap_explain_waits_idle(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool enters)
{
	int ret = tap_cpu_log_idle(&w->logs, cpu, ts_ns, enters);

	return ret > 0 ? make_room(w, ts_ns) : ret;
}

int tap_explain_waits_asked(struct tap_explain_waits *w, int cpu, uint64_t ts_ns,
			    enum tap_asked asked)
{
	int ret = tap_cpu_log_asked(&w->logs, cpu, ts_ns, asked);

	return ret > 0 ? make_room(w, ts_ns) : ret;
}

int tap_explain_waits_prio(struct tap_explain_waits *w, const struct tap_task *task, uint64_t ts_ns,
			   int old)
{
	struct tap_explain_wait *wait;
	struct tap_task before;
	int ret;

	if (task->state == TAP_STATE_RUNNING) {
		ret = tap_cpu_log_prio(&w->logs, task->cpu, ts_ns, old, task->prio);
		return ret > 0 ? make_room(w, ts_ns) : ret;
	}
	ret = find_wait(w, task, &wait);
	if (ret || !wait)
		return ret;
	/* until now it waited with the old priority */
	before = *task;
	before.prio = old;
	wait->pieces.task = &before;
	ret = look_at(w, wait, ts_ns, task->cpu);
	wait->pieces.task = task;
	queue_again(&wait->pieces, ts_ns);
	return ret;
}

int tap_explain_waits_exited(struct tap_explain_waits *w, int cpu, uint64_t ts_ns, bool is_switch)
{
	int ret = tap_cpu_log_exited(&w->logs, cpu, ts_ns, is_switch);

	return ret > 0 ? make_room(w, ts_ns) : ret;
}

/* A pick reports which group is a member of which other group. */
static int put_parents(struct tap_explain_waits *w, const struct tap_sched_pick *picked)
{
	for (unsigned int i = 0; i < picked->nr_levels; i++) {
		uint64_t *parent = tap_map_put(&w->parents, (uint32_t)picked->levels[i].group);

		if (!parent)
			return -ENOMEM;
		*parent = (uint32_t)tap_picked_parent(picked, i);
	}
	return 0;
}

int tap_explain_waits_picked(struct tap_explain_waits *w, const struct tap_sched_pick *picked)
{
	const struct tap_task *task =
		picked->tid ? tap_timeline_task(w->timeline, picked->tid) : NULL;
	struct tap_explain_task *t =
		task ? tap_array_at(&w->tasks, &w->nr_tasks, task->index, sizeof(*t), NULL) : NULL;
	struct tap_explain_wait *wait;

	if (task && !t)
		return -ENOMEM;
	/* the wait so far was in the queue of the previous group */
	if (t && t->group && t->group != picked->group && find_wait(w, task, &wait))
		return -ENOMEM;
	if (t)
		t->group = picked->group;
	return put_parents(w, picked) ?: tap_cpu_log_picked(&w->logs, picked);
}
