#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Includes go one way: a room sees only those that its row names (docs/design.md).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);

chdir(dirname(abs_path($0)) . '/../..') or die;
my %sees = (
	'base' => [],
	'event' => [qw(base)],
	'select' => [qw(base event)],
	'tracepoint' => [],
	'recording' => [qw(base event)],
	'capture' => [qw(base event select recording)],
	'module' => [qw(base event capture)],
	'timeline' => [qw(base event)],
	'analysis' => [qw(base event select timeline)],
	'out' => [qw(base event recording timeline analysis)],
	'report' => [qw(base event select recording timeline analysis out)],
	'cli' => [qw(base event select recording capture module timeline analysis out report)],
);
my @files = glob('src/*/*.[ch] src/*/*/*.[ch]');
my @wrong;

for my $file (@files) {
	my ($room) = $file =~ m{^src/(\w+)/};
	next if $file =~ m{/shim/};
	push(@wrong, "$file: room '$room' has no row in this test") unless $sees{$room};
	open(my $f, '<', $file) or die "$file: $!\n";
	while (<$f>) {
		next unless m{^#include "(\w+)/};
		next if $1 eq $room || grep { $_ eq $1 } @{$sees{$room} // []};
		# the edge between programs and recorders belongs to both
		next if $room eq 'capture' && m{"tracepoint/shared\.h"};
		push(@wrong, "$file:$.: room '$room' includes $1/");
	}
}
print "1..2\n";
print @files > 40 ? '' : 'not ', "ok 1 - the rooms were found\n";
print @wrong ? 'not ' : '', "ok 2 - includes go one way\n";
print STDERR "# $_\n" for @wrong;
