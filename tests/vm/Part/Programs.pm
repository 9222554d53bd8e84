# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the compiler of definitions and filters can make, other kernels take: tests/live/program_fuzz makes random ones in
# guests, of what their tracepoints pass, and what is computed there is what a compiler of C has. parts/programs is the guest's.
#
# PROGRAMS: how many [100; 500 in a soak: a thousand in all]. SEED: of all that is random [1]
package Part::Programs;
use strict;
use warnings;
use Test::More;
use Values;
use VM;

my $nr = $ENV{PROGRAMS} // ($ENV{SOAK} ? 500 : 100);
my $seed = $ENV{SEED} // 1;

sub words { return "nr=$nr seed=$seed" }
sub lacks { return $_[0]{name} =~ /^5\./ ? 'this kernel has no BPF for us' : '' }

sub install {
	my ($root, $g) = @_;
	my $fuzz = "$g->{build}/tests/live/program_fuzz";

	install_program($root, $fuzz, 'program_fuzz');
	$g->{no_values} = write_values($fuzz, $root, $seed);
	return if $g->{no_values};
	rename("$root/values", "$root/bin/values") or die "values: $!";
}

sub check_null {
	my ($said) = @_;

	SKIP: {
		skip('a kernel without csd_function_exit', 1) if $said =~ /no tracepoint 'csd_function_exit'/;
		like($said, qr/own:csd_function_exit: null=1 at=0 flags=0 either=3$/m, 'a member of an argument that is NULL is 0');
	}
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};

	note("seed $seed");
	is($g->{no_values}, '', 'what a compiler has of it') or return;
	check_values(map { $steps->{"values_$_"}{text} // '' } qw(record want got));
	check_load($steps->{load}{text} // '', $nr);
	check_null($steps->{null}{text} // '');
}

1;
