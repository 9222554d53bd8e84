#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings of newer versions, as docs/recording-format.md says: this version refuses a recording that it would misread, names its
# version and leaves it as it is; additions that it can ignore change no report. No newer version exists, so these are today's
# recordings with something added.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

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
	print STDERR map { "# $_\n" } @wrong;
}

# On each of two CPUs, tasks that come and go.
my @events = map {
	my ($time, $cpu, $tid) = (sprintf('1.%06d', $_), $_ % 2, 10 + int($_ / 4) % 7);
	my ($prev, $next) = $_ % 4 < 2 ? (0, $tid) : ($tid, 0);
	"$time $cpu $prev sched:sched_switch prev_comm=x prev_pid=$prev prev_prio=120 prev_state=1 next_comm=x next_pid=$next next_prio=120";
} 1000 .. 2999;

# Make NAME.dat, or NAME.dat.spool, with this description.
sub make {
	my ($name, $meta, @how) = @_;

	spew("$name.txt", join("\n", 'cpus 2', "meta $meta", @events, ''));
	system($ENV{MKDAT}, "$name.txt", "$name.dat", @how) == 0 or die "$ENV{MKDAT} failed\n";
	return "$name.dat" . ("@how" eq '--spool' ? '.spool' : '');
}

# Return: all bytes of a file or of a folder's files; '' if the path is missing.
sub bytes_of {
	my ($path) = @_;

	return join('', map { "$_\0" . slurp($_) } grep { -f } -d $path ? sort(glob("$path/*")) : $path);
}

# Each of these commands refuses it with a sentence that matches, and leaves it as it is.
sub refused {
	my ($name, $path, $sentence) = @_;
	my $before = bytes_of($path);
	my @commands = ('summary -i', 'dump -i', 'explain -i', 'export --to perfetto -o - -i', 'repair --verify', -d $path ? 'repair' : ());
	my @ran = runs(map { "$_ $path" } @commands);
	my @wrong = map { "$commands[$_]: exit $ran[$_][1]: $ran[$_][2]" }
		grep { $ran[$_][1] != 3 || $ran[$_][0] ne '' || $ran[$_][2] !~ /\Aschedtap: [^\n]*$sentence[^\n]*\n\z/ } 0 .. $#commands;

	push(@wrong, 'it was changed') if bytes_of($path) ne $before;
	push(@wrong, 'repair made a file') if $path =~ /(.*)\.spool$/ && -e $1;
	ok("refused: $name", @wrong);
}

# Reports say the same as of the recording without it, and complain of nothing but what matches.
sub ignored {
	my ($name, $path, $without, $complaint) = @_;
	my @commands = ('dump -i', 'summary --json -i', 'states --json -i');
	my @with = runs(map { "$_ $path" } @commands);
	my @base = runs(map { "$_ $without" } @commands);
	my @wrong;

	for (0 .. $#commands) {
		s/\b\Q$path\E/$without/g for $with[$_][0];
		push(@wrong, "$commands[$_]: exit $with[$_][1]: $with[$_][2]") if $with[$_][1] || $with[$_][2] !~ ($complaint // qr/\A\z/);
		push(@wrong, "$commands[$_]: says something else") if $with[$_][0] ne $base[$_][0];
	}
	push(@wrong, 'events lack') if split(/\n/, $with[0][0]) != @events;
	ok("ignored: $name", @wrong);
}

my $today = '{"tool":"schedtap 0.1.0","complete":true}';
my $newer = '{"tool":"schedtap 9.8.7","format":2,"complete":true}';
my %how = (plain => [], zstd => ['--zstd'], spool => ['--spool']);
my %path = map { ($_ => make($_, $today, @{$how{$_}})) } keys %how;

# ---- refused -----------------------------------------------------------------------------------

for my $kind (sort keys %how) {
	refused("$kind, of format 2", make("newer-$kind", $newer, @{$how{$kind}}), qr/format 2 of schedtap 9\.8\.7, but schedtap \S+ reads formats only up to 1/);
}
my $spool = make('newer-meta', $today, '--spool');
spew("$spool/meta.json", $newer);
refused('spool, of format 2 by its meta.json', $spool, qr/format 2 of schedtap 9\.8\.7/);

# the format is checked first: with unknown sections, a newer file would otherwise look damaged
my $bytes = slurp(make('newer-other', $newer));
my ($at, $sums) = (index($bytes, 'header_page'), index($bytes, 'stsums1'));
substr($bytes, $at, 11) = 'header_PAGE';
$bytes =~ s/stsums1/stsums2/g;
refused('plain, of format 2, with sections that are not known', spew('newer-other.dat', $bytes), qr/format 2 of schedtap 9\.8\.7/);

$bytes = slurp($path{plain}) =~ s/\A(.{10})7\0/${1}8\0/sr;
refused('trace.dat of version 8', spew('version8.dat', $bytes), qr/version '8': only versions 6 and 7 can be read/);
$bytes = slurp($path{zstd}) =~ s/zstd\0/lz99\0/r;
refused('of another compression', spew('lz99.dat', $bytes), qr/compressed with 'lz99': only zstd can be read/);

# ---- ignored -----------------------------------------------------------------------------------

for my $kind (sort keys %how) {
	ignored("$kind, with keys that are not known", make("keys-$kind", '{"tool":"schedtap 0.1.0","complete":true,"format":1,"later":{"format":9}}', @{$how{$kind}}), $path{$kind});
}
# a section of id 0x7399 with 8 bytes of content, which no option refers to
my $section = pack('v v V Q< a8', 0x7399, 0, 0, 8, 'newer...');
ignored("$_, with a section that is not known", spew("section-$_.dat", slurp($path{$_}) . $section), $path{$_}) for qw(plain zstd);
ignored('plain, with checksums of another kind', spew('sums.dat', slurp($path{plain}) =~ s/stsums1/stsums2/gr), $path{plain});
system('cp', '-r', $path{spool}, 'files.spool') == 0 or die "cp\n";
spew("files.spool/$_", 'newer') for qw(index.dat meta.copy);
ignored('spool, with files that are not known', 'files.spool', $path{spool});

chdir('/');
print "1..$nr\n";
exit $failed;
