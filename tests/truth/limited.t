#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/limited.t [COUNT [FIRST]]: of simulated recordings, what a recording limited to a thread, a process, a name, or a cgroup, says of
# its tasks is what the whole one says, and of all others it says nothing. One limited to CPUs says the same of these, and of tasks what
# is true whatever happened on the others. COUNT is 4, in a soak SEEDS [40] from SEED [1] on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $generate = "$ENV{BUILD}/tests/truth/generate";
my $count = $ARGV[0] // ($ENV{SOAK} ? $ENV{SEEDS} // 40 : 4);
my $first = $ARGV[1] // ($ENV{SOAK} ? $ENV{SEED} // 1 : 1);
my $tasks_of_seed = $ENV{SOAK} ? 1000 : 6;
my ($failed, $compared, $recognised, $of_cpus, $known_waits, $explained) = (0) x 6;

unless (-x $ENV{SCHEDTAP} && -x $generate && -x $ENV{MKDAT}) {
	print "Bail out! $ENV{SCHEDTAP}, $generate or $ENV{MKDAT} is missing\n";
	exit 1;
}

my $json = JSON::XS->new->canonical;

# The recording as lines for mkdat, with the tasks that each speaks of: [line, { tid => name }].
sub lines_of {
	my ($file) = @_;
	my @lines;

	for (split(/\n/, qx($ENV{SCHEDTAP} dump --json -i $file))) {
		my $e = $json->decode($_);
		my $f = $e->{fields} or next;
		next if $e->{event} eq 'sched:sched_wakeup'; # mkdat has none
		my %about = ($e->{tid} => $e->{comm} // '');
		my @pairs = (['pid', 'comm'], ['prev_pid', 'prev_comm'], ['next_pid', 'next_comm'], ['child_pid', 'child_comm'], ['parent_pid', 'parent_comm']);

		for (@pairs) {
			my ($pid, $comm) = @$f{@$_};
			$about{$pid} = $comm // $about{$pid} // '' if defined $pid;
		}
		push(@lines, [join(' ', $e->{ts_ns}, $e->{cpu}, $e->{tid}, $e->{event}, map { "$_=" . quoted($f->{$_}) }
			grep { !ref($f->{$_}) } sort keys %$f), \%about, $e->{ts_ns}]);
	}
	return @lines;
}

sub make {
	my ($file, $only, @lines) = @_;

	spew("$file.txt", join("\n", "meta {$only}", @lines) . "\n");
	system($ENV{MKDAT}, "$file.txt", $file) == 0 or die "mkdat of $file failed\n";
}

# What reports say of the tasks, without other tasks' names.
sub says {
	my ($file, $select) = @_;
	my ($states, $latency, $migrations, $wakers) = map { $_->[0] =~ /^\{/ ? $json->decode($_->[0]) : {} }
		runs(map { "$_ --json $select -i $file" } qw(states latency migrations wakers));
	my %selected = map { $_->{tid} => 1 } @{ $states->{tasks} // [] };
	# of those that a task wakes the waits are not recorded
	my @woken = map { my $pair = $_; [map { $pair->{$_} } qw(waker_tid tid count censored avg_ns p99_ns max_ns same_cpu other_cpu)] }
		grep { $selected{$_->{tid}} } @{ $wakers->{pairs} // [] };
	my %tasks = map { my %t = %$_; delete @t{qw(tgid cgroup)}; ("$t{tid} $t{comm}" => \%t) } @{ $states->{tasks} // [] };

	return { tasks => \%tasks, list => $states->{tasks} // [], all => $latency->{all}, latency => [map { { %$_, tgid => undef } } @{ $latency->{tasks} // [] }],
		# whether a balancer did it is not known of a task without a name
		moves => [map { $migrations->{$_} // 0 } qw(total wakeup)], balanced => $migrations->{balance} // 0,
		# by cgroup also who is woken in another one, which may have the tid of an earlier life inside
		wakers => $select =~ /^-g/ ? [] : [sort { "@$a[0, 1]" cmp "@$b[0, 1]" } @woken] };
}

# Of each wait what is known of it: { kind and task => ns }. Of part of a recording a component is the whole one's, or unknown.
sub explained {
	my ($file, $select) = @_;
	my ($said) = map { $_->[0] =~ /^\{/ ? $json->decode($_->[0]) : {} } runs("explain --json --worst 10000 $select -i $file");
	my %waits;

	for my $wait (@{ $said->{waits} // [] }) {
		my $of = $waits{join(' ', map { $_ // '' } @$wait{qw(tid state from_ns to_ns cpu)})} = {};

		$of->{join(' ', $_->{kind}, $_->{tid} // '')} += $_->{ns} for grep { $_->{kind} ne 'unknown' } @{ $wait->{pieces} };
	}
	return \%waits;
}

sub other_explanations {
	my ($whole, $part) = @_;
	my @wrong;

	for my $wait (sort keys(%$part)) {
		my $of = $whole->{$wait} or next; # differences() finds it
		for (sort keys(%{ $part->{$wait} })) {
			push(@wrong, "wait $wait: $_ is $part->{$wait}{$_} ns, of all " . ($of->{$_} // 0)) if $part->{$wait}{$_} > ($of->{$_} // 0);
			$explained++;
		}
	}
	return @wrong;
}

sub differences {
	my ($whole, $part) = @_;
	my @wrong;

	for my $what (qw(tasks all latency moves wakers)) {
		my ($x, $y) = map { $json->encode([$_->{$what}]) } $whole, $part;
		push(@wrong, "$what: the whole says\n$x, the limited one\n$y") if $x ne $y;
	}
	push(@wrong, "$part->{balanced} moves by balancers, of all $whole->{balanced}") if $part->{balanced} > $whole->{balanced};
	return @wrong;
}

# What a task did before it entered the cgroup, and after it left, is unknown to the limited recording: each sum of the one lies within
# what the other knows and does not know.
sub out_of_bounds {
	my ($whole, $part) = @_;
	my @wrong;

	my @keys = map { "${_}_ns" } qw(unknown run waking preempted sleep blocked stopped);
	my (@sums) = ({}, {});

	for my $n (0, 1) { # of all lives of a tid
		for my $task (@{ ($part, $whole)[$n]{list} }) { $sums[$n]{$task->{tid}}{$_} += $task->{$_} // 0 for @keys }
	}
	for my $tid (sort keys(%{ $sums[1] })) {
		for my $state (@keys[1 .. $#keys]) {
			my ($p, $pu, $w, $wu) = map { ($_->{$tid}{$state} // 0, $_->{$tid}{unknown_ns} // 0) } @sums;

			push(@wrong, "$tid: $state is $p (unknown $pu), of all $w (unknown $wu)") if $p > $w + $wu || $w > $p + $pu;
		}
	}
	return @wrong;
}

# A limited recording without a description, as another program writes it. Reports must recognise the limit by the switches, or call unknown
# what is not certain.
sub unsaid_limit {
	my ($folder, $window, $select, @kept) = @_;
	my $file = "$folder/unsaid.dat";

	make($file, $window =~ s/"tool":"[^"]*",?//r, @kept);
	my ($summary) = map { $json->decode($_->[0]) } runs("summary --json -i $file");
	my $threads = join(' ', @{ $summary->{recording}{filter}{threads} // [] });
	$recognised += $threads ne '';
	return "recognised as limited to $threads" if $threads ne '' && "-t $threads" ne $select;
	return out_of_bounds(map { says($_, $select) } "$folder/all.dat", $file);
}

sub check_limit {
	my ($folder, $lines, $window, $key, $word, $keeps, $select, $compare) = @_;
	my @kept = map { $_->[0] } grep { $keeps->(@$_[1, 3]) } @$lines;

	# reports refuse a recording without any of these
	return if grep { my $event = $_; !grep { / \Q$event\E / } @kept } qw(sched:sched_switch sched:sched_waking);
	make("$folder/part.dat", qq("only":{"$key":["$word"]},$window), @kept);
	$compared++;
	my @unsaid = $key eq 'threads' ? unsaid_limit($folder, $window, $select, @kept) : ();
	my ($summary, $of_all) = map { $json->decode($_->[0]) } runs("summary --json -n 1000 -i $folder/part.dat", "summary --json -n 1000 -i $folder/all.dat");
	# but of one that was taken offline: its migration thread left it without an event
	my %offline = map { ($_->{cpu} => $_->{offline_ns}) } @{ $of_all->{cpus} };
	# that it left, other tasks' switches prove to the whole one
	$compare //= \&out_of_bounds if (grep { $_ } values(%offline)) && grep { $keeps->({ $_->{tid} => $_->{comm} }) && $_->{comm} =~ m{^migration/} } @{ $of_all->{tasks} };
	my @wrong = map { "$select: $_" } @unsaid, ($compare // \&differences)->(says("$folder/all.dat", $select), says("$folder/part.dat", $select));
	push(@wrong, map { "$select: $_" } other_explanations(map { explained($_, $select) } "$folder/all.dat", "$folder/part.dat"));
	push(@wrong, map { "$select: CPU $_->{cpu} has $_->{breaks} breaks" } grep { $_->{breaks} && !$offline{$_->{cpu}} } @{ $summary->{cpus} });
	for (@{ $summary->{tasks} }) {
		push(@wrong, "$select: $_->{comm} [$_->{tid}] ran for $_->{run_ns} ns") if !$keeps->({ $_->{tid} => $_->{comm} });
	}
	return @wrong;
}

# { tid => name } of migration threads.
sub stoppers {
	return map { my $about = $_->[1]; map { ($_ => $about->{$_}) } grep { $about->{$_} =~ m{^migration/} } keys(%$about) } @_;
}

# Processes of three threads each, of tasks that are there from the beginning and execute nothing: which, the recording's list says.
# Return: the list, { tgid => [tid] }.
sub processes_of {
	my @lines = @_;
	my (%tids, %left_out, %processes);
	my %stopper = stoppers(@lines); # by whose name it is known that it moves others

	for (@lines) {
		$tids{$_} = 1 for grep { $_ > 0 } keys %{ $_->[1] };
		$left_out{$1} = 1 if $_->[0] =~ / child_pid=(\d+)/;
		$left_out{$_} = 1 for $_->[0] =~ /sched_(?:process_exec|wakeup_new).* (?:old_)?pid=(\d+)/g;
	}
	for my $tid (sort { $a <=> $b } grep { !$left_out{$_} } keys %tids) {
		my ($newest) = sort { $b <=> $a } keys %processes;

		push(@{ $processes{ defined $newest && @{ $processes{$newest} } < 3 ? $newest : $tid } }, $tid);
	}
	return ($json->encode([map { my $tgid = $_; map { [$_ + 0, $tgid + 0, $stopper{$_} // '', undef, 'both'] } @{ $processes{$tgid} } } sort keys %processes]), %processes);
}

# Puts a third of the tasks that there are in the beginning in /a, the others in /b. A child begins in its parent's cgroup, and now and then a
# task moves. Adds to each line the cgroups of the tasks that it speaks of. Return: the lines with the moves, the rows of the description's
# list of tasks, { tid => 1 } of who was ever in /a.
sub in_cgroups {
	my ($seed, $moves, @lines) = @_;
	my (@all, %rows, %born, %in, %ever);
	my %reborn = map { ($_ => 1) } map { $_->[0] =~ / child_pid=(\d+)/ } @lines;

	srand($seed);
	for (map { $_->[0] } @lines) {
		$born{$1} //= 1 if / child_pid=(\d+)/ && !exists($born{$1});
		$born{$_} //= 0 for grep { $_ > 0 } / (?:\w+_)?pid=(\d+)/g, (split)[2];
	}
	my %stopper = stoppers(@lines);
	%rows = map { ($_ => $_ % 3 || $stopper{$_} ? 8 : 7) } grep { !$born{$_} } keys(%born);
	%in = %rows;
	for my $i (0 .. $#lines) {
		my $line = $lines[$i];
		my ($ns, $cpu, $by) = split(' ', $line->[0]);
		my $next_ns = $i < $#lines ? $lines[$i + 1][2] : 0;
		my @about = sort { $a <=> $b } grep { $_ > 0 } keys(%{ $line->[1] });

		$in{$1} = $in{$by} if $line->[0] =~ /sched_process_fork .*child_pid=(\d+)/;
		$in{$2} = $in{$1} if $line->[0] =~ /sched_process_exec .*old_pid=(\d+) pid=(\d+)/;
		$ever{$_} = 1 for grep { ($in{$_} // 0) == 7 } @about;
		push(@all, [@$line[0 .. 2], { map { (($in{$_} // 0) => 1) } @about }]);
		next if rand() > $moves || !@about || $next_ns <= $ns + 1; # at the same time as no other event
		my $tid = $about[rand(@about)];
		next if !$in{$tid} || $reborn{$tid}; # a later life's birth may not be recorded
		$in{$tid} = 15 - $in{$tid};
		$ever{$tid} = 1;
		push(@all, [sprintf('%d %d %d cgroup:cgroup_attach_task dst_root=0 dst_level=1 dst_id=%d pid=%d dst_path="/x" comm="x" threadgroup=0',
				    $ns + 1, $cpu, $by, $in{$tid}, $tid), {}, $ns + 1, { 7 => 1 }]);
	}
	return (\@all, [map { [$_ + 0, $_ + 0, $stopper{$_} // '', $rows{$_}, 'began'] } sort { $a <=> $b } keys(%rows)], \%ever);
}

sub check_cgroups {
	my ($seed, $moves, $compare, $folder, @lines) = @_;
	my ($all, $rows, $ever) = in_cgroups($seed, $moves, @lines);
	my $meta = $json->encode({ tasks => $rows, cgroups => [[7, '/a'], [8, '/b']], cgroup_hierarchy => 0,
		events => [{ system => 'cgroup', name => 'cgroup_attach_task', status => 'on' }],
		window => { start_ns => $lines[0][2] + 0, end_ns => $lines[-1][2] + 0 } });

	$meta =~ s/^\{|\}$//g;
	make("$folder/all.dat", $meta, map { $_->[0] } @$all);
	return check_limit($folder, $all, $meta, 'cgroups', '/a', sub { $_[1] ? $_[1]{7} : grep { $ever->{$_} } keys(%{ $_[0] }) }, '-g /a', $compare);
}

# The CPUs of each task, and of the recording: { tid => { cpu => 1 } }, [cpu].
sub cpus_of {
	my (%cpus, %all);

	for (map { $_->[0] } @_) {
		my ($cpu) = / (\d+)/;

		$all{$cpu} = 1;
		$cpus{$_}{$cpu} = 1 for /sched_switch .*next_pid=([1-9]\d*)/, /sched_switch .*prev_pid=([1-9]\d*)/;
		$cpus{$1}{$_} = 1 for /sched_migrate_task .*pid=(\d+)/ ? /(?:orig|dest)_cpu=(\d+)/g : ();
		$cpus{$1}{$2} = 1 if /sched_wak(?:ing|eup_new) .*pid=(\d+).* target_cpu=(\d+)/;
	}
	return (\%cpus, [sort { $a <=> $b } keys(%all)]);
}

# A task of the limited recording must not have more waits or a longer one than in the whole recording.
sub other_waits {
	my ($whole, $part) = @_;
	my %whole = map { ("$_->{tid} $_->{comm}" => $_) } @{ $whole->{latency} };

	return map { my $w = $whole{"$_->{tid} $_->{comm}"};
		!$_->{count} || ($w && $_->{count} <= $w->{count} && $_->{max_ns} <= $w->{max_ns}) ? () :
		"$_->{tid} waited " . $json->encode($_) . ', in the whole ' . ($w ? $json->encode($w) : 'never') } @{ $part->{latency} };
}

# Leaves in both lists the tasks whose tids have one life in each: of others births and deaths may be missing.
sub keep_single_lives {
	my @says = @_;
	my @lives = map { my %n; $n{$_->{tid}}++ for @{ $_->{list} }; \%n } @says;

	for (@says) {
		@{ $_->{list} } = grep { my $tid = $_->{tid}; !grep { ($_->{$tid} // 0) != 1 } @lives } @{ $_->{list} };
	}
}

# A recording of half of the CPUs. A task that never left them may be one that was bound to them.
sub check_cpus {
	my ($folder, $tasks, $window, @lines) = @_;
	my ($of_tasks, $all) = cpus_of(@lines);
	my %kept = map { ($_ => 1) } @$all[0 .. $#$all / 2];
	my $list = join(',', sort { $a <=> $b } keys(%kept));
	my @rows = map { my $tid = $_->[0]; [@$_, (grep { !$kept{$_} } keys(%{ $of_tasks->{$tid} })) ? undef : $list] } @{ $json->decode($tasks) };
	my @kept = map { $_->[0] } grep { $_->[0] =~ /^\d+ (\d+)/ && $kept{$1} } @lines;
	my $meta = '"tasks":' . $json->encode(\@rows) . ",$window";

	return if @$all < 2;
	make("$folder/all.dat", $meta, map { $_->[0] } @lines);
	make("$folder/part.dat", qq("only":{"cpus":"$list"},$meta), @kept);
	my ($whole, $part) = map { says("$folder/$_.dat", '') } qw(all part);
	my ($cpus, $part_cpus) = map { { map { ($_->{cpu} => $_) } @{ $json->decode($_->[0])->{cpus} } } }
		runs("summary --json -i $folder/all.dat", "summary --json -i $folder/part.dat");
	keep_single_lives($whole, $part);
	my @wrong = (out_of_bounds($whole, $part), other_waits($whole, $part));

	$of_cpus++;
	$known_waits += $_->{count} for @{ $part->{latency} };
	for my $cpu (keys(%$part_cpus)) {
		my ($w, $p) = map { $_->{$cpu} } $cpus, $part_cpus;

		push(@wrong, "CPU $cpu: " . $json->encode($p) . ', in the whole ' . $json->encode($w))
			if $kept{$cpu} ? grep { $w->{$_} != $p->{$_} } qw(run_ns idle_ns switches) : $p->{run_ns} + $p->{idle_ns} + $p->{unknown_ns};
	}
	return map { "-C $list: $_" } @wrong;
}

sub check_seed {
	my ($seed) = @_;
	my $folder = memory_folder();

	system($generate, $seed, 400, $folder) == 0 or return 'generate failed';
	my @lines = lines_of("$folder/whole.dat");
	my ($tasks, %processes) = processes_of(@lines);
	my $window = qq("tasks":$tasks,"window":{"start_ns":$lines[0][2],"end_ns":$lines[-1][2]});
	my (%tids, %names);

	make("$folder/all.dat", $window, map { $_->[0] } @lines);
	for my $about (map { $_->[1] } @lines) {
		for (keys %$about) {
			$tids{$_}++ if $_ > 0;
			$names{ $about->{$_} }++ if $_ > 0 && $about->{$_} =~ /^[\w\/.-]+$/;
		}
	}
	my @tids = (sort { $tids{$b} <=> $tids{$a} || $a <=> $b } keys %tids);
	my @names = (sort { $names{$b} <=> $names{$a} || $a cmp $b } keys %names);
	my @wrong = map { check_limit(@$_) } (
		(map { my $tid = $_; [$folder, \@lines, $window, 'threads', $tid, sub { exists $_[0]{$tid} }, "-t $tid"] }
			grep { defined } @tids[0 .. $tasks_of_seed - 1]),
		(map { my ($tgid, %threads) = ($_, map { $_ => 1 } @{ $processes{$_} });
				[$folder, \@lines, $window, 'processes', $tgid, sub { grep { $threads{$_} } keys %{ $_[0] } }, "-p $tgid"] }
			(sort { $a <=> $b } keys %processes)[0 .. ($tasks_of_seed < keys %processes ? $tasks_of_seed : keys %processes) - 1]),
		(map { my $name = $_; [$folder, \@lines, $window, 'names', $name, sub { grep { $_ eq $name } values %{ $_[0] } }, "-c $name"] }
			grep { defined } @names[0 .. $tasks_of_seed - 1]));
	return (@wrong, check_cpus($folder, $tasks, $window =~ s/^"tasks":\Q$tasks\E,//r, @lines),
		check_cgroups($seed, 0, \&differences, $folder, @lines), check_cgroups($seed, 0.03, \&out_of_bounds, $folder, @lines));
}

print '1..', $count + 1, "\n";
for my $n (1 .. $count) {
	my $seed = $first + $n - 1;
	my @wrong = check_seed($seed);

	print @wrong ? 'not ' : '', "ok $n - seed $seed\n";
	print STDERR map { "# $_\n" } @wrong > 10 ? (@wrong[0 .. 9], '...') : @wrong;
	$failed ||= @wrong;
}
my $enough = $compared >= 5 * $count && $recognised >= $count && $of_cpus && $known_waits && $explained > 2 * $count;
print $enough ? '' : 'not ', 'ok ', $count + 1, " - $compared limited recordings were compared, $recognised recognised by their switches alone, ",
	"$explained known components of waits, $of_cpus of some CPUs with $known_waits waits\n";
exit($failed || !$enough ? 1 : 0);
