#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each fuzz target over its corpus (corpus/README.md), over inputs that are made of the tree (seed_TARGET), and over a fixed number of
# changed inputs, which one seed and the corpus alone determine: the result is the same in each run of a tree. tests/fuzz/soak looks
# for new faults. FUZZ_BUILD names the folder of the fuzz programs, MKDAT the program that makes recordings; JOBS targets run at a time.
# An input that fails is kept in $FUZZ_BUILD/failed, and the line that runs it again is printed.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Fuzz;
use Files;

# Changed inputs. All of this test takes about 50 s of CPU time.
my %runs = (
	assign => 1000, bench => 1000, condition => 1000, dat => 200, define => 1000, filter => 1000, http => 1000, mark => 300, perf => 200, perfetto => 1000, print => 1000, rules => 1000,
	session => 1000, spool => 1000, steps => 1000, symbol => 1000, text => 200, types => 100, usdt => 1000, user => 1000,
);

# Runs each of the files once. Return: what is to be said of those that fail.
sub replay {
	my ($target, $dir, @files) = @_;
	my $said = '';

	while (@files) {
		my ($log, $has_failed) = fuzz_run($target, $dir, @files);
		last unless $has_failed;
		my ($at) = $log =~ /.*^Running: (\S+)/ms;

		$said .= (fuzz_failure($target, $log))[1];
		shift(@files) while defined($at) && @files && $files[0] ne $at;
		shift(@files);
	}
	return $said;
}

sub change {
	my ($target, $dir, @files) = @_;

	# a list, for the order of files in a folder is its file system's; pointers are compared, and differ from run to run
	spew("$dir/list", join(',', @files));
	my ($log, $has_failed) = fuzz_run($target, $dir, '-seed=1', "-runs=$runs{$target}", '-max_len=65536', '-use_cmp=0',
		"-seed_inputs=\@$dir/list");
	return $has_failed ? (fuzz_failure($target, $log))[1] : '';
}

my @targets = fuzz_targets();
print '1..', scalar(@targets), "\n";
exit(fuzz_each(sub {
	my ($nr, $target, $dir) = @_;
	my @corpus = fuzz_corpus($target, "$dir/corpus");
	my @seeds = fuzz_seeds($target, "$dir/seeds");
	my $said = replay($target, $dir, @corpus, @seeds) || change($target, $dir, @corpus);

	return ($said ? 'not ok' : 'ok') . " $nr - $target: " . scalar(@corpus) . ' files of the corpus, ' .
		scalar(@seeds) . " seeds, $runs{$target} runs\n$said";
}, @targets) > 0);
