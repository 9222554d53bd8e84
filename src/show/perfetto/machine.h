/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One of the machines whose recordings a trace has side by side. The first machine's clock is the
 * trace's clock: the other machines' times are converted when they are written.
 */
#ifndef TAP_PERFETTO_MACHINE_H
#define TAP_PERFETTO_MACHINE_H

#include "base/proto.h"
#include "show/perfetto/fields.h"

struct tap_pf_machine {
	unsigned int number; /* from 0 on: Perfetto's machine_id; 0 is not written */
	unsigned int nr; /* number of machines in the trace */
	const char *name; /* borrowed: distinguishes its tracks; NULL: the only machine */
	int64_t shift_ns; /* the trace's clock minus this machine's */
};

/* Convert a time to the trace's clock; times that it cannot express become its first or last. */
static inline uint64_t tap_pf_time(const struct tap_pf_machine *m, uint64_t ts_ns)
{
	int64_t ns;

	if (__builtin_add_overflow(ts_ns, m->shift_ns, &ns))
		return m->shift_ns < 0 ? 0 : INT64_MAX;
	return ns > 0 ? (uint64_t)ns : 0;
}

/* Return a number that no other machine uses in the trace. @number: from 1 on. */
static inline uint64_t tap_pf_unique(const struct tap_pf_machine *m, uint64_t number)
{
	return (number - 1) * m->nr + m->number + 1;
}

/* Write the sequence's and the machine's number. @p must have room for four varints. */
static inline unsigned char *tap_pf_write_origin(unsigned char *p, const struct tap_pf_machine *m,
						 unsigned int sequence)
{
	p = tap_proto_write_u64(p, TAP_PF_PACKET_SEQUENCE, sequence + TAP_PF_SEQUENCES * m->number);
	return m->number ? tap_proto_write_u64(p, TAP_PF_PACKET_MACHINE, m->number) : p;
}

/* Begin a packet. @sequence: TAP_PF_SEQUENCE_*. Return: the argument for tap_proto_end(). */
static inline size_t tap_pf_packet(struct tap_buf *out, const struct tap_pf_machine *m,
				   unsigned int sequence)
{
	size_t packet = tap_proto_begin(out, TAP_PF_PACKET);

	if (tap_buf_reserve(out, 4 * TAP_PROTO_VARINT_BYTES))
		tap_proto_wrote(out, tap_pf_write_origin(tap_proto_at(out), m, sequence));
	return packet;
}

#endif
