// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/training/confidence.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace headroom {
namespace {

constexpr double hour = 3600.0;
constexpr std::string_view search_table = "search";
constexpr std::string_view objective_table = "objective";

/// SKUs that a node type of the catalog holds: what can be rented as a cluster.
std::vector<std::string> gpus_in_nodes(const Catalog& catalog) {
  std::vector<std::string> ids;
  catalog.store().each("nodes", [&](const std::string& id) {
    const Node& node = catalog.node(id);
    std::vector<std::string> held{catalog.device(node.gpu).id};
    for (const std::string& other : node.also) {
      held.push_back(catalog.device(other).id);
    }
    ids.insert(ids.end(), held.begin(), held.end());
  });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Those that can be read.
std::vector<std::string> node_ids(const Catalog& catalog) {
  std::vector<std::string> ids;
  catalog.store().each("nodes", [&](const std::string& id) { ids.push_back(catalog.node(id).id); });
  return ids;
}
std::vector<std::string> price_ids(const Catalog& catalog) {
  std::vector<std::string> ids;
  catalog.store().each("prices", [&](const std::string& id) { ids.push_back(catalog.prices(id).id); });
  return ids;
}

std::vector<std::string> software_ids(const ModelData& data) {
  std::vector<std::string> ids;
  for (const MemoryStack& stack : memory_stacks(data).all()) {
    ids.push_back(stack.id);
  }
  return ids;
}

/// Every one of a list as a value of an axis.
template <class List>
Changes each_of(Knob knob, const List& values) {
  Changes all;
  for (const auto& value : values) {
    all.emplace_back(knob, value);
  }
  return all;
}

/// Every word of a knob.
Changes each_word(Knob knob) {
  Changes all;
  for (std::size_t i = 0; i < words_of(knob).size(); ++i) {
    all.emplace_back(knob, i);
  }
  return all;
}

/// One, two, four ... up to what is on hand.
std::vector<std::int64_t> doublings(std::int64_t most) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n <= most; n *= 2) {
    counts.push_back(n);
  }
  if (counts.empty() || counts.back() != most) {
    counts.push_back(most);
  }
  return counts;
}

class StrategySearchReader {
 public:
  StrategySearchReader(const ConfigValue& root, std::string file, const Sources& sources)
      : root_{root}, file_{std::move(file)}, sources_{sources} {}

  SearchQuestion run() {
    SearchQuestion q;
    q.document = std::make_shared<const ConfigValue>(root_);
    q.file = file_;
    q.sources = &sources_;
    ConfigValue base = root_;
    base.entries.erase_if(
        [](const ConfigEntry& entry) { return entry.key == search_table || entry.key == objective_table; });
    q.base = {std::make_shared<const ConfigValue>(std::move(base)), file_, &sources_};
    refuse_other_kinds();
    if (const ConfigValue* objective = table_of(objective_table)) {
      ConfigTable table{*objective, std::string{objective_table}, diagnostics_};
      q.objective = read_objective(&table, root_);
    } else {
      q.objective = read_objective(nullptr, root_);
    }
    if (const ConfigValue* search = table_of(search_table)) {
      ConfigTable table{*search, std::string{search_table}, diagnostics_};
      q.axes = read_axes(table, root_);
      expand(table, q);
    }
    diagnostics_.throw_if_any();
    split_software(q);
    q.asks_run = headroom::asks_run(root_);
    q.asks_money = root_.find("money") != nullptr || frees(q, Knob::prices);
    return q;
  }

 private:
  const ConfigValue* table_of(std::string_view name) {
    const ConfigValue* found = root_.find(name);
    if (found != nullptr && found->kind != ConfigValue::Kind::table) {
      diagnostics_.add(found->file ? *found->file : file_, found->at,
                       quoted(std::string{name}) + " is a table, not " + std::string{kind_name(found->kind)});
      return nullptr;
    }
    return found;
  }

  void refuse_other_kinds() {
    const ConfigValue* kind = root_.find("kind");
    if (kind != nullptr && kind->kind == ConfigValue::Kind::text && kind->text != "train") {
      diagnostics_.add(kind->file ? *kind->file : file_, kind->at,
                       "[search] and [objective] are for kind \"train\", not " + quoted(kind->text));
    }
  }

  /// Every name that a job axis lists is known: one that is not would be a job less, not a mistake told.
  void refuse_unknown(ConfigTable& table, const JobAxis& axis) {
    for (const Change& value : axis.values) {
      const auto* name = std::get_if<std::string>(&value.value);
      try {
        if (is_no_word(value)) {
          throw ConfigError{quoted(axis.name) + " holds " + quoted(*name) + ", none of " + listed(axis.knob) +
                            suggestion(*name, words_of(axis.knob))};
        }
        if (name != nullptr) {
          look_up(axis.knob, *name);
        }
      } catch (const ConfigError& error) {
        table.problem(axis.name, error.diagnostics().front().message);
      }
    }
  }

  void look_up(Knob knob, const std::string& name) {
    switch (knob) {
      case Knob::model: return static_cast<void>(sources_.models.find(name));
      case Knob::gpu: return static_cast<void>(sources_.catalog.device(name));
      case Knob::node: return static_cast<void>(sources_.catalog.node(name));
      case Knob::cluster: return static_cast<void>(sources_.catalog.cluster(name));
      case Knob::prices: return static_cast<void>(sources_.catalog.prices(name));
      case Knob::software: return static_cast<void>(memory_stacks(sources_.data).find(name));
      default: return;
    }
  }

  static std::string listed(Knob knob) {
    std::string known;
    for (const std::string_view word : words_of(knob)) {
      known += (known.empty() ? "" : ", ") + std::string{word};
    }
    return known;
  }

  /// What "any" means for a job axis.
  void expand(ConfigTable& table, SearchQuestion& q) {
    for (JobAxis& axis : q.axes.jobs) {
      if (!axis.any) {
        refuse_unknown(table, axis);
      } else if (axis.knob == Knob::gpus && !q.objective.gpus_on_hand) {
        table.problem("gpus", "gpus = \"any\" needs objective.gpus_on_hand, how many there are");
      } else {
        axis.values = any_of(axis.knob, q.objective);
      }
    }
  }

  [[nodiscard]] Changes any_of(Knob knob, const Objective& objective) const {
    switch (knob) {
      case Knob::gpu: return each_of(knob, gpus_in_nodes(sources_.catalog));
      case Knob::node: return each_of(knob, node_ids(sources_.catalog));
      case Knob::prices: return each_of(knob, price_ids(sources_.catalog));
      case Knob::gpus: return each_of(knob, doublings(*objective.gpus_on_hand));
      case Knob::market:
      case Knob::region: return each_word(knob);
      case Knob::software: return each_of(knob, software_ids(sources_.data));
      case Knob::precision:
        return each_of(knob, std::array{Precision::bf16, Precision::fp8, Precision::mxfp8, Precision::nvfp4});
      case Knob::offload:
        return each_of(
            knob, std::vector<std::vector<Offload>>{
                      {}, {Offload::optimizer}, {Offload::activations}, {Offload::optimizer, Offload::activations}});
      default: return each_of(knob, std::array{false, true});
    }
  }

  static bool frees(const SearchQuestion& q, Knob knob) {
    return std::any_of(q.axes.jobs.begin(), q.axes.jobs.end(), [&](const JobAxis& axis) { return axis.knob == knob; });
  }

  /// ZeRO 3 and lower stages are different software where none is stated: both are searched.
  void split_software(SearchQuestion& q) const {
    const ConfigValue* training = root_.find("training");
    const bool stated = training != nullptr && training->find("software") != nullptr;
    if (q.axes.strategy[StrategyAxis::zero].free && !stated && !frees(q, Knob::software)) {
      const std::array<std::string, 2> both{std::string{default_software(0)}, std::string{default_software(3)}};
      q.axes.jobs.push_back({"software", Knob::software, false, each_of(Knob::software, both)});
    }
  }

  const ConfigValue& root_;
  std::string file_;
  const Sources& sources_;
  Diagnostics diagnostics_;
};

/// Whether an axis says what is trained or what is rented; the others change how it runs.
bool names_rental(const JobAxis& axis) noexcept {
  switch (axis.knob) {
    case Knob::model:
    case Knob::gpu:
    case Knob::node:
    case Knob::cluster:
    case Knob::gpus:
    case Knob::prices:
    case Knob::market:
    case Knob::region: return true;
    default: return false;
  }
}

/// Encoders pad a sequence to the ranks that share it: those ranks make another job.
bool length_follows_ranks(const Scenario& scenario) {
  const auto* train = std::get_if<TrainScenario>(&scenario.question);
  return train != nullptr && train->architecture.patches.has_value();
}

void set_goals(const SearchQuestion& q, SearchJob& job) {
  const TrainScenario& t = job.train();
  const double gpus = real(t.work.shape.gpus);
  const double held = t.gpus_held();
  const double batch = real(t.work.shape.global_batch);
  const double step_tokens = batch * real(t.work.shape.seq_len);
  job.steps = t.tokens > 0.0 ? t.tokens / step_tokens : 0.0;
  // Of the run, or of a million tokens where no run is stated.
  const double steps = job.steps > 0.0 ? job.steps : 1e6 / step_tokens;
  job.work_steps = steps;
  const auto line = [&](Goal goal) -> GoalLine& { return job.goals[static_cast<std::size_t>(goal)]; };
  line(Goal::step_time) = {1.0, 0.0};
  line(Goal::time) = {job.steps, 0.0};
  line(Goal::cost) = {job.scenario.money.price ? steps * held * job.scenario.money.price->raw() : 0.0, 0.0};
  job.power = gpu_power(t.device, t.host ? &*t.host : nullptr, t.power_cap, power_form(*t.data));
  job.energy_steps = steps * gpus * job.scenario.energy.pue.value_or(1.0);
  job.spare_share = held / gpus - 1.0;
  if (job.power) {
    const Watts least = job.power->least() + job.power->host + job.spare_share * (job.power->idle + job.power->host);
    job.computing_more = std::min(job.power->of(Draw::matrix), job.power->of(Draw::memory)) - job.power->least();
    line(Goal::energy) = {job.energy_steps * least.raw(), 0.0};
  }
  line(Goal::gpu_hours) = {1e6 / batch * held / hour, 0.0};
  line(Goal::gpus) = {0.0, gpus};
  job.room = (1.0 - q.objective.memory_margin) * job.compiled.capacity;
}

/// What a second of the run takes, and the longest step that keeps the limits with the probability asked for: its run
/// ends the later the longer it is.
void set_limits(const SearchQuestion& q, SearchJob& job) {
  const Objective& o = q.objective;
  const auto infinite = std::numeric_limits<double>::infinity();
  const std::optional<DollarsPerSecond>& price = job.scenario.money.price;
  job.spent_each = job.train().gpus_held() * (price ? price->raw() : q.asks_money ? infinite : 1.0);
  job.width = confidence_of(job.train(), step_confidence(*job.train().data)).width;
  job.sure_step = Seconds{infinite};
  if (!o.limited()) {
    return;
  }
  const auto keeps = [&](Seconds step) {
    const Interval<Seconds> run = job.run_interval(step);
    const double confidence = job.train().confidence;
    return (!o.deadline || quantile_of(run, confidence) <= *o.deadline) &&
           (!o.budget || quantile_of(job.cost_interval(run), confidence) <= *o.budget);
  };
  // Between steps of a nanosecond and of a year, to the last bit.
  double few = 1e-9, many = 3e7;
  if (!keeps(Seconds{few})) {
    job.sure_step = {};
    return;
  }
  if (keeps(Seconds{many})) {
    return;
  }
  for (double middle = std::sqrt(few * many);
       middle > few && middle<many; middle = many / few> 1.001 ? std::sqrt(few * many) : few + 0.5 * (many - few)) {
    (keeps(Seconds{middle}) ? few : many) = middle;
  }
  job.sure_step = Seconds{few};
}

/// Why a job of these limits and goals cannot be judged; empty when it can.
std::string what_lacks(const SearchQuestion& q, const SearchJob& job) {
  const TrainScenario& t = job.train();
  const std::vector<Goal> front = front_goals(q);
  const auto wants = [&](Goal goal) {
    return q.objective.minimize == goal || std::find(front.begin(), front.end(), goal) != front.end();
  };
  if (q.objective.gpus_on_hand && t.work.shape.gpus > *q.objective.gpus_on_hand) {
    return std::to_string(t.work.shape.gpus) + " GPUs of " + std::to_string(*q.objective.gpus_on_hand) + " on hand";
  }
  if ((wants(Goal::cost) || q.objective.budget) && !job.scenario.money.price) {
    return "no price for " + t.device.id;
  }
  if (wants(Goal::energy) && !job.power) {
    return "the catalog has no power of " + t.device.id;
  }
  return {};
}

}  // namespace

Interval<Seconds> SearchJob::run_interval(Seconds step) const {
  const Seconds mid = run_time(step);
  if (!clock) {
    return {mid / (1.0 + width), mid, (1.0 + width) * mid};
  }
  try {
    return outlook_of(train(), {step, width, std::nullopt, false}).calendar;
  } catch (const ConfigError&) {  // where failures come as often as they may, no run gets ahead between two saves
    return {mid / (1.0 + width), mid, Seconds{std::numeric_limits<double>::infinity()}};
  }
}

Interval<Dollars> SearchJob::cost_interval(const Interval<Seconds>& run) const {
  const DollarsPerSecond each = train().gpus_held() * *scenario.money.price;
  return {each * run.low, each * run.mid, each * run.high};
}

bool asks_for_search(const ConfigValue& root) noexcept {
  return root.find(search_table) != nullptr || root.find(objective_table) != nullptr;
}

SearchQuestion read_search(const ConfigValue& root, const std::string& file, const Sources& sources) {
  SearchQuestion q = StrategySearchReader{root, file, sources}.run();
  if (const std::uint64_t jobs = job_count(q); jobs > most_jobs) {
    std::string axes;
    for (const JobAxis& axis : q.axes.jobs) {
      axes += axis.values.size() > 1
                  ? (axes.empty() ? "" : " x ") + std::to_string(axis.values.size()) + " of " + std::string{axis.name}
                  : std::string{};
    }
    throw ConfigError{"[search] makes " + std::to_string(jobs) + " jobs (" + axes + "), above " +
                      std::to_string(most_jobs) + "; list fewer values, or a range that doubles, \"8..1024 x2\""};
  }
  return q;
}

std::uint64_t job_count(const SearchQuestion& q) noexcept {
  std::uint64_t jobs = 1;
  for (const JobAxis& axis : q.axes.jobs) {
    jobs = times_up_to_most(jobs, axis.values.size());
  }
  return jobs;
}

bool searches_rentals(const SearchQuestion& q) noexcept {
  return std::any_of(q.axes.jobs.begin(), q.axes.jobs.end(),
                     [](const JobAxis& axis) { return names_rental(axis) && axis.values.size() > 1; });
}

std::uint32_t rental_of(const SearchQuestion& q, std::uint64_t job) noexcept {
  std::uint64_t rental = 0;
  std::uint64_t weight = 1;
  for (std::size_t i = q.axes.jobs.size(); i-- > 0;) {
    const JobAxis& axis = q.axes.jobs[i];
    if (names_rental(axis)) {
      rental += weight * (job % axis.values.size());
      weight *= axis.values.size();
    }
    job /= axis.values.size();
  }
  return static_cast<std::uint32_t>(rental);
}

Changes changes_of(const SearchQuestion& q, std::uint64_t job) {
  Changes changes(q.axes.jobs.size());
  for (std::size_t i = q.axes.jobs.size(); i-- > 0;) {
    const JobAxis& axis = q.axes.jobs[i];
    changes[i] = axis.values[job % axis.values.size()];
    job /= axis.values.size();
  }
  return changes;
}

std::vector<Goal> front_goals(const SearchQuestion& q) {
  if (!q.objective.pareto.empty()) {
    return q.objective.pareto;
  }
  const Goal time = q.asks_run ? Goal::time : Goal::step_time;
  if (!searches_rentals(q)) {
    return {time, Goal::memory};  // time, GPU-hours and dollars are one and the same
  }
  return {time, q.asks_money ? Goal::cost : Goal::gpu_hours};
}

Scenario scenario_of(const SearchQuestion& q, std::uint64_t index) {
  return changed(q.base, changes_of(q, index));
}

MadeJob make_job(const SearchQuestion& q, std::uint64_t index) {
  MadeJob made;
  made.dropped.job = index;
  made.dropped.changes = changes_of(q, index);
  auto job = std::make_unique<SearchJob>();
  job->index = static_cast<std::uint32_t>(index);
  job->rental = rental_of(q, index);
  job->changes = made.dropped.changes;
  try {
    job->scenario = scenario_of(q, index);
    if (length_follows_ranks(job->scenario)) {
      made.dropped.why = "a vision encoder's sequence follows the ranks that share it: search is not offered for it";
      return made;
    }
    std::get<TrainScenario>(job->scenario.question).work.open_recipe = q.axes.all;
    TrainQuestion question = compile_question(job->train(), PlanPart::all, nullptr, q.without);
    job->compiled = std::move(question.compiled);
    if (job->train().long_run) {
      job->clock = clock_of(job->train());
    }
  } catch (const ConfigError& error) {
    // A scenario that is broken whatever the axes say is the user's to mend.
    if (q.axes.jobs.empty()) {
      throw;
    }
    made.dropped.why = error.diagnostics().front().message;
    return made;
  }
  set_goals(q, *job);
  made.dropped.why = what_lacks(q, *job);
  if (made.dropped.why.empty()) {
    set_limits(q, *job);
    job->space = std::make_unique<StrategySpace>(job->train(), q.axes.strategy);
    made.job = std::move(job);
  }
  return made;
}

}  // namespace headroom
