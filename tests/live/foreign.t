#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Other people's recordings, and those of older versions: after an event's name, `schedtap dump` prints what `trace-cmd report`
# prints there, event for event. SCHEDTAP names the program.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);

my $here = dirname(abs_path($0));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my @files = glob("$here/../recordings/{*,*/*}.dat");

if (!@files || system('command -v trace-cmd >/dev/null')) {
	print '1..0 # SKIP no ', @files ? 'trace-cmd' : 'recordings', "\n";
	exit 0;
}

# Lines of "TIME NAME: TEXT", the time in us as trace-cmd rounds it.
sub events_of {
	my ($match, @cmd) = @_;
	my @events;

	open(my $out, '-|', @cmd) or die "$cmd[0]: $!\n";
	while (<$out>) {
		next if !/$match/;
		my ($s, $ns, $name, $text) = ($1, $2, $3, $4);
		$ns = int(substr("${ns}000", 0, 9) / 1000 + 0.5) if length($ns) > 6;
		($s, $ns) = ($s + 1, 0) if $ns == 1000000;
		$text =~ s/\\n => .*//; # trace-cmd prints each frame of a stack in a line of its own
		$text =~ s/\bnext_llc=65535\b/next_llc=-1/; # libtraceevent 1.7 prints a negative s16 so
		$text =~ s/\s+$//;
		push @events, sprintf('%d.%06d %s: %s', $s, $ns, $name, $text);
	}
	close($out) or die "@cmd: status $?\n";
	return @events;
}

my ($n, $failed) = (0, 0);
for my $file (@files) {
	my @ours = events_of(qr/ (\d+)\.(\d+): \w+:(\w+): ?(.*)$/, $schedtap, 'dump', '-i', $file);
	my @theirs = events_of(qr/ (\d+)\.(\d+): (\w+): *(.*)$/, qw(trace-cmd report -N -i), $file);
	my @wrong = grep { ($ours[$_] // "") ne $theirs[$_] } 0 .. $#theirs;

	$n++;
	my $ok = @theirs && @ours == @theirs && !@wrong;
	$failed++ if !$ok;
	print $ok ? '' : 'not ', "ok $n - ", $file =~ s{.*/recordings/}{}r, ': ', scalar(@theirs), " events\n";
	print '# ', scalar(@ours), ' and ', scalar(@theirs), ' events, ', scalar(@wrong),
	      " differ\n" if !$ok;
	print STDERR map { '# ours   ' . ($ours[$_] // '') . "\n# theirs $theirs[$_]\n" }
		@wrong[0 .. ($#wrong > 4 ? 4 : $#wrong)];
}
print "1..$n\n";
exit($failed ? 1 : 0);
