// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/traffic_keys.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/read/beside_reader.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace headroom {
namespace {

using ClassKeys = KeyedTable<keys::traffic_class, Kinds::serve>;

class BesideReader {
 public:
  BesideReader(ConfigTable& root, const FindModel& find, ServeScenario& serve, std::vector<std::string>& assumptions)
      : root_{root}, find_{find}, serve_{serve}, assumptions_{assumptions} {}

  void run() {
    const ConfigValue* traffic = root_.value("traffic");
    const ConfigValue* classes = traffic != nullptr ? traffic->find("class") : nullptr;
    if (classes == nullptr || classes->kind != ConfigValue::Kind::array || !serve_.traffic ||
        serve_.traffic->classes.size() != classes->items.size()) {
      return;  // not there, or refused as such
    }
    ServingTraffic read = *serve_.traffic;
    for (std::size_t i = 0; i < read.classes.size(); ++i) {
      if (classes->items[i].kind == ConfigValue::Kind::table) {
        ClassKeys table{ConfigTable{classes->items[i], "traffic.class", root_.diagnostics()}};
        read.classes[i].model = read_class(table);
      }
    }
    if (read.classes.size() > 1) {
      refuse_long_requests(read);
    }
    if (serve_.beside.empty()) {
      return;
    }
    refuse_idle(read);
    refuse_shares();
    refuse_layouts();
    serve_.traffic = std::make_shared<const ServingTraffic>(std::move(read));
  }

 private:
  /// The model's number; 0 where the class names none.
  std::size_t read_class(ClassKeys& table) {
    const std::optional<std::string> spelling = table.stated<"model">();
    const ConfigValue* main = root_.value("model");
    const bool mains =
        !spelling || (main != nullptr && main->kind == ConfigValue::Kind::text && main->text == *spelling);
    if (mains) {
      for (const std::string_view key : {"weights", "kv_cache", "kv_share"}) {
        if (table.value(key) != nullptr) {
          table.problem(key, "'" + std::string{key} +
                                 "' is of a model beside the scenario's, and this class asks the " +
                                 "scenario's own: [serving] states its formats, and of the KV cache it has what the " +
                                 "others leave; name another 'model' or leave it out");
        }
      }
      return 0;
    }
    const auto known = std::find(spellings_.begin(), spellings_.end(), *spelling);
    const auto index = static_cast<std::size_t>(known - spellings_.begin());
    const bool first = known == spellings_.end();
    if (first) {
      add_model(table, *spelling);
    }
    read_formats(table, serve_.beside[index], first);
    return index + 1;
  }

  void add_model(ConfigTable& table, const std::string& spelling) {
    spellings_.push_back(spelling);
    BesideServed model;
    model.architecture = find_(table, "model", spelling).value_or(Architecture{});
    model.weights = weights_beside(serve_, model.architecture).weights;
    model.kv = serve_.work.kv;
    if (model.architecture.kind == ArchitectureKind::encoder) {
      table.problem("model", quoted(spelling) + " is an encoder: it keeps no KV cache and writes no tokens");
    }
    serve_.beside.push_back(std::move(model));
  }

  /// One engine a model: the first class that names it settles its formats.
  void read_formats(ClassKeys& table, BesideServed& model, bool first) {
    const auto settle = [&](std::string_view key, auto& value, const auto& stated, const auto& text) {
      if (!first && stated && !(value == *stated)) {
        table.problem(key, "'" + std::string{key} + "' is " + text(*stated) + ", and an earlier class has the same " +
                               "model with " + text(value) + ": it is one engine; state it alike or once");
      } else if (stated) {
        value = *stated;
      }
    };
    const auto name = [](Precision p) { return std::string{name_of(p)}; };
    const auto format = [](std::optional<std::size_t> choice, Precision (*meant)(std::size_t)) {
      return choice ? std::optional{meant(*choice)} : std::nullopt;
    };
    const std::optional<Precision> weights = format(table.stated<"weights">(), served_weights);
    settle("weights", model.weights, weights, name);
    const std::optional<Precision> kv = format(table.stated<"kv_cache">(), kv_cache_format);
    settle("kv_cache", model.kv, kv, name);
    const auto share = table.stated<"kv_share">();
    settle("kv_share", model.kv_share, share ? std::optional{std::optional{*share}} : std::nullopt,
           [](const std::optional<double>& s) { return s ? format_number(*s) : std::string{"none"}; });
    if (first && (!weights || !kv)) {
      const std::string open{weights_beside(serve_, model.architecture).why};
      assumptions_.push_back(spellings_.back() + ": weights " + name(model.weights) +
                             (weights ? "" : " (" + open + ")") + ", KV cache " + name(model.kv) +
                             (kv ? "" : " (as serving.kv_cache)"));
    }
  }

  void refuse_idle(const ServingTraffic& traffic) {
    if (std::none_of(traffic.classes.begin(), traffic.classes.end(), [](const auto& c) { return c.model == 0; })) {
      root_.problem("model", "every class of [traffic] names a model of its own, so that nobody asks " +
                                 quoted(serve_.architecture.id) +
                                 "; name one of theirs here and leave it out of its class");
    }
  }

  void refuse_long_requests(const ServingTraffic& traffic) {
    for (const RequestClass& c : traffic.classes) {
      const auto tokens = static_cast<std::int64_t>(c.traffic.prompt.mean + c.traffic.output.mean);
      if (beyond_positions(model_of(serve_, c.model), tokens)) {
        root_.problem("traffic", "class " + quoted(c.name) + " sends " + std::to_string(tokens) +
                                     " tokens on the mean, beyond the " +
                                     std::to_string(model_of(serve_, c.model).max_seq_len) + " positions of " +
                                     model_of(serve_, c.model).id + "; shorten them");
      }
    }
  }

  void refuse_shares() {
    double stated = 0.0;
    for (const BesideServed& model : serve_.beside) {
      stated += model.kv_share.value_or(0.0);
    }
    if (stated >= 1.0) {
      root_.problem("traffic", "the 'kv_share' of the classes' models are " + format_number(stated) +
                                   " together, and the scenario's own model needs some too; keep them below 1");
    }
  }

  /// What engines that take turns are not simulated with.
  void refuse_layouts() {
    const auto refuse = [&](bool asked, std::string_view table, std::string_view key, const std::string& text) {
      if (asked) {
        ConfigTable{*root_.value(table), std::string{table}, root_.diagnostics()}.problem(key, text);
      }
    };
    const FleetQuestion& fleet = *serve_.fleet;
    refuse(serve_.work.layout.pp > 1, "strategy", "pp",
           "'pp' is " + std::to_string(serve_.work.layout.pp) +
               " with several models on a replica: whose stages take turns is not simulated; use pp = 1");
    refuse(fleet.prefill.has_value(), "fleet", "prefill",
           "[fleet.prefill] with several models on a replica is not simulated; leave it out, or give each model a "
           "scenario of its own");
    refuse(fleet.autoscaling.has_value(), "fleet", "autoscale",
           "[fleet.autoscale] with several models on a replica is not answered; leave it out, or give each model a "
           "scenario of its own");
    refuse(
        serve_.work.draft != nullptr, "serving", "speculative",
        "[serving.speculative] with several models on a replica: whose draft it is is not answered; leave it out, or "
        "give each model a scenario of its own");
    const bool turns = serve_.traffic->has_turns();
    refuse(turns, "traffic", "turns",
           "sessions of several turns ('turns') with several models on a replica are not simulated; leave 'turns' out, "
           "or give each model a scenario of its own");
    refuse(serve_.traffic->shares_prefixes() && !turns, "traffic", "prefix",
           "prompts that share prefixes ([traffic.prefix], or a trace's hash ids) with several models on a replica are "
           "not simulated; leave them out, or give each model a scenario of its own");
    refuse(fleet.routing == RequestRouting::shared_queue, "fleet", "routing",
           "one queue for several models: the first that waits would block the others; use least-outstanding");
  }

  ConfigTable& root_;
  const FindModel& find_;
  ServeScenario& serve_;
  std::vector<std::string>& assumptions_;
  std::vector<std::string> spellings_;
};

}  // namespace

void read_beside(ConfigTable& root,
                 const FindModel& find,
                 ServeScenario& serve,
                 std::vector<std::string>& assumptions) {
  BesideReader{root, find, serve, assumptions}.run();
}

}  // namespace headroom
