// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/kineto_reader.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// Nanoseconds of a number of microseconds as it is written; no rounding of a clock that counts from 1970. nullopt:
/// out of range, or no number.
std::optional<TraceTime> nanoseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative ? 1 : 0);
  if (rest.find_first_not_of("0123456789.") != std::string_view::npos) {
    const std::optional<double> value = whole_real(text);
    constexpr double most = 9e15;
    return value && std::abs(*value) < most ? std::optional{std::llround(*value * 1e3)} : std::nullopt;
  }
  constexpr TraceTime most = 9'000'000'000'000'000'000;
  const std::size_t point = std::min(rest.find('.'), rest.size());
  const std::string_view whole = rest.substr(0, point);
  const std::string_view part = rest.substr(std::min(point + 1, rest.size()));
  if (whole.empty() || whole.size() > 16) {
    return std::nullopt;
  }
  TraceTime sum = 0;
  for (const char c : whole) {
    sum = 10 * sum + (c - '0');
  }
  for (std::size_t i = 0; i < 3; ++i) {
    sum = 10 * sum + (i < part.size() ? part[i] - '0' : 0);
    if (sum > most) {
      return std::nullopt;
    }
  }
  sum += part.size() > 3 && part[3] >= '5' ? 1 : 0;
  return negative ? -sum : sum;
}

std::int64_t integer(std::string_view text, std::int64_t otherwise) {
  const std::optional<double> value = whole_real(text);
  constexpr double most = 9e18;
  return value && std::abs(*value) < most ? static_cast<std::int64_t>(*value) : otherwise;
}

enum class Category : std::uint8_t { none, kernel, copy, fill, runtime, op, annotation, device_annotation, source };

/// Categories as profilers of several years write them, in lower case.
Category category_of(std::string_view text) {
  std::array<char, 32> lower{};
  const std::size_t size = std::min(text.size(), lower.size());
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view word{lower.data(), size};
  constexpr std::pair<std::string_view, Category> known[] = {
      {"kernel", Category::kernel},
      {"gpu_memcpy", Category::copy},
      {"memcpy", Category::copy},
      {"gpu_memset", Category::fill},
      {"memset", Category::fill},
      {"cuda_runtime", Category::runtime},
      {"cuda_driver", Category::runtime},
      {"hip_runtime", Category::runtime},
      {"runtime", Category::runtime},
      {"cpu_op", Category::op},
      {"operator", Category::op},
      {"user_annotation", Category::annotation},
      {"gpu_user_annotation", Category::device_annotation},
      {"python_function", Category::source},
  };
  for (const auto& [name, category] : known) {
    if (word == name) {
      return category;
    }
  }
  return Category::none;
}

/// One event while it is read.
struct Event {
  std::string name, category, pid, tid;
  char phase = 0;
  std::optional<TraceTime> at, lasts;
  std::int64_t correlation = -1, stream = -1, device = -1, blocks = 0, dimensions = 0;
  double bytes = 0.0;
  double elements = 0.0, element_bytes = 0.0;     // of a collective's message
  bool collective = false;                        // the profiler names the collective that the kernel belongs to
  bool wide = false;                              // an operand is of 32 bit
  std::array<std::array<double, 4>, 4> shapes{};  // of the first operands, their first dimensions
  std::array<std::uint8_t, 4> ranks{};
  std::size_t operands = 0;

  void clear() {
    name.clear();
    category.clear();
    pid.clear();
    tid.clear();
    phase = 0;
    at.reset();
    lasts.reset();
    correlation = stream = device = -1;
    blocks = dimensions = 0;
    bytes = elements = element_bytes = 0.0;
    collective = wide = false;
    ranks = {};
    operands = 0;
  }
};

/// Bytes of an element, as PyTorch's profiler names its type.
double element_bytes(std::string_view type) {
  const auto holds = [&](std::string_view word) { return type.find(word) != std::string_view::npos; };
  return holds("16") || holds("Half") || holds("half")     ? 2.0
         : holds("8") || holds("Byte") || holds("Char")    ? 1.0
         : holds("64") || holds("Double") || holds("Long") ? 8.0
                                                           : 4.0;
}

/// Ops that are one product of matrices themselves: those that call them would count it twice.
bool is_product(std::string_view op) {
  return op == "aten::mm" || op == "aten::addmm" || op == "aten::bmm" || op == "aten::baddbmm" ||
         op == "aten::_scaled_mm";
}

/// The product of the first two operands that fit together; one of no size: there is none.
TracedProduct product_of(const Event& event) {
  TracedProduct product;
  for (std::size_t i = 0; i + 1 < event.operands; ++i) {
    const auto rank = event.ranks[i];
    const auto& a = event.shapes[i];
    const auto& b = event.shapes[i + 1];
    if (rank >= 2 && rank <= 3 && event.ranks[i + 1] == rank && a[rank - 1U] == b[rank - 2U]) {
      product.wide = event.wide;
      product.batch = rank == 3 ? static_cast<float>(a[0]) : 1.0F;
      product.m = static_cast<float>(a[rank - 2U]);
      product.k = static_cast<float>(a[rank - 1U]);
      product.n = static_cast<float>(b[rank - 1U]);
      break;
    }
  }
  return product;
}

/// Room for one more, a quarter at a time: doubling takes three times the memory while it moves.
template <class Spans>
void make_room(Spans& spans) {
  if (spans.size() == spans.capacity()) {
    constexpr std::size_t least = 4096;
    spans.reserve(spans.size() + std::max(least, spans.size() / 4));
  }
}

/// Where in the document the reader is. Everything deeper is passed over.
enum class Place : std::uint8_t {
  outside,
  root,
  events,
  event,
  arguments,
  grid,
  shapes,
  shape,
  types,
  devices,
  device,
  distributed
};

class TraceHandler : public JsonListener {
 public:
  explicit TraceHandler(Timeline& timeline) : timeline_{timeline} {}

  void key(std::string_view name) override {
    if (deeper_ == 0) {
      key_ = name;
    }
  }
  [[nodiscard]] bool saw_events() const noexcept { return saw_events_; }

  bool opened(bool object) override {
    if (deeper_ > 0) {
      ++deeper_;
      return deeper_ < 512;
    }
    const auto enter = [&](Place place) {
      outer_.push_back(place_);
      place_ = place;
      key_.clear();
    };
    if (place_ == Place::outside) {
      enter(object ? Place::root : Place::events);
      saw_events_ = saw_events_ || !object;
    } else if (place_ == Place::root && !object && key_ == "traceEvents") {
      enter(Place::events);
      saw_events_ = true;
    } else if (place_ == Place::root && !object && key_ == "deviceProperties") {
      enter(Place::devices);
    } else if (place_ == Place::root && object && key_ == "distributedInfo") {
      enter(Place::distributed);
    } else if (place_ == Place::devices && object) {
      enter(Place::device);
      timeline_.devices.emplace_back();
    } else if (place_ == Place::events && object) {
      enter(Place::event);
      event_.clear();
    } else if (place_ == Place::event && object && key_ == "args") {
      enter(Place::arguments);
    } else if (place_ == Place::arguments && !object && key_ == "grid") {
      enter(Place::grid);
      event_.blocks = 1;
    } else if (place_ == Place::arguments && !object && key_ == "Input Dims" && is_product(event_.name)) {
      enter(Place::shapes);
    } else if (place_ == Place::shapes && !object && event_.operands < event_.shapes.size()) {
      enter(Place::shape);
      ++event_.operands;
    } else if (place_ == Place::arguments && !object && key_ == "Input type" && is_product(event_.name)) {
      enter(Place::types);
    } else {
      deeper_ = 1;
    }
    return true;
  }

  bool closed() override {
    if (deeper_ > 0) {
      --deeper_;
      return true;
    }
    if (place_ == Place::event) {
      take();
    }
    place_ = outer_.back();
    outer_.pop_back();
    key_.clear();
    return true;
  }

  void value(std::string_view text) override {
    if (deeper_ > 0) {
      return;
    }
    switch (place_) {
      case Place::event: event_value(text); break;
      case Place::arguments: argument(text); break;
      case Place::grid:
        event_.blocks =
            std::min(event_.blocks * std::clamp<std::int64_t>(integer(text, 0), 0, most_blocks), most_blocks);
        break;
      case Place::shape: {
        const std::size_t at = event_.operands - 1;
        if (event_.ranks[at] < event_.shapes[at].size()) {
          event_.shapes[at][event_.ranks[at]++] = std::max(0.0, whole_real(text).value_or(0.0));
        }
        break;
      }
      case Place::types: event_.wide = event_.wide || text == "float"; break;
      case Place::device: device_value(text); break;
      case Place::distributed:
        if (key_ == "rank") {
          timeline_.rank = integer(text, -1);
        } else if (key_ == "world_size") {
          timeline_.world_size = integer(text, -1);
        }
        break;
      default: break;
    }
  }

 private:
  void event_value(std::string_view text) {
    if (key_ == "ph") {
      event_.phase = text.empty() ? '\0' : text.front();
    } else if (key_ == "name") {
      event_.name = text;
    } else if (key_ == "cat") {
      event_.category = text;
    } else if (key_ == "ts") {
      event_.at = nanoseconds(text);
    } else if (key_ == "dur") {
      event_.lasts = nanoseconds(text);
    } else if (key_ == "pid") {
      event_.pid = text;
    } else if (key_ == "tid") {
      event_.tid = text;
    }
  }

  void argument(std::string_view text) {
    if (key_ == "correlation") {
      event_.correlation = integer(text, -1);
    } else if (key_ == "stream") {
      event_.stream = integer(text, -1);
    } else if (key_ == "device") {
      event_.device = integer(text, -1);
    } else if (key_ == "bytes") {
      event_.bytes = std::max(0.0, whole_real(text).value_or(0.0));
    } else if (key_ == "In msg nelems") {
      event_.elements = std::max(0.0, whole_real(text).value_or(0.0));
    } else if (key_ == "dtype") {
      event_.element_bytes = element_bytes(text);
    } else if (key_ == "Collective name") {
      event_.collective = true;
    }
  }

  void device_value(std::string_view text) {
    TracedDevice& device = timeline_.devices.back();
    if (key_ == "id") {
      device.id = integer(text, 0);
    } else if (key_ == "name") {
      device.name = text;
    } else if (key_ == "numSms") {
      device.units = integer(text, 0);
    } else if (key_ == "totalGlobalMem") {
      device.memory = std::max(0.0, whole_real(text).value_or(0.0));
    }
  }

  std::uint32_t thread() {
    std::string id = event_.pid + "/" + event_.tid;
    const auto found = threads_.find(id);
    if (found != threads_.end()) {
      return found->second;
    }
    const auto number = static_cast<std::uint32_t>(timeline_.threads.size());
    timeline_.threads.push_back(id);
    threads_.emplace(std::move(id), number);
    return number;
  }

  void take() {
    ++timeline_.events;
    const Category category = event_.phase == 'X' ? category_of(event_.category) : Category::none;
    if (category == Category::none || !event_.at || event_.lasts.value_or(-1) < 0 ||
        *event_.lasts > std::numeric_limits<TraceTime>::max() - std::max<TraceTime>(*event_.at, 0)) {
      ++timeline_.passed_over;
      return;
    }
    const TraceTime begin = *event_.at;
    const TraceTime end = begin + *event_.lasts;
    const std::uint32_t name = timeline_.names.number(event_.name);
    const auto device = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(event_.device >= 0 ? event_.device : integer(event_.pid, 0), 0, 1 << 20));
    switch (category) {
      case Category::kernel:
      case Category::copy:
      case Category::fill: {
        const DeviceWork work = category == Category::copy                           ? DeviceWork::copy
                                : category == Category::fill                         ? DeviceWork::fill
                                : event_.collective || is_communication(event_.name) ? DeviceWork::communication
                                                                                     : DeviceWork::compute;
        const double bytes = event_.bytes > 0.0 ? event_.bytes : event_.elements * event_.element_bytes;
        const std::int64_t stream = event_.stream >= 0 ? event_.stream : integer(event_.tid, 0);
        make_room(timeline_.work);
        timeline_.work.push_back({begin, end, name, device,
                                  static_cast<std::int32_t>(std::clamp<std::int64_t>(stream, 0, 1 << 30)), work,
                                  event_.correlation, event_.blocks, bytes});
        break;
      }
      case Category::device_annotation: timeline_.ranges.push_back({begin, end, name, device}); break;
      default: {
        const HostWork work = category == Category::runtime      ? HostWork::runtime
                              : category == Category::op         ? HostWork::op
                              : category == Category::annotation ? HostWork::annotation
                                                                 : HostWork::source;
        if (work == HostWork::source) {  // frames of Python: most of a trace with stacks, and no word of waiting
          ++timeline_.passed_over;
          break;
        }
        make_room(timeline_.host);
        timeline_.host.push_back({begin, end, name, thread(), work, event_.correlation});
        if (event_.operands > 1) {
          TracedProduct product = product_of(event_);
          product.begin = begin;
          product.thread = timeline_.host.back().thread;
          if (product.flop() > 0.0) {
            make_room(timeline_.products);
            timeline_.products.push_back(product);
          }
        }
      }
    }
  }

  static constexpr std::int64_t most_blocks = std::int64_t{1} << 31U;  // of one dimension of a grid

  Timeline& timeline_;
  Event event_;
  std::string key_;
  Place place_ = Place::outside;
  std::vector<Place> outer_;
  int deeper_ = 0;
  bool saw_events_ = false;
  std::unordered_map<std::string, std::uint32_t> threads_;
};

}  // namespace

std::uint32_t NameTable::number(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) {
    return found->second;
  }
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(std::string{name}, number);
  return number;
}

bool is_communication(std::string_view kernel) {
  // NCCL and RCCL, engines' own all-reduces, DeepEP and NVSHMEM.
  constexpr std::string_view words[] = {"nccl",      "rccl",        "cross_device_reduce", "all_reduce",
                                        "allreduce", "all_gather",  "reduce_scatter",      "deep_ep",
                                        "nvshmem",   "quick_reduce"};
  std::string lower{kernel.substr(0, std::min<std::size_t>(kernel.size(), 160))};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

Timeline read_kineto(const std::string& file) {
  Timeline timeline;
  timeline.file = file;
  TraceText text{file};
  TraceHandler handler{timeline};
  stream_json([&] { return text.next(); }, file, handler,
              "A profiler that was killed leaves such a file; let it stop by itself");
  if (!handler.saw_events()) {
    Diagnostics diagnostics;
    diagnostics.add(file, {}, "the file holds no list \"traceEvents\", as PyTorch's profiler writes it");
    diagnostics.throw_if_any();
  }
  // Rooms that grew by doubling are given back; a trace in order is not sorted again, which takes as much again.
  const auto settle = [](auto& spans, auto before) {
    spans.shrink_to_fit();
    if (!std::is_sorted(spans.begin(), spans.end(), before)) {
      std::stable_sort(spans.begin(), spans.end(), before);
    }
  };
  const auto by_begin = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  settle(timeline.work, by_begin);
  settle(timeline.products, by_begin);
  settle(timeline.ranges, by_begin);
  settle(timeline.host, [](const HostSpan& a, const HostSpan& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
  });
  return timeline;
}

}  // namespace headroom
