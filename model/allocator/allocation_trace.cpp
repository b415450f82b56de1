// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/allocator/allocation_trace.hpp>

#include <array>
#include <cmath>
#include <map>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 2> event_names{"alloc", "free"};
// 4 TiB: more than any device has, and small enough that addresses of millions of events do not overlap
constexpr double most_bytes = 0x1p42;

class TraceReader {
 public:
  TraceReader(std::istream& stream, const std::string& file, Diagnostics& diagnostics)
      : csv_{stream, file, diagnostics}, diagnostics_{diagnostics} {
    trace_.file = file;
  }

  AllocationTrace run() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto found = csv_.column(column_names[i]);
      if (!found && !csv_.header().empty()) {
        diagnostics_.add(csv_.file(), {1, 1},
                         "the header has no column '" + std::string{column_names[i]} + "'; a trace has event,id,bytes");
      }
      columns_[i] = found.value_or(0);
    }
    if (!diagnostics_.empty()) {
      return std::move(trace_);
    }
    while (csv_.next()) {
      read_row();
    }
    if (trace_.events.empty() && diagnostics_.empty()) {
      diagnostics_.add(csv_.file(), {},
                       "the trace has no events; write one a line below the header, e.g. alloc,weights,4 GiB");
    }
    return std::move(trace_);
  }

 private:
  static constexpr std::array<std::string_view, 3> column_names{"event", "id", "bytes"};

  const std::string& field(std::size_t column) const { return csv_.fields()[columns_[column]]; }

  void problem(std::size_t column, const std::string& message) {
    diagnostics_.add(csv_.file(), csv_.at(columns_[column]), message);
  }

  void read_row() {
    const std::string& word = field(0);
    const bool allocates = word == event_names[0];
    if (!allocates && word != event_names[1]) {
      problem(0, "event " + quoted(word) + " is none of alloc, free" + suggestion(word, event_names));
      return;
    }
    if (field(1).empty()) {
      problem(1, "the id is empty; every allocation needs one, to be freed by");
      return;
    }
    const auto [at, fresh] = index_.try_emplace(field(1), trace_.ids.size());
    if (fresh) {
      trace_.ids.push_back(field(1));
      live_since_.push_back(0);
      freed_at_.push_back(0);
      sizes_.push_back(0);
    }
    TraceEvent event{allocates, at->second, 0, csv_.line()};
    if (allocates ? read_allocation(event) : read_free(event)) {
      trace_.events.push_back(event);
    }
  }

  bool read_allocation(TraceEvent& event) {
    const std::optional<std::uint64_t> bytes = bytes_of(field(2));
    if (live_since_[event.id] > 0) {
      problem(1, "id " + quoted(field(1)) + " is already allocated, at line " + std::to_string(live_since_[event.id]) +
                     "; free it first or use another id");
      return false;
    }
    live_since_[event.id] = event.line;  // the id counts as allocated even if its size is invalid
    sizes_[event.id] = bytes.value_or(0);
    event.bytes = bytes.value_or(0);
    return bytes.has_value();
  }

  bool read_free(const TraceEvent& event) {
    if (live_since_[event.id] == 0) {
      const bool again = freed_at_[event.id] > 0;
      problem(1, "free of id " + quoted(field(1)) +
                     (again ? ", which was already freed at line " + std::to_string(freed_at_[event.id])
                            : ", which was never allocated"));
      return false;
    }
    if (!field(2).empty()) {
      const std::optional<std::uint64_t> bytes = bytes_of(field(2));
      if (bytes && sizes_[event.id] > 0 && *bytes != sizes_[event.id]) {
        problem(2, "free of " + quoted(field(2)) + ", but id " + quoted(field(1)) + " was allocated at line " +
                       std::to_string(live_since_[event.id]) + " with another size; leave the field empty");
      }
    }
    freed_at_[event.id] = event.line;
    live_since_[event.id] = 0;
    return true;
  }

  /// Reads "4 GiB" or a whole number of bytes.
  std::optional<std::uint64_t> bytes_of(const std::string& text) {
    if (text.empty()) {
      problem(2, "an allocation needs its bytes, e.g. 4 GiB or 1048576");
      return std::nullopt;
    }
    double value = 0.0;
    if (const std::optional<std::int64_t> whole = integer_of(text)) {
      value = static_cast<double>(*whole);
    } else {
      const std::variant<double, TextError> parsed = parse_quantity(text, dimension_of<Bytes>);
      if (const TextError* error = std::get_if<TextError>(&parsed)) {
        problem(2, error->message);
        return std::nullopt;
      }
      value = std::get<double>(parsed);
    }
    if (value <= 0.0 || value > most_bytes) {
      problem(2, quoted(text) + " is " +
                     (value <= 0.0 ? "no size; an allocation has at least one byte"
                                   : "more than 4 TiB; no device holds that"));
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::ceil(value));
  }

  CsvReader csv_;
  Diagnostics& diagnostics_;
  AllocationTrace trace_;
  std::array<std::size_t, 3> columns_{};
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<int> live_since_, freed_at_;  ///< line numbers; 0: not live, never freed
  std::vector<std::uint64_t> sizes_;
};

}  // namespace

AllocationTrace read_allocation_trace(std::istream& stream, const std::string& file, Diagnostics& diagnostics) {
  return TraceReader{stream, file, diagnostics}.run();
}

Replay replay(const AllocationTrace& trace, Bytes capacity, bool expandable) {
  const auto bytes = static_cast<std::uint64_t>(capacity.raw());
  CachingAllocator allocator{bytes, expandable};
  std::vector<std::uint64_t> addresses(trace.ids.size());
  Replay result;
  result.expandable = expandable;
  for (const TraceEvent& event : trace.events) {
    if (!event.allocates) {
      allocator.release(addresses[event.id]);
      continue;
    }
    const std::optional<std::uint64_t> address = allocator.allocate(event.bytes);
    if (!address) {
      result.refused = event;
      break;
    }
    addresses[event.id] = *address;
  }
  result.stats = allocator.stats();
  result.free = Bytes{static_cast<double>(bytes - result.stats.allocated)};
  result.largest_grant = Bytes{static_cast<double>(allocator.largest_grant())};
  return result;
}

}  // namespace headroom
