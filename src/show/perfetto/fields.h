/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Field numbers of Perfetto's messages that schedtap writes, by message (protos/perfetto/trace/ in
 * its source). Field numbers never change their meaning. Those of single ftrace events are in
 * ftrace_event.c.
 */
#ifndef TAP_PERFETTO_FIELDS_H
#define TAP_PERFETTO_FIELDS_H

#define TAP_PF_PACKET 1u /* field of Trace: a file is a sequence of packets */

enum { /* TracePacket */
       TAP_PF_PACKET_FTRACE = 1,
       TAP_PF_PACKET_PROCESS_TREE = 2,
       TAP_PF_PACKET_CLOCKS = 6,
       TAP_PF_PACKET_TIMESTAMP = 8,
       /* trusted_packet_sequence_id: order and interned names are per sequence */
       TAP_PF_PACKET_SEQUENCE = 10,
       TAP_PF_PACKET_TRACK_EVENT = 11,
       TAP_PF_PACKET_INTERNED = 12,
       TAP_PF_PACKET_FLAGS = 13,
       TAP_PF_PACKET_SYSTEM_INFO = 45,
       TAP_PF_PACKET_CLOCK_ID = 58, /* the clock of its timestamp */
       /* TracePacketDefaults: default values for the packets of its sequence */
       TAP_PF_PACKET_DEFAULTS = 59,
       TAP_PF_PACKET_TRACK = 60,
       TAP_PF_PACKET_SAMPLE = 66,
       TAP_PF_PACKET_MACHINE = 98, /* machine_id; absent: the first machine */
};

/* sequences of one machine */
enum { TAP_PF_SEQUENCE_FTRACE = 1, TAP_PF_SEQUENCE_TRACKS = 2, TAP_PF_SEQUENCES = 2 };
enum { TAP_PF_INCREMENTAL_CLEARED = 1, TAP_PF_NEEDS_INCREMENTAL = 2 }; /* sequence_flags */

enum { /* ClockSnapshot and its Clock */
       TAP_PF_CLOCKS_CLOCK = 1,
       TAP_PF_CLOCK_ID = 1,
       TAP_PF_CLOCK_TIMESTAMP = 2,
       TAP_PF_CLOCK_IS_INCREMENTAL = 3, /* time stamps are differences from the previous one */
       TAP_PF_CLOCK_REALTIME = 1, /* values of .clock_id */
       TAP_PF_CLOCK_MONOTONIC = 3,
       TAP_PF_CLOCK_BOOTTIME = 6,
       TAP_PF_CLOCK_OF_SEQUENCE = 64, /* ids from here on are private to a sequence */
};

enum { /* SystemInfo and its Utsname */
       TAP_PF_SYSTEM_UTSNAME = 1,
       TAP_PF_UTSNAME_SYSNAME = 1,
       TAP_PF_UTSNAME_VERSION = 2,
       TAP_PF_UTSNAME_RELEASE = 3,
};

enum { /* ProcessTree, its Process and Thread */
       TAP_PF_TREE_PROCESS = 1,
       TAP_PF_TREE_THREAD = 2,
       TAP_PF_PROCESS_PID = 1,
       TAP_PF_PROCESS_PPID = 2,
       TAP_PF_PROCESS_CMDLINE = 3,
       TAP_PF_THREAD_TID = 1,
       TAP_PF_THREAD_NAME = 2,
       TAP_PF_THREAD_TGID = 3,
};

enum { /* FtraceEventBundle */
       TAP_PF_BUNDLE_CPU = 1,
       TAP_PF_BUNDLE_EVENT = 2,
       TAP_PF_BUNDLE_LOST = 3,
       TAP_PF_BUNDLE_COMPACT = 4,
};

enum { /* CompactSched */
       TAP_PF_COMPACT_SWITCH_TS = 1,
       TAP_PF_COMPACT_PREV_STATE = 2,
       TAP_PF_COMPACT_NEXT_PID = 3,
       TAP_PF_COMPACT_NEXT_PRIO = 4,
       TAP_PF_COMPACT_NAME = 5,
       TAP_PF_COMPACT_NEXT_NAME = 6,
       TAP_PF_COMPACT_WAKING_TS = 7,
       TAP_PF_COMPACT_WAKING_PID = 8,
       TAP_PF_COMPACT_TARGET_CPU = 9,
       TAP_PF_COMPACT_WAKING_PRIO = 10,
       TAP_PF_COMPACT_WAKING_NAME = 11,
       TAP_PF_COMPACT_FLAGS = 12,
};

enum { /* FtraceEvent */
       TAP_PF_EVENT_TIMESTAMP = 1,
       TAP_PF_EVENT_PID = 2,
       TAP_PF_EVENT_SWITCH = 4,
       TAP_PF_EVENT_WAKING = 20,
};

enum { /* SchedWakingFtraceEvent */
       TAP_PF_WAKING_COMM = 1,
       TAP_PF_WAKING_PID = 2,
       TAP_PF_WAKING_PRIO = 3,
       TAP_PF_WAKING_TARGET_CPU = 5,
};

enum { /* SchedSwitchFtraceEvent */
       TAP_PF_SWITCH_PREV_COMM = 1,
       TAP_PF_SWITCH_PREV_PID = 2,
       TAP_PF_SWITCH_PREV_PRIO = 3,
       TAP_PF_SWITCH_PREV_STATE = 4,
       TAP_PF_SWITCH_NEXT_COMM = 5,
       TAP_PF_SWITCH_NEXT_PID = 6,
       TAP_PF_SWITCH_NEXT_PRIO = 7,
};

enum { /* TrackDescriptor, its ProcessDescriptor, ThreadDescriptor and CounterDescriptor */
       TAP_PF_TRACK_UUID = 1,
       TAP_PF_TRACK_NAME = 2,
       TAP_PF_TRACK_THREAD = 4,
       TAP_PF_TRACK_PARENT = 5,
       TAP_PF_TRACK_COUNTER = 8,
       TAP_PF_THREAD_DESC_PID = 1,
       TAP_PF_THREAD_DESC_TID = 2,
       TAP_PF_THREAD_DESC_NAME = 5,
       TAP_PF_COUNTER_UNIT_NAME = 6,
};

enum { /* TrackEvent and its DebugAnnotation */
       TAP_PF_TEV_ANNOTATION = 4,
       TAP_PF_TEV_TYPE = 9,
       TAP_PF_TEV_NAME_IID = 10,
       TAP_PF_TEV_TRACK = 11,
       TAP_PF_TEV_NAME = 23,
       TAP_PF_TEV_COUNTER = 30,
       TAP_PF_TEV_DOUBLE_COUNTER = 44,
       TAP_PF_TEV_FLOW = 47,
       TAP_PF_TEV_FLOW_END = 48,
       TAP_PF_TEV_BEGIN = 1, /* values of .type */
       TAP_PF_TEV_END = 2,
       TAP_PF_TEV_INSTANT = 3,
       TAP_PF_TEV_COUNTER_VALUE = 4,
       TAP_PF_ANNOTATION_NAME_IID = 1,
       TAP_PF_ANNOTATION_UINT = 3,
       TAP_PF_ANNOTATION_INT = 4,
       TAP_PF_ANNOTATION_DOUBLE = 5,
       TAP_PF_ANNOTATION_STRING = 6,
};

enum { /* InternedData */
       TAP_PF_INTERNED_EVENT_NAME = 2,
       TAP_PF_INTERNED_ANNOTATION_NAME = 3,
       TAP_PF_INTERNED_FUNCTION = 5,
       TAP_PF_INTERNED_FRAME = 6,
       TAP_PF_INTERNED_CALLSTACK = 7,
       TAP_PF_INTERNED_MAPPING_PATH = 17,
       TAP_PF_INTERNED_MAPPING = 19,
       TAP_PF_INTERNED_IID = 1,
       TAP_PF_INTERNED_TEXT = 2,
};

enum { /* Mapping, Frame, Callstack, and PerfSample */
       TAP_PF_MAPPING_PATH = 7,
       TAP_PF_FRAME_FUNCTION = 2,
       TAP_PF_FRAME_MAPPING = 3,
       TAP_PF_FRAME_REL_PC = 4,
       TAP_PF_CALLSTACK_FRAME = 2,
       TAP_PF_SAMPLE_CPU = 1,
       TAP_PF_SAMPLE_PID = 2,
       TAP_PF_SAMPLE_TID = 3,
       TAP_PF_SAMPLE_CALLSTACK = 4,
       TAP_PF_SAMPLE_MODE = 5,
       TAP_PF_MODE_KERNEL = 1, /* values of .cpu_mode */
       TAP_PF_MODE_USER = 2,
};

#endif
