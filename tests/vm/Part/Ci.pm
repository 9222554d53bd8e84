# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# All that docs/ci.md says, with its commands: the guest (parts/ci) records, the recordings come out of it, and rules are held
# against them with the exit codes of the page's table.
package Part::Ci;
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Files qw(spew);
use Test::More;
use VM;

my $top = abs_path("$VM::here/../..");
my $page = VM::slurp("$top/docs/ci.md");

# It records on a disk, for which not all kernels have a driver.
sub lacks {
	my ($g) = @_;

	return $g->{name} =~ /^(?:5\.|6\.1$)/ ? 'docs/ci.md is followed by a newer kernel' : $g->{has_disk} ? '' : 'the kernel has no driver of the disk';
}

sub install {
	my ($root) = @_;

	install_text($root, 'guest', $page =~ /```guest\n(.*?)```/s);
}

# The commands of the page's blocks of a kind, each a line.
sub commands {
	my ($kind) = @_;

	return map { s/\\\n\s*//gr =~ /^.+$/mg } $page =~ /```$kind\n(.*?)```/gs;
}

# Return: by what the page's table says of them.
sub exit_codes {
	my %code_of;

	while ($page =~ /^\|(\d[\d ]*)\|([^|]*)\|/mg) {
		my ($codes, $means) = ($1, $2);
		my @codes = split(' ', $codes);

		@code_of{@codes > 1 ? split(/, /, $means) : $means} = @codes;
	}
	return \%code_of;
}

# The program and its rules, as they are installed.
sub install_program_and_rules {
	my ($dir, $schedtap) = @_;

	make_path("$dir/bin", "$dir/share/schedtap/rules");
	copy($schedtap, "$dir/bin/schedtap") && chmod(0755, "$dir/bin/schedtap") or die "schedtap: $!";
	copy($_, "$dir/share/schedtap/rules") or die "$_: $!" for glob("$top/rules/*.rules");
}

# A shell command in the current folder. Return: its exit code, and what it said.
sub run {
	my ($command) = @_;
	my $said = `{ $command\n} 2>&1`;

	return ($? >> 8, $said);
}

# The page's commands but for the one that boots: guests.t has done that, with the disk that they make.
sub run_on_host {
	my ($command) = @_;

	return 1 if $command =~ /^(?:qemu|rm -f out\.img)/;
	my ($rc, $said) = run($command);
	return is($rc, 0, $command) || diag($said);
}

sub check_guest {
	my ($g) = @_;
	my ($numbers) = $page =~ /^for i in ([\d ]+);/m;

	is($g->{steps}{ci}{rc} // 'none', 0, "the guest's commands") or diag($g->{steps}{ci}{text} // '');
	run_on_host($_) for commands('host');
	return is_deeply([glob('run*.dat')], [map { "run$_.dat" } split(' ', $numbers)], 'the recordings are there');
}

# The page's guest has a clock that counts its instructions (ci.t, in a soak); here time goes on when the host has others to
# run. So limits are a hundred times as long, and events may be lost: a program of BPF is interrupted that takes long.
sub by_any_clock {
	my ($rules) = @_;

	return $rules =~ s/\b(\d+)(?=m?s\b)/${1}00/gr;
}

sub slurp_xml { return $_[0] =~ />(\S+\.xml)$/ ? VM::slurp($1) : '' }

# Of the page's table, by the verdicts that check printed, as text or XML.
sub code_by_verdicts {
	my ($code_of, $said) = @_;

	return $code_of->{'a rule certainly failed, even if events are missing'} if $said =~ /^failed |<failure/m;
	return $code_of->{'no rule failed, at least one is undecided'} if $said =~ /^undecided |<skipped/m;
	return $said =~ /^passed |<testcase/m ? $code_of->{'every rule passed'} : 'no verdict';
}

sub check_rules {
	my $code_of = exit_codes();
	my @cases = (
		(map { ['every rule passed', $_] } commands('sh')),
		['a rule certainly failed, even if events are missing', 'schedtap check never.rules run*.dat'],
		['a rule certainly failed, even if events are missing', 'schedtap check --strict eevdf run*.dat'],
		['no rule failed, at least one is undecided', 'schedtap check eevdf run*.dat'],
		['no recording', 'schedtap check my.rules run0.dat'],
		['bad rules', 'schedtap check bad.rules run*.dat'],
	);

	spew('my.rules', $page =~ /```rules\n(.*?)```/s ? by_any_clock($1) : '');
	spew('never.rules', "rule never : latency.any.max < 1ns\n" . slurp("$top/rules/eevdf.rules"));
	spew('bad.rules', "rule bad : latency.any.max <\n");
	for (@cases) {
		my ($means, $command) = @$_;
		my ($rc, $said) = run($command);

		my $all_passed = $means eq 'every rule passed';
		is($rc, $all_passed ? code_by_verdicts($code_of, $said . slurp_xml($command)) : $code_of->{$means},
			$all_passed ? "as its verdicts say: $command" : "$means: $command") or diag($said);
	}
}

# The line below the rule.
sub check_look {
	my (undef, $said) = run('schedtap check never.rules run*.dat');
	my ($look) = $said =~ /^failed +never: .*\n +(schedtap .*)$/m or return fail('a command to look with') || diag($said);
	my ($rc) = run($look);

	is($rc, 0, "a command to look with: $look");
}

sub check {
	my ($g) = @_;
	my $dir = tempdir(CLEANUP => 1);

	install_program_and_rules($dir, $g->{program});
	($ENV{KEEP} ? copy("$g->{dir}/out.img", "$dir/out.img") : rename("$g->{dir}/out.img", "$dir/out.img")) or die "out.img: $!";
	local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
	chdir($dir) or die "$dir: $!";
	if (check_guest($g)) {
		check_rules();
		check_look();
	}
	chdir('/');
}

1;
