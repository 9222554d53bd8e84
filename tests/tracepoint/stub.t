#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Where the library is missing, event headers compile with <schedtap/tracepoint_stub.h> in its place, and do
# nothing: in C and C++, with gcc and clang, without a word, and without the library.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my $warnings = '-Wall -Wextra -Wpedantic -Werror';

# under the library's names: the headers of other tests stay as they are
make_path("$dir/last/schedtap");
copy("$top/include/schedtap/tracepoint_stub.h", "$dir/last/schedtap/$_") or die "$_: $!" for qw(tracepoint.h define_trace.h);
spew("$dir/last/trace/define_trace.h", "#include <schedtap/define_trace.h>\n");
# what a kernel's header needs besides
spew("$dir/last/linux/tracepoint.h", <<'END');
#include <schedtap/tracepoint.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#ifndef TYPES_ONCE
#define TYPES_ONCE
typedef struct cpumask { unsigned long bits[2]; } cpumask_t;
#define cpumask_bits(mask) ((mask)->bits)
#endif
END
# as the stub's own comment says, and each kind of event that no other test's header has
spew("$dir/own.h", <<'END');
#undef TRACE_SYSTEM
#define TRACE_SYSTEM own
#if !defined(OWN_H) || defined(TRACE_HEADER_MULTI_READ)
#define OWN_H
#if __has_include(<schedtap/no_tracepoint.h>)
#include <schedtap/tracepoint.h>
#else
#include "tracepoint_stub.h"
#endif
struct pair;
#define COLORS EM(RED) EM(BLUE)
enum { RED, BLUE };
#define EM(a) TRACE_DEFINE_ENUM(a);
COLORS
TRACE_DEFINE_SIZEOF(int);
TRACE_EVENT(own_none, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
TRACE_EVENT(own_call, TP_PROTO(void (*f)(int, int), void *p), TP_ARGS(f, p), TP_STRUCT__entry(__field(void *, p)),
	TP_fast_assign(__entry->p = p;), TP_printk("%p", __entry->p));
TRACE_EVENT(own_one, TP_PROTO(int x, const struct pair *p), TP_ARGS(x, p), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DECLARE_EVENT_CLASS(own_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DEFINE_EVENT_WRITABLE(own_class, own_writable, TP_PROTO(int x), TP_ARGS(x), sizeof(int));
DECLARE_TRACE(own_bare, TP_PROTO(void), TP_ARGS());
DECLARE_TRACE_CONDITION(own_bare_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DECLARE_TRACE_WRITABLE(own_bare_writable, TP_PROTO(int x), TP_ARGS(x), sizeof(int));
DECLARE_TRACE_EVENT(own_event, TP_PROTO(u64 x), TP_ARGS(x));
DECLARE_TRACE_EVENT_CONDITION(own_event_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
TRACE_EVENT_SYSCALL(own_syscall, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(s64, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%lld", __entry->x), own_reg, own_unreg);
#undef TAP_DECLARE_TRACE_TP
#define TAP_DECLARE_TRACE_TP
DECLARE_TRACE(own_event, TP_PROTO(int x), TP_ARGS(x));
#undef TAP_DECLARE_TRACE_TP
TRACE_EVENT_NOP(own_nop, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DECLARE_EVENT_CLASS_NOP(own_nop_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
DEFINE_EVENT_NOP(own_nop_class, own_nop_two, TP_PROTO(int x), TP_ARGS(x));
TRACE_CUSTOM_EVENT(own_bare_odd, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x));
TRACE_EVENT_FLAGS(own_one, TRACE_EVENT_FL_CAP_ANY)
TRACE_EVENT_PERF_PERM(own_one, 0)
#endif
#if __has_include(<schedtap/no_define_trace.h>)
#include <schedtap/define_trace.h>
#endif
END
spew("$dir/main.c", <<'END');
#define CREATE_TRACE_POINTS
#include <stdio.h>
#include "own.h"
#include "rules.h"
#include "ring_events.h"
#include "provider.h"
#include "portable.h"
#include "portable_fire.h"
EXPORT_TRACEPOINT_SYMBOL_GPL(own_one);
DECLARE_TRACEPOINT(own_one);
static int seen;
static void none(void *data) { (void)data; seen++; }
static void one(void *data, int x) { (void)data; seen += x; }
static void word(void *data, u64 x) { (void)data; seen += (int)x; }
static void two(void *data, int x, const struct pair *p) { (void)data, (void)p; seen += x; }
static void called(void *data, void (*f)(int, int), void *p) { (void)data, (void)f, (void)p; seen++; }
static void each(struct tracepoint *tp, void *priv) { (void)tp, (void)priv; seen++; }
static int is(int line, int right)
{
	if (!right)
		printf("line %d\n", line);
	return right;
}
#define NOTHING(name, probe, args)                                                                 \
	good &= is(__LINE__, !trace_##name##_enabled());                                           \
	good &= is(__LINE__, register_trace_##name(probe, NULL) == -ENOSYS);                       \
	good &= is(__LINE__, register_trace_prio_##name(probe, NULL, 1) == -ENOSYS);               \
	trace_##name args;                                                                         \
	trace_call__##name args;                                                                   \
	trace_##name##_rcuidle args;                                                               \
	check_trace_callback_type_##name(probe);                                                   \
	good &= is(__LINE__, unregister_trace_##name(probe, NULL) == -ENOSYS)
int main(void)
{
	int good = 1, i = 0;

	NOTHING(own_none, none, ());
	NOTHING(own_call, called, (NULL, NULL));
	NOTHING(own_one, two, (1, NULL));
	NOTHING(own_writable, one, (1));
	NOTHING(own_bare, none, ());
	NOTHING(own_bare_odd, one, (1));
	NOTHING(own_bare_writable, one, (1));
	NOTHING(own_event, word, (1));
	NOTHING(own_event_odd, one, (1));
	NOTHING(own_event_tp, one, (1));
	NOTHING(own_syscall, one, (1));
	NOTHING(guarded, one, (1));
	NOTHING(even, one, (1));
	NOTHING(loaded, one, (1));
	trace_step(1, 2, "three");
	trace_own_nop(1);
	trace_own_nop_two(1);
	portable_fire();
	trace_own_one(i++, NULL);
	good &= is(__LINE__, i == 1);
	good &= is(__LINE__, !tracepoint_enabled(own_one));
	good &= is(__LINE__, *tracepoint_string("text") == 't');
	good &= is(__LINE__, tracepoint_probe_register(NULL, NULL, NULL) == -ENOSYS);
	good &= is(__LINE__, tracepoint_probe_register_prio(NULL, NULL, NULL, 1) == -ENOSYS);
	good &= is(__LINE__, tracepoint_probe_register_may_exist(NULL, NULL, NULL) == -ENOSYS);
	good &= is(__LINE__, tracepoint_probe_register_prio_may_exist(NULL, NULL, NULL, 1) == -ENOSYS);
	good &= is(__LINE__, tracepoint_probe_unregister(NULL, NULL, NULL) == -ENOSYS);
	good &= is(__LINE__, register_tracepoint_module_notifier(NULL) == -ENOSYS);
	good &= is(__LINE__, unregister_tracepoint_module_notifier(NULL) == -ENOSYS);
	for_each_tracepoint(each, NULL);
	for_each_module_tracepoint(each, NULL, NULL);
	tracepoint_synchronize_unregister();
	good &= is(__LINE__, tap_trace_reason() != NULL);
	good &= is(__LINE__, seen == 0);
	return good ? 0 : 1;
}
END
# another file of the program, which has the events and nothing else
spew("$dir/other.c", <<'END');
#include "own.h"
END
# the types are compared all the same
my %refused = (
	'an argument of another type' => 'trace_own_one("text", NULL)',
	'an argument too many' => 'trace_own_none(1)',
	'an argument too few' => 'trace_own_one(1)',
	'a probe of another type' => 'register_trace_own_none(one, NULL)',
	'a probe without the data' => 'register_trace_own_one(other, NULL)',
);

copy("$top/include/schedtap/tracepoint_stub.h", $dir) or die "$!";

sub run { my $said = `cd $dir && $_[0] 2>&1`; return ($? >> 8, $said) }

my %standards = (c => ['c11', 'gnu17'], 'c++' => ['c++11', 'gnu++17']);

for my $cc (qw(gcc clang)) {
	SKIP: {
		skip("no $cc on this machine", 1) if system("command -v $cc >/dev/null");
		for my $language (sort(keys(%standards))) {
			for my $standard (@{$standards{$language}}) {
				my $with = "$cc -std=$standard -x $language $warnings -I. -I$top/tests -I$top/tests/tracepoint -idirafter last";
				my $name = "$cc, $standard";
				my ($rc, $said) = run("$with main.c other.c -o main");

				ok(!$rc && $said eq '', "$name: compiles and links without the library, without a word") or
					diag(substr($said, 0, 900)) or next;
				($rc, $said) = run('./main');
				is("$rc$said", '0', "$name: does nothing, and says so");
				($rc, $said) = run("$with -O2 -c main.c -o main.o && nm main.o");
				unlike($said, qr/trace|tap_/, "$name: nothing of it is in the program");
				for my $what (sort(keys(%refused))) {
					spew("$dir/wrong.c", "#include \"own.h\"\nstatic inline void one(void *d, int x) { (void)d, (void)x; }\n" .
						"static inline void other(int x, const struct pair *p) { (void)x, (void)p; }\n" .
						"int main(void)\n{\n\tone(NULL, 1);\n\tother(1, NULL);\n\t$refused{$what};\n\treturn 0;\n}\n");
					($rc, $said) = run("$with -fsyntax-only wrong.c");
					ok($rc && $said =~ /^wrong\.c:8:.*error/m, "$name: $what is refused") or diag($said);
				}
			}
		}
	}
}

# a program that has the library's own header has no use for the stub
spew("$dir/both.c", "#include <schedtap/tracepoint.h>\n#include \"tracepoint_stub.h\"\nint main(void)\n{\n\treturn 0;\n}\n");
is(join('', run("cc -Wall -Werror -fsyntax-only -I$top/include both.c")), '0', 'after the library\'s header the stub is empty');
done_testing();
