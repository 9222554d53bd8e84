#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A recording of which one bit is flipped, one page is zero, or the end is missing: `dump` prints no event that the intact
# recording does not have, what is missing lies within losses that it prints, and it says that something is damaged. Or it
# refuses the recording, with a sentence.
#
# SOAK=1: 200 of each kind of damage; SEEDS=N: those of N other seeds.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $tries = $ENV{SOAK} ? 200 : 24;
my $seeds = $ENV{SEEDS} // 1;
my $dir = memory_folder();
my ($nr, $failed) = (0, 0);
$ENV{LC_ALL} = 'C';
chdir($dir) or die "$dir: $!\n";
END { chdir('/') } # to be removed, a folder must not be the current one

sub ok {
	my ($name, @wrong) = @_;

	$nr++;
	$failed = 1 if @wrong;
	print @wrong ? 'not ok ' : 'ok ', "$nr - $name\n";
	print STDERR map { "# $_\n" } @wrong > 20 ? @wrong[0 .. 19] : @wrong;
}

# ---- a recording -------------------------------------------------------------------------------

# Two CPUs, each of more pages than a chunk or a block of them has.
sub text {
	my ($events) = @_;
	my ($text, $t) = (qq(cpus 2\nmeta {"complete":true}\n), 1_000_000_000);

	for my $i (1 .. $events) {
		my ($cpu, $tid) = ($i % 2, 10 + $i % 7);
		$text .= $i % 4 < 2 ? "$t $cpu $tid sched:sched_switch prev_comm=t$tid prev_pid=$tid prev_prio=120 prev_state=1 " .
			"next_comm=swapper/$cpu next_pid=0 next_prio=120\n" :
			"$t $cpu 0 sched:sched_waking comm=t$tid pid=$tid prio=120 target_cpu=$cpu\n";
		$t += 100 + $i * 37 % 911;
	}
	return $text;
}

# ---- damage ------------------------------------------------------------------------------------

# Each changes @$bytes. Return: what it did.
my %damage = (
	'a flipped bit' => sub {
		my ($bytes) = @_;
		my $bit = int(rand(8 * length $$bytes));
		vec($$bytes, $bit, 1) ^= 1;
		return "bit $bit is flipped";
	},
	'a zeroed page' => sub {
		my ($bytes) = @_;
		my $page = int(rand(length($$bytes) / 4096));
		my $len = length($$bytes) - 4096 * $page;
		$len = 4096 if $len > 4096;
		substr($$bytes, 4096 * $page, $len) = "\0" x $len;
		return "page $page is zero";
	},
	'a missing end' => sub {
		my ($bytes) = @_;
		my $len = int(rand(length $$bytes));
		$$bytes = substr($$bytes, 0, $len);
		return "it ends at byte $len";
	},
);

# ---- what dump prints --------------------------------------------------------------------------

sub ns {
	my ($text) = @_;
	my ($s, $ns) = split(/\./, $text);

	return $s * 1_000_000_000 + $ns;
}

# Return: {line => [CPU, ns]} of an intact recording.
sub events_of {
	my ($out) = @_;
	my %events;

	for (split(/\n/, $out)) {
		next if /^\*\*\* /; # the end of a CPU that its recorder did not end
		/ \[(\d+)\] (\d+\.\d+): / or die "no event: $_\n";
		die "twice: $_\n" if $events{$_};
		$events{$_} = [$1 + 0, ns($2)];
	}
	return \%events;
}

# Of each spool folder it is said that no recorder has ended it: that is about no damage.
sub without_note { return $_[0] =~ s/^schedtap: [^\n]* is incomplete: its recorder did not finish, [^\n]*\n//mr }

# Return: '', or what is wrong with what a dump gave of a recording with these events.
sub judge {
	my ($events, $ran) = @_;
	my ($out, $code, $err) = (@$ran[0, 1], without_note($ran->[2]));
	my (%seen, %losses, %open);

	return "exit $code: $err" unless $code == 0 || $code == 1;
	return 'it fails without a sentence' if $code && $err !~ /\Aschedtap: [^\n]{10,}\n/;
	for (split(/\n/, $out)) {
		if (/^\*\*\* \[(\d+)\] .* between (\d+\.\d+) and (\d+\.\d+)/) {
			push @{$losses{$1 + 0}}, [ns($2), ns($3)];
			$open{$1 + 0} = ns($2);
			next;
		}
		return "printed, and not recorded: $_" unless $events->{$_};
		return "printed twice: $_" if $seen{$_}++;
		delete $open{$events->{$_}[0]};
	}
	return '' if $code || keys(%seen) == keys(%$events); # dump reported the damage, or printed all events
	# a loss that nothing comes after reaches to an end that need not be known
	push @{$losses{$_}}, [$open{$_}, 2**62] for keys %open;
	for my $line (grep { !$seen{$_} } keys %$events) {
		my ($cpu, $ns) = @{$events->{$line}};
		return "missing, and in no loss: $line" unless grep { $_->[0] <= $ns && $ns <= $_->[1] } @{$losses{$cpu}};
	}
	return $err eq '' ? 'nothing on standard error says that events are missing' : '';
}

# ---- the tests ---------------------------------------------------------------------------------

# Tries each kind of damage on a recording. $make: of the number of a try and the damage, the argument of dump and what was done. Every other
# try is of a window.
sub try_all {
	my ($name, $all, $make) = @_;
	my @window = (1_002_000_000, 1_003_000_000);
	my %in_window = map { $_ => $all->{$_} } grep { $window[0] <= $all->{$_}[1] && $all->{$_}[1] <= $window[1] } keys %$all;

	for my $kind (sort keys %damage) {
		my @wrong;
		for my $seed (1 .. $seeds) {
			srand($seed);
			my @did = map { [$make->($_, $damage{$kind})] } 1 .. $tries;
			my @ran = runs(map { "dump -i $did[$_][0]" . ($_ % 2 ? ' --time 1.002,1.003' : '') } 0 .. $#did);
			for (0 .. $#did) {
				my $why = judge($_ % 2 ? \%in_window : $all, $ran[$_]);
				push @wrong, "seed $seed, try $_, $did[$_][1]: $why" if $why;
			}
		}
		ok("$name, $kind", @wrong);
	}
}

spew('in.txt', text(24000));
for (['plain', ''], ['zstd', '--zstd']) {
	my ($name, $how) = @$_;
	system("$ENV{MKDAT} in.txt $name.dat $how") == 0 or die "$ENV{MKDAT} failed\n";
	my ($ran) = runs("dump -i $name.dat");
	my $events = events_of($ran->[0]);
	my $bytes = slurp("$name.dat");
	ok("$name: an intact one is silent", $ran->[2] eq '' && keys(%$events) == 24000 ? () : $ran->[2]);
	try_all($name, $events, sub {
		my ($i, $damage) = @_;
		my $copy = $bytes;
		my $did = $damage->(\$copy);
		spew("bad-$i.dat", $copy);
		return ("bad-$i.dat", $did);
	});
}

# A spool folder: what stands beside its pages, which have no checksums
system("$ENV{MKDAT} in.txt spool.dat --spool") == 0 or die "$ENV{MKDAT} failed\n";
spew('spool.dat.spool/meta.json', qq({"complete":false}\n)) unless -e 'spool.dat.spool/meta.json';
my ($ran) = runs('dump -i spool.dat.spool');
my $events = events_of($ran->[0]);
my @files = qw(head.dat head.copy meta.json);
ok('spool: an intact one is silent, but for its note', without_note($ran->[2]) eq '' && $ran->[2] ne '' && keys(%$events) == 24000 ? () : $ran->[2]);
try_all('spool', $events, sub {
	my ($i, $damage) = @_;
	my $file = $files[$i % @files];
	my $copy = slurp("spool.dat.spool/$file");
	my $did = $damage->(\$copy);
	mkdir("bad-$i.spool");
	for (glob('spool.dat.spool/*')) {
		my ($name) = m{([^/]*)\z};
		unlink("bad-$i.spool/$name");
		link($_, "bad-$i.spool/$name") or die "$name: $!\n";
	}
	unlink("bad-$i.spool/$file");
	spew("bad-$i.spool/$file", $copy);
	return ("bad-$i.spool", "$file: $did");
});

chdir(q{/});
print "1..$nr\n";
exit $failed;
