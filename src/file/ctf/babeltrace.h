/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libbabeltrace2, loaded at run time: few users have CTF traces. */
#ifndef TAP_FILE_CTF_BABELTRACE_H
#define TAP_FILE_CTF_BABELTRACE_H

#include <babeltrace2/babeltrace.h>

#include <schedtap/err.h>

/* clang-format off */
#define TAP_BABELTRACE_FUNCTIONS(f)                                                                \
	f(clock_snapshot_get_ns_from_origin)                                                       \
	f(component_filter_borrow_input_port_by_index_const)                                       \
	f(component_filter_borrow_output_port_by_index_const)                                      \
	f(component_sink_borrow_input_port_by_index_const)                                         \
	f(component_source_borrow_output_port_by_index_const)                                      \
	f(component_source_get_output_port_count)                                                  \
	f(event_borrow_class_const) f(event_borrow_common_context_field_const)                     \
	f(event_borrow_packet_const) f(event_borrow_payload_field_const)                           \
	f(event_borrow_stream_const) f(event_class_get_name)                       \
	f(field_get_class_type) f(field_integer_signed_get_value)                                  \
	f(field_integer_unsigned_get_value) f(field_string_get_length) f(field_string_get_value)   \
	f(field_class_structure_borrow_member_by_index_const)                                      \
	f(field_class_structure_member_get_name) f(field_borrow_class_const)                       \
	f(field_class_structure_get_member_count)                                                  \
	f(field_structure_borrow_member_field_by_index_const)                                      \
	f(field_structure_borrow_member_field_by_name_const)                                       \
	f(graph_add_filter_component) f(graph_add_simple_sink_component)                           \
	f(graph_add_source_component) f(graph_connect_ports) f(graph_create) f(graph_put_ref)      \
	f(graph_run) f(message_discarded_events_borrow_stream_const)                               \
	f(message_discarded_events_get_count) f(message_discarded_packets_borrow_stream_const)     \
	f(message_event_borrow_default_clock_snapshot_const)                                       \
	f(message_event_borrow_event_const) f(message_get_type) f(message_iterator_next)           \
	f(message_put_ref) f(packet_borrow_context_field_const)                                    \
	f(plugin_borrow_filter_component_class_by_name_const)                                      \
	f(plugin_borrow_source_component_class_by_name_const) f(plugin_find) f(plugin_put_ref)     \
	f(stream_borrow_trace_const) f(trace_borrow_environment_entry_value_by_name_const) f(value_get_type) f(value_integer_signed_get) f(value_string_get) f(value_array_append_string_element) f(value_map_create)                                   \
	f(value_map_insert_empty_array_entry) f(value_put_ref)
/* clang-format on */

#define TAP_BABELTRACE_POINTER(name) __typeof__(&bt_##name) name;
struct tap_babeltrace {
	TAP_BABELTRACE_FUNCTIONS(TAP_BABELTRACE_POINTER)
};

/* Load it. Return: 0; -EOPNOTSUPP with an error: it is not installed, or this program is static. */
int tap_babeltrace_load(struct tap_babeltrace *bt, struct tap_err *err);

#endif
