// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes the events of events/ trace events of the kernel. Each event takes the arguments of a bare
 * tracepoint as it passes them, so the event class's probe is attached to the tracepoint directly:
 * from when ftrace or perf first enables the event until the last of them disables it. If no event
 * is enabled, nothing is attached.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>
#include <linux/tracepoint.h>
#include <linux/utsname.h>

#include <generated/utsrelease.h>

#include "vocabulary.h"

/* Expansion of macros that mean nothing in a stage; valid at file scope and inside functions. */
#define NOTHING _Static_assert(1, "")

#define TRACE_HOOK(event, tracepoint, proto, args) NOTHING
#define TRACE_NEEDS(event, field, spec) NOTHING

/*
 * The kernel's macros put an event into the section from which the kernel creates its files by
 * "static struct trace_event_call *__event_<name> = ...;". For events that this kernel cannot have,
 * layout.h defines that name as TAP_NO_EVENT(): nothing is put into the section, and the pointer is
 * unused.
 */
#define TAP_NO_EVENT(name)                                                                         \
	tap_no_##name[0];                                                                          \
	static void __maybe_unused *tap_ignored_##name

/* The macros that define the event classes use this function as their trace_event_reg(). */
static int tap_event_reg(struct trace_event_call *call, enum trace_reg type, void *data);
#define trace_event_reg tap_event_reg
#define CREATE_TRACE_POINTS
#include "families.h"
#undef trace_event_reg
#undef CREATE_TRACE_POINTS

/* An event and the tracepoint that feeds it. */
struct hook {
	struct trace_event_call *call;
	const char *name; /* the tracepoint's name */
	struct tracepoint *feed; /* NULL: not found yet */
	void *probe, *perf_probe;
};

/* An attached probe. */
struct attached {
	struct list_head list;
	struct tracepoint *feed;
	void *probe, *data;
};

#define MAX_HOOKS 32u

static struct hook hooks[MAX_HOOKS]; /* one per tracepoint of each event that this kernel has */
static unsigned int nr_hooks;

static DEFINE_MUTEX(attached_lock); /* protects all_attached and is_going */
static LIST_HEAD(all_attached);
static bool is_going; /* set when unloading, or if loading fails: no more probes may be attached */

/* ---- events with a condition, which is tested before the class's probe is called ---- */

#undef TRACE_EVENT
#undef TRACE_EVENT_CONDITION
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#undef TP_PROTO
#undef TP_ARGS
#undef TP_CONDITION
#define TRACE_HEADER_MULTI_READ
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define TP_CONDITION(args...) args
#define TRACE_EVENT(...) NOTHING
#define DECLARE_EVENT_CLASS(...) NOTHING
#define DEFINE_EVENT(...) NOTHING
/* clang-format off */
#define TRACE_EVENT_CONDITION(event, proto, args, cond, ...)                                       \
	static void probe_##event(void *data, proto)                                               \
	{                                                                                          \
		if (cond)                                                                          \
			((void (*)(void *, proto))event_class_##event.probe)(data, args);          \
	}                                                                                          \
	TAP_PERF_PROBE(event, PARAMS(proto), PARAMS(args), PARAMS(cond))
/* clang-format on */
#ifdef CONFIG_PERF_EVENTS
#define TAP_PERF_PROBE(event, proto, args, cond)                                                   \
	static void perf_probe_##event(void *data, proto)                                          \
	{                                                                                          \
		if (cond)                                                                          \
			((void (*)(void *, proto))event_class_##event.perf_probe)(data, args);     \
	}                                                                                          \
	NOTHING
#else
#define TAP_PERF_PROBE(event, proto, args, cond) NOTHING
#endif
#include "families.h"

/* ---- the table of hooks ---- */

static struct hook *find_hook(const struct trace_event_call *call)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].call == call && hooks[i].feed)
			return &hooks[i];
	return NULL;
}

static int attach(struct tracepoint *feed, void *probe, void *data)
{
	struct attached *a = kmalloc(sizeof(*a), GFP_KERNEL);
	int ret;

	if (!a)
		return -ENOMEM;
	*a = (struct attached){ .feed = feed, .probe = probe, .data = data };
	mutex_lock(&attached_lock);
	ret = is_going ? -ENODEV : tracepoint_probe_register(feed, probe, data);
	if (!ret)
		list_add(&a->list, &all_attached);
	mutex_unlock(&attached_lock);
	if (ret)
		kfree(a);
	return ret;
}

static void detach_one(struct attached *a)
{
	WARN_ON_ONCE(tracepoint_probe_unregister(a->feed, a->probe, a->data));
	list_del(&a->list);
	kfree(a);
}

static int detach(struct tracepoint *feed, void *probe, void *data)
{
	struct attached *a, *next;

	mutex_lock(&attached_lock);
	list_for_each_entry_safe(a, next, &all_attached,
				 list) if (a->feed == feed && a->probe == probe && a->data == data)
		detach_one(a);
	mutex_unlock(&attached_lock);
	return 0;
}

static int tap_event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct hook *h = find_hook(call);

	if (!h) /* the module is still being initialized */
		return -ENODEV;
	switch (type) {
	case TRACE_REG_REGISTER:
		return attach(h->feed, h->probe, data);
	case TRACE_REG_UNREGISTER:
		return detach(h->feed, h->probe, data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return attach(h->feed, h->perf_probe, call);
	case TRACE_REG_PERF_UNREGISTER:
		return detach(h->feed, h->perf_probe, call);
#endif
	default: /* perf opens, adds, deletes and closes: nothing to do */
		return 0;
	}
}

static const struct {
	const char *event, *why;
} absent[] = { TAP_ABSENT };

static bool __init is_absent(struct trace_event_call *call)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(absent); i++)
		if (!strcmp(absent[i].event, trace_event_name(call)))
			return true;
	return false;
}

static void __init add_hook(struct trace_event_call *call, const char *tracepoint)
{
	struct hook h = { .call = call, .name = tracepoint, .probe = call->class->probe };

#ifdef CONFIG_PERF_EVENTS
	h.perf_probe = call->class->perf_probe;
#endif
	if (is_absent(call) || WARN_ON_ONCE(nr_hooks == MAX_HOOKS))
		return;
	hooks[nr_hooks++] = h;
}

static void __init add_condition(struct trace_event_call *call, void *probe, void *perf_probe)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (hooks[i].call == call) {
			hooks[i].probe = probe;
			hooks[i].perf_probe = perf_probe;
		}
}

#undef TRACE_EVENT_CONDITION
#undef TRACE_HOOK
#define TRACE_EVENT_CONDITION(...) NOTHING
#define TRACE_HOOK(event, tracepoint, proto, args) add_hook(&event_##event, #tracepoint)

static void __init add_hooks(void)
{
#include "families.h"
}

#undef TRACE_EVENT_CONDITION
#undef TRACE_HOOK
#define TRACE_HOOK(event, tracepoint, proto, args) NOTHING
#ifdef CONFIG_PERF_EVENTS
/* clang-format off */
#define TRACE_EVENT_CONDITION(event, ...)                                                          \
	add_condition(&event_##event, probe_##event, perf_probe_##event)
/* clang-format on */
#else
#define TRACE_EVENT_CONDITION(event, ...) add_condition(&event_##event, probe_##event, NULL)
#endif

static void __init add_conditions(void)
{
#include "families.h"
}

static void __init find_feed(struct tracepoint *tp, void *unused)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (!strcmp(hooks[i].name, tp->name))
			hooks[i].feed = tp;
}

/* Each event needs one of its tracepoints: pelt_hw_tp was named pelt_thermal_tp before v6.10. */
static int __init check_feeds(void)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (!find_hook(hooks[i].call)) {
			pr_err("this kernel has no tracepoint %s, but the types from which this "
			       "was built have it\n",
			       hooks[i].name);
			return -ENODEV;
		}
	return 0;
}

/* ---- print formats ---- */

static bool __init cut(char *text, const char *part)
{
	char *at = strstr(text, part);

	if (at)
		memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
	return at;
}

/*
 * Remove the path from the print formats in the format files, which are for other tools: those
 * cannot call tp_cgroup_path() and would then print only numbers. The text that the kernel prints
 * keeps the path.
 */
static void __init plain_print_fmts(void)
{
	for (unsigned int i = 0; i < nr_hooks; i++)
		if (cut(hooks[i].call->print_fmt, __stringify(tp_cgroup_path(REC->cgroup)) ", "))
			cut(hooks[i].call->print_fmt, "path=%s ");
}

/* ---- cgroup paths ---- */

#if TAP_HAS_cgroup_get_from_id
/*
 * Return true if the caller may take locks. Readers may; printing when an event fires (tp_printk)
 * or when the kernel crashes (ftrace_dump_on_oops) must not.
 */
static bool may_ask(void)
{
	return !irqs_disabled() && !in_interrupt() && !oops_in_progress;
}

static void put_path(struct trace_seq *p, u64 id)
{
	struct cgroup *cgroup = id && may_ask() ? cgroup_get_from_id(id) : NULL;
	char *buf;

	if (IS_ERR_OR_NULL(cgroup))
		return;
	buf = kmalloc(PATH_MAX, GFP_ATOMIC);
	if (buf && cgroup_path(cgroup, buf, PATH_MAX) > 0)
		trace_seq_puts(p, buf);
	kfree(buf);
	cgroup_put(cgroup);
}
#else /* before v5.18 only the root's path is known */
static void put_path(struct trace_seq *p, u64 id)
{
}
#endif

const char *tap_cgroup_path(struct trace_seq *p, u64 id)
{
	const char *path = trace_seq_buffer_ptr(p);

	/* id of the hierarchy's root; on 32-bit kernels the upper half is a generation number */
	if ((u32)id == 1)
		trace_seq_putc(p, '/');
	else
		put_path(p, id);
	trace_seq_putc(p, '\0');
	return path;
}

/*
 * The kernel does not compare the release if it has checksums of symbols to compare, and the
 * private structs are not part of any checksum.
 */
static int __init check_release(void)
{
	if (!strcmp(init_uts_ns.name.release, UTS_RELEASE))
		return 0;
	pr_err("built for kernel " UTS_RELEASE ", this is %s\n", init_uts_ns.name.release);
	return -ENOEXEC;
}

/*
 * Detach all probes. The kernel disables events that are still enabled only later, and does not
 * wait for running probes then, because they are on tracepoints that are not the module's.
 */
static void detach_all(void)
{
	struct attached *a, *next;

	mutex_lock(&attached_lock);
	is_going = true;
	list_for_each_entry_safe(a, next, &all_attached, list) detach_one(a);
	mutex_unlock(&attached_lock);
	tracepoint_synchronize_unregister();
}

static int __init schedtap_init(void)
{
	int ret = check_release();

	if (ret)
		return ret;
	for (unsigned int i = 0; i < ARRAY_SIZE(absent); i++)
		pr_info("no event %s: %s\n", absent[i].event, absent[i].why);
	add_hooks();
	add_conditions();
	plain_print_fmts();
	for_each_kernel_tracepoint(find_feed, NULL);
	ret = check_feeds();
	if (ret)
		detach_all(); /* an event may have been enabled already */
	return ret;
}

static void __exit schedtap_exit(void)
{
	detach_all();
}

module_init(schedtap_init);
module_exit(schedtap_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("The scheduler's bare tracepoints as trace events");
