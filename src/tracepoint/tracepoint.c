// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probes and their order, as in kernel/tracepoint.c: a tracepoint's array of probes is never
 * changed but replaced, and the old one is freed when no thread can still be walking it. An event's
 * own probe is a probe like any other, registered when a controller wants the event.
 */
#include "tracepoint/internal.h"

static int find_probe(const struct tracepoint_func *funcs, const void *func, const void *data)
{
	for (unsigned int i = 0; funcs && funcs[i].func; i++)
		if (funcs[i].func == func && funcs[i].data == data)
			return (int)i;
	return -ENOENT;
}

/* Return the index after the last probe of the same or a higher priority. */
static unsigned int find_place(const struct tracepoint_func *funcs, int prio)
{
	unsigned int at = 0;

	while (funcs && funcs[at].func && funcs[at].prio >= prio)
		at++;
	return at;
}

static unsigned int count_probes(const struct tracepoint_func *funcs)
{
	return find_place(funcs, INT_MIN);
}

static size_t array_bytes(unsigned int nr)
{
	return (nr + 1) * sizeof(struct tracepoint_func);
}

/*
 * Copy the array, with @add inserted at index @at, or, if @add is NULL, without the element at @at.
 */
static struct tracepoint_func *copy_probes(const struct tracepoint_func *old, unsigned int at,
					   const struct tracepoint_func *add)
{
	unsigned int nr = count_probes(old), skip = add ? 0 : 1;
	struct tracepoint_func *new = tap_pool_get(array_bytes(nr + 1 - 2 * skip));

	if (!new)
		return NULL;
	if (old) {
		memcpy(new, old, at * sizeof(*new));
		memcpy(new + at + !skip, old + at + skip, (nr - at - skip) * sizeof(*new));
	}
	if (add)
		new[at] = *add;
	memset(new + nr + !skip - skip, 0, sizeof(*new));
	return new;
}

/* Return a bit mask of the tracepoint's events whose own probes are registered. */
static uint8_t events_among(const struct tracepoint *tp)
{
	uint8_t bits = 0;

	for (struct trace_event_call *call = tp->call; call; call = call->next)
		if (find_probe(tp->funcs, call->probe, call) >= 0)
			bits |= (uint8_t)(1u << call->bit);
	return bits;
}

/* Update the word's flag for probes other than the events' own. */
static void note_probes(struct tracepoint *tp)
{
	struct tap_word *word = (struct tap_word *)tp->on;
	unsigned int events = (unsigned int)__builtin_popcount(events_among(tp));

	__atomic_store_n(&word->probes, count_probes(tp->funcs) > events, __ATOMIC_RELEASE);
}

static void replace_probes(struct tracepoint *tp, struct tracepoint_func *new)
{
	struct tracepoint_func *old = tp->funcs;

	__atomic_store_n(&tp->funcs, new, __ATOMIC_SEQ_CST);
	note_probes(tp);
	if (old)
		tap_retire(old, array_bytes(count_probes(old)));
}

static int add_probe(struct tracepoint *tp, void *func, void *data, int prio)
{
	const struct tracepoint_func probe = { func, data, prio };
	struct tracepoint_func *new;
	int ret;

	if (!func)
		return -EINVAL;
	if (find_probe(tp->funcs, func, data) >= 0)
		return -EEXIST;
	if (!tp->funcs && tp->regfunc) {
		ret = tp->regfunc();
		if (ret < 0)
			return ret;
	}
	new = copy_probes(tp->funcs, find_place(tp->funcs, prio), &probe);
	if (!new) {
		if (!tp->funcs && tp->unregfunc)
			tp->unregfunc();
		return -ENOMEM;
	}
	replace_probes(tp, new);
	static_key_enable(&tp->key);
	return 0;
}

static int remove_probe(struct tracepoint *tp, void *func, void *data)
{
	struct tracepoint_func *new = NULL;
	int at = find_probe(tp->funcs, func, data);

	if (!func)
		return -EINVAL;
	if (at < 0)
		return -ENOENT;
	if (count_probes(tp->funcs) > 1) {
		new = copy_probes(tp->funcs, (unsigned int)at, NULL);
		if (!new)
			return -ENOMEM;
	} else {
		static_key_disable(&tp->key);
		if (tp->unregfunc)
			tp->unregfunc();
	}
	replace_probes(tp, new);
	return 0;
}

static int change_probe(struct tracepoint *tp, void *func, void *data, int prio, bool on)
{
	return on ? add_probe(tp, func, data, prio) : remove_probe(tp, func, data);
}

static int change_locked(struct tracepoint *tp, void *func, void *data, int prio, bool on)
{
	int ret = tap_process_init();

	if (ret)
		return ret;
	if (!tap_lock())
		return -EDEADLK;
	ret = change_probe(tp, func, data, prio, on);
	tap_unlock();
	return ret;
}

int tracepoint_probe_register_prio(struct tracepoint *tp, void *probe, void *data, int prio)
{
	return change_locked(tp, probe, data, prio, true);
}

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register_prio(tp, probe, data, TRACEPOINT_DEFAULT_PRIO);
}

int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp, void *probe, void *data,
					     int prio)
{
	return tracepoint_probe_register_prio(tp, probe, data, prio);
}

int tracepoint_probe_register_may_exist(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register(tp, probe, data);
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	return change_locked(tp, probe, data, 0, false);
}

static void switch_event(struct tracepoint *tp, struct trace_event_call *call, bool on)
{
	int ret = change_probe(tp, call->probe, call, TRACEPOINT_DEFAULT_PRIO, on);

	if (ret && ret != -EEXIST && ret != -ENOENT)
		tap_set_reason("cannot switch '%s' %s: %s", trace_event_name(call),
			       on ? "on" : "off", strerror(-ret));
}

void tap_apply_wanted(struct tracepoint *tp)
{
	struct tap_word *word = (struct tap_word *)tp->on;
	uint8_t wanted = __atomic_load_n(&word->wanted, __ATOMIC_ACQUIRE);

	if (__atomic_exchange_n(&word->filters, 0, __ATOMIC_ACQ_REL))
		tap_filters_take(tp);
	for (struct trace_event_call *call = tp->call; call; call = call->next)
		if ((wanted ^ word->applied) & 1u << call->bit)
			switch_event(tp, call, wanted & 1u << call->bit);
	/* also after a failure: do not try again until `wanted` changes */
	__atomic_store_n(&word->applied, wanted, __ATOMIC_RELEASE);
}

void for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, void *priv),
				const struct tap_object *mod, void *priv)
{
	for (struct tracepoint *const *tp = mod->tracepoints; tp < mod->tracepoints_end; tp++)
		fct(*tp, priv);
	/* a custom event's tracepoint is another event's, or in the list above */
	for (struct trace_event_call *const *call = mod->events; call < mod->events_end; call++)
		if (!(*call)->own_name)
			fct((*call)->tp, priv);
}

static void apply_if_changed(struct tracepoint *tp, void *unused)
{
	(void)unused;
	if (tap_tracepoint_changed(tp))
		tap_apply_wanted(tp);
}

void tap_apply_object(const struct tap_object *object)
{
	for_each_module_tracepoint(apply_if_changed, object, NULL);
}

void tap_apply_objects(void)
{
	if (!tap_lock())
		return;
	for (const struct tap_object *o = tap_objects; o; o = o->next)
		tap_apply_object(o);
	tap_unlock();
}

static void note_state(struct tracepoint *tp, void *unused)
{
	struct tap_word *word = (struct tap_word *)tp->on;

	(void)unused;
	__atomic_store_n(&word->applied, events_among(tp), __ATOMIC_RELEASE);
	note_probes(tp);
}

void tap_note_state(const struct tap_object *object)
{
	for_each_module_tracepoint(note_state, object, NULL);
}

static void drop_probes(struct tracepoint *tp, void *unused)
{
	(void)unused;
	if (!tp->funcs)
		return;
	static_key_disable(&tp->key);
	if (tp->unregfunc)
		tp->unregfunc();
	replace_probes(tp, NULL);
}

void tap_drop_object(const struct tap_object *object)
{
	for_each_module_tracepoint(drop_probes, object, NULL);
}
