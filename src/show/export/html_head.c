// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/html_head.h"

#include <inttypes.h>

#include "base/text.h"

static void put_text(struct tap_buf *out, const char *key, const char *text)
{
	tap_buf_printf(out, ",\"%s\":", key);
	if (text && *text)
		tap_text_json(out, text, strlen(text));
	else
		tap_buf_puts(out, "null");
}

/* Write the recorder's command line, such as "schedtap record -p 42", if the recording has it. */
static void put_command(const json_t *meta, struct tap_buf *out)
{
	struct tap_buf words = { 0 };
	const json_t *word;
	size_t i;

	json_array_foreach(json_object_get(meta, "command_line"), i, word) {
		if (i)
			tap_buf_char(&words, ' ');
		tap_buf_puts(&words, json_string_value(word) ?: "?");
	}
	put_text(out, "command", tap_buf_str(&words));
	tap_buf_release(&words);
}

static void put_recording(struct tap_run *run, struct tap_buf *out)
{
	const json_t *host = json_object_get(run->rec.meta, "host");
	const char *release = json_string_value(json_object_get(host, "release"));
	struct tap_buf date = { 0 };

	if (run->rec.wall.is_known)
		tap_wall_add_date(&run->rec.wall, &date, run->window.from_ns);
	tap_buf_puts(out, "\"recording\":{\"file\":");
	tap_text_json(out, run->rec.path, strlen(run->rec.path));
	put_text(out, "host", json_string_value(json_object_get(host, "hostname")));
	put_text(out, "kernel",
		 release && *release ? release : tap_reader_info(run->rec.reader)->uname);
	put_text(out, "date", tap_buf_str(&date));
	put_command(run->rec.meta, out);
	tap_buf_char(out, '}');
	tap_buf_release(&date);
}

static void add_words(struct tap_buf *out, const char *option, const struct tap_strings *words)
{
	for (unsigned int i = 0; i < words->nr; i++)
		tap_buf_printf(out, "%s%s %s", out->len ? " " : "", option, words->v[i]);
}

static void put_options(const struct tap_input_opts *o, struct tap_buf *out)
{
	const char *cpus[] = { o->select.cpus }, *window[] = { o->window };
	struct tap_buf text = { 0 };

	add_words(&text, "-p", &o->select.tgids);
	add_words(&text, "-t", &o->select.tids);
	add_words(&text, "-c", &o->select.comms);
	add_words(&text, "-g", &o->select.cgroups);
	add_words(&text, "-C", &(const struct tap_strings){ cpus, !!*cpus });
	add_words(&text, "--time", &(const struct tap_strings){ window, !!*window });
	put_text(out, "options", tap_buf_str(&text));
	tap_buf_release(&text);
}

void tap_html_head_put(const struct tap_html_head *head, struct tap_buf *out)
{
	struct tap_run *run = head->run;
	const uint64_t origin_ns = run->window.from_ns;

	tap_buf_printf(out,
		       "{\"version\":1,\"program\":\"schedtap " TAP_VERSION "\",\"served\":%s,",
		       head->is_served ? "true" : "false");
	put_recording(run, out);
	put_options(head->input, out);
	tap_buf_printf(out, ",\"origin_ns\":\"%" PRIu64 "\",\"wall_ns\":", origin_ns);
	if (run->rec.wall.is_known)
		tap_buf_printf(out, "\"%" PRId64 "\"", tap_wall_from(&run->rec.wall, origin_ns));
	else
		tap_buf_puts(out, "null");
	if (head->machine)
		tap_buf_printf(out, ",\"beside\":{\"origin_ns\":\"%" PRIu64 "\"}",
			       tap_pf_time(head->machine, origin_ns));
	tap_buf_printf(out, ",\"window_ns\":%" PRIu64 ",\"cpus\":[", tap_window_ns(&run->window));
	for (unsigned int i = 0; i < head->lanes->nr; i++)
		tap_buf_printf(out, "%s%u", i ? "," : "", head->lanes->cpus[i]);
	if (head->is_served)
		tap_buf_puts(out, "],\"slices\":null");
	else
		tap_buf_printf(out, "],\"slices\":{\"held\":%" PRIu64 ",\"of\":%" PRIu64 "}",
			       head->nr_held, head->nr_slices);
	tap_buf_printf(out, ",\"reports\":[%s],\"failed\":{%s},\"parts\":[%s]}", head->reports,
		       head->failed, head->parts);
}
