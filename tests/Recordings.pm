# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings that several tests read, each made once: in $SHARED, which all test files of one run share, else in a temporary folder. And
# what the program says of them, many runs at a time. Using this module sets the programs' paths: SCHEDTAP, MKDAT, BUILD (the build
# folder), and SCHEDTAP_PROGRAM, the program itself for tests of how it starts, where SCHEDTAP is a stand-in that starts faster.
package Recordings;
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp;
use lib dirname(__FILE__);
use Files;
our @EXPORT = qw(memory_folder quoted golden_recording golden_recordings distinct recordings_for commands runs);

my $tests = dirname(abs_path(__FILE__));
my $own; # folder of this process, made when it is needed

$ENV{BUILD} = abs_path($ENV{BUILD} // ($ENV{SCHEDTAP} ? dirname($ENV{SCHEDTAP}) : "$tests/../build"));
$ENV{SCHEDTAP} = abs_path($ENV{SCHEDTAP} // "$ENV{BUILD}/schedtap");
$ENV{MKDAT} = abs_path($ENV{MKDAT} // "$ENV{BUILD}/tests/mkdat");
$ENV{SCHEDTAP_PROGRAM} = abs_path($ENV{SCHEDTAP_PROGRAM} // $ENV{SCHEDTAP});

# A test that is ended by a signal removes its folders, too.
$SIG{$_} //= sub { exit(1) } for qw(HUP INT TERM);

# A temporary folder, in memory where there is such a place, for each recording is synced. It goes with the last reference to it.
sub memory_folder {
	return File::Temp->newdir('schedtap-recordings-XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : '/tmp');
}

# A field's value, as mkdat reads it.
sub quoted {
	my ($v) = @_;

	return $v if $v =~ /^-?\d+$/;
	return '"' . $v =~ s/([^ -~]|["\\])/sprintf('\\x%02X', ord($1))/ger . '"';
}

# The recording of a golden test (COMMAND/BEHAVIOUR). Two tests may make it at once: each has all of it, or none.
sub golden_recording {
	my ($case) = @_;
	my $path = ($ENV{SHARED} // ($own //= memory_folder())) . '/golden-' . $case =~ tr{/}{-}r . '.dat';

	return $path if -e $path;
	system($ENV{MKDAT}, "$tests/golden/$case/in.txt", "$path.$$") == 0 or die "$ENV{MKDAT} of $case failed\n";
	rename("$path.$$", $path) or die "$path: $!\n";
	return $path;
}

# Paths of all golden tests' recordings: .../golden-COMMAND-BEHAVIOUR.dat.
sub golden_recordings {
	return map { golden_recording(m{([^/]+/[^/]+)/in\.txt$}) } sort(glob("$tests/golden/*/*/in.txt"));
}

# Of recordings with the same bytes, of which reports say the same, only the first.
sub distinct {
	my (@paths) = @_;
	my %seen;

	return grep { !$seen{md5(slurp($_))}++ } @paths;
}

# These together have what the recordings of other commands' tests have: each key that some report prints of any recording, with each of its
# types, is printed of one of these or of the report's own (a soak looks at all).
my @various = qw(check-deadline dump-wall explain-lost export-hostile monitor-tss pelt-loss pelt-signals placement-reasons summary-off_within
	timehist-hostile-events);

# The golden tests' recordings for a check of this command: its own, then @various; in a soak all.
sub recordings_for {
	my ($command) = @_;
	my @all = golden_recordings();
	my @own = grep { m{/golden-$command-[^/]*$} } @all;

	return distinct(@own, $ENV{SOAK} ? @all : map { golden_recording(s{-}{/}r) } @various);
}

# Run shell commands. Return: for each [standard output, exit status, standard error]; the status is 128 + N after signal N. One shell starts
# them all, because it forks faster than a test that holds much memory.
sub commands {
	my (@commands) = @_;
	my $to = $own //= memory_folder();
	my $nr = 0;

	spew("$to/$$.sh", join('', map { $nr++; ">$to/$$.$nr.out 2>$to/$$.$nr.err </dev/null $_\necho \$?\n" } @commands));
	my @status = split(/\n/, qx(sh $to/$$.sh));
	die "a shell did not run all commands\n" if @status != @commands;
	my @got = map { [slurp("$to/$$.$_.out"), $status[$_ - 1], slurp("$to/$$.$_.err")] } 1 .. $nr;
	unlink("$to/$$.sh", map { ("$to/$$.$_.out", "$to/$$.$_.err") } 1 .. $nr);
	return @got;
}

# Run the program with each of these arguments, which are shell text.
sub runs {
	return commands(map { "\"\$SCHEDTAP\" $_" } @_);
}

1;
