# A machine of 256 CPUs, 16 to a package, with 10,240 tasks in 8 cgroups, as text for mkdat: on each CPU 40 tasks take turns of 2 ms and
# wait 0.1 to 1.3 ms before. The last four CPUs of a package are idle most of the time.
function list(sep, text) { printf "%s%s", sep, text; return "," }
function switch_to(at, cpu, prev, next_) {
	printf "%.0f %d %d sched:sched_switch prev_comm=worker prev_pid=%d prev_prio=120 prev_state=%d next_comm=worker next_pid=%d next_prio=120\n",
		at, cpu, prev, prev, (prev ? 1 : 0), next_
}
BEGIN {
	cpus = 256; per = 40
	printf "meta {\"window\":{\"start_ns\":1000000000,\"end_ns\":2000000000},\"clocks\":[{\"monotonic_ns\":1000000000,\"boottime_ns\":1000000000,\"realtime_ns\":1700000000000000000}],\"cpus\":["
	for (c = 0; c < cpus; c++) sep = list(sep, sprintf("{\"cpu\":%d,\"package\":%d}", c, c / 16))
	printf "],\"cgroups\":[[1,\"/\"]"
	for (g = 0; g < 8; g++) printf ",[%d,\"/service/web%d\"]", 10 + g, g
	printf "],\"tasks\":["
	sep = ""
	for (i = 0; i < cpus * per; i++)
		sep = list(sep, sprintf("[%d,%d,\"worker/%d\",%d,\"both\"]", 1000 + i, 1000 + i - i % per, i % per, 10 + i % 8))
	print "]}"
	print "cpus " cpus
	for (c = 0; c < cpus; c++) {
		prev = 0
		for (ms = 0; ms < 1000; ms += 2) {
			at = 1000000000 + ms * 1000000 + c * 100
			tid = 1000 + c * per + (ms / 2) % per
			late = 100000 + (c * 37 + ms) % 30 * 40000
			printf "%.0f %d %d sched:sched_waking comm=worker pid=%d prio=120 target_cpu=%d\n", at, c, prev, tid, c
			switch_to(at + late, c, prev, tid)
			prev = tid
			if (c % 16 >= 12) {
				switch_to(at + late + 250000, c, tid, 0)
				prev = 0
			}
		}
	}
}
