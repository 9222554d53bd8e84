// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program and the libraries that it has loaded, as far as they define tracepoints. */
#include "tracepoint/internal.h"

#include <pthread.h>

struct tap_object *tap_objects;

static struct notifier_block *notifiers;

static struct tp_module module_of(const struct tap_object *object)
{
	return (struct tp_module){ object->tracepoints,
				   (unsigned int)(object->tracepoints_end - object->tracepoints) };
}

/* Without the lock: a notifier registers probes. */
static void notify(const struct tap_object *object, unsigned long action)
{
	struct tp_module module = module_of(object);

	for (struct notifier_block *nb = notifiers; nb; nb = nb->next)
		nb->notifier_call(nb, action, &module);
}

/* Hangs each event on its tracepoint. */
static void link_events(struct tap_object *object)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end; call++) {
		struct trace_event_call **end = &(*call)->tp->call;

		(*call)->next = NULL;
		for ((*call)->bit = 0; *end; end = &(*end)->next)
			(*call)->bit++;
		*end = *call;
		if (!(*call)->bit)
			(*call)->tp->own = (struct tracepoint_func){
				(*call)->event_class->probe, *call, TRACEPOINT_DEFAULT_PRIO };
	}
}

static void in_child(void)
{
	if (tap_process && !tap_process->known)
		tap_control_detach();
}

void tap_object_add(struct tap_object *object)
{
	static bool forks_watched;
	bool first;

	if (tap_process_init()) {
		tap_set_reason("out of memory");
		return;
	}
	tap_lock();
	first = !object->uses++;
	if (first) {
		object->next = tap_objects;
		tap_objects = object;
		link_events(object);
		tap_control_open();
		tap_control_add_object(object);
		tap_look_at_object(object);
	}
	if (!forks_watched)
		forks_watched = !pthread_atfork(NULL, NULL, in_child);
	tap_unlock();
	if (first)
		notify(object, MODULE_STATE_COMING);
}

void tap_object_remove(struct tap_object *object)
{
	struct tap_object **at = &tap_objects;

	if (!object->uses || --object->uses)
		return;
	notify(object, MODULE_STATE_GOING);
	tap_lock();
	while (*at && *at != object)
		at = &(*at)->next;
	if (*at)
		*at = object->next;
	tap_drop_object(object);
	tap_control_remove_object(object);
	if (!tap_objects)
		tap_control_close();
	tap_unlock();
	/* its probes may still run: its code must stay until they have ended */
	tracepoint_synchronize_unregister();
}

void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	for (struct tap_object *object = tap_objects; object; object = object->next)
		for (struct tracepoint *const *tp = object->tracepoints;
		     tp < object->tracepoints_end; tp++)
			fct(*tp, priv);
}

int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **at = &notifiers;

	for (struct notifier_block *other = notifiers; other; other = other->next)
		if (other == nb)
			return -EEXIST;
	while (*at && (*at)->priority >= nb->priority)
		at = &(*at)->next;
	nb->next = *at;
	*at = nb;
	for (struct tap_object *object = tap_objects; object; object = object->next) {
		struct tp_module module = module_of(object);

		nb->notifier_call(nb, MODULE_STATE_COMING, &module);
	}
	return 0;
}

int unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **at = &notifiers;

	while (*at && *at != nb)
		at = &(*at)->next;
	if (!*at)
		return -ENOENT;
	*at = nb->next;
	return 0;
}
