#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/kernel-headers.md says which of the kernel's event headers compile in a program: it is what tools/kernel-headers
# prints, and a program of all events that can be defined is built and has them. The headers in the place of the
# kernel's compile in C and C++, before and behind the C library's. Whether the tool still prints that table is asked with
# SOAK=1; UPDATE=1 writes it.
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
my $cache = $ENV{SCHEDTAP_VM_CACHE} // ($ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache") . '/schedtap-vm';
my $archive = '/usr/src/linux-source-6.1.tar.xz';
my $doc = "$top/docs/kernel-headers.md";
my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my $paths = "-I$top/include/schedtap/kernel -I$dir/kernel -I$top/include";
my $jobs = `nproc` + 0;
# those of the C library that know of the system's <linux/...>, or that these know of
my @libc = qw(arpa/inet.h errno.h fcntl.h net/if.h netinet/in.h poll.h pthread.h sched.h signal.h stdio.h stdlib.h string.h
	sys/mman.h sys/socket.h sys/stat.h sys/time.h sys/types.h time.h unistd.h);

# The folder of a kernel's source with its events, or undef: unpacked once, and whole or not at all.
sub unpacked {
	my $to = "$cache/linux-source-6.1-events";

	return $to if -d $to;
	make_path("$to.new");
	system("tar -xJf $archive -C $to.new --strip-components=1 linux-source-6.1/include/trace 2>&1") == 0 or return;
	rename("$to.new", $to);
	return $to;
}

# What the compiler says of @includes, one behind the other.
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
is(join("\n", grep { $_ } map { says('c', $_, @libc) } @files, @made), '', 'each compiles, with the C library\'s behind it');
is(says('c', @libc, @files, @made), '', 'all of them together, behind the C library\'s');
is(says('c++', @libc, @files, @made), '', 'the same in C++');
# libstdc++ initializes a member with a parameter __force
unlike(scalar(`g++ -E -dM $paths -x c++ $top/include/schedtap/kernel/linux/types.h`), qr/#define __(force|user|mode)\b/,
	'words of the C++ library\'s own stay that');

SKIP: {
	skip("no kernel source on this machine (package linux-source-6.1)", 1) unless -e $archive;
	skip('no gcc on this machine', 1) if system('command -v gcc >/dev/null');
	my $source = unpacked();
	ok($source, 'the archive has its events') or last;

	my ($text, $table) = slurp($doc) =~ /(.*?)(^\|header\|.*|\z)/ms;
	if ($ENV{SOAK} || $ENV{UPDATE}) {
		my $now = `$top/tools/kernel-headers $source`;

		is($?, 0, 'tools/kernel-headers');
		spew($doc, $text . $now) if $ENV{UPDATE};
		$table = $now if $ENV{UPDATE};
		is_deeply([split(/\n/, $table)], [split(/\n/, $now)], 'docs/kernel-headers.md says so (UPDATE=1 writes it)');
	}

	# as it says: the events of each in a file of its own, and all of them in one program
	my ($want, @names) = (0);
	for (split(/\n/, $table)) {
		my (undef, $name, undef, $events, undef, $behind) = split(/\|/, $_, -1);
		next unless ($events // '') =~ /^\d+$/;
		my %options = map { $_ => 1 } slurp("$source/include/trace/events/$name") =~ /^#\s*if.*\b(CONFIG_\w+)/mg;

		spew("$dir/define_$name.c", join('', map({ "#define $_ 1\n" } sort(keys(%options))), map({ "#include <$_>\n" } $behind =~ /`(.*?)`/g),
			"#define CREATE_TRACE_POINTS\n#include <trace/events/$name>\n"));
		push(@names, "define_$name");
		$want += $events;
	}
	spew("$dir/main.c", <<'END');
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
	make_path("$dir/trace");
	system('cp', '-r', "$source/include/trace/events", "$source/include/trace/misc", "$dir/trace");
	my $said = `cd $dir && printf '%s\\n' main @names | xargs -P $jobs -I NAME gcc -std=gnu11 -w -c $paths -I. NAME.c -o NAME.o 2>&1 &&
		gcc *.o -o program $build/libschedtap-tracepoint.a -lpthread 2>&1`;
	is($said, '', 'a program of all that can be defined is built');
	is(scalar(`XDG_RUNTIME_DIR=$dir $dir/program`), "$want\n", 'and has the events');

	# what is missing of another is brought by the program
	spew("$dir/watchdog.c", <<'END');
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
	$said = `cd $dir && gcc -std=gnu11 -Wall -Werror $paths -I. watchdog.c -o watchdog $build/libschedtap-tracepoint.a -lpthread 2>&1 && XDG_RUNTIME_DIR=$dir ./watchdog`;
	is($said, "7 60 -1\n", 'a struct of the program\'s own is what an event records');
}
done_testing();
