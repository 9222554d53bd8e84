# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Files as trace-cmd writes them: mkdat's files with trace-cmd's options.
package TraceCmd;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT_OK = qw(with_option time_shift UNAME);

use constant UNAME => 'y' x 400; # what a file's "uname" must be to get an option

# Return the trace.dat $dat with another option in the place of UNAME, of the same size: zeros follow the data.
sub with_option {
	my ($dat, $id, $data) = @_;

	# without checksums: one section gets an id that means nothing, the other is no longer at the end
	$dat =~ s/\x75\x73\x00\x00/\x79\x73\x00\x00/ or die "no checksums\n";
	$dat =~ s/\x05\x00(....)(@{[UNAME]})/pack('v', $id) . $1 . pack('a400', $data)/se or die "no option UNAME\n";
	return "$dat\0";
}

# Return the option TIME_SHIFT of a guest whose host's trace id is 4711; each CPU has samples [time, offset, scaling, fraction].
sub time_shift {
	my ($interpolates, @cpus) = @_;
	my $option = pack('Q<VV', 4711, $interpolates, scalar(@cpus));

	for my $samples (@cpus) {
		$option .= pack('V', scalar(@$samples)) . join('', map { my $i = $_; map { pack('q<', $_->[$i]) } @$samples } 0 .. 2);
	}
	return $option . join('', map { map { pack('q<', $_->[3]) } @$_ } @cpus);
}

1;
