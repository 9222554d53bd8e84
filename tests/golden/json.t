#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/json.md against what is printed, with the recordings of the golden tests: every key that is
# printed stands there, with its type and whether it may be null; every key that stands there is
# printed. Each report sees its own recordings and some of others (tests/Recordings.pm), in a soak all.
use strict;
use warnings;
use B;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $root = abs_path("$here/../..");
my $tmp = memory_folder();
my ($n, $failed) = (0, 0);

# Which runs print the keys of a section. The first is that of CSV.
my %runs = (
	'summary' => ['summary', 'summary -g "/*"'],
	'timehist' => ['timehist -e irq --stacks', 'timehist -wM'],
	'timehist -s' => ['timehist -s'],
	'latency' => ['latency', 'latency --hist --over-time --worst 5', 'latency --preempted --worst 5'],
	'explain' => ['explain --worst 5', 'explain --by task', 'explain --by process', 'explain --by comm', 'explain --by cgroup', 'explain -t 100', 'explain -t 100 --at +70us'],
	'critical' => ['critical -t 10', 'critical -t 10 --path', 'critical',
		'critical --between sched_entry,sched_exit --by pid'],
	'wakers' => ['wakers', 'wakers --stacks'],
	'map' => ['map'],
	'pelt' => ['pelt -s "*"', 'pelt -s "*" --points', 'pelt -s "*" -t 100', 'pelt -s "*" -g "/*"',
		'pelt -t 100 --points --what-if halflife=1ms'],
	'pelt --verify' => ['pelt --verify', 'pelt -c "*" --verify'],
	'pelt --util-est' => ['pelt --util-est'],
	'states' => ['states'],
	'migrations' => ['migrations'],
	'migrations --list' => ['migrations --list'],
	'balance' => ['balance'],
	'resched' => ['resched'],
	'placement' => ['placement'],
	'placement --list' => ['placement --list'],
	'eevdf' => ['eevdf'],
	'monitor' => ['monitor wwnr', 'monitor tss'],
	'diff' => ['diff', 'diff --by task'],
	'check' => ['check'],
	'dump' => ['dump'],
);

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 20) if @problems > 20;
	print STDERR map { "#   $_\n" } @problems;
}

sub document {
	my ($doc, $section, $key, $type, $null) = @_;

	push(@{$doc->{$section}{twice}}, $key) if $doc->{$section}{keys}{$key};
	$doc->{$section}{keys}{$key} = { type => $type, null => $null };
	# an array's element stands for the array
	document($doc, $section, $key =~ s/\[\]$//r, 'array', $null) if $key =~ /\[\]$/ && $type ne '[]';
}

# { section => { keys => { path => { type, null } }, csv => prefix, own_csv => { key => 1 } } }
sub read_doc {
	my (%doc, $section, $prefix);

	open(my $f, '<', "$root/docs/json.md") or die "docs/json.md: $!\n";
	while (<$f>) {
		if (/^## (.+)$/) {
			($section, $prefix) = ($1, '');
		} elsif (/^### CSV$/) {
			$prefix = undef;
		} elsif (/^### `([^`]+)`(?: \(null: (.+)\))?$/) {
			$prefix = "$1.";
			document(\%doc, $section, $1, 'object', $2 // '');
		} elsif (/^CSV: (?:`([^`]+)`|the same)/) {
			$doc{$section}{csv} = defined $1 ? "$1." : '';
		} elsif ($section && /^\|(`.*`)\|([^|]*)\|([^|]*)\|[^|]*\|$/) {
			my ($keys, $type, $null) = ($1, $2, $3);

			for my $key ($keys =~ /`([^`]+)`/g) {
				if (defined $prefix) {
					document(\%doc, $section, "$prefix$key", $type, $null);
				} else {
					$doc{$section}{own_csv}{$key} = 1;
				}
			}
		}
	}
	return \%doc;
}

sub type_of {
	my ($v) = @_;

	return 'null' unless defined $v;
	return 'array' if ref $v eq 'ARRAY';
	return 'object' if ref $v eq 'HASH';
	return 'bool' if ref $v && JSON::XS::is_bool($v);
	my $flags = B::svref_2object(\$v)->FLAGS;
	return $flags & B::SVf_POK ? 'string' : $flags & B::SVf_NOK ? 'number' : 'integer';
}

# Notes the types of a value, and of all in it.
sub walk {
	my ($seen, $path, $v) = @_;
	my $type = type_of($v);

	$seen->{$path}{$type} = 1 if $path ne '';
	if ($type eq 'array') {
		walk($seen, $path . '[]', $_) for @$v;
	} elsif ($type eq 'object') {
		walk($seen, $path eq '' ? $_ : "$path.$_", $v->{$_}) for keys %$v;
	}
}

# What a run is about: arguments that name recordings, one text for each time that it runs.
sub inputs_of {
	my ($command) = split(/ /, $_[0]);
	my @dats = recordings_for($command);

	return join(' ', rules(), @dats[0 .. 3]) if $command eq 'check';
	return map { "-i $_" } @dats if $command ne 'diff';
	return (sixes($dats[0]), long_pair(), map { "$dats[$_ - 1] $dats[$_]" } 1 .. $#dats);
}

# What a run prints, of each.
sub outputs {
	my ($args) = @_;

	return map { $_->[0] } runs(map { "$args $_" } inputs_of($args));
}

sub recorded {
	my ($file, $wait_us, $cycles) = @_;

	-e "$tmp/$file" or system("$here/diff/recording", "$tmp/$file", $wait_us, $cycles) == 0 or die "cannot make $file\n";
	return "$tmp/$file";
}

# For check: all verdicts, and no value.
sub rules {
	return spew("$tmp/all.rules",
		"rule a : recording.window > 1s\nrule b : latency.waking.p50 -c absent < 1s\nrule c : median recording.window > 0\n");
}

# For diff: one against one with blocks of time, and enough of them for verdicts and intervals, both with a warning.
sub long_pair { return join(' ', map { recorded("long$_.dat", 400 + $_, 1200) } 1 .. 2) }

sub sixes {
	my ($warned) = @_;

	return join(' -- ', map { my $side = $_; join(' ', map { recorded("$side$_.dat", $side + $_, 20) } 1 .. 6) } 300, 500) . " $warned";
}

sub fits {
	my ($type, $got) = @_;
	my %also = (ns => 'integer', number => 'integer');

	return $got eq $type || $got eq ($also{$type} // '');
}

sub json_problems {
	my ($doc, $section, $common) = @_;
	my ($keys, %seen, @problems) = ($doc->{keys});

	for my $run (@{$runs{$section}}) {
		walk(\%seen, '', $_) for map { JSON::XS->new->incr_parse($_) } outputs("$run --json");
	}
	# the fields of events are their formats'; what holds other keys is documented by them
	delete $seen{$_} for grep { $section eq 'dump' && /^fields\./ } keys %seen;
	for my $path (sort keys %seen) {
		my $d = $keys->{$path} // $common->{$path};

		my $ns = $path =~ s/_wall$/_ns/r;

		# the page describes these keys in its text, not in its tables: wall time next to a time, and throttling_possible
		next if $path =~ /(^|\.)throttling_possible$/;
		next if $ns ne $path && ($keys->{$ns} || $common->{$ns});
		my @types = grep { $_ ne 'null' } keys %{$seen{$path}};

		if ($d) {
			push(@problems, map { "$path is $_, the page says $d->{type}" } grep { !fits($d->{type}, $_) } @types);
			push(@problems, "$path may be null: the page does not say when") if $seen{$path}{null} && $d->{null} eq '';
		} elsif (!grep { index($_, "$path.") == 0 || index($_, "$path\[") == 0 } keys %$keys) {
			push(@problems, "$path is printed, and not on the page");
		}
	}
	push(@problems, map { "$_ is on the page, and not printed" } grep { !$seen{$_} } sort keys %$keys);
	return (@problems, map { "$_ stands there twice" } @{$doc->{twice} // []});
}

# The first line of CSV, of the first recording that gives one.
sub header_of {
	my ($args) = @_;

	for my $input (inputs_of($args)) {
		my ($ran) = runs("$args --csv $input");
		return $1 if $ran->[0] =~ /\A(.+)/;
	}
	return undef;
}

sub csv_problems {
	my ($doc, $section) = @_;
	my $header = header_of($runs{$section}[0]);
	my %own = %{$doc->{own_csv} // {}};
	my %known = %own;
	my @problems;

	if (defined $doc->{csv}) {
		for (keys %{$doc->{keys}}) {
			$known{substr($_, length($doc->{csv})) =~ s/\[\]//gr =~ s/\./_/gr} = 1
				if index($_, $doc->{csv}) == 0;
		}
	}
	for my $key (grep { !/^throttling_possible$|_wall$/ } split(/,/, $header // '')) {
		push(@problems, "$key is printed, and not on the page") unless $known{$key};
		delete $own{$key};
	}
	return ($header ? () : 'nothing is printed', @problems, map { "$_ is on the page, and not printed" } sort keys %own);
}

my $doc = read_doc();
my $common = (delete $doc->{'In every report'})->{keys}; # and the two kinds of keys that its text describes
check('the page has the reports that there are',
      (map { "no $_" } grep { !$doc->{$_} } sort keys %runs), map { "unknown: $_" } grep { !$runs{$_} } sort keys %$doc);
for my $section (sort keys %runs) {
	check("$section: JSON", json_problems($doc->{$section}, $section, $common));
	check("$section: CSV", csv_problems($doc->{$section}, $section)) unless $section eq 'check'; # has none
}
print "1..$n\n";
exit($failed ? 1 : 0);
