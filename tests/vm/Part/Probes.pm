# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Probes of programs: values, filters, one process of several. parts/probes is the guest's.
package Part::Probes;
use strict;
use warnings;
use Test::More;
use VM;

sub install {
	my ($root) = @_;

	compile('-static', '-o', "$root/bin/probed", "$VM::here/../live/probed.c");
}

sub lacks { return $_[0]{name} =~ /^5\./ ? 'this kernel has no BPF for us' : '' }

# What the guest prints of three passes.
sub probe_fields {
	my ($i) = @_;

	return "uprobe:twice: i=$i text=pass\n" .
		"uretprobe:twice: retval=@{[2 * $i]}\n" .
		"usdt:demo_places: a=@{[-$i]} b=@{[1000 + $i]} c=-5 d=@{[70 + $i]} e=@{[-$i]} f=2 g=$i h=66 text=pass\n" .
		"usdt:demo_two_places: i=$i\n";
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};
	my $counts = $steps->{probe_filters}{text} // '';

	is(join('', grep { /^u/ } split(/^/, $steps->{probe_values}{text} // '')), join('', map { probe_fields($_) } 0 .. 2),
		'probes: values');
	# -e twice has 1000 beside what the others let through
	is_deeply([$counts =~ /^(\d+)$/mg], [1000, 1000, 0, 1010, 1100], 'probes: filters') or diag($counts);
	like($steps->{probe_process}{text} // '', qr/^ *100 one\n\z/m, 'probes: of one process');
	is($steps->{leftovers_probes}{text} // 'none', '', 'no tracefs instance is left');
}

1;
