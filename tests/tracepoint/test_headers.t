#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the kernel's API has is there, and works: in C and C++, with gcc and clang, with and without
# optimisation, position independence and LTO, in a static program, across a shared library, and compiled
# to nothing. All of it without a word from the compiler. The oldest standard of a language in all ways, the newer one in
# one way; SOAK=1: each in all.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $build = $ENV{BUILD} ? abs_path($ENV{BUILD}) : "$top/build";
my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my $flags = "-I$top/include/schedtap/kernel -I$top/include -I. -Wall -Wextra -Werror";

# Their parts of an event header are not there outside of it.
my @macros = qw(TRACE_EVENT DECLARE_EVENT_CLASS DEFINE_EVENT DEFINE_EVENT_PRINT DEFINE_EVENT_FN DEFINE_EVENT_CONDITION
	DEFINE_EVENT_WRITABLE TRACE_EVENT_FN TRACE_EVENT_FN_COND TRACE_EVENT_CONDITION TRACE_EVENT_NOP DECLARE_EVENT_CLASS_NOP
	DEFINE_EVENT_NOP DECLARE_EVENT_NOP TRACE_EVENT_FLAGS TRACE_EVENT_PERF_PERM TRACE_DEFINE_ENUM TRACE_DEFINE_SIZEOF
	TRACE_CUSTOM_EVENT DECLARE_CUSTOM_EVENT_CLASS DEFINE_CUSTOM_EVENT DECLARE_TRACE DECLARE_TRACE_CONDITION
	DECLARE_TRACE_WRITABLE DECLARE_TRACE_SYSCALL DECLARE_TRACE_EVENT DECLARE_TRACE_EVENT_CONDITION
	DECLARE_TRACE_EVENT_SYSCALL TRACE_EVENT_SYSCALL DEFINE_TRACE DEFINE_TRACE_FN DEFINE_TRACE_SYSCALL EXPORT_TRACEPOINT_SYMBOL EXPORT_TRACEPOINT_SYMBOL_GPL
	DECLARE_TRACEPOINT tracepoint_enabled TP_PROTO TP_ARGS TP_CONDITION PARAMS tracepoint_string for_each_kernel_tracepoint
	TRACEPOINT_DEFAULT_PRIO __stringify);
my @functions = qw(tracepoint_probe_register tracepoint_probe_register_prio tracepoint_probe_register_may_exist
	tracepoint_probe_register_prio_may_exist tracepoint_probe_unregister tracepoint_synchronize_unregister
	register_tracepoint_module_notifier unregister_tracepoint_module_notifier);

sub header {
	my ($system, $body) = @_;

	spew("$dir/$system.h", <<"	END" =~ s/^\t\t//mgr =~ s/BODY\n/$body/r);
		#undef TRACE_SYSTEM
		#define TRACE_SYSTEM $system
		#if !defined(H_$system) || defined(TRACE_HEADER_MULTI_READ)
		#define H_$system
		#include <schedtap/tracepoint.h>
		BODY
		#endif
		#undef TRACE_INCLUDE_PATH
		#undef TRACE_INCLUDE_FILE
		#define TRACE_INCLUDE_PATH .
		#define TRACE_INCLUDE_FILE $system
		#include <schedtap/define_trace.h>
	END
}

header('alpha', <<'END');
TRACE_EVENT(alpha_one, TP_PROTO(int x, const char *s), TP_ARGS(x, s),
	TP_STRUCT__entry(__field(int, x) __string(s, s) __string(t, s)),
	TP_fast_assign(__entry->x = x; __assign_str(s); __assign_str(t, s);),
	TP_printk("%d %s %s %s", __entry->x, __get_str(s), __get_str(t),
		  __print_symbolic(__entry->x, { 1, "one" }, { 2, "two" })));
DECLARE_EVENT_CLASS(alpha_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DEFINE_EVENT(alpha_class, alpha_two, TP_PROTO(int x), TP_ARGS(x));
DEFINE_EVENT_PRINT(alpha_class, alpha_print, TP_PROTO(int x), TP_ARGS(x), TP_printk("<%d>", __entry->x));
DEFINE_EVENT_CONDITION(alpha_class, alpha_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DEFINE_EVENT_WRITABLE(alpha_class, alpha_writable, TP_PROTO(int x), TP_ARGS(x), sizeof(int));
DECLARE_TRACE(alpha_bare, TP_PROTO(int x), TP_ARGS(x));
DECLARE_TRACE_CONDITION(alpha_bare_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DECLARE_TRACE_WRITABLE(alpha_bare_writable, TP_PROTO(int x), TP_ARGS(x), sizeof(int));
DECLARE_TRACE_SYSCALL(alpha_bare_syscall, TP_PROTO(int x), TP_ARGS(x));
DECLARE_TRACE_EVENT(alpha_event, TP_PROTO(int x), TP_ARGS(x));
DECLARE_TRACE_EVENT_CONDITION(alpha_event_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DECLARE_TRACE_EVENT_SYSCALL(alpha_event_syscall, TP_PROTO(int x), TP_ARGS(x));
TRACE_EVENT_NOP(alpha_nop, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DECLARE_EVENT_CLASS_NOP(alpha_nop_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DEFINE_EVENT_NOP(alpha_nop_class, alpha_nop_two, TP_PROTO(int x), TP_ARGS(x));
TRACE_EVENT_FLAGS(alpha_one, TRACE_EVENT_FL_CAP_ANY)
TRACE_EVENT_PERF_PERM(alpha_one, 0)
TRACE_EVENT(alpha_none, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(__field(int, x)), TP_fast_assign(__entry->x = 8;),
	TP_printk("none %d", __entry->x));
DECLARE_EVENT_CLASS(alpha_none_class, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
DEFINE_EVENT(alpha_none_class, alpha_none_two, TP_PROTO(void), TP_ARGS());
DEFINE_EVENT_PRINT(alpha_none_class, alpha_none_print, TP_PROTO(void), TP_ARGS(), TP_printk("nothing either"));
DEFINE_EVENT_CONDITION(alpha_none_class, alpha_none_never, TP_PROTO(void), TP_ARGS(), TP_CONDITION(false));
DECLARE_TRACE(alpha_none_bare, TP_PROTO(void), TP_ARGS());
DECLARE_TRACE_CONDITION(alpha_none_bare_never, TP_PROTO(void), TP_ARGS(), TP_CONDITION(false));
TRACE_EVENT_NOP(alpha_none_nop, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
TRACE_EVENT(alpha_names, TP_PROTO(int self, int was, int tp, int it_func, int probe, int data, int prio, int func),
	TP_ARGS(self, was, tp, it_func, probe, data, prio, func), TP_STRUCT__entry(__field(int, self)),
	TP_fast_assign(__entry->self = self + was + tp + it_func + probe + data + prio + func;), TP_printk("%d", __entry->self));
TRACE_CUSTOM_EVENT(alpha_none_bare, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
TRACE_CUSTOM_EVENT(alpha_bare, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("bare %d", __entry->x));
END
header('beta', <<'END');
#ifndef BETA_ONCE
#define BETA_ONCE
enum { BETA_VALUE = 7 };
extern int beta_registered;
#ifdef __cplusplus
extern "C" {
#endif
int beta_reg(void);
void beta_unreg(void);
#ifdef __cplusplus
}
#endif
#endif
TRACE_DEFINE_ENUM(BETA_VALUE);
TRACE_DEFINE_SIZEOF(int);
TRACE_EVENT_FN(beta_fn, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x), beta_reg, beta_unreg);
TRACE_EVENT_SYSCALL(beta_syscall, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x), beta_reg, beta_unreg);
TRACE_EVENT_FN(beta_none_fn, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"),
	beta_reg, beta_unreg);
TRACE_EVENT_CONDITION(beta_none_never, TP_PROTO(void), TP_ARGS(), TP_CONDITION(false), TP_STRUCT__entry(), TP_fast_assign(),
	TP_printk("nothing"));
TRACE_EVENT_FN_COND(beta_none_fn_always, TP_PROTO(void), TP_ARGS(), TP_CONDITION(true), TP_STRUCT__entry(), TP_fast_assign(),
	TP_printk("nothing"), beta_reg, beta_unreg);
TRACE_EVENT_CONDITION(beta_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
TRACE_EVENT_FN_COND(beta_fn_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x), beta_reg, beta_unreg);
END
header('gamma', <<'END');
TRACE_EVENT(gamma_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
TRACE_EVENT(gamma_none, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
END

# a file may define the events of several headers
spew("$dir/a.c", <<'END');
#define CREATE_TRACE_POINTS
#include "alpha.h"
#include "beta.h"
int print_alpha(char *to, size_t size);
EXPORT_TRACEPOINT_SYMBOL(alpha_one);
EXPORT_TRACEPOINT_SYMBOL_GPL(alpha_two);
int beta_registered;
int beta_reg(void)
{
	return beta_registered++, 0;
}
void beta_unreg(void)
{
	beta_registered--;
}
#ifndef NOTRACE
/* a record as the event's own probe would make it */
int print_alpha(char *to, size_t size)
{
	uint64_t rec[8] = { 0 };
	struct trace_event_raw_alpha_one *entry = (struct trace_event_raw_alpha_one *)rec;
	struct trace_seq seq;

	entry->x = 2;
	entry->__data_loc_s = sizeof(*entry) | 5 << 16;
	entry->__data_loc_t = sizeof(*entry) | 5 << 16;
	memcpy((char *)rec + sizeof(*entry), "text", 5);
	trace_event_print(&event_alpha_one, rec, &seq);
	snprintf(to, size, "%s", seq.text);
	return 0;
}
#endif
END
# and so may another file of the same program
spew("$dir/b.c", <<'END');
#define CREATE_TRACE_POINTS
#include "gamma.h"
END
spew("$dir/main.c", <<'END');
#include <stdio.h>
#include <string.h>
#include "alpha.h"
#include "beta.h"
#include "gamma.h"
int print_alpha(char *to, size_t size);
DECLARE_TRACEPOINT(gamma_one);
static int calls, order;
static void count(void *data, int x)
{
	calls += x;
	*(int *)data += 1;
}
static void first(void *data, int x)
{
	(void)data;
	order = order * 10 + x;
}
static void second(void *data, int x)
{
	(void)data, (void)x;
	order = order * 10 + 9;
}
static void named(void *data, int x, const char *s)
{
	(void)s;
	count(data, x);
}
static void none(void *data)
{
	count(data, 0);
}
static int nr;
static void is(int got, int want, const char *what)
{
	printf("%sok %d - %s\n", got == want ? "" : "not ", ++nr, what);
	if (got != want)
		printf("# got %d, want %d\n", got, want);
}
#define EVENT(name, probe, x_times, args...)                                                       \
	do {                                                                                       \
		int seen = 0;                                                                      \
		check_trace_callback_type_##name(probe);                                           \
		is(trace_##name##_enabled(), 0, #name " is off");                                  \
		is(register_trace_##name(probe, &seen), 0, #name " is registered");                \
		is(register_trace_##name(probe, &seen), -EEXIST, #name " is registered once");     \
		is(trace_##name##_enabled(), 1, #name " is on");                                   \
		trace_##name(args);                                                                \
		is(seen, x_times, #name " calls");                                                 \
		trace_call__##name(args);                                                          \
		is(seen, 2 * (x_times), "trace_call__" #name "() calls");                          \
		is(unregister_trace_##name(probe, &seen), 0, #name " is unregistered");            \
		is(unregister_trace_##name(probe, &seen), -ENOENT, #name " is gone");              \
		trace_##name(args);                                                                \
		trace_call__##name(args);                                                          \
		is(seen, 2 * (x_times), #name " does not call any more");                          \
	} while (0)
static void one(struct tracepoint *tp, void *priv)
{
	*(int *)priv += !strcmp(tp->name, "gamma_one") || !strcmp(tp->name, "alpha_one");
}
static int on_module(struct notifier_block *nb, unsigned long action, void *data)
{
	(void)nb;
	calls += action == MODULE_STATE_COMING && ((struct tp_module *)data)->mod;
	return 0;
}
int main(void)
{
	struct notifier_block nb = { on_module, NULL, 0 };
	char text[64] = "";
	int found = 0;

	EVENT(alpha_one, named, 1, 1, "s");
	EVENT(alpha_two, count, 1, 1);
	EVENT(alpha_print, count, 1, 1);
	EVENT(alpha_odd, count, 1, 1);
	EVENT(alpha_odd, count, 0, 2);
	EVENT(alpha_writable, count, 1, 1);
	EVENT(alpha_bare, count, 1, 1);
	EVENT(alpha_bare_odd, count, 0, 2);
	EVENT(alpha_bare_writable, count, 1, 2);
	EVENT(alpha_bare_syscall, count, 1, 2);
	EVENT(alpha_event, count, 1, 1);
	EVENT(alpha_event_odd, count, 0, 2);
	EVENT(alpha_event_syscall, count, 1, 1);
	EVENT(beta_syscall, count, 1, 1);
	EVENT(beta_fn, count, 1, 2);
	EVENT(beta_odd, count, 0, 2);
	EVENT(beta_fn_odd, count, 1, 1);
	EVENT(gamma_one, count, 1, 2);
	EVENT(alpha_none, none, 1);
	EVENT(alpha_none_two, none, 1);
	EVENT(alpha_none_print, none, 1);
	EVENT(alpha_none_never, none, 0);
	EVENT(alpha_none_bare, none, 1);
	EVENT(alpha_none_bare_never, none, 0);
	EVENT(beta_none_fn, none, 1);
	EVENT(beta_none_never, none, 0);
	EVENT(beta_none_fn_always, none, 1);
	trace_alpha_none_nop();
	trace_alpha_nop(1);
	trace_alpha_nop_two(1);
	trace_call__alpha_nop(1);
	is(trace_alpha_nop_enabled(), 0, "an event that is not there is off");
	is(beta_registered, 0, "unregfunc was called as often as regfunc");
	is(register_trace_prio_gamma_one(second, NULL, 1), 0, "a probe");
	is(register_trace_prio_gamma_one(first, NULL, 2), 0, "another one before it");
	is(tracepoint_enabled(gamma_one), 1, "tracepoint_enabled()");
	is(beta_registered, 0, "no regfunc of another event");
	trace_gamma_one(3);
	is(order, 39, "in the order of their priorities");
	unregister_trace_gamma_one(first, NULL);
	unregister_trace_gamma_one(second, NULL);
	tracepoint_synchronize_unregister();
	for_each_kernel_tracepoint(one, &found);
	is(found, 2, "for_each_kernel_tracepoint() finds those of both files, each once");
	calls = 0;
	is(register_tracepoint_module_notifier(&nb), 0, "a notifier");
	is(calls, 1, "is called for the program");
	is(unregister_tracepoint_module_notifier(&nb), 0, "and goes");
	is(unregister_tracepoint_module_notifier(&nb), -ENOENT, "once");
	print_alpha(text, sizeof(text));
	is(strcmp(text, "2 text text two"), 0, "trace_event_print()");
	return 0;
}
END
spew("$dir/every.c", <<'END');
#include <stdio.h>
#include <string.h>
#define CREATE_TRACE_POINTS
#include "portable.h"
#include "portable_fire.h"
int main(void)
{
	portable_fire();
	return 0;
}
END
spew("$dir/nothing.c", <<'END');
#define CREATE_TRACE_POINTS
#include "alpha.h"
static void probe(void *data, int x, const char *s)
{
	(void)data, (void)x, (void)s;
}
static int calls;
static int effect(void)
{
	return ++calls;
}
int main(void)
{
	trace_alpha_one(1, "s");
	trace_alpha_nop(1);
	trace_alpha_none();
	trace_call__alpha_one(1, "s");
	if (trace_alpha_one_enabled())
		return effect();
	return register_trace_alpha_one(probe, 0) != -ENOSYS || unregister_trace_alpha_one(probe, 0) != -ENOSYS ||
	       register_trace_prio_alpha_one(probe, 0, 1) != -ENOSYS || calls;
}
END
spew("$dir/enabled.c", <<'END');
#include <schedtap/tracepoint.h>
DECLARE_TRACEPOINT(something);
int main(void)
{
	return tracepoint_enabled(something) ? 1 : 0;
}
END
spew("$dir/string.c", <<'END');
#include <schedtap/tracepoint.h>
int main(void)
{
	return tracepoint_string("a string")[0] != 'a';
}
END
spew("$dir/library.c", <<'END');
#define CREATE_TRACE_POINTS
#include "gamma.h"
EXPORT_TRACEPOINT_SYMBOL_GPL(gamma_one);
EXPORT_TRACEPOINT_SYMBOL_GPL(gamma_none);
TAP_API void library_fires(void);
void library_fires(void)
{
	trace_gamma_one(1);
	trace_gamma_none();
}
END
spew("$dir/user.c", <<'END');
#define TRACE_IMPORT
#include "gamma.h"
extern void library_fires(void);
static int calls;
static void probe(void *data, int x)
{
	(void)data;
	calls += x;
}
static void none(void *data)
{
	probe(data, 100);
}
int main(void)
{
	if (trace_gamma_one_enabled() || register_trace_gamma_one(probe, NULL) || register_trace_gamma_none(none, NULL))
		return 1;
	library_fires();
	trace_gamma_one(10);
	trace_gamma_none();
	return calls == 211 && !unregister_trace_gamma_one(probe, NULL) && !trace_gamma_one_enabled() ? 0 : 2;
}
END
# a text of the event's own, where the argument is none: compilers know how long that is
spew("$dir/constants.c", <<'END');
#define CREATE_TRACE_POINTS
#include "delta.h"
int main(void)
{
	trace_delta_one("text");
	trace_delta_one(NULL);
	return 0;
}
END
header('delta', <<'END');
TRACE_EVENT(delta_one, TP_PROTO(const char *s), TP_ARGS(s), TP_STRUCT__entry(__string(s, s ? s : "none") __string(t, NULL)),
	TP_fast_assign(__assign_str(s); __assign_str(t);), TP_printk("%s %s", __get_str(s), __get_str(t)));
END
# values of enums below zero are no constant of the table's type in C++
spew("$dir/negative.c", <<'END');
#define CREATE_TRACE_POINTS
#include "epsilon.h"
int main(void)
{
	trace_epsilon_one(-1);
	return 0;
}
END
header('epsilon', <<'END');
TRACE_EVENT(epsilon_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%s", __print_symbolic(__entry->x, { -1, "minus" }, { 1, "one" })));
END
# a semicolon after an event may be left out, as in the kernel
spew("$dir/bare.c", <<'END');
#define CREATE_TRACE_POINTS
#include "iota.h"
int main(void)
{
	trace_iota_one(1);
	trace_iota_two(1);
	return 0;
}
END
header('iota', <<'END');
TRACE_EVENT(iota_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)), TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x))
DECLARE_EVENT_CLASS(iota_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x))
TRACE_DEFINE_SIZEOF(int)
DEFINE_EVENT(iota_class, iota_two, TP_PROTO(int x), TP_ARGS(x))
DECLARE_TRACE(iota_bare, TP_PROTO(int x), TP_ARGS(x))
END
# nothing but the header, which ends with an event
spew("$dir/alone.c", "#include \"iota.h\"\n");
# macros of the header's own around the parts, as in the kernel's btrfs.h
spew("$dir/wrapped.c", <<'END');
#define CREATE_TRACE_POINTS
#include "kappa.h"
int main(void)
{
	trace_kappa_one(1);
	return 0;
}
END
header('kappa', <<'END');
#ifndef KAPPA_ONCE
#define KAPPA_ONCE
#define KAPPA_ID __array(char, id, 4)
#define KAPPA_STRUCT(args...) TP_STRUCT__entry(KAPPA_ID args)
#define KAPPA_ASSIGN(args...) TP_fast_assign(memset(__entry->id, 0, 4); args)
#define KAPPA_PRINTK(fmt, args...) TP_printk("%s: " fmt, __entry->id, args)
#define KAPPA_EVENT(name) DEFINE_EVENT(kappa_class, kappa_##name, TP_PROTO(int x), TP_ARGS(x))
#endif
DECLARE_EVENT_CLASS(kappa_class, TP_PROTO(int x), TP_ARGS(x),
	KAPPA_STRUCT(__field(int, a) __field(int, b) __array(int, more, 2) __array(int, most, 2) __field(int, c) __field(int, d) __dynamic_array(int, e, 2) __string(s, "s")),
	KAPPA_ASSIGN(__entry->a = x; __entry->b = __entry->c = __entry->d = x; __assign_str(s);),
	KAPPA_PRINTK("%d %s", __entry->a, __get_str(s)));
KAPPA_EVENT(one);
KAPPA_EVENT(two);
END
# a field that is called as a macro of libc is, which the event's code uses as well
spew("$dir/errno.c", <<'END');
#include <errno.h>
#define CREATE_TRACE_POINTS
#include "theta.h"
int main(void)
{
	trace_theta_one();
	errno = 0;
	return errno;
}
END
header('theta', <<'END');
TRACE_EVENT(theta_one, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(__field(int, errno)),
	TP_fast_assign(__entry->errno = errno;), TP_printk("%d", __entry->errno));
END
# with TAP_DECLARE_TRACE_TP a tracepoint and an event may have one name, as in the kernel since v6.16
spew("$dir/suffix.c", <<'END');
#define CREATE_TRACE_POINTS
#include "lambda.h"
static int seen;
static void probe(void *data, int x)
{
	(void)data;
	seen += x;
}
int main(void)
{
	if (register_trace_lambda_one_tp(probe, NULL) || register_trace_lambda_two_tp(probe, NULL) ||
	    trace_lambda_one_enabled() || !trace_lambda_one_tp_enabled())
		return 1;
	trace_lambda_one(1);
	trace_lambda_three(1);
	trace_lambda_one_tp(10);
	trace_call__lambda_one_tp(100);
	trace_lambda_two_tp(1000);
	trace_lambda_two_tp(10001);
	return seen != 10111;
}
END
header('lambda', <<'END');
DECLARE_TRACE(lambda_one, TP_PROTO(int x), TP_ARGS(x));
DECLARE_TRACE_CONDITION(lambda_two, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DECLARE_TRACE_EVENT(lambda_three, TP_PROTO(int x), TP_ARGS(x));
TRACE_EVENT(lambda_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)), TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));
TRACE_CUSTOM_EVENT(lambda_two_tp, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
END
# <schedtap/tracepoint.h> alone has the kernel's types, which print without casts
spew("$dir/types.c", <<'END');
#define CREATE_TRACE_POINTS
#include "mu.h"
int main(void)
{
	trace_mu_one(1, 2, 3, 4, -1, -2, -3, -4, true);
	return 0;
}
END
spew("$dir/types_use.c", "#include \"mu.h\"\nu64 mu_use(void);\nu64 mu_use(void)\n{\n\ttrace_mu_one(1, 2, 3, 4, -1, -2, -3, -4, true);\n\treturn 0;\n}\n");
header('mu', <<'END');
TRACE_EVENT(mu_one, TP_PROTO(u8 a, u16 b, u32 c, u64 d, s8 e, s16 f, s32 g, s64 h, bool i), TP_ARGS(a, b, c, d, e, f, g, h, i),
	TP_STRUCT__entry(__field(u8, a) __field(u16, b) __field(u32, c) __field(u64, d) __field(s8, e) __field(s16, f)
		__field(s32, g) __field(s64, h) __field(bool, i) __array(u8, j, 4) __dynamic_array(u64, k, c)),
	TP_fast_assign(__entry->a = a; __entry->b = b; __entry->c = c; __entry->d = d; __entry->e = e; __entry->f = f;
		__entry->g = g; __entry->h = h; __entry->i = i; memset(__entry->j, 0, 4);),
	TP_printk("%u %u %u %llu %d %d %d %lld %d", __entry->a, __entry->b, __entry->c, __entry->d, __entry->e, __entry->f,
		__entry->g, __entry->h, __entry->i));
END
# a program with a u64 of its own keeps that
spew("$dir/own_types.c", <<'END');
#include <stdint.h>
typedef uint64_t u64;
#define TAP_NO_KERNEL_TYPES
#define CREATE_TRACE_POINTS
#include "nu.h"
int main(void)
{
	trace_nu_one(1);
	return 0;
}
END
header('nu', <<'END');
TRACE_EVENT(nu_one, TP_PROTO(u64 x), TP_ARGS(x), TP_STRUCT__entry(__field(u64, x) __sockaddr(s, 16)), TP_fast_assign(__entry->x = x;),
	TP_printk("%llu", (unsigned long long)__entry->x));
END
# a kernel's header that does not say where it lies, beside one of the same name, and one that is no kernel's
spew("$dir/kernel/trace/events/zeta.h", <<'END');
#undef TRACE_SYSTEM
#define TRACE_SYSTEM zeta
#if !defined(_TRACE_ZETA_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_ZETA_H
#include <linux/tracepoint.h>
TRACE_EVENT(zeta_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
#endif
#include <trace/define_trace.h>
END
spew("$dir/zeta.h", "#error not this one\n");
spew("$dir/eta.h", <<'END');
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eta
#if !defined(ETA_H) || defined(TRACE_HEADER_MULTI_READ)
#define ETA_H
#include <schedtap/tracepoint.h>
TRACE_EVENT(eta_one, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
#endif
#include <schedtap/define_trace.h>
END
spew("$dir/pathless.c", <<'END');
#define CREATE_TRACE_POINTS
#include <trace/events/zeta.h>
#include "eta.h"
int main(void)
{
	trace_zeta_one(1);
	trace_eta_one(1);
	return 0;
}
END
spew("$dir/there.c", join('', "#include <schedtap/tracepoint.h>\n", map({ "#ifndef $_\n#error no $_\n#endif\n" } @macros),
	"int main(void)\n{\n", "\tvoid *volatile at;\n", map({ "\tat = (void *)$_;\n" } @functions), "\treturn !at;\n}\n"));

sub run { my $said = `cd $dir && XDG_RUNTIME_DIR=$dir $_[0] 2>&1`; return ($? >> 8, $said) }

sub compiles {
	my ($what, $command) = @_;
	my ($rc, $said) = run($command);

	return ok(!$rc && $said eq '', "$what: compiles, without a word") || diag(substr($said, 0, 900)) && 0;
}

my %language = (c => ['gnu11', 'gnu17'], 'c++' => ['gnu++11', 'gnu++17']); # the oldest first
my @ways = (
	'-O0 -fPIC', '-O2 -fPIC', '-O0 -fno-pic -no-pie', '-O2 -fno-pic -no-pie', '-O2 -flto', '-O2 -static',
);

# Every test of main.c, and no other.
sub passes {
	my ($what, $program) = @_;
	my ($rc, $said) = run($program);
	my @bad = $said =~ /^(not ok .*(?:\n#.*)?)/mg;

	ok(!$rc && !@bad && $said =~ /^ok 100 /m, "$what: works") or diag("exit code $rc", @bad);
}

# gcc and ld take the standard's last source as the rest of the language: -x before each.
sub sources { my ($language, @files) = @_; return "-x $language " . join(' ', @files) . ' -x none' }

# clang's LTO needs a linker that knows it.
sub way_flags {
	my ($cc, $way) = @_;

	return $cc eq 'clang' && $way =~ /lto/ ? "$way -fuse-ld=lld" : $way;
}

# A library's tracepoint, used by a program that is compiled in each way.
sub imports {
	my ($name, $with, $language) = @_;

	compiles("$name: library", "$with -O2 -fPIC -shared -fvisibility=hidden " . sources($language, 'library.c') .
		" -o liblib.so -L$build -lschedtap-tracepoint") or return;
	for my $way ('-O2 -fPIC', '-O2 -fPIE -pie', '-O2 -fno-pic -no-pie') {
		my $what = "$name, $way: TRACE_IMPORT";

		compiles($what, "$with $way " . sources($language, 'user.c') . " -o user ./liblib.so -L$build -lschedtap-tracepoint") or next;
		is((run("LD_LIBRARY_PATH=$dir ./user"))[0], 0, "$what: both fire one tracepoint");
	}
}

symlink("$build/libschedtap-tracepoint.so", "$dir/libschedtap-tracepoint.so.0");
for my $cc (qw(gcc clang)) {
	SKIP: {
		skip("no $cc on this machine", 1) if system("command -v $cc >/dev/null");
		for my $language (sort(keys %language)) {
			for my $standard (@{$language{$language}}) {
				my $is_brief = $standard ne $language{$language}[0] && !$ENV{SOAK};
				my $with = "$cc -std=$standard $flags";
				my $name = "$cc, $standard";
				my $library = "$build/libschedtap-tracepoint.a -lpthread";

				for my $way ($is_brief ? '-O2 -fPIC' : @ways) {
					SKIP: {
						skip("$name, $way: no ld.lld on this machine", 2)
							if $cc eq 'clang' && $way =~ /lto/ && system('command -v ld.lld >/dev/null');
						my $command = "$with " . way_flags($cc, $way);
						compiles("$name, $way", "$command " . sources($language, qw(a.c b.c main.c)) . " -o all $library") and
							passes("$name, $way", './all');
					}
				}
				compiles("$name: all names", "$with " . sources($language, 'there.c') . " -o there $library");
				compiles("$name: every kind of field", "$with -O2 -D_GNU_SOURCE -I$top/tests/tracepoint " .
					sources($language, 'every.c') . " -o every $library");
				compiles("$name: headers without TRACE_INCLUDE_PATH", "$with -Ikernel " . sources($language, 'pathless.c') .
					" -o pathless $library");
				next if $is_brief;
				compiles("$name: both names of a tracepoint", "$with -O2 -DTAP_DECLARE_TRACE_TP " .
					sources($language, 'suffix.c') . " -o suffix $library") and
					is((run('./suffix'))[0], 0, "$name: each of them is fired");
				compiles("$name: the kernel's types", "$with -Wpedantic -Wno-variadic-macros -O2 " . sources($language, qw(types.c types_use.c)) .
					" -o types $library");
				compiles("$name: types of the program's own", "$with -O2 " . sources($language, 'own_types.c') . " -o own_types $library");
				compiles("$name: NOTRACE", "$with -O2 -DNOTRACE " . sources($language, 'nothing.c') . ' -o nothing') and
					is((run('./nothing'))[0], 0, "$name: NOTRACE: nothing is called or registered");
				unlike((run('nm nothing'))[1], qr/trace_?point|trace_event|tap_/, "$name: NOTRACE: nothing is there");
				imports($name, $with, $language);
				compiles("$name: texts that compilers know", "$with -O2 " . sources($language, 'constants.c') . " -o constants $library");
				compiles("$name: values below zero", "$with -O2 " . sources($language, 'negative.c') . " -o negative $library");
				compiles("$name: no semicolons", "$with -O2 " . sources($language, 'bare.c') . " -o bare $library");
				compiles("$name: nothing after the last event", "$with -c " . sources($language, 'alone.c') . " -o alone.o");
				compiles("$name: a header's own macros", "$with -O2 " . sources($language, 'wrapped.c') . " -o wrapped $library");
				compiles("$name: a field called errno", "$with -O2 " . sources($language, 'errno.c') . " -o errno $library");
				compiles("$name: tracepoint_string()", "$with -O2 " . sources($language, 'string.c') . ' -o string');
				compiles("$name: NOTRACE and tracepoint_enabled()", "$with -O2 -DNOTRACE " . sources($language, 'enabled.c') . ' -o enabled');
			}
		}
	}
}
done_testing();
