/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Field numbers of Perfetto's messages that are read, by message (protos/perfetto/trace/ in its
 * source). Those of single ftrace events are in events.c.
 */
#ifndef TAP_FILE_PERFETTO_NUMBERS_H
#define TAP_FILE_PERFETTO_NUMBERS_H

enum { NR_TRACE_PACKET = 1 };

enum { /* TracePacket */
       NR_PACKET_FTRACE = 1,
       NR_PACKET_TREE = 2,
       NR_PACKET_CLOCKS = 6,
       NR_PACKET_SYSTEM = 45,
       NR_PACKET_COMPRESSED = 50,
       NR_PACKET_TRACK = 60,
};

enum { /* FtraceEventBundle */
       NR_BUNDLE_CPU = 1,
       NR_BUNDLE_EVENT = 2,
       NR_BUNDLE_LOST = 3,
       NR_BUNDLE_COMPACT = 4,
       NR_BUNDLE_CLOCK = 5,
       NR_BUNDLE_FTRACE_TIME = 6, /* both clocks at the same time, for other clocks than "boot" */
       NR_BUNDLE_BOOT_TIME = 7,
       NR_BUNDLE_DESCRIPTOR = 11,
};

enum { /* values of the bundle's clock */
       NR_FTRACE_BOOT = 0,
       NR_FTRACE_UNKNOWN = 1,
       NR_FTRACE_GLOBAL = 2,
       NR_FTRACE_LOCAL = 3,
       NR_FTRACE_MONO_RAW = 4,
};

enum { /* GenericEventDescriptor; the DescriptorProto and FieldDescriptorProto in it */
       NR_DESCRIPTOR_NUMBER = 1,
       NR_DESCRIPTOR_TYPE = 2,
       NR_TYPE_NAME = 1,
       NR_TYPE_FIELD = 2,
       NR_TYPE_FIELD_NAME = 1,
       NR_TYPE_FIELD_NUMBER = 3,
       NR_TYPE_FIELD_TYPE = 5,
};

enum { /* CompactSched */
       NR_COMPACT_SWITCH_TIME = 1,
       NR_COMPACT_PREV_STATE = 2,
       NR_COMPACT_NEXT_PID = 3,
       NR_COMPACT_NEXT_PRIO = 4,
       NR_COMPACT_NAME = 5,
       NR_COMPACT_NEXT_NAME = 6,
       NR_COMPACT_WAKING_TIME = 7,
       NR_COMPACT_WAKING_PID = 8,
       NR_COMPACT_WAKING_CPU = 9,
       NR_COMPACT_WAKING_PRIO = 10,
       NR_COMPACT_WAKING_NAME = 11,
       NR_COMPACT_WAKING_FLAGS = 12,
       NR_COMPACT_COLUMNS,
};

enum { /* FtraceEvent; its messages have numbers above */
       NR_EVENT_TIME = 1,
       NR_EVENT_PID = 2,
       NR_EVENT_FLAGS = 5,
       NR_EVENT_SWITCH = 4,
       NR_EVENT_WAKING = 20,
       NR_EVENT_GENERIC = 327,
};

enum { /* GenericFtraceEvent and its Field */
       NR_GENERIC_NAME = 1,
       NR_GENERIC_FIELD = 2,
       NR_GENERIC_FIELD_NAME = 1,
       NR_GENERIC_FIELD_TEXT = 3,
       NR_GENERIC_FIELD_INT = 4,
       NR_GENERIC_FIELD_UINT = 5,
};

enum { /* ProcessTree, its Process and Thread */
       NR_TREE_PROCESS = 1,
       NR_TREE_THREAD = 2,
       NR_PROCESS_PID = 1,
       NR_THREAD_TID = 1,
       NR_THREAD_NAME = 2,
       NR_THREAD_TGID = 3,
};

enum { /* TrackDescriptor, its ProcessDescriptor and ThreadDescriptor */
       NR_TRACK_PROCESS = 3,
       NR_TRACK_THREAD = 4,
       NR_TRACK_PROCESS_PID = 1,
       NR_TRACK_THREAD_PID = 1,
       NR_TRACK_THREAD_TID = 2,
       NR_TRACK_THREAD_NAME = 5,
};

enum { /* SystemInfo and its Utsname */
       NR_SYSTEM_UTSNAME = 1,
       NR_SYSTEM_VERSION = 4,
       NR_UTSNAME_SYSNAME = 1,
       NR_UTSNAME_VERSION = 2,
       NR_UTSNAME_RELEASE = 3,
       NR_UTSNAME_MACHINE = 4,
};

enum { /* ClockSnapshot and its Clock; values of its id */
       NR_CLOCKS_CLOCK = 1,
       NR_CLOCK_ID = 1,
       NR_CLOCK_TIME = 2,
       NR_CLOCK_REALTIME = 1,
       NR_CLOCK_MONO_RAW = 5,
       NR_CLOCK_BOOT = 6,
};

#endif
