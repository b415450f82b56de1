// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/cluster_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/pools/job_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace headroom::pools {
namespace {

using JobKeys = KeyedTable<keys::cluster_job, Kinds::cluster>;
using OnKeys = KeyedTable<keys::job_on, Kinds::cluster>;
using Labels = std::map<std::string, std::string>;

void put(ConfigValue& table, std::string_view key, ConfigValue value) {
  table.entries.erase_if([&](const ConfigEntry& entry) { return entry.key == key; });
  table.entries.emplace_back(std::string{key}, std::move(value));
}

bool is_table(const ConfigValue* value) noexcept {
  return value != nullptr && value->kind == ConfigValue::Kind::table;
}

/// A scenario's document as it is asked of a pool: on its SKU, at its price.
ConfigValue document_on(ConfigValue document, const AskedPool& pool, std::optional<std::int64_t> gpus) {
  if (document.find("hardware") == nullptr) {
    document.entries.emplace_back("hardware", ConfigValue{});
  }
  ConfigValue& hardware = *document.find("hardware");
  if (!is_table(&hardware)) {
    return document;  // whoever reads it tells so
  }
  const ConfigValue* const stated = hardware.find("gpu");
  if (stated == nullptr || stated->text != pool.gpu) {  // the stated host holds another SKU
    hardware.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "node" || entry.key == "cluster"; });
  }
  put(hardware, "gpu", word_value(pool.gpu));
  if (gpus) {
    put(hardware, "gpus", count_value(*gpus));
  }
  document.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
  if (pool.price.price) {
    ConfigValue money;
    money.entries.emplace_back("price", word_value(general_text(pool.price.price->raw() * hour.raw(), 12) + " $/h"));
    money.entries.emplace_back("date", word_value(pool.price.date.empty() ? "2026-01" : pool.price.date));
    document.entries.emplace_back("money", std::move(money));
  }
  return document;
}

/// "gpu-type = t4, zone = eu".
std::string labels_text(const Labels& labels) {
  return joined(labels, [](const auto& label) { return label.first + " = " + label.second; });
}

bool has_all(const Labels& labels, const Labels& needs) {
  return std::all_of(needs.begin(), needs.end(), [&](const auto& need) {
    const auto found = labels.find(need.first);
    return found != labels.end() && found->second == need.second;
  });
}

std::int64_t most_gpus(const std::vector<AskedPool>& pools) {
  std::int64_t most = 0;
  for (const AskedPool& pool : pools) {
    most = std::max(most, pool.pool.gpus());
  }
  return most;
}

class JobReader {
 public:
  JobReader(JobKeys& table, const JobContext& context, const std::string& name) : table_{table}, with_{context} {
    job_.name = name;
  }

  AskedJob run() {
    read_plain();
    read_numbers();
    read_pools();
    add_choices();
    check_service();
    table_.finish();
    return std::move(job_);
  }

 private:
  void read_plain() {
    job_.tenant = with_.tenant_names->find_at(table_, "tenant").value_or(0);
    job_.count = table_.get<"count">();
    job_.arrival = table_.get<"arrival">();
    job_.deadline = table_.stated<"deadline">();
    job_.crash = table_.stated<"crash">();
    job_.priority = table_.get<"priority">();
    job_.preemptible = table_.get<"preemptible">();
    job_.checkpoint = table_.get<"checkpoint">();
    job_.restart = table_.get<"restart">();
    job_.service = table_.get<"service">();
    job_.needs = read_labels(table_, "needs");
    spill_ = table_.get<"spill">();
    if (job_.deadline && *job_.deadline <= job_.arrival) {
      table_.problem("deadline", "'deadline' is " + format(*job_.deadline) + ", and the job comes at " +
                                     format(job_.arrival) +
                                     ": both are counted from the start; state a later deadline");
    }
    for (const char* const key : {"checkpoint", "restart"}) {
      if (!job_.preemptible && table_.has(key)) {
        table_.problem(key, "'" + std::string{key} +
                                "' is of a job that others stop, and this one is not preemptible: state preemptible = "
                                "true, or leave it out");
      }
    }
  }

  void read_numbers() {
    gpus_ = table_.stated<"gpus">();
    time_ = table_.stated<"time">();
    const std::optional<std::string> scenario = table_.stated<"scenario">();
    if (scenario && is_request(table_.file())) {
      table_.problem("scenario", no_files_text(*scenario) + "; state the job's 'gpus' and 'time'");
    } else if (scenario && !scenario->empty()) {
      job_.scenario = path_beside(table_.file(), *scenario);
    }
    if (job_.scenario.empty() && !table_.has("on") && !table_.has("scenario")) {
      if (!gpus_ && !table_.has("gpus")) {
        table_.missing("gpus", ", how many GPUs the job takes, or 'scenario', whose plan says so");
      }
      if (!time_ && !table_.has("time") && !job_.service) {
        table_.missing("time", ", such as time = \"20 h\", or 'scenario', whose plan says how long it takes");
      }
    }
  }

  [[nodiscard]] const std::vector<AskedPool>& pools() const { return *with_.pools; }

  /// The pools of the owner's own, in his order.
  void read_pools() {
    const bool listed = table_.has("pools");
    if (listed && table_.has("on")) {
      table_.problem("pools", "'pools' and [[job.on]] both say where the job runs; state one of them");
    }
    if (table_.has("on")) {
      job_.ordered = true;
      read_on();
      return;
    }
    if (listed) {
      job_.ordered = true;
      own_ = with_.pool_names->find_all(table_, "pools");
      for (const std::size_t place : own_) {
        if (!has_all(pools()[place].labels, job_.needs)) {
          table_.problem("pools", "pool " + quoted(pools()[place].pool.name) + " lacks what the job needs, " +
                                      labels_text(job_.needs) + ": it has " + labels_text(pools()[place].labels));
        }
      }
      return;
    }
    for (std::size_t i = 0; i < pools().size(); ++i) {
      if (has_all(pools()[i].labels, job_.needs)) {
        own_.push_back(i);
      }
    }
    if (own_.empty() && !pools().empty() && !job_.needs.empty()) {
      table_.problem("needs", why_nowhere());
    }
  }

  /// Why no pool has all labels that the job needs, of the first that nobody has.
  [[nodiscard]] std::string why_nowhere() const {
    for (const auto& [label, value] : job_.needs) {
      std::vector<std::string> names, values;
      for (const AskedPool& pool : pools()) {
        for (const auto& [key, held] : pool.labels) {
          if (std::find(names.begin(), names.end(), key) == names.end()) {
            names.push_back(key);
          }
          if (key == label && std::find(values.begin(), values.end(), held) == values.end()) {
            values.push_back(held);
          }
        }
      }
      if (values.empty()) {
        const std::vector<std::string_view> known(names.begin(), names.end());
        return "no pool has a label " + quoted(label) + suggestion(label, known) + "; labels are " + joined(names);
      }
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        const std::vector<std::string_view> known(values.begin(), values.end());
        return "no pool has " + quoted(label) + " = " + quoted(value) + suggestion(value, known) + "; pools have " +
               joined(values);
      }
    }
    return "no pool has all of " + labels_text(job_.needs) + " at once; leave one of them out, or label a pool so";
  }

  struct On {
    std::optional<std::int64_t> gpus;
    std::optional<Seconds> time;
  };

  void read_on() {
    for (ConfigTable& each : table_.tables("on")) {
      OnKeys on{std::move(each)};
      const std::string name = on.get<"pool">();
      const std::optional<std::size_t> place =
          name.empty() ? std::nullopt : with_.pool_names->find(on, *on.value("pool"), "pool", name);
      On stated{on.stated<"gpus">(), on.stated<"time">()};
      if (job_.scenario.empty() && !stated.gpus && !gpus_ && !on.has("gpus")) {
        on.missing("gpus", ", how many GPUs the job takes there; state it here or in the job");
      }
      if (job_.scenario.empty() && !stated.time && !time_ && !job_.service && !on.has("time")) {
        on.missing("time", ", how long the job takes there; state it here or in the job");
      }
      if (place) {
        const AskedPool& pool = pools()[*place];
        if (!on_.emplace(*place, stated).second) {
          on.problem("pool", "pool " + quoted(name) + " stands twice; state it once");
        } else {
          own_.push_back(*place);
        }
        if (stated.gpus && *stated.gpus > pool.pool.gpus()) {
          on.problem("gpus", too_large(*stated.gpus, pool));
        }
        if (!has_all(pool.labels, job_.needs)) {
          on.problem("pool", "pool " + quoted(name) + " lacks what the job needs, " + labels_text(job_.needs) +
                                 ": it has " + labels_text(pool.labels));
        }
      }
      on.finish();
    }
  }

  [[nodiscard]] std::string too_large(std::int64_t gpus, const AskedPool& pool) const {
    return "job " + quoted(job_.name) + " takes " + counted(gpus, "GPU") + " at once, and pool " +
           quoted(pool.pool.name) + " has " + std::to_string(pool.pool.gpus()) +
           ": state a larger pool, or fewer GPUs and more time";
  }

  void add_choices() {
    for (const std::size_t place : own_) {
      add_choice(place, false);
    }
    if (spill_ && table_.has("on") && job_.scenario.empty() && (!gpus_ || (!time_ && !job_.service))) {
      table_.problem("spill",
                     "'spill' takes other pools, and the job says what it takes on those of [[job.on]] alone; state "
                     "'gpus' and 'time' in the job too, or leave it out");
    } else if (spill_) {
      for (std::size_t i = 0; i < pools().size(); ++i) {
        if (std::find(own_.begin(), own_.end(), i) == own_.end()) {
          add_choice(i, true);
        }
      }
    }
    tell_unread();
    if (job_.choices.empty() && gpus_ && !own_.empty() && unread_ == nullptr) {
      const std::int64_t most = most_gpus(pools());
      table_.problem("gpus", "job " + quoted(job_.name) + " takes " + counted(*gpus_, "GPU") +
                                 " at once, and its largest pool has " + std::to_string(largest_own()) +
                                 (most >= *gpus_ ? ": let it run on a pool of " + std::to_string(most)
                                                 : ": add nodes to a pool, or state fewer GPUs and more time"));
    }
  }

  [[nodiscard]] std::int64_t largest_own() const {
    std::int64_t most = 0;
    for (const std::size_t place : own_) {
      most = std::max(most, pools()[place].pool.gpus());
    }
    return most;
  }

  void add_choice(std::size_t place, bool spill) {
    const AskedPool& pool = pools()[place];
    const auto on = on_.find(place);
    AskedChoice choice;
    choice.pool = place;
    choice.spill = spill;
    choice.gpus = on != on_.end() && on->second.gpus ? on->second.gpus : gpus_;
    if (on != on_.end() && on->second.time) {
      choice.time = on->second.time;
    } else if (time_) {
      const bool work = job_.scenario.empty() && !job_.service;
      choice.time = (work ? 1.0 / pool.speed : 1.0) * *time_;
    }
    if (choice.gpus && *choice.gpus > pool.pool.gpus()) {
      return;
    }
    if (!job_.scenario.empty()) {
      const ScenarioBook::Entry& entry = with_.book->find(job_.scenario, place, pool, choice.gpus);
      if (!entry.question) {
        unread_ = unread_ == nullptr ? &*entry.problems : unread_;
        unread_pools_.push_back(pool.pool.name);
        return;
      }
      choice.question = entry.question;
      job_.service = job_.service || !entry.question->ends();
    }
    job_.choices.push_back(std::move(choice));
  }

  /// A scenario that no pool's SKU can be asked of is broken; one that some cannot runs on the others.
  void tell_unread() {
    if (unread_ == nullptr) {
      return;
    }
    const std::vector<Diagnostic> why = unread_->sorted();
    if (job_.choices.empty()) {
      const bool of_file = why.size() == 1 && why.front().at.line == 0;  // missing, a folder, too large
      if (of_file) {
        table_.problem("scenario", "'scenario' is " + quoted(job_.scenario) +
                                       ", a path relative to this file: " + why.front().message);
      } else {
        table_.diagnostics().add(*unread_);
      }
      return;
    }
    with_.assumptions->push_back(
        "job " + job_.name + " does not run on " + joined(unread_pools_) + ": " +
        (why.empty() ? std::string{"its scenario cannot be asked there"} : why.front().message));
  }

  /// A service needs an end that somebody states: its own time or the horizon.
  void check_service() {
    if (!job_.service) {
      return;
    }
    const bool everywhere = std::all_of(job_.choices.begin(), job_.choices.end(),
                                        [](const AskedChoice& choice) { return choice.time.has_value(); });
    if (everywhere) {
      return;
    }
    if (!with_.horizon) {
      table_.missing("time", ": job " + quoted(job_.name) +
                                 " is a service, which has no end of its own; state for how long it holds its GPUs, or "
                                 "policy.horizon");
      return;
    }
    if (*with_.horizon <= job_.arrival) {
      table_.problem("arrival", "service " + quoted(job_.name) + " comes at " + format(job_.arrival) +
                                    ", after policy.horizon, " + format(*with_.horizon) + "; state 'time'");
      return;
    }
    for (AskedChoice& choice : job_.choices) {
      choice.time = choice.time ? choice.time : std::optional{*with_.horizon - job_.arrival};
    }
  }

  JobKeys& table_;
  const JobContext& with_;
  AskedJob job_;
  std::optional<std::int64_t> gpus_;
  std::optional<Seconds> time_;
  bool spill_ = false;
  std::vector<std::size_t> own_;
  std::map<std::size_t, On> on_;
  const Diagnostics* unread_ = nullptr;
  std::vector<std::string> unread_pools_;
};

/// "a -> b -> a", of the first cycle that the waits of jobs close; empty: there is none. `at`: the first of it.
std::string cycle_of(const std::vector<AskedJob>& jobs, std::size_t& at) {
  enum class Mark : std::uint8_t { fresh, open, closed };
  std::vector<Mark> marks(jobs.size(), Mark::fresh);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // job, and how many of its waits were followed
  for (std::size_t first = 0; first < jobs.size(); ++first) {
    if (marks[first] != Mark::fresh) {
      continue;
    }
    path.assign(1, {first, 0});
    marks[first] = Mark::open;
    while (!path.empty()) {
      auto& [job, next] = path.back();
      if (next == jobs[job].after.size()) {
        marks[job] = Mark::closed;
        path.pop_back();
        continue;
      }
      const std::size_t before = jobs[job].after[next++];
      if (marks[before] == Mark::open) {
        const auto start =
            std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == before; });
        std::string text;
        for (auto step = start; step != path.end(); ++step) {
          text += jobs[step->first].name + " after ";
        }
        at = before;
        return text + jobs[before].name;
      }
      if (marks[before] == Mark::fresh) {
        marks[before] = Mark::open;
        path.emplace_back(before, 0);
      }
    }
  }
  return {};
}

}  // namespace

const ScenarioBook::File& ScenarioBook::file_of(const std::string& path) {
  const auto [at, fresh] = files_.try_emplace(path);
  if (fresh) {
    try {
      at->second.document = scenario_tree(path, std::span<const Assignment>{});
      if (const ConfigValue* const kind = at->second.document->find("kind");
          kind != nullptr && kinds_of_word(kind->text) == Kinds::cluster) {
        throw ConfigError{{{path, kind->at,
                            "a job of a cluster is no cluster itself: name a scenario of training, serving or batch"}}};
      }
    } catch (const ConfigError& error) {
      at->second.document.reset();
      at->second.problems.emplace().add(error);
    }
  }
  return at->second;
}

const ScenarioBook::Entry& ScenarioBook::find(const std::string& path,
                                              std::size_t place,
                                              const AskedPool& pool,
                                              std::optional<std::int64_t> gpus) {
  const auto [at, fresh] = entries_.try_emplace({path, place, gpus.value_or(0)});
  if (fresh) {
    const File& file = file_of(path);
    if (!file.document) {
      at->second.problems = file.problems;
      return at->second;
    }
    try {
      at->second.question = (*reader_)(document_on(*file.document, pool, gpus), path);
    } catch (const ConfigError& error) {
      at->second.problems.emplace().add(error);
    }
  }
  return at->second;
}

std::map<std::string, std::string> read_labels(ConfigTable& table, std::string_view key) {
  std::map<std::string, std::string> labels;
  std::optional<ConfigTable> found = table.maybe_table(key);
  if (!found) {
    return labels;
  }
  for (const std::string_view label : found->keys()) {
    const std::string value = found->text(label);
    if (first_unprintable(label)) {
      found->problem_at_key(label, "a label's name holds no control characters");
    } else if (!value.empty()) {
      labels.emplace(label, value);
    }
  }
  return labels;
}

std::vector<AskedJob> read_jobs(ConfigTable& root, const JobContext& context, NamedList& names) {
  std::vector<AskedJob> jobs;
  std::vector<ConfigTable> tables = root.tables("job");
  if (!root.has("job")) {
    root.missing("job", ", what is to run: [[job]] name = \"...\", and 'scenario', or 'gpus' and 'time'");
  }
  std::vector<JobKeys> keyed;
  for (ConfigTable& table : tables) {
    keyed.emplace_back(std::move(table));
    names.take(keyed.back());
  }
  std::int64_t counted_jobs = 0, waits = 0;
  jobs.reserve(keyed.size());
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    const std::vector<std::size_t> after = names.find_all(keyed[i], "after");
    jobs.push_back(JobReader{keyed[i], context, names.names()[i]}.run());
    jobs.back().after = after;
    const std::int64_t before = counted_jobs;
    counted_jobs += jobs.back().count;
    if (before <= most_counted_jobs && counted_jobs > most_counted_jobs) {
      keyed[i].problem("count", "the jobs up to here are " + std::to_string(counted_jobs) + "; at most " +
                                    std::to_string(most_counted_jobs) + " are planned: state fewer that take longer");
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::size_t before : jobs[i].after) {
      const bool each_its_own = jobs[i].count == jobs[before].count;
      const std::int64_t added = each_its_own ? jobs[i].count : jobs[i].count * jobs[before].count;
      if (waits <= most_waits && waits + added > most_waits) {
        keyed[i].problem("after", "jobs wait for one another more than " + std::to_string(most_waits) +
                                      " times; put a job of count 1 between the many, for which the others wait");
      }
      waits += added;
    }
  }
  std::size_t at = 0;
  if (const std::string cycle = cycle_of(jobs, at); !cycle.empty()) {
    keyed[at].problem("after", "jobs wait for one another in a circle: " + cycle + "; leave one of these waits out");
  }
  return jobs;
}

}  // namespace headroom::pools
