# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Perfetto's trace processor for tests (query.mjs), and the recordings that tests of exports compare with it.
package Perfetto;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(basename dirname);
use IPC::Open2;
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Recordings;
our @EXPORT = qw(missing ask reports exported export_of various_recordings seeds simulated check finish);

my $here = dirname(abs_path(__FILE__));
my $tmp = memory_folder();
my ($to, $from, $pid);
my ($n, $failed) = (0, 0);

# Start the trace processor. Return: undef, or why it cannot run here.
sub missing {
	return 'no node on this machine' if system('command -v node >/dev/null') != 0;
	chomp(my $folder = `$here/fetch 2>/dev/null`);
	return 'no trace processor on this machine' if $? || $folder eq '';
	$pid = open2($from, $to, 'node', "$here/query.mjs", $folder);
	return;
}

# The trace processor ends at the end of its input.
END {
	my $status = $?;

	if ($pid) {
		close($to);
		waitpid($pid, 0);
	}
	$? = $status;
}

# ask FILE, NAME => SQL, ...: load a trace and run queries in this order. Return: {NAME => [{COLUMN => VALUE}]}
sub ask {
	my ($file, @queries) = @_;

	print $to encode_json({ file => $file, queries => \@queries }), "\n";
	$to->flush;
	my $line = <$from> // die "the trace processor ended at $file\n";
	return decode_json($line);
}

# reports FILE, ARGUMENTS...: what the program prints as JSON, of each of these runs; undef of one that prints nothing.
sub reports {
	my ($file, @args) = @_;

	return map { $_->[0] =~ /\S/ ? decode_json($_->[0]) : undef } runs(map { "$_ -i '$file' --json" } @args);
}

# exported FORM, RECORDING, OPTION...: export a recording. Return: the path, until the next export.
sub exported {
	my ($form, $recording, @options) = @_;
	my $trace = "$tmp/trace.$form";

	system($ENV{SCHEDTAP}, 'export', '--to', $form, '-i', $recording, '-o', $trace, @options) == 0 or die "export of $recording\n";
	return $trace;
}

sub export_of { return exported('perfetto', @_) }

# With those of recordings_for('export') and seed 1 of the simulation, these reach each line and branch of src/show/export/perfetto*,
# src/show/export/ftrace.c, src/show/perfetto, src/timeline and src/analysis that any golden test's recording reaches in `export --to perfetto`,
# `export --to ftrace` and `summary` (gcov --branch-probabilities; chosen greedily, and there is none that adds nothing).
my @various = qw(critical-path dump-empty dump-json dump-off dump-stacks dump-ticks explain-affinity latency-offline map-unknown monitor-wwnr
	pelt-cgroups pelt-entity pelt-loss-alone pelt-verify-queues summary-newtask summary-nothing-known summary-off summary-quotas summary-reused
	summary-schedulers timehist-hostile-names view-usage);

# Recordings of golden tests as [path, name], in a soak all.
sub various_recordings {
	my @paths = distinct(recordings_for('export'), map { golden_recording(s{-}{/}r) } @various);

	return map { [$_, basename($_, '.dat') =~ s/^golden-//r] } @paths;
}

# seeds FEW, MANY: seeds of the simulation: FEW from 1 on, in a soak SEEDS [MANY] from SEED [1] on.
sub seeds {
	my ($few, $many) = @_;
	my ($first, $count) = $ENV{SOAK} ? ($ENV{SEED} // 1, $ENV{SEEDS} // $many) : (1, $few);

	return $first .. $first + $count - 1;
}

# Recordings that tests/truth/generate makes of a seed, as [path, name].
sub simulated {
	my ($seed) = @_;
	my $folder = "$tmp/$seed";

	-d $folder or mkdir($folder) && system("$ENV{BUILD}/tests/truth/generate", $seed, 600, $folder) == 0 or die "generate $seed failed\n";
	return map { [$_, "seed $seed, " . basename($_)] } glob("$folder/*.dat");
}

# check NAME, PROBLEM...: one line of TAP.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 20) if @problems > 20;
	print STDERR map { "#   $_\n" } @problems;
}

# There are no more checks. Return: the exit status.
sub finish {
	print "1..$n\n";
	return $failed ? 1 : 0;
}

1;
