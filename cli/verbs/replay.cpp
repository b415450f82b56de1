// SPDX-License-Identifier: Apache-2.0
// `headroom replay`: replays a trace of allocations on PyTorch's caching allocator, with and without expandable
// segments.
#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/allocator/allocation_trace.hpp>

#include <array>
#include <sstream>

namespace headroom::cli {

extern const Verb replay_verb;

namespace replay_parts {
namespace {

constexpr std::array options{
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog: its usable memory"},
    Option{"--memory", OptionKind::one, "SIZE", "memory of the device instead, e.g. '40 GB'"},
    Option{"--format", OptionKind::one, formats_in<"text|{}">, meanings_in<"text for people (default), {}">},
};

constexpr std::string_view source =
    "model of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp, defaults, one stream); what the "
    "CUDA context and other libraries hold is not in the trace";

Bytes memory_of(const Arguments& arguments) {
  const std::string text = arguments.one("--memory");
  if (arguments.has("--memory") == arguments.has("--gpu")) {
    throw ConfigError{arguments.has("--gpu") ? "give --gpu or --memory, not both"
                                             : "name the device: --gpu ID, or --memory \"40 GB\""};
  }
  if (arguments.has("--gpu")) {
    return own_catalog().device(arguments.one("--gpu")).visible_capacity().value;
  }
  const std::variant<double, TextError> parsed = parse_quantity(text, dimension_of<Bytes>);
  if (const TextError* error = std::get_if<TextError>(&parsed)) {
    throw ConfigError{"--memory: " + error->message};
  }
  const Bytes memory{std::get<double>(parsed)};
  if (memory < Bytes{1.0} || memory > Bytes{0x1p42}) {
    throw ConfigError{"--memory is " + quoted(text) + "; it must be 1 B to 4 TiB"};
  }
  return memory;
}

/// Message of a refused allocation: "10.0 GiB free but cannot allocate 4.00 GiB: ...".
std::string refusal_text(const Replay& r, const TraceEvent& refused, const AllocationTrace& trace) {
  const Bytes asked{static_cast<double>(refused.bytes)};
  const std::string where = "line " + std::to_string(refused.line) + ", id " + quoted(trace.ids[refused.id]);
  if (r.free < asked) {
    return format(r.free) + " free, cannot allocate " + format(asked) + " (" + where + ")";
  }
  return format(r.free) + " free but cannot allocate " + format(asked) + " (" + where + "): the largest hole is " +
         format(r.largest_grant);
}

std::string verdict_of(const Replay& r) {
  return r.refused ? "out of memory" : "fits";
}

std::string replay_text(const AllocationTrace& trace, Bytes memory, const std::array<Replay, 2>& replays) {
  std::string text =
      trace.file + ": " + std::to_string(trace.events.size()) + " events on a device of " + format(memory) + "\n\n";
  Table table{{"", "default", "expandable segments"}};
  const auto row = [&](const std::string& name, auto value) {
    table.row({name, value(replays[0]), value(replays[1])});
  };
  const auto bytes = [](std::uint64_t value) { return format(Bytes{static_cast<double>(value)}); };
  row("verdict", verdict_of);
  row("peak allocated", [&](const Replay& r) { return bytes(r.stats.peak_allocated); });
  row("peak reserved", [&](const Replay& r) { return bytes(r.stats.peak_reserved); });
  row("allocated at the end", [&](const Replay& r) { return bytes(r.stats.allocated); });
  row("reserved at the end", [&](const Replay& r) { return bytes(r.stats.reserved); });
  row("free at the end", [](const Replay& r) { return format(r.free); });
  row("largest hole", [](const Replay& r) { return format(r.largest_grant); });
  text += table.text() + "\n";
  for (const Replay& r : replays) {
    if (r.refused) {
      text +=
          std::string{r.expandable ? "expandable segments: " : "default: "} + refusal_text(r, *r.refused, trace) + "\n";
    }
  }
  if (replays[0].refused && !replays[1].refused) {
    text += "way out: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
  }
  return text + std::string{source} + "\n";
}

Value whole_bytes(std::uint64_t bytes) {
  return Value{bytes}.as(Hint::bytes);
}

Value replay_value(const Replay& r, const AllocationTrace& trace) {
  return object(
      "expandable_segments"_m = r.expandable, "verdict"_m = r.refused ? "out_of_memory" : "fits",
      "peak_allocated_bytes"_m = whole_bytes(r.stats.peak_allocated),
      "peak_reserved_bytes"_m = whole_bytes(r.stats.peak_reserved),
      "allocated_bytes"_m = whole_bytes(r.stats.allocated), "reserved_bytes"_m = whole_bytes(r.stats.reserved),
      "free_bytes"_m = r.free, "largest_hole_bytes"_m = r.largest_grant,
      "refused"_m = r.refused
                        ? row("line"_m = r.refused->line, "id"_m = trace.ids[r.refused->id],
                              "bytes"_m = whole_bytes(r.refused->bytes), "text"_m = refusal_text(r, *r.refused, trace))
                        : Value{nullptr});
}

Value replay_document(const AllocationTrace& trace, Bytes memory, const std::array<Replay, 2>& replays) {
  return object("schema"_m = "headroom.replay/1", "file"_m = trace.file, "events"_m = trace.events.size(),
                "memory_bytes"_m = memory,
                "replays"_m = list(replays, [&](const Replay& r) { return replay_value(r, trace); }),
                "source"_m = source);
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name a trace, e.g. 'headroom replay trace.csv --memory \"40 GB\"'"};
  }
  const Bytes memory = memory_of(arguments);
  const ConfigSource source_file = read_file(files.front());
  std::istringstream stream{source_file.text};
  Diagnostics diagnostics;
  const AllocationTrace trace = read_allocation_trace(stream, files.front(), diagnostics);
  diagnostics.throw_if_any();
  const std::array<Replay, 2> replays{replay(trace, memory, false), replay(trace, memory, true)};
  const DocumentFormat* const format = document_format(arguments);
  return {
      format != nullptr ? format->print(replay_document(trace, memory, replays)) : replay_text(trace, memory, replays),
      "", replays[0].refused ? 1 : 0};
}

constexpr std::string_view examples =
    "  headroom replay trace.csv --gpu a100-sxm-40gb\n"
    "  headroom replay trace.csv --memory '40 GB' --format json\n"
    "a trace is CSV: event,id,bytes with lines such as alloc,x,4 GiB and free,x,\n";

}  // namespace
}  // namespace replay_parts

const Verb replay_verb{"replay",
                       "a trace of allocations: peak, reserved, fragments, out of memory",
                       "TRACE.csv",
                       1,
                       replay_parts::options,
                       replay_parts::examples,
                       replay_parts::run};

}  // namespace headroom::cli
