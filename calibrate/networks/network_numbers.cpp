// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/networks/network_numbers.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace headroom {
namespace {

template <class T>
struct NumberPlace {
  std::string_view key;
  double (*get)(const T&);
  void (*set)(T&, double);
};

using PhysicsPlace = NumberPlace<CallPhysics>;
constexpr std::array physics_places{
    PhysicsPlace{"attention", [](const CallPhysics& p) { return p.attention; },
                 [](CallPhysics& p, double v) { p.attention = v; }},
    PhysicsPlace{"attention_fused", [](const CallPhysics& p) { return p.attention_fused; },
                 [](CallPhysics& p, double v) { p.attention_fused = v; }},
    PhysicsPlace{"winograd", [](const CallPhysics& p) { return p.winograd; },
                 [](CallPhysics& p, double v) { p.winograd = v; }},
    PhysicsPlace{"depth", [](const CallPhysics& p) { return p.depth; }, [](CallPhysics& p, double v) { p.depth = v; }},
    PhysicsPlace{"rows", [](const CallPhysics& p) { return p.rows; }, [](CallPhysics& p, double v) { p.rows = v; }},
    PhysicsPlace{"depth_training", [](const CallPhysics& p) { return p.depth_training; },
                 [](CallPhysics& p, double v) { p.depth_training = v; }},
    PhysicsPlace{"rows_training", [](const CallPhysics& p) { return p.rows_training; },
                 [](CallPhysics& p, double v) { p.rows_training = v; }},
    PhysicsPlace{"rows_8bit", [](const CallPhysics& p) { return p.rows_8bit; },
                 [](CallPhysics& p, double v) { p.rows_8bit = v; }},
    PhysicsPlace{"depthwise_bytes", [](const CallPhysics& p) { return p.depthwise_bytes; },
                 [](CallPhysics& p, double v) { p.depthwise_bytes = v; }},
    PhysicsPlace{"depthwise_flop", [](const CallPhysics& p) { return p.depthwise_flop; },
                 [](CallPhysics& p, double v) { p.depthwise_flop = v; }},
    PhysicsPlace{"bytes_8bit", [](const CallPhysics& p) { return p.bytes_8bit; },
                 [](CallPhysics& p, double v) { p.bytes_8bit = v; }},
    PhysicsPlace{"draw", [](const CallPhysics& p) { return p.draw; }, [](CallPhysics& p, double v) { p.draw = v; }},
    PhysicsPlace{"ring_bytes", [](const CallPhysics& p) { return p.ring_bytes; },
                 [](CallPhysics& p, double v) { p.ring_bytes = v; }},
    PhysicsPlace{"gap", [](const CallPhysics& p) { return p.gap.raw(); },
                 [](CallPhysics& p, double v) { p.gap = Seconds{v}; }},
    PhysicsPlace{"recurrent_gap", [](const CallPhysics& p) { return p.recurrent_gap.raw(); },
                 [](CallPhysics& p, double v) { p.recurrent_gap = Seconds{v}; }},
    PhysicsPlace{"depthwise_bytes_training", [](const CallPhysics& p) { return p.depthwise_bytes_training; },
                 [](CallPhysics& p, double v) { p.depthwise_bytes_training = v; }},
    PhysicsPlace{"depthwise_flop_training", [](const CallPhysics& p) { return p.depthwise_flop_training; },
                 [](CallPhysics& p, double v) { p.depthwise_flop_training = v; }},
    PhysicsPlace{"exchange_tensor", [](const CallPhysics& p) { return p.exchange_tensor.raw(); },
                 [](CallPhysics& p, double v) { p.exchange_tensor = Seconds{v}; }}};

using EnginePlace = NumberPlace<NetworkEngine>;
constexpr std::array engine_places{
    EnginePlace{"launch", [](const NetworkEngine& e) { return e.launch.raw(); },
                [](NetworkEngine& e, double v) { e.launch = Seconds{v}; }},
    EnginePlace{"call", [](const NetworkEngine& e) { return e.call.raw(); },
                [](NetworkEngine& e, double v) { e.call = Seconds{v}; }},
    EnginePlace{"autocast", [](const NetworkEngine& e) { return e.autocast; },
                [](NetworkEngine& e, double v) { e.autocast = v; }},
    EnginePlace{"elementwise", [](const NetworkEngine& e) { return e.elementwise; },
                [](NetworkEngine& e, double v) { e.elementwise = v; }},
    EnginePlace{"elementwise_training", [](const NetworkEngine& e) { return e.trains ? e.elementwise_training : 0.0; },
                [](NetworkEngine& e, double v) { e.elementwise_training = v; }},
    EnginePlace{"exchange_hidden", [](const NetworkEngine& e) { return e.exchange_hidden; },
                [](NetworkEngine& e, double v) { e.exchange_hidden = v; }},
    EnginePlace{"input", [](const NetworkEngine& e) { return e.input ? e.input->raw() : 0.0; },
                [](NetworkEngine& e, double v) { e.input = BytesPerSecond{v}; }},
    EnginePlace{"closed_loop", [](const NetworkEngine& e) { return e.input ? e.served : 0.0; },
                [](NetworkEngine& e, double v) { e.served = v; }}};

/// Index of the format in "convolution.16-bit", and what stands before the dot; nullopt without a dot.
std::optional<std::pair<std::string_view, std::size_t>> format_in(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto found = std::find(call_format_names.begin(), call_format_names.end(), key.substr(dot + 1));
  return std::pair{key.substr(0, dot), static_cast<std::size_t>(found - call_format_names.begin())};
}

template <class T>
const NumberPlace<T>* place_of(std::span<const NumberPlace<T>> places, std::string_view key) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const auto& place) { return place.key == key; });
  return found == places.end() ? nullptr : &*found;
}

bool is_time_key(std::string_view key) noexcept {
  return key == "gap" || key == "recurrent_gap" || key == "step" || key == "launch" || key == "call" ||
         key == "exchange_tensor";
}

FitPriors read_network_priors(const ModelData& data) {
  return priors_in(data, "network-priors", [](ConfigTable& root, FitPriors& priors) {
    ConfigTable tables = root.table("number");
    const auto amount_of = [](std::string_view key) -> PriorAmount {
      // Of one owner's number the same holds as of its kind: "Volta.step", "Volta.product.16-bit".
      const std::size_t dot = key.rfind('.');
      const std::string kind{is_time_key(key.substr(dot + 1)) ? key.substr(dot + 1) : key};
      return [key = kind](ConfigTable& table, std::string_view name) {
        return is_time_key(key) ? table.quantity<Seconds>(name).raw()
               : key == "input" ? table.quantity<BytesPerSecond>(name).raw()
                                : table.number(name, {1e-6, 1e6});
      };
    };
    read_priors(tables, "", false, amount_of, priors);
  });
}

class Gathering {
 public:
  explicit Gathering(const ModelData& data) : priors_{read_network_priors(data)} {}
  void add(NetworkOwner owner, const std::string& id, const std::string& key, double value) {
    knobs.push_back({owner, id, key, value, 0.0, 0.0, 0.0, 1.0, {}});
    NetworkKnob& knob = knobs.back();
    // Of hosts' processors a launch is a factor, not a time.
    const std::string believed = owner == NetworkOwner::host ? "host" : key;
    const auto own = priors_.find(knob.name());
    const auto found = own != priors_.end() ? own : priors_.find(believed);
    if (found == priors_.end()) {
      throw ConfigError{quoted(believed) + " is to be fitted, but network-priors.toml says nothing about it"};
    }
    const FitPrior& p = found->second;
    knob.low = p.low;
    knob.high = p.high;
    knob.centre = p.centre;
    knob.width = p.width;
    knob.value = std::clamp(value, p.low, p.high);
  }
  std::vector<NetworkKnob> knobs;

 private:
  FitPriors priors_;
};

void add_formats(Gathering& all, const std::string& key, const ByFormat<double>& values) {
  for (std::size_t i = 0; i < call_format_names.size(); ++i) {
    all.add(NetworkOwner::physics, "", key + "." + std::string{call_format_names[i]}, values[i]);
  }
}

void add_silicon(Gathering& all, const CallSilicon& silicon) {
  for (std::size_t i = 0; i < call_format_names.size(); ++i) {
    if (silicon.product[i] && !silicon.assumed[i]) {
      all.add(NetworkOwner::silicon, silicon.name, "product." + std::string{call_format_names[i]}, *silicon.product[i]);
    }
  }
  bool trains = false;
  for (std::size_t i = 0; i < call_format_names.size(); ++i) {
    if (silicon.product_training[i]) {
      trains = true;
      all.add(NetworkOwner::silicon, silicon.name, "product_training." + std::string{call_format_names[i]},
              *silicon.product_training[i]);
    }
  }
  if (trains) {
    all.add(NetworkOwner::silicon, silicon.name, "bandwidth_training", silicon.bandwidth_training);
  }
  all.add(NetworkOwner::silicon, silicon.name, "bandwidth", silicon.bandwidth);
  all.add(NetworkOwner::silicon, silicon.name, "step", silicon.step.raw());
}

}  // namespace

std::string NetworkKnob::name() const {
  return (owner == NetworkOwner::physics ? "calls" : id) + "." + key;
}

bool NetworkKnob::of_training() const noexcept {
  return key.find("_training") != std::string::npos || key.starts_with("exchange");
}

bool NetworkKnob::is_time() const noexcept {
  return owner != NetworkOwner::host && is_time_key(key);
}

NetworkNumbers network_numbers(const ModelData& data) {
  NetworkNumbers numbers{call_rates(data), {}};
  for (const NetworkEngine& engine : network_engines(data)) {
    numbers.engines.emplace(engine.id, engine);
  }
  return numbers;
}

std::vector<NetworkKnob> network_knobs(const ModelData& data) {
  Gathering all{data};
  const CallRates& rates = call_rates(data);
  add_formats(all, "convolution", rates.physics.convolution);
  add_formats(all, "grouped", rates.physics.grouped);
  add_formats(all, "convolution_training", rates.physics.convolution_training);
  add_formats(all, "grouped_training", rates.physics.grouped_training);
  for (const PhysicsPlace& place : physics_places) {
    all.add(NetworkOwner::physics, "", std::string{place.key}, place.get(rates.physics));
  }
  for (const CallSilicon& silicon : rates.silicon) {
    add_silicon(all, silicon);
  }
  for (std::size_t i = 1; i < rates.hosts.size(); ++i) {  // the first is the unit of the others
    all.add(NetworkOwner::host, rates.hosts[i].cpu, "launch", rates.hosts[i].launch);
  }
  const std::vector<NetworkEngine>& engines = network_engines(data);
  for (const EnginePlace& place : engine_places) {
    // Of a chain of bases with one number the first has the knob.
    const auto root_of = [&](const NetworkEngine& engine) {
      const NetworkEngine* root = &engine;
      while (!root->base.empty()) {
        const NetworkEngine& base = find_network_engine(data, root->base);
        if (place.get(base) != place.get(*root)) {
          break;
        }
        root = &base;
      }
      return root;
    };
    for (const NetworkEngine& engine : engines) {
      const bool plain = place.key == "autocast" && engine.autocast == 1.0;
      if (root_of(engine) != &engine || place.get(engine) <= 0.0 || plain) {
        continue;
      }
      all.add(NetworkOwner::engine, engine.id, std::string{place.key}, place.get(engine));
      for (const NetworkEngine& other : engines) {
        if (root_of(other) == &engine) {
          all.knobs.back().engines.push_back(other.id);
        }
      }
    }
  }
  return std::move(all.knobs);
}

void set_network_number(NetworkNumbers& numbers, const NetworkKnob& knob, double value) {
  const auto by_format = format_in(knob.key);
  switch (knob.owner) {
    case NetworkOwner::physics:
      if (by_format) {
        CallPhysics& physics = numbers.rates.physics;
        const std::string_view kind = by_format->first;
        (kind == "grouped"                ? physics.grouped
         : kind == "grouped_training"     ? physics.grouped_training
         : kind == "convolution_training" ? physics.convolution_training
                                          : physics.convolution)[by_format->second] = value;
      } else {
        place_of<CallPhysics>(physics_places, knob.key)->set(numbers.rates.physics, value);
      }
      return;
    case NetworkOwner::silicon:
      for (CallSilicon& silicon : numbers.rates.silicon) {
        if (silicon.name == knob.id) {
          if (by_format) {
            (knob.of_training() ? silicon.product_training : silicon.product)[by_format->second] = value;
          } else if (knob.key == "bandwidth_training") {
            silicon.bandwidth_training = value;
          } else if (knob.key == "bandwidth") {
            silicon.bandwidth = value;
          } else {
            silicon.step = Seconds{value};
          }
        }
      }
      return;
    case NetworkOwner::host:
      for (CallHost& host : numbers.rates.hosts) {
        host.launch = host.cpu == knob.id ? value : host.launch;
      }
      return;
    case NetworkOwner::engine:
      for (const std::string& id : knob.engines) {
        place_of<NetworkEngine>(engine_places, knob.key)->set(numbers.engines.find(id)->second, value);
      }
      return;
  }
}

std::string network_value_text(const NetworkKnob& knob, double value) {
  constexpr int digits = 3;
  if (knob.is_rate()) {
    return format_number(1e-9 * value, digits) + " GB/s";
  }
  if (!knob.is_time()) {
    return format_number(value, digits);
  }
  return value >= 1e-6 ? format_number(1e6 * value, digits) + " us" : format_number(1e9 * value, digits) + " ns";
}

}  // namespace headroom
