#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/internals/kernel-headers.md says which event headers of three kernels compile in a program: it is what
# tools/kernel-headers prints. All headers of a kernel that can be included compile together, and a program of all events
# that can be defined is built and has them. The headers in the place of the kernel's compile in C and C++, before and
# after the C library's. With SOAK=1 the tool must print the document's table, and each kernel's events are built;
# without, those of the newest kernel. UPDATE=1 writes the table.
#
# The kernels' headers are Debian's packages, which tests/vm/fetch keeps (tests/vm/kernels.lock).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $build = $ENV{BUILD} ? abs_path($ENV{BUILD}) : "$top/build";
my @kernels = qw(6.1 6.12 7.3);
# since v6.16 DECLARE_TRACE() adds the suffix that names in older kernels' headers have already
my %suffix = ('6.1' => '', '6.12' => '', '7.3' => '-DTAP_DECLARE_TRACE_TP');
my $doc = "$top/docs/internals/kernel-headers.md";
my $guide = "$top/docs/kernel-headers.md";
my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my $paths = "-I$top/include/schedtap/kernel -I$dir/kernel -I$top/include";
my $flags = '-std=gnu11 -Wall -Werror -Wno-pointer-sign -Wno-format -Wno-unused-function'; # as tools/kernel-headers
my $jobs = `nproc` + 0;
# those of the C library that know of the system's <linux/...>, or that these know of
my @libc = qw(arpa/inet.h errno.h fcntl.h net/if.h netinet/in.h poll.h pthread.h sched.h signal.h stdio.h stdlib.h string.h
	sys/mman.h sys/socket.h sys/stat.h sys/time.h sys/types.h time.h unistd.h);

# Return: the folder that has include/trace of a kernel, or undef: then $missing{$version} says why.
my %missing;
sub source {
	my ($version) = @_;
	my $headers = (split(' ', `$top/tests/vm/fetch $version 2>$dir/err`))[4];

	if (($headers // '-') eq '-') {
		$missing{$version} = slurp("$dir/err") =~ s/\n.*//sr || 'the mirror has none';
		return;
	}
	return (glob(dirname($headers) . '/linux-headers-*-common'))[0];
}

# The table's rows for one kernel: of each header that the kernel has.
sub rows_of {
	my ($table, $at) = @_;
	my @rows;

	for (split(/\n/, $table)) {
		next unless /^\|(\w[\w-]*)\.h\|/;
		my (undef, $name, @cells) = split(/\|/, $_, -1);
		my $can = $cells[$at];

		push(@rows, { name => $name =~ s/\.h$//r, can => $can, before => [$cells[@kernels + 1] =~ /`(.*?)`/g] }) if $can ne '';
	}
	return @rows;
}

# A folder with the events of a kernel, and no others of its headers.
sub copied {
	my ($version, $source) = @_;

	make_path("$dir/$version/trace");
	system('cp', '-r', "$source/include/trace/events", "$source/include/trace/misc", "$dir/$version/trace");
	return "$dir/$version";
}

# Macros that two headers define are no error. v7.3's netfs.h and ceph.h have one guard for their enums.
sub together_is {
	my ($version, @rows) = @_;
	my $name = "$version: all headers that can be included, in one file";

	spew("$dir/$version/together.c", join('', map { map({ "#include <$_>\n" } @{$_->{before}}),
		"#undef __NETFS_DECLARE_TRACE_ENUMS_ONCE_ONLY\n#include <trace/events/$_->{name}.h>\n" } @rows));
	my @said = grep { /error/ && !/redefined/ && !/being treated as/ } split(/\n/,
		scalar(`cd $dir/$version && LC_ALL=C gcc $flags -fsyntax-only $paths -I. together.c 2>&1`));
	is(join("\n", @said[0 .. ($#said > 4 ? 4 : $#said)]), '', $name);
}

# The names that a kernel's own files call its tracepoints by.
sub sched_is {
	my ($version) = @_;

	spew("$dir/$version/sched.c", <<'END');
#include <linux/sched.h>
#include <trace/events/sched.h>
void fire(void);
void fire(void)
{
	trace_sched_waking(NULL);
	if (trace_sched_wakeup_enabled())
		trace_call__sched_wakeup(NULL);
	trace_pelt_cfs_tp(NULL);
}
END
	is(scalar(`cd $dir/$version && LC_ALL=C gcc $flags $suffix{$version} -fsyntax-only $paths -I. sched.c 2>&1`), '',
		"$version: sched.h, with this kernel's names for its tracepoints");
}

# The events of each header in a file of its own, and all of them in one program.
sub program_is {
	my ($version, @rows) = @_;
	my ($folder, $want, @names) = ("$dir/$version", 0);

	for (grep { $_->{can} =~ /^\d+$/ } @rows) {
		my $name = $_->{name};
		my %options = map { $_ => 1 } slurp("$folder/trace/events/$name.h") =~ /^#\s*if.*\b(CONFIG_\w+)/mg;

		spew("$folder/define_$name.c", join('', map({ "#define $_ 1\n" } sort(keys(%options))),
			map({ "#include <$_>\n" } @{$_->{before}}), "#define CREATE_TRACE_POINTS\n#include <trace/events/$name.h>\n"));
		push(@names, "define_$name");
		$want += $_->{can};
	}
	spew("$folder/main.c", <<'END');
#include <stdio.h>
#include <schedtap/tracepoint.h>
#include <trace/events/gpu_mem.h>
static void count(struct tracepoint *tp, void *priv)
{
	(void)tp;
	++*(int *)priv;
}
/* called when one of mmap_lock.h's events is switched on: the program's, as it is the kernel's there */
int trace_mmap_lock_reg(void);
int trace_mmap_lock_reg(void)
{
	return 0;
}
void trace_mmap_lock_unreg(void);
void trace_mmap_lock_unreg(void)
{
}
int main(void)
{
	int nr = 0;

	for_each_tracepoint(count, &nr);
	trace_gpu_mem_total(1, 2, 3);
	printf("%d\n", nr);
	return 0;
}
END
	my $said = `cd $folder && printf '%s\\n' main @names | xargs -P $jobs -I NAME gcc -std=gnu11 -w -c $paths -I. NAME.c -o NAME.o 2>&1 &&
		gcc *.o -o program $build/libschedtap-tracepoint.a -lpthread 2>&1`;
	is($said, '', "$version: a program of all that can be defined is built");
	is(scalar(`XDG_RUNTIME_DIR=$dir $folder/program`), "$want\n", "$version: and has the events");
}

# A program defines a kernel struct that an event uses and the headers leave out.
sub own_struct_is {
	my ($version) = @_;
	my $folder = "$dir/$version";

	spew("$folder/watchdog.c", <<'END');
#include <stdio.h>
struct watchdog_device {
	int id;
};
#define CREATE_TRACE_POINTS
#include <trace/events/watchdog.h>
static void probe(void *data, struct watchdog_device *wdd, unsigned int timeout, int err)
{
	(void)data;
	printf("%d %u %d\n", wdd->id, timeout, err);
}
int main(void)
{
	struct watchdog_device dog = { 7 };

	if (register_trace_watchdog_set_timeout(probe, NULL))
		return 1;
	trace_watchdog_set_timeout(&dog, 60, -1);
	return 0;
}
END
	my $said = `cd $folder && gcc -std=gnu11 -Wall -Werror $paths -I. watchdog.c -o watchdog $build/libschedtap-tracepoint.a -lpthread 2>&1 &&
		XDG_RUNTIME_DIR=$dir ./watchdog`;
	is($said, "7 60 -1\n", "$version: a struct of the program's own is what an event records");
}

# What the compiler says of @includes, one after the other.
sub says {
	my ($language, @includes) = @_;
	my $compiler = $language eq 'c' ? 'gcc' : 'g++';

	spew("$dir/includes", join('', map { "#include <$_>\n" } @includes));
	my $said = `$compiler -x $language -Wall -Wextra -Werror -fsyntax-only $paths $dir/includes 2>&1`;
	return $said =~ /error: (.*)/ ? "@includes[0 .. ($#includes > 1 ? 1 : $#includes)]: $1" : $said;
}

sub headers_of { my ($folder) = @_; return sort(map { chomp; $_ } `cd $folder && find . -name '*.h' -printf '%P\\n'`) }

is(system("$top/tools/kernel-stubs", "$dir/kernel"), 0, 'tools/kernel-stubs');
my @files = headers_of("$top/include/schedtap/kernel");
my @made = headers_of("$dir/kernel");
cmp_ok(scalar(@made), '>', 60, 'headers are made');
my %is_file = map { $_ => 1 } @files;
is(join(' ', grep { $is_file{$_} } @made), '', 'none of them under the name of a file of ours');

# what is wrong alone is wrong there, too
is(join("\n", grep { $_ } map { says('c', $_, @libc) } @files, @made), '', 'each compiles, with the C library\'s after it');
is(says('c', @libc, @files, @made), '', 'all of them together, after the C library\'s');
is(says('c++', @libc, @files, @made), '', 'the same in C++');
# libstdc++ initializes a member with a parameter __force
unlike(scalar(`g++ -E -dM $paths -x c++ $top/include/schedtap/kernel/linux/types.h`), qr/#define __(force|user|mode)\b/,
	'words of the C++ library\'s own stay that');

SKIP: {
	skip('no gcc on this machine', 1) if system('command -v gcc >/dev/null');
	my %source = map { $_ => source($_) } @kernels;
	my @there = grep { $source{$_} } @kernels;
	my ($text, $table, $after) = slurp($doc) =~ /(.*?)(^\|header\|.*?can be defined\.\n(?!\d))(.*)/ms;

	if (($ENV{SOAK} || $ENV{UPDATE}) && @there == @kernels) {
		my $now = `$top/tools/kernel-headers @{[map { "$_=$source{$_}" } @kernels]}`;

		is($?, 0, 'tools/kernel-headers');
		spew($doc, $text . $now . $after) if $ENV{UPDATE};
		$table = $now if $ENV{UPDATE};
		is_deeply([split(/\n/, $table)], [split(/\n/, $now)], 'the document has its table (UPDATE=1 writes it)');
	}
	my @sums = map { s/^/| /r =~ s/: (\d+) of (\d+) .* (\d+) events of (\d+) .*/ | $2 | $1 | $3, in $4 headers |/r }
		$table =~ /^(\d.*can be defined\.)$/mg;
	my %sums = map { $_ => 1 } split(/\n/, slurp($guide));
	is(join("\n", grep { !$sums{$_} } @sums), '', 'the guide has its sums');

	for my $at (0 .. $#kernels) {
		my $version = $kernels[$at];
		my @rows = rows_of($table, $at);

		SKIP: {
			skip("no headers of $version: $missing{$version}", 1) unless $source{$version};
			copied($version, $source{$version});
			together_is($version, grep { $_->{can} ne 'no' } @rows);
			sched_is($version);
			program_is($version, @rows) if $ENV{SOAK} || $at == $#kernels;
			own_struct_is($version);
		}
	}
}
done_testing();
