# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The fuzz targets: their programs, what they begin with, and how a failing input is reported. Shared by replay.t and soak.
package Fuzz;
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/..';
use Files;
our @EXPORT = qw(fuzz_corpus fuzz_each fuzz_failure fuzz_program fuzz_run fuzz_seeds fuzz_targets);
use Exporter qw(import);

my $here = dirname(abs_path(__FILE__));
my $root = abs_path("$here/../..");
my $build = abs_path($ENV{FUZZ_BUILD} // "$root/build-san");
my $mkdat = $ENV{MKDAT} // "$root/build/tests/mkdat";
my $dat2perf = dirname($mkdat) . '/fuzz/dat2perf';

# trace.dat and perf.data are recordings to one program
sub fuzz_program {
	my ($target) = @_;

	return "$build/fuzz_" . ($target =~ /^(dat|perf)$/ ? 'report' : $target);
}

# Return: all targets. Ends the test where their programs are not built.
sub fuzz_targets {
	my @all = map { basename($_) } glob("$here/corpus/*/");
	my @missing = grep { !-x } map { fuzz_program($_) } @all;

	return @all unless @missing;
	print "1..0 # SKIP there is no $missing[0]: FUZZ_BUILD names the folder of a build by clang that has the fuzz programs\n";
	exit;
}

sub command {
	my (@command) = @_;

	system(@command) == 0 or die "@command failed\n";
}

# Makes an input of fuzz_spool: the page files of a recording as text, and what its lines "# flags N" and "# meta.json JSON" say.
sub make_spool {
	my ($text, $out) = @_;
	my ($flags) = slurp($text) =~ /^# flags (\d+)/m;
	my ($meta) = slurp($text) =~ /^# meta\.json (.*)/m;

	command($mkdat, $text, $out, '--spool');
	my %files = map { basename($_) => slurp($_) } grep { !/head\.(dat|copy)$/ } glob("$out.spool/*");
	$files{'meta.json'} = $meta if defined($meta);
	command('rm', '-rf', "$out.spool");
	spew($out, pack('C', $flags // 0) . join('', map { pack('C/a* V/a*', $_, $files{$_}) } sort(keys(%files))));
	return $out;
}

# Makes an input of a recording as text. Return: its path.
sub make_recording {
	my ($target, $text, $out) = @_;

	return make_spool($text, $out) if $target eq 'spool';
	command($mkdat, $text, $out);
	command($dat2perf, $out, "$out.perf") if $target eq 'perf';
	return $target eq 'perf' ? "$out.perf" : $out;
}

# Return: the paths of the target's corpus; what is kept as text (*.txt of dat, perf and spool) is made in $dir.
sub fuzz_corpus {
	my ($target, $dir) = @_;
	my $is_recording = $target =~ /^(dat|perf|spool)$/;

	make_path($dir);
	return map { $is_recording && /\.txt$/ ? make_recording($target, $_, "$dir/" . basename($_, '.txt')) : $_ }
		sort(glob("$here/corpus/$target/*"));
}

# Return: the paths of inputs that are made of the tree, as its events and golden tests, in $dir.
sub fuzz_seeds {
	my ($target, $dir) = @_;

	make_path($dir);
	command('sh', '-c', 'cd "$1" && MKDAT="$2" "$3" "$4"', 'seed', $root, $mkdat, "$here/seed_$target", $dir)
		if -e "$here/seed_$target";
	return sort(glob("$dir/*"));
}

# An option that all runs of a target have, so that the line that is printed of a failure has it.
my @options = qw(-rss_limit_mb=4096 -timeout=300);

# Runs the target's program with its words (dict/TARGET), which leaves its temporary files and its report in $dir. Return: its report; whether it failed.
sub fuzz_run {
	my ($target, $dir, @args) = @_;

	unshift(@args, "-dict=$here/dict/$target") if -e "$here/dict/$target";
	make_path("$dir/tmp", "$build/failed");
	my $pid = fork() // die "fork: $!\n";
	if (!$pid) {
		delete(@ENV{qw(ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS)});
		@ENV{qw(LC_ALL TZ TMPDIR)} = ('C', 'UTC', "$dir/tmp");
		open(STDOUT, '>', "$dir/log") and open(STDERR, '>&', \*STDOUT) or die "$dir/log: $!\n";
		exec(fuzz_program($target), @options, "-artifact_prefix=$build/failed/$target-", @args) or exit(127);
	}
	waitpid($pid, 0);
	return (slurp("$dir/log"), $? != 0);
}

# Keeps the input that failed; where the program could not write it, it is the file that it ran.
# Return: its path; the line that runs it again, and the end of what was said of it.
sub fuzz_failure {
	my ($target, $log) = @_;
	my ($input) = $log =~ /Test unit written to (\S+)/;
	my ($file) = $log =~ /.*^Running: (\S+)/ms;

	if (!$input && $file) {
		$input = "$build/failed/$target-" . basename($file);
		copy($file, $input) or die "$input: $!\n";
	}
	my @said = split(/\n/, $log);
	my @end = @said > 40 ? @said[-40 .. -1] : @said;
	return ($input, join('', map { "# $_\n" } join(' ', fuzz_program($target), @options, $input // ''), map { "  $_" } @end));
}

# Calls $each with a number, an item and a folder, JOBS items at a time, and prints the texts that it returns, in their order.
# Return: how many of them say "not ok".
sub fuzz_each {
	my ($each, @items) = @_;
	my $dir = tempdir('schedtap-fuzz-XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : '/tmp', CLEANUP => 1); # mkdat syncs what it writes
	my ($begun, $printed, $failed, %running) = (0, 0, 0);

	$| = 1;
	local $SIG{TERM} = local $SIG{INT} = sub { kill('TERM', keys(%running)); exit(1) };
	while ($printed < @items) {
		while ($begun < @items && keys(%running) < ($ENV{JOBS} // 1)) {
			my $pid = fork() // die "fork: $!\n";
			if (!$pid) {
				local $SIG{TERM} = local $SIG{INT} = 'DEFAULT';
				my $text = eval { $each->($begun + 1, $items[$begun], "$dir/$begun") } // 'not ok ' . ($begun + 1) . " - $items[$begun]\n# $@";
				spew("$dir/$begun.tap", $text);
				exit(0);
			}
			$running{$pid} = $begun++;
		}
		delete($running{ waitpid(-1, 0) });
		for (; $printed < $begun && !grep({ $_ == $printed } values(%running)); $printed++) {
			my $text = slurp("$dir/$printed.tap");

			$failed += $text =~ /^not ok/m;
			print $text;
			command('rm', '-rf', "$dir/$printed");
		}
	}
	return $failed;
}

1;
