#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The table of docs/security.md: each file that has a mode there is made, has this mode, and another user can do what the mode says.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
doc=$here/../../docs/security.md
. "$here/lib.sh"

needs_root
needs_tracefs
apart
scratch=$(mktemp -d /tmp/schedtap-access-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
AS_STRANGER='setpriv --reuid 65534 --regid 65534 --clear-groups'

# While a recorder of kernel events over both backends and of programs' events runs, and after it. Its XDG_RUNTIME_DIR is the case's.
record()
{
	export XDG_RUNTIME_DIR=$scratch/run
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	cd "$scratch"
	start r.dat -e sched_switch -e sched_wakeup -e 'nothing:*'
	wait_for has_pages r.dat
}

# Where the file of a row is; the table names them with PID and FILE.
place_of()
{
	case $1 in
	'a recording, FILE and FILE.old') echo "$scratch/r.dat $scratch/r.dat.old" ;;
	'FILE.spool/ while recording') echo "$scratch/r.dat.spool" ;;
	'files in FILE.spool/') echo "$scratch/r.dat.spool"/* ;;
	'what `export` writes') echo "$scratch/out.pftrace $scratch/out.html $scratch/out.csv" ;;
	'/run/schedtap/sessions/ of a recorder of root') echo /run/schedtap/sessions ;;
	/run/schedtap/*) echo "${1//PID/$recorder}" ;;
	'$XDG_RUNTIME_DIR'*) eval "echo ${1//PID/$recorder}" ;;
	*) fail "nothing is known of '$1'" ;;
	esac
}

# FILE MODE: as the stranger finds it
has_mode()
{
	local can

	must [ "$(stat -Lc %a "$1")" = "$2" ]
	case $2 in
	*0) can=none ;;
	*4 | *5) can=read ;;
	*6) can=write ;;
	esac
	if $AS_STRANGER test -r "$1"; then must [ $can != none ]; else must [ $can = none ]; fi
	if $AS_STRANGER test -w "$1"; then must [ $can = write ]; else must [ $can != write ]; fi
}

rows()
{
	sed -n '/^| what | mode/,/^$/p' "$doc" | tail -n +3 | awk -F' *\\| *' '$3 ~ /^[0-7]+$/ { print $3 "\t" $2 }'
}

# The rows of $1: of a recorder that runs, or of what is there afterwards
check_rows()
{
	local mode what file nr=0

	while IFS=$'\t' read -r mode what; do
		case $what in a\ recording* | what\ *) [ "$1" = after ] || continue ;; *) [ "$1" = while ] || continue ;; esac
		for file in $(place_of "$what"); do
			[ -e "$file" ] || fail "$what: there is no $file"
			has_mode "$file" "$mode"
		done
		nr=$((nr + 1))
	done < <(rows)
	must [ $nr = "$2" ]
}

the_table_holds()
{
	umask 000
	record
	check_rows while 7
	for file in "$T/instances/schedtap-$recorder"*; do must_not $AS_STRANGER test -r "$file"; done
	ends 0 INT
	start r.dat -e sched_switch -d 0.1
	ends 0
	must [ -e r.dat.old ]
	run 0 "$SCHEDTAP" export --to perfetto -i r.dat -o out.pftrace
	run 0 "$SCHEDTAP" export --to html -i r.dat -o out.html
	run 0 "$SCHEDTAP" export --to csv -i r.dat -o out.csv
	check_rows after 2
}

tests_are_there()
{
	local nr=0 name

	for name in $(grep -oE '(live|html|bombs)/[a-z]+\.t' "$doc" | sort -u); do
		must [ -x "$here/../$name" ]
		nr=$((nr + 1))
	done
	must [ $nr -ge 6 ]
}

check "files have the modes of docs/security.md, whatever the umask" the_table_holds
check "the tests that it names are there" tests_are_there
done_testing
