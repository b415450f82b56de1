// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/sharing/slice_packing.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/sharing/sharing_plan.hpp>
#include <headroom/scenarios/sharing/tenant_load.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr double day_minutes = 1440.0;

/// A part of the day in which the same tenants run.
struct PartOfDay {
  double share = 1.0;                ///< of the day
  std::vector<std::size_t> running;  ///< tenants
};

std::vector<PartOfDay> parts_of_day(const std::vector<Tenant>& tenants) {
  std::set<std::int64_t> ends{0, 1440};
  for (const Tenant& tenant : tenants) {
    if (tenant.hours) {
      ends.insert(tenant.hours->begin);
      ends.insert(tenant.hours->end);
    }
  }
  std::vector<PartOfDay> parts;
  for (auto at = ends.begin(); std::next(at) != ends.end(); ++at) {
    PartOfDay part{real(*std::next(at) - *at) / day_minutes, {}};
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      if (!tenants[i].hours || tenants[i].hours->holds(*at)) {
        part.running.push_back(i);
      }
    }
    // Parts with the same tenants are one.
    const auto same =
        std::find_if(parts.begin(), parts.end(), [&](const PartOfDay& other) { return other.running == part.running; });
    if (same != parts.end()) {
      same->share += part.share;
    } else {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

/// The gigabytes of a profile's name: 10 of "1g.10gb". 0 where it says none.
double named_gigabytes(const std::string& profile) {
  const std::size_t dot = profile.find('.');
  return dot == std::string::npos ? 0.0 : read_real(std::string_view{profile}.substr(dot + 1)).value;
}

class SharingPlanner {
 public:
  explicit SharingPlanner(SharingQuestion question)
      : q_{std::move(question)},
        form_{sharing_form(q_.sources->data)},
        parts_{parts_of_day(q_.tenants)},
        card_memory_{q_.card.capacity().value} {}

  SharingPlan run() {
    for (const Tenant& tenant : q_.tenants) {
      loads_.push_back(load_on_card(q_, tenant));
      std::vector<std::string>& notes = loads_.back().notes;
      notes_.insert(notes_.end(), notes.begin(), notes.end());
    }
    std::vector<SharingWay> ways;
    for (const CardSharing sharing : {CardSharing::none, CardSharing::time_slice, CardSharing::mps, CardSharing::mig}) {
      ways.push_back(way_of(sharing));
    }
    SharingPlan plan;
    plan.taken = taken_of(ways);
    plan.why = why(ways, plan.taken);
    plan.ways = std::move(ways);
    add_notes();
    plan.notes = std::move(notes_);
    plan.question = std::move(q_);
    return plan;
  }

 private:
  SharingWay way_of(CardSharing sharing) {
    SharingWay way;
    way.sharing = sharing;
    refuse_isolation(way);
    const Bytes together = asked_together(way);
    way.asked = together;
    if (sharing == CardSharing::none) {
      for (const PartOfDay& part : parts_) {
        way.cards = std::max(way.cards, static_cast<std::int64_t>(part.running.size()));
      }
    } else if (together > card_memory_) {
      impossible(way, "the memory that tenants ask at one time, " + format(together) +
                          " with their contexts, is more "
                          "than the " +
                          format(card_memory_) + " of the card");
    }
    for (const TenantLoad& load : loads_) {
      if (load.need > card_memory_) {
        impossible(way, "a tenant asks " + format(load.need) + ", more than a card has");
      }
    }
    way.tenants.resize(q_.tenants.size());
    if (sharing == CardSharing::mig) {
      cut(way);
    }
    if (!way.possible) {
      way.tenants.clear();
      return way;
    }
    if (sharing == CardSharing::mig || sharing == CardSharing::none) {
      run_apart(way);
    } else {
      run_together(way);
    }
    measure(way);
    judge(way);
    pay(way);
    return way;
  }

  static void impossible(SharingWay& way, std::string why) {
    way.possible = false;
    if (std::find(way.why_not.begin(), way.why_not.end(), why) == way.why_not.end()) {
      way.why_not.push_back(std::move(why));
    }
  }

  void refuse_isolation(SharingWay& way) {
    for (const Tenant& tenant : q_.tenants) {
      if (tenant.isolation > isolation_of(way.sharing)) {
        impossible(way, tenant.name + " asks to be kept apart from the others' " +
                            (tenant.isolation == Isolation::fault ? "faults" : "memory") + ", and " +
                            (way.sharing == CardSharing::mps ? "a fault of one MPS client ends all"
                                                             : "time slices limit no memory and contain no fault"));
      }
    }
  }

  /// Memory of those that run at one time, the most of the day. Slices stay through the day.
  [[nodiscard]] Bytes asked_together(const SharingWay& way) const {
    Bytes most{};
    if (way.sharing == CardSharing::mig) {
      for (const TenantLoad& load : loads_) {
        most = most + load.need;
      }
      return most;
    }
    for (const PartOfDay& part : parts_) {
      Bytes all{};
      for (const std::size_t i : part.running) {
        all = all + loads_[i].need;
      }
      most = std::max(most, all);
    }
    return most;
  }

  /// Promises that are missed where a tenant runs alone, a queue without end as one of them.
  [[nodiscard]] std::int64_t missed_alone(const Tenant& tenant, const TenantLoad& on) const {
    if (on.engine) {
      const auto misses = [](const auto& promise) { return !(promise.second.second <= promise.second.first); };
      return (on.engine->overloaded ? 1 : 0) +
             std::count_if(on.engine->promises.begin(), on.engine->promises.end(), misses);
    }
    const SharedLoad& load = on.load;
    if (load.rate <= 0.0) {
      return 0;
    }
    const SharedOutcome outcome =
        std::move(simulate_shared({&load, 1}, CardSharing::none, q_.simulated / 10, q_.seed).front());
    std::int64_t missed = outcome.falls_behind ? 1 : 0;
    for (const BatchPromise& promise : tenant.promises) {
      missed += outcome.falls_behind || reached_at(outcome, promise.share) > promise.latency ? 1 : 0;
    }
    return missed;
  }

  static Seconds reached_at(const SharedOutcome& outcome, double share) {
    return Seconds{1e-12 * real(outcome.latency.quantile(share).count())};
  }

  void cut(SharingWay& way) {
    if (q_.scheme == nullptr) {
      impossible(way, q_.card.id + " has no slices of MIG");
      return;
    }
    const double units = real(q_.scheme->compute_slices.value) * units_of_slice();
    way.slowdown = clock_of_all_slices(q_.card, units, q_.power_cap, form_, power_form(q_.sources->data));
    const double clock = way.slowdown.value_or(1.0);
    if (way.slowdown) {
      way.slowdown = 1.0 - *way.slowdown;
    }
    std::vector<std::vector<SliceOption>> options(q_.tenants.size());
    std::vector<std::map<const PartitionProfile*, TenantLoad>> on_slices(q_.tenants.size());
    for (std::size_t i = 0; i < q_.tenants.size(); ++i) {
      std::string why;
      for (const PartitionProfile& profile : q_.scheme->profiles) {
        if (!profile.plain()) {
          continue;
        }
        if (auto load = load_on_slice(q_, q_.tenants[i], loads_[i], profile, clock, why)) {
          const Bytes shown = partition_memory(q_.card, *q_.scheme, profile);
          options[i].push_back({&profile, shown - loads_[i].need, missed_alone(q_.tenants[i], *load)});
          on_slices[i].emplace(&profile, *std::move(load));
        }
      }
      if (options[i].empty()) {
        impossible(way, q_.tenants[i].name + " fits no slice: " + why);
      }
    }
    if (!way.possible) {
      return;
    }
    const SlicePacking packing = pack_slices(*q_.scheme, options);
    if (!packing.possible()) {
      impossible(way, "the slices do not stand together on one card: " + packing.why);
      return;
    }
    on_slice_.clear();
    for (std::size_t i = 0; i < q_.tenants.size(); ++i) {
      const PartitionProfile& profile = *packing.profiles[i];
      way.tenants[i].profile = profile.name;
      way.tenants[i].start = packing.starts[i];
      way.tenants[i].cap = partition_memory(q_.card, *q_.scheme, profile);
      way.compute_slices += profile.compute_slices;
      way.memory_slices += profile.memory_slices;
      on_slice_.push_back({&profile, on_slices[i].at(&profile)});
    }
  }

  /// SMs of a compute slice, by the largest profile that tells them.
  [[nodiscard]] double units_of_slice() const {
    double units = 0.0;
    for (const PartitionProfile& profile : q_.scheme->profiles) {
      if (profile.units) {
        units = std::max(units, real(profile.units->value) / real(profile.compute_slices));
      }
    }
    return units;
  }

  /// Each on a card or a slice of its own.
  void run_apart(SharingWay& way) {
    for (std::size_t i = 0; i < q_.tenants.size(); ++i) {
      const TenantLoad& on = way.sharing == CardSharing::mig ? on_slice_[i].second : loads_[i];
      const SharedOutcome outcome =
          std::move(simulate_shared({&on.load, 1}, CardSharing::none, q_.simulated, q_.seed).front());
      const double hours_share = q_.tenants[i].hours ? q_.tenants[i].hours->hours() / 24.0 : 1.0;
      // An engine on a slower device has larger batches, so that its time of a request and not its work tells.
      const double batch = std::max(outcome.mean_batch, 1.0);
      const double slower = on.engine ? loads_[i].engine->e2e[0] / on.engine->e2e[0]
                                      : loads_[i].load.curve.at(batch) / on.load.curve.at(batch);
      take(way, i, outcome, hours_share, slower, on.engine ? &*on.engine : nullptr);
    }
    for (const PartOfDay& part : parts_) {
      way.together = std::max(way.together, [&] {
        double sum = 0.0;
        for (const std::size_t i : part.running) {
          sum += way.tenants[i].speed;
        }
        return sum;
      }());
    }
  }

  void run_together(SharingWay& way) {
    for (const PartOfDay& part : parts_) {
      if (part.running.empty()) {
        continue;
      }
      std::vector<SharedLoad> loads;
      std::vector<double> busy;
      for (const std::size_t i : part.running) {
        loads.push_back(loads_[i].load);
        busy.push_back(loads_[i].load.busy);
      }
      std::vector<SharedOutcome> outcomes = simulate_shared(loads, way.sharing, q_.simulated, q_.seed);
      for (std::size_t at = 0; at < part.running.size(); ++at) {
        take(way, part.running[at], outcomes[at], part.share, 1.0, nullptr);
      }
      double sum = 0.0;
      for (const double speed : shared_speeds(way.sharing, busy)) {
        sum += speed;
      }
      way.together = std::max(way.together, sum);
    }
    if (way.sharing == CardSharing::time_slice || way.sharing == CardSharing::mps) {
      for (std::size_t i = 0; i < q_.tenants.size(); ++i) {
        way.tenants[i].cap = loads_[i].need;
      }
    }
  }

  /// Adds a part of the day to what a tenant gets. `slower`: speed of its slice over that of the card. `engine`: where
  /// it is one that has a device of its own.
  void take(SharingWay& way,
            std::size_t i,
            const SharedOutcome& outcome,
            double share_of_day,
            double slower,
            const EngineTimes* engine) {
    TenantShare& share = way.tenants[i];
    const Tenant& tenant = q_.tenants[i];
    const bool first = share.under_way == 0.0 && share.card_hours == 0.0;
    const double speed = outcome.speed() * slower;
    share.speed = first ? speed : std::min(share.speed, speed);
    share.under_way += share_of_day * outcome.under_way;
    const double work = outcome.work * slower;
    share.card_hours += 24.0 * share_of_day * work;
    share.used += share_of_day * work * loads_[i].load.busy;
    share.falls_behind = share.falls_behind || outcome.falls_behind;
    if (way.sharing == CardSharing::none) {
      share.cap = card_memory_;
    }
    if (tenant.served) {
      take_engine(share, engine != nullptr ? *engine
                                           : engine_times(q_, tenant, nullptr, std::clamp(outcome.speed(), 0.02, 1.0)));
      return;
    }
    if (outcome.requests == 0) {
      return;
    }
    std::array<Seconds, told_shares.size()> latency{};
    for (std::size_t s = 0; s < told_shares.size(); ++s) {
      latency[s] = reached_at(outcome, told_shares[s]);
      if (share.latency) {
        latency[s] = std::max(latency[s], (*share.latency)[s]);
      }
    }
    share.latency = latency;
    constexpr std::array<std::string_view, told_shares.size()> names{"p50", "p95", "p99", "p999"};
    for (const BatchPromise& promise : tenant.promises) {
      const auto at = std::find(told_shares.begin(), told_shares.end(), promise.share) - told_shares.begin();
      note_promise(share, std::string{names[static_cast<std::size_t>(at)]}, promise.latency,
                   latency[static_cast<std::size_t>(at)]);
    }
  }

  static void take_engine(TenantShare& share, const EngineTimes& times) {
    const auto later = [](Seconds a, Seconds b) { return std::max(a, b); };
    std::array<Seconds, told_shares.size()> latency = times.e2e;
    if (share.latency) {
      std::transform(latency.begin(), latency.end(), share.latency->begin(), latency.begin(), later);
    }
    share.latency = latency;
    share.ttft_p95 = later(times.ttft_p95, share.ttft_p95.value_or(Seconds{}));
    share.tpot_p95 = later(times.tpot_p95, share.tpot_p95.value_or(Seconds{}));
    share.falls_behind = share.falls_behind || times.overloaded;
    for (const auto& [what, held] : times.promises) {
      note_promise(share, what, held.first, held.second);
    }
  }

  static void note_promise(TenantShare& share, const std::string& what, Seconds limit, Seconds reached) {
    const auto known = std::find_if(share.promises.begin(), share.promises.end(),
                                    [&](const SharedPromise& each) { return each.what == what; });
    if (known == share.promises.end()) {
      share.promises.push_back({what, limit, reached, reached <= limit});
    } else if (!(reached <= known->reached)) {
      *known = {what, limit, reached, reached <= limit};
    }
  }

  void measure(SharingWay& way) {
    double weights = 0.0, weighted = 0.0;
    for (std::size_t i = 0; i < way.tenants.size(); ++i) {
      TenantShare& share = way.tenants[i];
      const double weight = q_.tenants[i].weight;
      weights += weight;
      weighted += weight * share.speed;
      way.used += share.used / real(way.cards);
      if (q_.tenants[i].trains && q_.tenants[i].step) {
        share.steps = 3600.0 * share.card_hours / q_.tenants[i].step->raw();
      }
    }
    way.mean_speed = weights > 0.0 ? weighted / weights : 1.0;
    // Kernels of tenants without gaps add up to all of it but for rounding.
    way.used = way.used > 1.0 - 1e-9 ? 1.0 : way.used;
    way.stranded_hours = 24.0 * real(way.cards) * (1.0 - way.used);
    way.together_bound = bound();
    const Bytes memory = real(way.cards) * card_memory_;
    way.stranded = std::max(memory - way.asked, Bytes{});
    way.stranded_memory_share = way.stranded / memory;
    if (way.sharing == CardSharing::mig) {
      double named = 0.0, asked = 0.0;
      for (const PartitionProfile& profile : q_.scheme->profiles) {
        named = std::max(named, named_gigabytes(profile.name));
      }
      for (std::size_t i = 0; i < q_.tenants.size(); ++i) {
        asked += (loads_[i].need - form_.process).raw();
      }
      way.stranded_by_name = std::max(Bytes{named * 1e9 - asked}, Bytes{});
    }
  }

  /// Of the tenants that run at one time, by the mean of their busy shares.
  [[nodiscard]] double bound() const {
    double most = 1.0;
    for (const PartOfDay& part : parts_) {
      double busy = 0.0;
      for (const std::size_t i : part.running) {
        busy += loads_[i].load.busy / real(static_cast<std::int64_t>(part.running.size()));
      }
      if (busy > 0.0) {
        most = std::max(most, sharing_bound(busy, real(static_cast<std::int64_t>(part.running.size()))));
      }
    }
    return most;
  }

  void judge(SharingWay& way) {
    for (std::size_t i = 0; i < way.tenants.size(); ++i) {
      const TenantShare& share = way.tenants[i];
      const std::string& name = q_.tenants[i].name;
      if (share.falls_behind) {
        ++way.missed;
        way.why_not.push_back("the queue of " + name + " grows without end: its requests ask more than it gets");
        continue;
      }
      for (const SharedPromise& promise : share.promises) {
        if (!promise.kept) {
          ++way.missed;
          way.why_not.push_back(name + " misses its " + promise.what + " of " + format(promise.limit) + " with " +
                                format(promise.reached));
        }
      }
    }
  }

  /// Everybody pays what it takes, and by weight a part of what nobody takes.
  void pay(SharingWay& way) {
    double taken = 0.0, weights = 0.0;
    for (std::size_t i = 0; i < way.tenants.size(); ++i) {
      TenantShare& share = way.tenants[i];
      const double hours = q_.tenants[i].hours ? q_.tenants[i].hours->hours() / 24.0 : 1.0;
      share.paid = way.sharing == CardSharing::none  ? hours
                   : way.sharing == CardSharing::mig ? q_.scheme->card_share(*on_slice_[i].first)
                                                     : share.used;
      taken += share.paid;
      weights += q_.tenants[i].weight;
    }
    const double cards = real(way.cards);
    for (std::size_t i = 0; i < way.tenants.size(); ++i) {
      TenantShare& share = way.tenants[i];
      const double part =
          weights > 0.0 ? q_.tenants[i].weight / weights : 1.0 / real(static_cast<std::int64_t>(way.tenants.size()));
      // More than all is taken where dominant shares of compute and memory add up to more than the card.
      share.paid = taken >= cards ? share.paid / taken : (share.paid + (cards - taken) * part) / cards;
      if (q_.money.price) {
        share.price = share.paid * cards * *q_.money.price;
      }
    }
    if (q_.money.price) {
      way.price = cards * *q_.money.price;
    }
  }

  [[nodiscard]] std::optional<std::size_t> taken_of(const std::vector<SharingWay>& ways) const {
    if (q_.mode) {
      const auto stated = static_cast<std::size_t>(*q_.mode);
      return ways[stated].possible ? std::optional{stated} : std::nullopt;
    }
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (!ways[i].possible) {
        continue;
      }
      const auto better = [&](const SharingWay& a, const SharingWay& b) {
        if (a.missed != b.missed) {
          return a.missed < b.missed;
        }
        return a.cards != b.cards ? a.cards < b.cards : a.mean_speed > b.mean_speed;
      };
      if (!best || better(ways[i], ways[*best])) {
        best = i;
      }
    }
    return best;
  }

  [[nodiscard]] std::string why(const std::vector<SharingWay>& ways, std::optional<std::size_t> taken) const {
    if (!taken) {
      return q_.mode ? joined(ways[static_cast<std::size_t>(*q_.mode)].why_not, "; ") : "no way holds the tenants";
    }
    const SharingWay& way = ways[*taken];
    std::string text = way.missed > 0 ? "of the ways that are possible it misses the fewest promises"
                                      : "it keeps every promise on " + counted(way.cards, "card");
    if (q_.mode) {
      text = way.missed > 0 ? "it is what was asked, and it misses promises" : "it is what was asked, and it holds";
    }
    const bool apart = std::any_of(q_.tenants.begin(), q_.tenants.end(),
                                   [](const Tenant& tenant) { return tenant.isolation == Isolation::fault; });
    if (apart && way.sharing == CardSharing::mig) {
      text += ", and its hardware keeps tenants apart that do not trust each other";
    }
    return text + "; the tenants keep " + percent(way.mean_speed, 2) + " of their speed alone";
  }

  void add_notes() {
    const auto errors = [](std::string_view what, const SharingForm::Errors& of) {
      return std::string{what} + ": " + counted(of.rows, "measured row") + " lie " + percent(of.mean_error, 2) +
             " off the law on the mean, 80 % within " + percent(of.width, 2);
    };
    notes_.push_back(errors("MPS", form_.mps));
    notes_.push_back(errors("time slices", form_.time_slice) +
                     "; where hosts leave gaps of milliseconds they did up to " + format_number(form_.most_in_turn) +
                     " times the work of one alone");
    if (q_.scheme != nullptr) {
      notes_.push_back(errors("slices beside busy slices", form_.mig));
    }
    notes_.push_back("each process keeps a context of " + format(form_.process) + " on the card (" +
                     form_.process_source + ")");
    notes_.push_back(
        "a tenant pays for what it takes of the card (its kernels' time, its slice, its card) and, by its weight, for "
        "a "
        "part of what nobody takes");
    if (q_.mode != CardSharing::none) {
      notes_.push_back(
          "hosts are taken to have cores for every process: processes that share cores slow each other, and "
          "two then did less than one");
    }
  }

  SharingQuestion q_;
  const SharingForm& form_;
  std::vector<PartOfDay> parts_;
  Bytes card_memory_;
  std::vector<TenantLoad> loads_;
  std::vector<std::pair<const PartitionProfile*, TenantLoad>> on_slice_;
  std::vector<std::string> notes_;
};

}  // namespace

SharingPlan make_sharing_plan(SharingQuestion question) {
  return SharingPlanner{std::move(question)}.run();
}

}  // namespace headroom
