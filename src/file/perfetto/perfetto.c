// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/array.h"
#include "file/foreign.h"
#include "file/perfetto/trace.h"

#define MAX_PACKED (256u << 20) /* bytes of packets that were compressed together */

/* Return true if all of the message can be read. */
static bool is_message(struct tap_proto_in in)
{
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f))
		;
	return !in.bad;
}

bool tap_perfetto_is(const unsigned char *data, size_t len)
{
	struct tap_proto_in in = { data, data + len, false };
	const unsigned char *p;
	uint64_t key, size;

	/* some fields of the first packet, of which the file may have only a part */
	p = tap_proto_get_varint(data, in.end, &key);
	p = p && key == (NR_TRACE_PACKET << 3 | TAP_PROTO_BYTES)
		    ? tap_proto_get_varint(p, in.end, &size)
		    : NULL;
	if (!p || !size)
		return false;
	in.at = p;
	if (size <= (uint64_t)(in.end - p)) {
		in.end = p + size;
		return is_message(in);
	}
	return false;
}

struct tap_pft_cpu *tap_pft_cpu(struct tap_pft *t, unsigned int cpu)
{
	static const struct tap_pft_cpu fresh = { .tid = TAP_PFT_NO_TASK };
	struct tap_pft_cpu *c;

	if (cpu < t->nr_cpus)
		return &t->cpus[cpu];
	if (cpu >= TAP_DAT_MAX_CPUS) {
		tap_made_fail(t->made, -EINVAL, "'%.300s' is damaged: it has an event of CPU %u",
			      t->made->r->path, cpu);
		return NULL;
	}
	c = tap_array_at(&t->cpus, &t->nr_cpus, cpu, sizeof(*c), &fresh);
	if (!c)
		tap_made_fail(t->made, -ENOMEM, "not enough memory");
	return c;
}

static void read_packets(struct tap_pft *t, struct tap_proto_in in, bool is_packed);

/* Return the inflated bytes, or NULL. @len: their number. */
static unsigned char *inflate_packets(struct tap_pft *t, const struct tap_proto_in *in, size_t *len)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)in->at,
		       .avail_in = (uInt)tap_proto_len(in) };
	struct tap_buf out = { .max = MAX_PACKED };
	int ret = tap_proto_len(in) <= UINT32_MAX ? inflateInit(&z) : Z_MEM_ERROR;

	while (ret == Z_OK && tap_buf_reserve(&out, 64 << 10)) {
		z.next_out = (unsigned char *)out.data + out.len;
		z.avail_out = (uInt)(out.cap - out.len);
		ret = inflate(&z, Z_NO_FLUSH);
		out.len = (size_t)(z.next_out - (unsigned char *)out.data);
	}
	inflateEnd(&z);
	t->nr_damaged += ret != Z_STREAM_END;
	*len = out.len;
	if (!out.data && out.err)
		tap_made_fail(t->made, -ENOMEM, "not enough memory");
	return (unsigned char *)out.data;
}

static void read_packed(struct tap_pft *t, struct tap_proto_in in)
{
	size_t len;
	unsigned char *data = inflate_packets(t, &in, &len);

	if (data)
		read_packets(t, (struct tap_proto_in){ data, data + len, false }, true);
	free(data);
}

static void read_packet(struct tap_pft *t, struct tap_proto_in in, bool is_packed)
{
	struct tap_proto_field f;

	while (!t->made->failed && tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			continue;
		if (f.number == NR_PACKET_FTRACE)
			tap_pft_bundle(t, f.bytes);
		else if (f.number == NR_PACKET_TREE)
			tap_pft_tree(t, f.bytes);
		else if (f.number == NR_PACKET_TRACK)
			tap_pft_track(t, f.bytes);
		else if (f.number == NR_PACKET_CLOCKS)
			tap_pft_clocks(t, f.bytes);
		else if (f.number == NR_PACKET_SYSTEM)
			tap_pft_system(t, f.bytes);
		else if (f.number == NR_PACKET_COMPRESSED && !is_packed)
			read_packed(t, f.bytes);
	}
	t->nr_damaged += in.bad;
}

static void read_packets(struct tap_pft *t, struct tap_proto_in in, bool is_packed)
{
	struct tap_proto_field f;

	while (!t->made->failed && tap_proto_next(&in, &f))
		if (f.number == NR_TRACE_PACKET && f.type == TAP_PROTO_BYTES)
			read_packet(t, f.bytes, is_packed);
	if (in.bad && !is_packed)
		t->is_cut = true;
	else
		t->nr_damaged += in.bad;
}

/* The kernel's release decides what prev_state means, so find it before the first event. */
static void find_system(struct tap_pft *t, struct tap_proto_in in)
{
	struct tap_proto_field packet, f;

	while (!t->release && tap_proto_next(&in, &packet)) {
		if (packet.number != NR_TRACE_PACKET || packet.type != TAP_PROTO_BYTES)
			continue;
		while (tap_proto_next(&packet.bytes, &f))
			if (f.number == NR_PACKET_SYSTEM && f.type == TAP_PROTO_BYTES)
				tap_pft_system(t, f.bytes);
	}
}

static int add_notes(struct tap_pft *t)
{
	struct tap_made *m = t->made;
	int ret = tap_pft_note_unknown(t);

	if (!ret && t->is_cut)
		ret = tap_dat_note(m->r, m->err,
				   "'%.300s' is cut off, or damaged, after its last whole packet",
				   m->r->path);
	if (!ret && t->nr_damaged)
		ret = tap_dat_note(m->r, m->err,
				   "'%.300s' has damaged parts (%llu), whose events are missing",
				   m->r->path, (unsigned long long)t->nr_damaged);
	if (!ret && t->nr_other_clock)
		ret = tap_dat_note(
			m->r, m->err,
			"%llu bundles of events have another clock than the first: their "
			"times do not fit",
			(unsigned long long)t->nr_other_clock);
	return ret;
}

static int end_trace(struct tap_pft *t)
{
	struct tap_made *m = t->made;
	const char *clock;
	int ret;

	tap_pft_end_switches(t);
	if (!m->failed && !t->nr_added)
		tap_made_fail(m, -EINVAL, "'%.300s' is a Perfetto trace without ftrace events",
			      m->r->path);
	if (m->failed)
		return m->failed;
	clock = tap_pft_about_end(t);
	ret = m->r->tool ? 0 : tap_dat_set_text(&m->r->tool, "Perfetto trace", 14, m->err);
	return ret ?: add_notes(t) ?: tap_made_end(m, clock);
}

int tap_perfetto_read(struct tap_made *m, const unsigned char *data, size_t len)
{
	struct tap_proto_in in = { data, data + len, false };
	struct tap_pft *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return tap_made_fail(m, -ENOMEM, "not enough memory");
	t->made = m;
	m->sorts = true;
	tap_pft_switches_begin(t);
	find_system(t, in);
	read_packets(t, in, false);
	ret = end_trace(t);
	tap_pft_kinds_release(t);
	free(t->cpus);
	free(t->events);
	free(t->names);
	free(t);
	return ret;
}
