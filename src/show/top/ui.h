/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screens of `schedtap top`: what the user chose (struct tap_top_ui). A key changes the choice
 * (keys.h); a screen is drawn from the choice and the numbers alone (draw.h), so a test draws any
 * screen without a terminal.
 */
#ifndef TAP_SHOW_TOP_UI_H
#define TAP_SHOW_TOP_UI_H

#include "record/kernel/programs.h"
#include "record/kernel/scx.h"
#include "record/kernel/settings.h"
#include "show/top/filter.h"
#include "show/top/past.h"

enum tap_top_screen {
	TAP_TOP_HOME,
	TAP_TOP_TASKS,
	TAP_TOP_CGROUPS,
	TAP_TOP_CPUS,
	TAP_TOP_PROGRAMS,
	TAP_TOP_SCX,
	TAP_TOP_TASK, /* one task; reached by Enter */
	TAP_TOP_HELP,
	TAP_TOP_SCREENS,
};

enum tap_top_tree { TAP_TREE_NONE, TAP_TREE_PROCESS, TAP_TREE_CGROUP, TAP_TREES };

/* The order and place of a table's rows. */
struct tap_top_sort {
	unsigned int column;
	bool reverse;
	uint64_t cursor; /* id of the row under the cursor; 0: the first one */
	unsigned int first; /* row at the top */
};

struct tap_top_ui { /* zeroed, then tap_top_ui_init() */
	enum tap_top_screen screen, before; /* .before: to go back to */
	struct tap_top_sort sort[TAP_TOP_SCREENS];
	enum tap_top_tree tree;
	unsigned int tid; /* of TAP_TOP_TASK */
	char comm[16]; /* its name */
	bool frozen, playing; /* .playing: a recording moves on by itself */
	int64_t move;
	struct tap_top_filter *filter; /* owned; NULL: all rows */
	char filter_text[256];
	bool typing; /* the filter is being typed: into .typed */
	char typed[256];
	char message[256]; /* of what the last key did; "" */
	uint64_t warn_ns, bad_ns; /* thresholds of waits: yellow and red, both with "!" */
	bool colours_util; /* TAP_TOP_CPUS: cells by how busy a CPU is, not by its waits */
	struct tap_top_pasts pasts;
	uint64_t nr; /* number of the refresh */
	/* TAP_TOP_TASK: the task's last refreshes, and what explain printed, line by line */
	struct tap_top_task_past {
		uint64_t nr; /* of the refresh, plus one; 0: none */
		uint64_t ns, run_ns, waits, migrations, max_ns;
		uint32_t buckets[TAP_TALLY_TASK_BUCKETS];
		bool lacks_waits; /* only .run_ns is known */
	} task[TAP_TOP_PAST];
	struct tap_buf explained;
	char explained_since[32]; /* "14:03:07"; "": nothing is explained */
	unsigned int explained_first; /* line at the top */
};

/* What is drawn besides the numbers. */
struct tap_top_shown {
	const struct tap_now *now;
	const char *host, *release;
	uint64_t every_ns;
	const char *recording; /* the file; NULL: live */
	uint64_t position_ns, length_ns; /* of a recording */
	const char *recorder; /* "recording since 14:03:07 into x.dat"; NULL */
	const struct tap_bpf_program *programs;
	unsigned int nr_programs;
	uint64_t programs_ns; /* the time that their numbers are of */
	const char *programs_why; /* why there are none; NULL */
	const struct tap_scx *scx; /* NULL: a recording */
	const struct tap_cpu_power *power; /* by CPU; NULL */
	const char *const *idle; /* by CPU: the idle state with most of the time; NULL */
	unsigned int nr_power;
};

void tap_top_ui_init(struct tap_top_ui *ui);
void tap_top_ui_release(struct tap_top_ui *ui);
/* Note a refresh in the strips and the task's history. Return: 0; -ENOMEM. */
int tap_top_ui_note(struct tap_top_ui *ui, const struct tap_now *now, uint64_t nr);
/* Note the present refresh of the task at .tid. */
void tap_top_ui_note_task(struct tap_top_ui *ui, const struct tap_now *now);

#endif
