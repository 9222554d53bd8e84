# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One event header, built as a module for two kernels and as a program: the format files of the guest's
# tracefs and those of the program's control file are the same bytes but for the ID, and so is what is
# printed of each record. Where kernels differ, ours is the newer one's:
#
#   char is unsigned from 6.2 on; a program has what its compiler has: the one that is compared with 6.1
#   is built with -fsigned-char, the other with -funsigned-char.
#   __print_hex() left out the space between 16 bytes and the next 16 in 6.1; later ones do not.
#
# parts/portable is the guest's.
package Part::Portable;
use strict;
use warnings;
use Built;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Test::More;
use VM;

my $top = abs_path("$VM::here/../..");
my $portable = "$top/tests/tracepoint";
my $libs = '-lpthread'; # of the tracepoints

sub is_signed { return $_[0] =~ /^(?:5\.|6\.[01]\b)/ }
sub lacks { return $_[0]{headers} eq '-' ? 'Debian has no headers of it any more' : '' }

sub install {
	my ($root, $g) = @_;
	my ($dir, $why) = portable_for($g->{headers});

	$g->{no_portable} = $why;
	install_text($root, 'portable.ko', slurp("$dir/portable.ko")) if !$why;
}

# Compile the user-space program with -f$char-char and run it. Return: its output by step, as steps_of()
# gives it.
sub ours {
	my ($build, $char) = @_;
	my $dir = tempdir(CLEANUP => 1);
	my $said = `cd $portable && gcc -O2 -Wall -Wextra -Werror -f$char-char -D_GNU_SOURCE -I$top/include/schedtap/kernel \\
		-I$top/include -I$top/src -I. portable_main.c -o $dir/portable \\
		$build/libschedtap-tracepoint.a $build/libschedtap.a $libs 2>&1`;

	is($said, '', 'the program compiles') or return {};
	return steps_of(scalar(`XDG_RUNTIME_DIR=$dir $dir/portable`));
}

# Records as they are printed, by event.
sub printed {
	my ($text) = @_;
	my %printed;

	# in the kernel's trace "comm-pid [cpu] flags time: " stands before it, a record may have many lines
	$text =~ s/^#.*\n//mg;
	$text =~ s/^ *\S+-\d+ +\[\d+\].*? [\d.]+: (?=p_\w+: )//mg;
	push(@{$printed{$1}}, $2) while $text =~ /^(p_\w+): (.*?)\n(?=p_\w+: |\z)/smg;
	return \%printed;
}

# Kernels from 7.2 or so on print two sets of bits of one event as the same: both are the second that they make a text of
# (trace_print_bitmask_seq() has one buffer, iter->tmp_seq).
sub as_with_one_buffer {
	my ($text) = @_;

	return $text =~ s/\b([0-9a-f]{8}(?:,[0-9a-f]{8})+) [0-9a-f]{8}(?:,[0-9a-f]{8})+\b/$1 $1/r;
}

# The library writes the sizes of common types as numbers, the kernel only those that a header declares.
sub without_sizes {
	my ($text) = @_;
	my %bytes = (int => 4, long => 8);

	return $text =~ s/sizeof\((\w+)\)/$bytes{$1} \/\/ $&/ger;
}

sub compare {
	my ($theirs, $ours) = @_;
	my @events = grep { /^p_/ } sort(keys %$theirs);

	is_deeply([grep { /^p_/ } sort(keys %$ours)], \@events, 'the same events');
	cmp_ok(scalar(@events), '>', 10, 'and all of them');
	for my $event (@events) {
		my ($want, $got) = map { without_sizes($_->{$event}{text} =~ s/^ID: \d+$/ID: 0/mr) } $theirs, $ours;

		is($got, $want, "$event: format");
	}
	my ($want, $got) = map { printed($_->{portable_trace}{text} // '') } $theirs, $ours;
	for my $event (@events) {
		cmp_ok(scalar(@{$want->{$event} // []}), '>', 0, "$event: the kernel recorded it");
		s/\|(?:[0-9a-f]{2} ){15}[0-9a-f]{2}\K(?=[0-9a-f]{2})/ / for @{$want->{$event}};
		my $is_bug = grep { /\b([0-9a-f]{8}(?:,[0-9a-f]{8})+) \1\b/ } @{$want->{$event}};
		is_deeply($is_bug ? [map { as_with_one_buffer($_) } @{$got->{$event}}] : $got->{$event}, $want->{$event}, "$event: printed");
	}
}

sub check {
	my ($g) = @_;

	is($g->{no_portable}, '', 'the module is built') or return;
	is($g->{steps}{portable_load}{rc} // 'none', 0, 'the module is loaded') or return;
	my $ours = ours($g->{build}, is_signed($g->{name}) ? 'signed' : 'unsigned');
	compare($g->{steps}, { %$ours, portable_trace => $ours->{trace} });
}

1;
