#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# examples/ is built with make, CMake and meson, as their files say: against a library that is installed in a
# prefix of its own, and where there is none. The program runs, and where it has events they are the library's.
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
my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my $prefix = "$dir/usr";
# where the command stands, and what is built
my %files = (make => ['Makefile', 'hello'], cmake => ['CMakeLists.txt', 'build/hello'], meson => ['meson.build', 'build/hello']);
my %needs = (make => ['make'], cmake => ['cmake'], meson => ['meson', 'ninja']);
my $said = "hello, world\n" x 3;

delete(@ENV{grep { /^(TAP_|LD_LIBRARY_PATH|CFLAGS|CPPFLAGS|LDFLAGS|LDLIBS|MAKE|PKG_CONFIG)/ } keys(%ENV)});
$ENV{XDG_RUNTIME_DIR} = "$dir/run";
make_path("$dir/run", "$dir/empty");

# The command in a file's first comment.
sub command {
	my ($file) = @_;
	my ($command) = slurp("$top/examples/$file") =~ /^# (.*?): with schedtap's library/m;

	return $command // die "examples/$file does not say how it is used\n";
}

sub build {
	my ($how, $libdir) = @_;
	my ($file, $program) = @{$files{$how}};
	my $to = "$dir/$how-" . ($libdir eq $prefix ? 'with' : 'without');

	system('cp', '-rL', "$top/examples", $to) == 0 or die "examples: cp failed\n";
	my $log = `cd $to && export PKG_CONFIG_LIBDIR=$libdir/lib/pkgconfig && { @{[command($file)]}; } 2>&1`;
	ok($? == 0 && $log !~ /warning:/i, "$how is enough to build it") or diag($log);
	is(scalar(`cd $to && ./$program 2>&1`), $said, 'the program runs');
	is(join(' ', glob("$to/*.dat $to/build/*.dat")), '', 'and records nothing');
	return "$to/$program";
}

my $log = `make -s -C $top B=$build PREFIX=$prefix install 2>&1`;
is($?, 0, 'the library is installed') or BAIL_OUT($log);
is(join(' ', grep { !m{/(?:schedtap|tap_)[^/]*$} } glob("$prefix/share/man/man*/*")), '', 'and no page has a name that other packages may use');
my $in_system = system("echo '#include <schedtap/tracepoint.h>' | cc -E -x c - >/dev/null 2>&1") == 0;

for my $how (sort(keys(%files))) {
	my ($lacks) = grep { system("command -v $_ >/dev/null") } @{$needs{$how}}, 'pkg-config';

	subtest "$how, with the library" => sub {
		plan(skip_all => "no $lacks on this machine") if $lacks;
		my $program = build($how, $prefix);
		like(scalar(`ldd $program`), qr{schedtap-tracepoint\.so\.0 => $prefix/lib/}, 'the library is found in its prefix');
		like(scalar(`nm $program`), qr/ event_hello_said$/m, 'the program has its events');
	};
	subtest "$how, without the library" => sub {
		plan(skip_all => "no $lacks on this machine") if $lacks;
		plan(skip_all => 'this machine has the library in its include path') if $in_system;
		my $program = build($how, "$dir/empty");
		unlike(scalar(`nm $program`), qr/event|tap_/, 'no event and nothing of the library is in the program');
	};
}

# what else event headers find there
my $include = `PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig pkg-config --variable=kernelincludedir schedtap-tracepoint`;
chomp($include);
is(scalar(`printf '#include <linux/blkdev.h>\\n#include <linux/tracepoint.h>\\nenum req_op op;\\n' |
	cc -Wall -Werror -fsyntax-only -I$include -I$prefix/include -x c - 2>&1`), '', 'headers in the place of the kernel\'s are installed');
done_testing();
