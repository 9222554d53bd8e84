// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* List of the objects (the program and loaded libraries) that define tracepoints. */
#include "tracepoint/internal.h"
#include "tracepoint/rseq.h"

static struct notifier_block *notifiers;

/* Called without the main lock, because a notifier registers probes. */
static void notify_all(const struct tap_object *object, unsigned long action)
{
	for (struct notifier_block *nb = notifiers; nb; nb = nb->next)
		nb->notifier_call(nb, action, &(struct tp_module){ object });
}

/* Add each event to its tracepoint's list. */
static void link_events(struct tap_object *object)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end;
	     call++) {
		struct trace_event_call **end = &(*call)->tp->call;

		(*call)->next = NULL;
		for ((*call)->bit = 0; *end; end = &(*end)->next)
			(*call)->bit++;
		*end = *call;
		if (!(*call)->bit)
			(*call)->tp->own = (*call)->probe;
	}
}

static void in_child(void)
{
	if (!tap_process || tap_process->pid)
		return;
	tap_object_areas_detach();
	/* without a watcher, the first thread that passes a site sets up the child */
	if (!tap_watcher_is_wanted() || !tap_lock())
		return;
	tap_child_set_up();
	tap_watcher_start();
	tap_unlock();
}

/*
 * Register an object when its first file does. The lists of objects and notifiers are changed and
 * walked under a lock of their own, because callbacks called for each element register probes. A
 * notifier must not load or unload libraries. Return: false if this thread has the main lock, in a
 * regfunc().
 */
static bool add_first(struct tap_object *object)
{
	if (!tap_lock())
		return false;
	/*
	 * now: once the process has several threads, registering for membarrier() takes
	 * milliseconds
	 */
	tap_rcu_init();
	object->next = tap_objects;
	tap_objects = object;
	link_events(object);
	if (tap_control_open())
		tap_rseq_init();
	tap_object_area_add(object);
	tap_control_let_go();
	tap_apply_object(object);
	tap_process_watch_forks(in_child);
	tap_unlock();
	notify_all(object, MODULE_STATE_COMING);
	return true;
}

void tap_object_add(struct tap_object *object)
{
	bool first;

	if (tap_process_init()) {
		tap_set_reason("out of memory");
		return;
	}
	if (object->abi.library > TAP_ABI) {
		tap_set_reason("events of a library are off: the library was built for a later "
			       "libschedtap-tracepoint");
		return;
	}
	if (!tap_lock_of(&tap_process->lists)) {
		tap_set_reason(
			"events of a library are off: a notifier callback loaded the library");
		return;
	}
	first = !object->uses;
	if (!first || add_first(object))
		object->uses++;
	else
		tap_set_reason(
			"events of a library are off: a regfunc() callback loaded the library");
	tap_unlock_of(&tap_process->lists);
	if (first)
		tap_env_start();
}

static void remove_last(struct tap_object *object)
{
	struct tap_object **at = &tap_objects;
	bool locked;

	notify_all(object, MODULE_STATE_GOING);
	/*
	 * if a regfunc() unloads a library this thread already has the lock; go on without taking
	 * it
	 */
	locked = tap_lock();
	while (*at && *at != object)
		at = &(*at)->next;
	if (*at)
		*at = object->next;
	tap_drop_object(object);
	tap_object_area_remove(object);
	if (locked)
		tap_unlock();
	/* its probes may still run: its code must stay mapped until they have returned */
	tracepoint_synchronize_unregister();
}

void tap_object_remove(struct tap_object *object)
{
	bool locked;

	if (!tap_process)
		return;
	locked = tap_lock_of(&tap_process->lists);
	if (object->uses && !--object->uses)
		remove_last(object);
	if (locked)
		tap_unlock_of(&tap_process->lists);
}

/* Runs after the objects' destructors, which have a higher priority number (102). */
static void __attribute__((destructor(101))) finish_program(void)
{
	tap_env_finish();
	tap_control_close();
}

void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	bool locked;

	if (tap_process_init())
		return;
	locked = tap_lock_of(&tap_process->lists);
	for (struct tap_object *object = tap_objects; object; object = object->next)
		for_each_module_tracepoint(fct, object, priv);
	if (locked)
		tap_unlock_of(&tap_process->lists);
}

static struct notifier_block **find_notifier(const struct notifier_block *nb)
{
	struct notifier_block **at = &notifiers;

	while (*at && *at != nb)
		at = &(*at)->next;
	return at;
}

static void insert_notifier(struct notifier_block *nb)
{
	struct notifier_block **at = &notifiers;

	while (*at && (*at)->priority >= nb->priority)
		at = &(*at)->next;
	nb->next = *at;
	*at = nb;
}

int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	int ret = tap_process_init();

	if (ret)
		return ret;
	if (!tap_lock_of(&tap_process->lists))
		return -EDEADLK;
	if (*find_notifier(nb)) {
		tap_unlock_of(&tap_process->lists);
		return -EEXIST;
	}
	insert_notifier(nb);
	for (struct tap_object *object = tap_objects; object; object = object->next)
		nb->notifier_call(nb, MODULE_STATE_COMING, &(struct tp_module){ object });
	tap_unlock_of(&tap_process->lists);
	return 0;
}

int unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **at;
	int ret = tap_process_init();

	if (ret)
		return ret;
	if (!tap_lock_of(&tap_process->lists))
		return -EDEADLK;
	at = find_notifier(nb);
	if (*at)
		*at = nb->next;
	else
		ret = -ENOENT;
	tap_unlock_of(&tap_process->lists);
	return ret;
}
