#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# An event header in which compilers find nothing (warnings.h) compiles without a word, whatever is asked of them,
# with loaded and with patched sites; and what they find in an event's own code they do say, also where our headers
# are the system's. Standards between the oldest and the newest in one way; SOAK=1: in all.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $here = dirname(abs_path($0));
my $include = abs_path("$here/../../include");
my $dir = tempdir(CLEANUP => 1);

my $both = '-Werror -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wcast-align -Wundef -Wformat=2
	-Wformat-signedness -Wredundant-decls -Wwrite-strings -Wpointer-arith -Wfloat-equal -Wfloat-conversion -Wdouble-promotion
	-Wnull-dereference -Wunused-macros -Wmissing-declarations -Wswitch-enum -Wvla -Walloca -Wlogical-op -Wduplicated-cond
	-Wduplicated-branches' =~ s/\s+/ /gr;
my %flags = (
	'gcc c' => "$both -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wbad-function-cast -Wnested-externs" .
		' -Wjump-misses-init -Wdeclaration-after-statement -Wunused-const-variable=2',
	'gcc c++' => "$both -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -Wextra-semi -Woverloaded-virtual -Weffc++" .
		' -Wnoexcept -Wsuggest-override -Wctor-dtor-privacy -Wstrict-null-sentinel',
	# that fields have holes between them, that attributes say "unused" of what may be, that the code is C++11
	'clang c' => '-Werror -Weverything -Wno-padded -Wno-used-but-marked-unused',
	'clang c++' => '-Werror -Weverything -Wno-padded -Wno-used-but-marked-unused -Wno-c++98-compat -Wno-c++98-compat-pedantic',
);
# the oldest first
my %standards = (c => [qw(c11 gnu11 c17 gnu17 c2x)], 'c++' => [qw(c++11 gnu++14 c++17 gnu++20)]);
# how much of the code is there to warn of
my @ways = ('-O2', '-O0', '-O2 -DTAP_STATIC_KEYS=patch', '-O2 -DTAP_STATIC_KEYS=usdt', '-DNOTRACE');

sub said { my ($command) = @_; return scalar(`cd $here && LC_ALL=C $command -I. -c -o $dir/out.o 2>&1`) }

# The two words are each an event's own mistake: in what is printed, and in what is assigned.
sub put_wrong {
	spew("$dir/wrong.h", <<'	END' =~ s/^\t\t//mgr);
		#undef TRACE_SYSTEM
		#define TRACE_SYSTEM wrong
		#if !defined(WRONG_H) || defined(TRACE_HEADER_MULTI_READ)
		#define WRONG_H
		#include <schedtap/tracepoint.h>
		TRACE_EVENT(wrong, TP_PROTO(int x, long long wide), TP_ARGS(x, wide),
			TP_STRUCT__entry(__field(int, x) __string(s, "text")),
			TP_fast_assign(
				__entry->x = wide;
				__assign_str(s);
			),
			TP_printk("%s %d", __entry->x, __get_str(s)));
		#endif
		#include <schedtap/define_trace.h>
	END
	spew("$dir/wrong.c", qq(#define CREATE_TRACE_POINTS\n#include "wrong.h"\n));
}

# What compilers call the lines of define_trace.h from there on is what they are.
sub markers_are_right {
	my @wrong;

	open(my $f, '<', "$include/schedtap/define_trace.h") or die "define_trace.h: $!";
	while (<$f>) {
		push(@wrong, $_) if m{^# (\d+) "schedtap/define_trace.h"(?: 2)?$} && $1 != $. + 1;
	}
	is_deeply(\@wrong, [], 'the line markers in define_trace.h have the right lines');
}

markers_are_right();
put_wrong();
for my $cc (qw(gcc clang)) {
	SKIP: {
		skip("no $cc on this machine", 1) if system("command -v $cc >/dev/null");
		for my $language (sort(keys %standards)) {
			for my $standard (@{$standards{$language}}) {
				my $is_between = !grep { $_ eq $standard } @{$standards{$language}}[0, -1];

				for my $way ($is_between && !$ENV{SOAK} ? $ways[0] : @ways) {
					is(said("$cc -std=$standard $way $flags{\"$cc $language\"} -I$include -x $language warnings.c"), '',
						"$cc, $standard, $way: nothing is said");
				}
			}
			for my $how ("-I$include", "-isystem $include") {
				my $said = said("$cc $how -Wall -Wconversion -I$dir -x $language $dir/wrong.c");
				my $what = "$cc, $language, " . ($how =~ s/ .*|I.*//r);

				is(() = $said =~ /^\S*wrong\.h:12:.*warning: .*-Wformat/mg, 2, "$what: what is printed of another type is") or diag($said);
				is(() = $said =~ /^\S*wrong\.h:9:.*warning: .*conver/mg, 1, "$what: what is assigned of another type is") or diag($said);
				is(() = $said =~ /warning: /g, 3, "$what: and that is all") or diag($said);
			}
		}
	}
}
done_testing();
