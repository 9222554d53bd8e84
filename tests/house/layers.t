#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Includes go one way: a folder includes only what its row in docs/internals/folders.md names, and no
# more is named than is used. The nine folders of src/ include only from those above them in the list. Neither modules (a .c and its .h) nor folders include each other in a circle.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);

chdir(dirname(abs_path($0)) . '/../..') or die;
my $document = 'docs/internals/folders.md';

# Public headers belong to the room that has their functions, the others to the tracepoints.
my %owner = ('err.h' => 'base', 'event.h' => 'event', 'reader.h' => 'file', 'select.h' => 'event/select', 'timeline.h' => 'timeline',
	'watcher.h' => 'timeline', 'run.h' => 'timeline/run', 'analyses.h' => 'analysis/library');

# ---- the rows -------------------------------------------------------------------------------
sub read_rows {
	my (%sees, $in, $room);

	open(my $f, '<', $document) or die "$document: $!\n";
	while (<$f>) {
		$in = /^## The rows/ if /^## /;
		if ($in && $room && /^ {60,}(\S.*)/) { # the rest of a list that ends in a comma
			push(@{$sees{$room}}, split(/,\s*/, $1));
		} elsif ($in && m{^    (?:src/)?([\w/]+)/ +\S.*?(?: {2,}(\S.*))?$}) {
			$room = $1;
			$sees{$room} = [grep { $_ ne 'nothing of ours' } split(/,\s*/, $2 // '')];
		}
	}
	return %sees;
}

# ---- the includes ---------------------------------------------------------------------------
sub find_header {
	my ($from, $mark, $name) = @_;
	my @folders = $mark eq '<' ? () : (dirname($from), 'bpf', 'events');

	-e "$_/$name" and return "$_/$name" for @folders, 'src', 'include';
	return undef;
}

sub room_of {
	my ($file) = @_;

	return $owner{$1} // 'tracepoint' if $file =~ m{^include/schedtap/(.*)};
	return dirname($file) =~ s{^src/}{}r;
}

sub module_of { $_[0] =~ s{\.[ch]$}{}r }

my @files = grep { m{\.[ch]$} } split /\n/, `find src include/schedtap bpf events -path include/schedtap/kernel -prune -o -type f -print`;
my @includes; # [file:line, file, header]
for my $file (sort @files) {
	open(my $f, '<', $file) or die "$file: $!\n";
	while (<$f>) {
		next unless m{^\s*#\s*include\s*(["<])([^">]+)[">]};
		my $header = find_header($file, $1, $2);
		push(@includes, ["$file:$.", $file, $header]) if $header;
	}
}

# ---- checks ---------------------------------------------------------------------------------
# Circles among the given edges, as sentences; each names one include of the way round.
sub circles {
	my ($part) = @_;
	my (%edges, %where, @found, %reported);

	for (@includes) {
		my ($at, $from, $to) = ($_->[0], $part->($_->[1]), $part->($_->[2]));
		next if $from eq $to;
		$edges{$from}{$to} = 1;
		$where{"$from $to"} //= $at;
	}
	for my $start (sort keys %edges) {
		my (%came, @next);

		next if $reported{$start};
		@next = ($start);
		while (defined(my $at = shift @next)) {
			for my $to (sort keys %{$edges{$at} // {}}) {
				push(@next, $to) unless exists $came{$to};
				$came{$to} //= $at;
			}
		}
		next unless exists $came{$start};
		my @way = ($start);
		unshift(@way, $came{$way[0]}) until @way > 1 && $way[0] eq $start;
		$reported{$_} = 1 for @way;
		push(@found, join(', ', map { "$way[$_] includes $way[$_ + 1] ($where{\"$way[$_] $way[$_ + 1]\"})" } 0 .. $#way - 1));
	}
	return @found;
}

# Whether a header is what an entry of a row names.
sub is_in {
	my ($header, $row) = @_;

	return $row eq 'everything' || $row eq room_of($header) || $header =~ m{(?:^|/)\Q$row\E$};
}

sub wrong_includes {
	my ($sees) = @_;
	my @wrong;

	for (@includes) {
		my ($at, $file, $header) = @$_;
		my ($room, $other) = (room_of($file), room_of($header));

		next if $room eq $other;
		if (!$sees->{$room}) {
			push(@wrong, "$at: room '$room' has no row in $document");
			next;
		}
		push(@wrong, "$at: room '$room' includes $header of room '$other'")
			unless grep { is_in($header, $_) } @{$sees->{$room}};
	}
	return @wrong;
}

# The nine folders, in the order of the document.
sub read_order {
	my @order;

	open(my $f, '<', $document) or die "$document: $!\n";
	while (<$f>) {
		last if /^## /;
		push(@order, $1) if m{^    (\w+)/ {2,}\w};
	}
	return @order;
}

sub wrong_order {
	my @order = read_order();
	my %rank = map { $order[$_] => $_ } 0 .. $#order;
	my @found = @order == 9 ? () : "$document lists " . @order . ' folders, not nine';

	delete($rank{tracepoint}); # a library of its own
	for (@includes) {
		my ($at, $from, $to) = ($_->[0], map { room_of($_) =~ s{/.*}{}r } @$_[1, 2]);

		push(@found, "$at: '$from' includes a header of '$to'") if exists $rank{$from} && exists $rank{$to} && $rank{$to} > $rank{$from};
	}
	return @found;
}

# Rows for what a room does not include, nor what it includes.
sub idle_rows {
	my ($sees) = @_;
	my (%headers, @idle);

	push(@{$headers{$_->[1]}}, $_->[2]) for @includes;
	for my $room (sort keys %$sees) {
		my %reached = map { $_ => 1 } grep { room_of($_) eq $room } @files;
		my @next = keys %reached;

		while (defined(my $file = shift @next)) {
			push(@next, grep { !$reached{$_}++ } @{$headers{$file} // []});
		}
		for my $row (@{$sees->{$room}}) {
			push(@idle, "room '$room' has a row for $row, and does not include it")
				unless grep { room_of($_) ne $room && is_in($_, $row) } keys %reached;
		}
	}
	return @idle;
}

my $nr = 0;
sub check {
	my ($name, $ok, @why) = @_;

	print $ok ? '' : 'not ', 'ok ', ++$nr, " - $name\n";
	print STDERR "# $_\n" for @why;
}

my %sees = read_rows();
my @wrong = wrong_includes(\%sees);
my @idle = idle_rows(\%sees);
my @down = wrong_order();
my @modules = circles(\&module_of);
my @folders = circles(sub { dirname($_[0]) });

print "1..6\n";
check('the folders and their rows were found', @files > 100 && @includes > 500 && keys %sees > 10);
check("folders include what $document says", !@wrong, @wrong);
check('and it says no more', !@idle, @idle);
check('the nine folders include from the ground up', !@down, @down);
check('no modules include each other', !@modules, @modules);
check('no folders include each other', !@folders, @folders);
