// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/sharing_keys.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/sharing/sharing_question.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

using TenantKeys = KeyedTable<keys::tenant, Kinds::sharing>;

/// Two digits, of 0 to `most`, then `behind`; -1 where they are not there.
std::int64_t two_digits(std::string_view& text, std::int64_t most) {
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (!digit(0) || !digit(1)) {
    return -1;
  }
  const std::int64_t value = 10 * (text[0] - '0') + (text[1] - '0');
  text.remove_prefix(2);
  return value <= most ? value : -1;
}

/// Minutes since midnight of "20:00"; -1 where it is none.
std::int64_t minutes_at(std::string_view& text) {
  const std::int64_t hour = two_digits(text, 24);
  if (hour < 0 || !text.starts_with(':')) {
    return -1;
  }
  text.remove_prefix(1);
  const std::int64_t minute = two_digits(text, 59);
  return minute < 0 || hour * 60 + minute > 1440 ? -1 : hour * 60 + minute;
}

class SharingReader {
 public:
  SharingReader(const ConfigValue& root, std::string file, const Sources& sources, const NetworkLibrary& networks)
      : root_{root, "", diagnostics_} {
    q_.sources = &sources;
    q_.networks = &networks;
    q_.file = std::move(file);
  }

  SharingQuestion run() {
    require_schema(root_);
    refuse_base(root_);
    q_.name = root_.maybe_text("name").value_or(shown(q_.file));
    static_cast<void>(root_.maybe_choice("kind", scenario_kind_names));
    read_card();
    read_mode();
    read_tenants();
    refuse_what_no_card_gives();
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(q_);
  }

 private:
  void read_card() {
    HardwareChoice hardware = read_hardware(root_, *q_.sources, q_.assumptions, true);
    if (root_.has("hardware")) {
      ConfigTable table = root_.table("hardware");
      for (const std::string_view key : {"gpus", "host_memory", "host_link"}) {
        if (table.has(key)) {
          table.problem_at_key(key, key == "gpus" ? "the tenants share one card; leave 'gpus' out, the answer says "
                                                    "how many cards tenants need that have one each"
                                                  : quoted(key) +
                                                        " moves nothing of tenants on one card; leave it "
                                                        "out");
        }
      }
    }
    const PowerForm& power = power_form(q_.sources->data);
    q_.money = read_money(root_, q_.sources->catalog, hardware.priced(power, false));
    tell_idle_money(root_,
                    {"answers of kind sharing hold no offers against each other",
                     "answers of kind sharing pay for cards alone", "it asks for variants of a training plan"},
                    q_.assumptions);
    if (q_.money.price) {
      q_.assumptions.push_back("money: a card costs " + format(*q_.money.price) + " (" + q_.money.source + ")");
    }
    for (const char* const key : {"node", "cluster"}) {
      const ConfigValue* const stated = root_.value("hardware");
      if (stated != nullptr && stated->find(key) != nullptr) {
        q_.assumptions.push_back("hardware." + std::string{key} + " has no effect: the tenants share one card");
      }
    }
    q_.card = std::move(hardware.device);
    q_.power_cap = hardware.power_cap;
    if (q_.card.slice) {
      root_.table("hardware")
          .problem("gpu", q_.card.id + " is a slice already; state the card, " + q_.card.slice->card +
                              ", which is cut for the tenants");
    } else if (!q_.card.id.empty()) {
      q_.scheme = q_.sources->catalog.partitions(q_.card);
      if (q_.scheme != nullptr && q_.scheme->kind != PartitionKind::mig) {
        q_.scheme = nullptr;
      }
    }
  }

  void read_mode() {
    auto table = KeyedTable<keys::sharing, Kinds::sharing>::or_blank(root_);
    if (const std::size_t mode = table.get<"mode">(); mode > 0) {
      q_.mode = static_cast<CardSharing>(mode - 1);
    }
    q_.pack = table.get<"pack", SlicePack>();
    q_.simulated = table.get<"simulated">();
    q_.seed = static_cast<std::uint64_t>(table.get<"seed">());
    if (q_.mode == CardSharing::mig && q_.scheme == nullptr && !q_.card.id.empty()) {
      table.problem("mode", q_.card.id +
                                " has no slices of MIG; share it under mps or in time-slices, or take a card "
                                "that has them, such as a100-sxm-80gb or h100-sxm-80gb");
    }
    table.finish();
  }

  void read_tenants() {
    std::vector<ConfigTable> tables = root_.tables("tenant");
    if (tables.empty()) {
      root_.missing("tenant", ", who shares the card: [[tenant]] name = \"chat\", busy = 0.4, memory = \"20 GB\"");
    }
    if (tables.size() > most_tenants) {
      root_.problem("tenant", counted(static_cast<std::int64_t>(tables.size()), "tenant") + "; at most " +
                                  std::to_string(most_tenants) +
                                  " are simulated on one card: join those that run "
                                  "alike, or ask about two cards");
    }
    std::set<std::string> names;
    for (ConfigTable& each : tables) {
      TenantKeys table{std::move(each)};
      Tenant tenant = read_tenant(table);
      if (!tenant.name.empty() && !names.insert(tenant.name).second) {
        table.problem("name", "two tenants are called " + quoted(tenant.name) +
                                  "; answers tell tenants by their "
                                  "names");
      }
      refuse_isolation(table, tenant);
      refuse_memory(table, tenant);
      table.finish();
      q_.tenants.push_back(std::move(tenant));
    }
  }

  Tenant read_tenant(TenantKeys& table) {
    Tenant tenant;
    tenant.name = table.get<"name">();
    tenant.trains = table.get<"kind">() == 1;
    tenant.busy = table.stated<"busy">();
    tenant.memory = table.stated<"memory">();
    if (const auto rate = table.stated<"rate">()) {
      tenant.rate = rate->raw();
    }
    tenant.call = table.stated<"call">();
    tenant.spread = table.get<"spread">();
    tenant.step = table.stated<"step">();
    tenant.isolation = table.get<"isolation", Isolation>();
    tenant.weight = table.get<"weight">();
    if (const auto hours = table.stated<"hours">()) {
      tenant.hours = read_daily_hours(*hours);
      if (!tenant.hours) {
        table.problem("hours", quoted(shown(*hours)) +
                                   " is no part of a day; write \"20:00-06:00\", from midnight "
                                   "00:00 to 24:00");
      }
    }
    if (auto slo = KeyedTable<keys::tenant_slo, Kinds::sharing>::maybe(table)) {
      tenant.promises = read_latencies(*slo);
      slo->finish();
      if (tenant.rate <= 0.0 && !table.has("workload")) {
        table.problem_at_key("slo", "nothing comes that times could be promised to; state 'rate' and 'call'");
      }
    }
    read_workload(table, tenant);
    refuse_contradictions(table, tenant);
    return tenant;
  }

  void read_workload(TenantKeys& table, Tenant& tenant) {
    const ConfigValue* const stated = table.value("workload");
    if (stated == nullptr) {
      return;
    }
    try {
      ConfigValue document = *stated;
      if (stated->kind == ConfigValue::Kind::text && is_request(q_.file)) {
        table.problem("workload", no_files_text(stated->text) + "; state the workload as a table");
        return;
      }
      if (stated->kind == ConfigValue::Kind::text) {
        document = scenario_tree((std::filesystem::path{q_.file}.parent_path() / stated->text).string());
      } else if (stated->kind != ConfigValue::Kind::table) {
        table.problem("workload",
                      "'workload' is a scenario of kind serve or batch, as a table or as the path of a "
                      "file");
        return;
      }
      if (const ConfigValue* const hardware = document.find("hardware")) {
        diagnostics_.add(hardware->file ? *hardware->file : q_.file, hardware->key_at,
                         "the card is that of the question; leave [hardware] of the workload out");
        return;
      }
      if (document.find("schema") == nullptr) {
        document.entries.emplace_back("schema", count_value(1));
      }
      resolve(table, tenant, std::move(document));
    } catch (const ConfigError& error) {
      diagnostics_.add(error);
    }
  }

  void resolve(TenantKeys& table, Tenant& tenant, ConfigValue document) {
    const ConfigValue* const kind = document.find("kind");
    const bool serves = kind != nullptr && kind->text == "serve";
    if (!serves && (kind == nullptr || kind->text != "batch")) {
      table.problem("workload",
                    "a tenant's workload is of kind serve or batch; of a training state busy, memory and "
                    "step");
      return;
    }
    if (q_.card.id.empty()) {
      return;
    }
    if (serves) {
      set_memory_fraction(document, tenant);
    }
    const ConfigValue on_card = workload_on(document, q_.card.id);
    tenant.workload = std::make_shared<const ConfigValue>(std::move(document));
    if (serves) {
      tenant.served = read_scenario(on_card, q_.file, *q_.sources);
      if (std::get<ServeScenario>(tenant.served->question).traffic == nullptr) {
        table.problem("workload",
                      "an engine among tenants needs [traffic], the requests that it answers; a fixed load "
                      "is always under way: state busy and memory of it");
      }
      if (!tenant.memory) {
        table.missing("memory", ", what the engine may fill of the card: weights and KV cache, such as \"30 GB\"");
      }
      return;
    }
    tenant.network = read_batch_scenario(on_card, q_.file, *q_.sources, *q_.networks);
    if (!tenant.network->requests || tenant.network->requests->rate <= 0.0) {
      table.problem("workload", "a network among tenants needs [requests] rate, the requests that call it");
      return;
    }
    tenant.rate = tenant.network->requests->rate * tenant.network->requests->peak;
    tenant.spread = tenant.network->spread;
    tenant.promises = tenant.network->promises;
  }

  /// The memory of an engine, as the share of the device that it is told to take.
  void set_memory_fraction(ConfigValue& document, const Tenant& tenant) {
    ConfigValue* const serving = document.find("serving");
    if (tenant.memory && serving != nullptr && serving->kind == ConfigValue::Kind::table &&
        serving->find("memory_fraction") == nullptr) {
      const double share = *tenant.memory / q_.card.visible_capacity().value;
      serving->entries.emplace_back("memory_fraction", number_value(std::clamp(share, 0.01, 1.0)));
    }
  }

  void refuse_contradictions(TenantKeys& table, const Tenant& tenant) {
    if (table.has("workload")) {
      for (const std::string_view key : {"rate", "call", "spread", "slo", "step"}) {
        if (table.has(key)) {
          table.problem_at_key(key, quoted(key) + " follows from the workload; leave it out, or the workload");
        }
      }
      if (tenant.trains) {
        table.problem("kind", "a training among tenants is stated by busy, memory and step; leave the workload out");
      }
      return;
    }
    if (tenant.rate > 0.0 && !tenant.call) {
      table.missing("call",
                    ", the time of one request's call with the card alone, such as \"8 ms\": without it a rate "
                    "says nothing of the card");
    }
    if (tenant.trains && tenant.rate > 0.0) {
      table.problem("rate", "a training takes what it gets; leave 'rate' out");
    }
    if (!tenant.trains && tenant.step) {
      table.problem_at_key("step", "'step' is of a tenant with kind = \"training\"");
    }
    if (tenant.rate <= 0.0 && !tenant.busy) {
      table.missing("busy",
                    ", the share of its time in which the tenant's kernels run with the card alone: 0.3, or 1 "
                    "where they always do");
    }
    if (!tenant.memory) {
      table.missing("memory", ", what the tenant fills of the card, such as \"12 GB\"");
    }
  }

  void refuse_isolation(TenantKeys& table, const Tenant& tenant) {
    if (q_.mode && isolation_of(*q_.mode) < tenant.isolation) {
      table.problem("isolation",
                    std::string{name_of(*q_.mode)} + " keeps tenants apart in " +
                        (*q_.mode == CardSharing::mps ? "memory alone: a fault of one ends all" : "nothing") +
                        "; share in slices of MIG (mode = \"mig\"), or give the tenant a card (mode = \"none\")");
    }
  }

  void refuse_memory(TenantKeys& table, const Tenant& tenant) {
    if (q_.card.id.empty() || !tenant.memory) {
      return;
    }
    const Bytes need = *tenant.memory + sharing_form(q_.sources->data).process;
    const Bytes card = q_.card.capacity().value;
    if (need > card) {
      table.problem("memory", format(*tenant.memory) + " and a context of " +
                                  format(sharing_form(q_.sources->data).process) + " are more than the " +
                                  format(card) + " of " + q_.card.id + "; take a larger card, or less memory");
    } else if (q_.mode == CardSharing::mig && q_.scheme != nullptr &&
               least_profile(q_.card, *q_.scheme, need) == nullptr) {
      table.problem("memory", "no slice of " + q_.card.id + " shows " + format(need) + " (" +
                                  q_.scheme->profiles_text() + "); state less memory, or share under mps");
    }
  }

  /// Memory of all tenants that run at one time under a way of one card.
  void refuse_what_no_card_gives() {
    if (q_.card.id.empty()) {
      return;  // told already
    }
    if (!q_.mode || *q_.mode == CardSharing::none) {
      return;
    }
    const Bytes context = sharing_form(q_.sources->data).process;
    Bytes most{};
    std::int64_t together = 0;
    for (std::int64_t minute = 0; minute < 1440; ++minute) {
      Bytes all{};
      std::int64_t count = 0;
      for (const Tenant& tenant : q_.tenants) {
        const bool counts = *q_.mode == CardSharing::mig || !tenant.hours || tenant.hours->holds(minute);
        if (counts && tenant.memory) {
          all = all + *tenant.memory + context;
          ++count;
        }
      }
      if (all > most) {
        most = all;
        together = count;
      }
    }
    const Bytes card = q_.card.capacity().value;
    if (most > card) {
      root_.problem("tenant", counted(together, "tenant") + " with a context of " + format(context) + " each fill " +
                                  format(most) + " at one time, more than the " + format(card) + " of " + q_.card.id +
                                  "; take a larger card, state less memory, or give each a card (mode = \"none\")");
    }
  }

  Diagnostics diagnostics_;
  ConfigTable root_;
  SharingQuestion q_;
};

}  // namespace

std::optional<DailyHours> read_daily_hours(std::string_view text) {
  DailyHours hours;
  hours.begin = minutes_at(text);
  if (hours.begin < 0 || hours.begin >= 1440 || !text.starts_with('-')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  hours.end = minutes_at(text);
  return hours.end < 0 || !text.empty() || hours.begin == hours.end ? std::nullopt : std::optional{hours};
}

bool asks_for_sharing(const ConfigValue& root) noexcept {
  const ConfigValue* const kind = root.find("kind");
  if (kind != nullptr && kind->kind == ConfigValue::Kind::text && kind->text == "sharing") {
    return true;
  }
  return kind == nullptr && root.find("tenant") != nullptr;
}

ConfigValue workload_on(const ConfigValue& workload, const std::string& gpu) {
  ConfigValue document = workload;
  ConfigValue hardware;
  hardware.file = workload.file;
  hardware.at = workload.at;
  hardware.key_at = workload.at;
  hardware.entries.emplace_back("gpu", word_value(gpu));
  hardware.entries.emplace_back("gpus", count_value(1));
  document.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "hardware"; });
  document.entries.emplace_back("hardware", std::move(hardware));
  return document;
}

SharingQuestion read_sharing(const ConfigValue& root,
                             const std::string& file,
                             const Sources& sources,
                             const NetworkLibrary& networks) {
  return SharingReader{root, file, sources, networks}.run();
}

}  // namespace headroom
