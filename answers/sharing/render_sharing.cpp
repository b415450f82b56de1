// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/sharing/render_sharing.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/sharing/sharing_plan.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

std::string shown_name(CardSharing sharing) {
  switch (sharing) {
    case CardSharing::none: return "a card each";
    case CardSharing::time_slice: return "time slices";
    case CardSharing::mps: return "MPS";
    case CardSharing::mig: break;
  }
  return "MIG";
}

std::string optional_text(const std::optional<Seconds>& time) {
  return time ? format(*time) : "";
}

std::string verdict_text(const SharingPlan& plan) {
  const std::string who =
      counted(static_cast<std::int64_t>(plan.question.tenants.size()), "tenant") + " on " + plan.question.card.id;
  if (!plan.taken) {
    return who + " do not go together: " + plan.why;
  }
  const SharingWay& way = plan.ways[*plan.taken];
  return who + " take " + shown_name(way.sharing) + ": " + plan.why;
}

/// Without the columns in which nothing stands.
std::string compact(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < header.size(); ++c) {
    if (c == 0 || std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return !row[c].empty(); })) {
      shown.push_back(c);
    }
  }
  const auto picked = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> some;
    for (const std::size_t c : shown) {
      some.push_back(cells[c]);
    }
    return some;
  };
  Table table{picked(header)};
  for (const std::vector<std::string>& row : rows) {
    table.row(picked(row));
  }
  return table.text();
}

std::string ways_table(const SharingPlan& plan) {
  std::vector<std::vector<std::string>> rows;
  for (const SharingWay& way : plan.ways) {
    if (!way.possible) {
      rows.push_back({shown_name(way.sharing), "impossible", "", "", "", "", "", "", ""});
      continue;
    }
    rows.push_back({shown_name(way.sharing), way.good() ? "holds" : "misses " + std::to_string(way.missed),
                    std::to_string(way.cards), percent(way.mean_speed), format_number(way.together) + "x",
                    percent(way.used), format(way.stranded), format_number(way.stranded_hours),
                    way.price ? format(*way.price) : ""});
  }
  return compact({"way", "<", "cards", "speed", "at once", "kernels run", "stranded", "idle GPU-h/day", "price"}, rows);
}

std::string reasons_text(const SharingPlan& plan) {
  std::string text;
  for (const SharingWay& way : plan.ways) {
    const bool taken = plan.taken && &way == &plan.ways[*plan.taken];
    std::vector<std::string> reasons = way.why_not;
    if (!taken && reasons.empty() && plan.taken) {
      const SharingWay& than = plan.ways[*plan.taken];
      const std::string speeds = "it leaves the tenants " + percent(way.mean_speed) + " of their speed, and " +
                                 shown_name(than.sharing) + " " + percent(than.mean_speed);
      reasons.push_back(way.cards > than.cards
                            ? "it takes " + counted(way.cards, "card") + " instead of " + std::to_string(than.cards)
                        : plan.question.mode ? "another way was asked; " + speeds
                                             : speeds);
    }
    for (const std::string& reason : reasons) {
      text += (taken ? "but " : "not ") + shown_name(way.sharing) + ": " + reason + "\n";
    }
  }
  return text;
}

std::string promises_text(const TenantShare& share) {
  return joined(share.promises, [](const SharedPromise& promise) {
    return promise.what + " " + format(promise.reached) + " of " + format(promise.limit) +
           (promise.kept ? "" : " (missed)");
  });
}

std::string tenants_table(const SharingPlan& plan, const SharingWay& way) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < way.tenants.size(); ++i) {
    const TenantShare& share = way.tenants[i];
    const auto tail = [&](std::size_t s) {
      return share.latency && !share.falls_behind && (*share.latency)[s] > Seconds{} ? format((*share.latency)[s])
                                                                                     : std::string{};
    };
    rows.push_back({plan.question.tenants[i].name,
                    share.profile.empty() ? "" : share.profile + " at " + std::to_string(share.start),
                    format(share.cap), percent(share.speed), percent(share.under_way), tail(0), tail(1), tail(2),
                    format_number(share.card_hours), share.steps ? format_number(*share.steps) : "",
                    percent(share.paid), share.price ? format(*share.price) : "",
                    share.falls_behind ? "its queue grows without end" : promises_text(share)});
  }
  std::string text = compact({"tenant", "<slice", "memory cap", "speed", "at work", "p50", "p95", "p99", "card-h/day",
                              "steps/day", "pays", "price", "<promises"},
                             rows);
  for (std::size_t i = 0; i < way.tenants.size(); ++i) {
    const TenantShare& share = way.tenants[i];
    if (share.ttft_p95) {
      text += plan.question.tenants[i].name + ": p95 TTFT " + optional_text(share.ttft_p95) + ", p95 TPOT " +
              optional_text(share.tpot_p95) + "\n";
    }
  }
  return text;
}

std::string slices_text(const SharingWay& way) {
  if (way.sharing != CardSharing::mig) {
    return {};
  }
  return std::to_string(way.compute_slices) + " compute slices and " + std::to_string(way.memory_slices) +
         " memory slices are given; " + format(way.stranded) + " of the card's memory is stranded (" +
         format(way.stranded_by_name) + " by the names of the profiles)" +
         (way.slowdown ? "; a slice loses " + percent(*way.slowdown, 2) + " when all are busy" : "") + "\n";
}

Value promise_value(const SharedPromise& promise) {
  return row("what"_m = promise.what, "limit_s"_m = promise.limit, "reached_s"_m = promise.reached,
             "kept"_m = promise.kept);
}

Value tenant_value(const SharingPlan& plan, const TenantShare& share, std::size_t i) {
  const Tenant& tenant = plan.question.tenants[i];
  const auto tail = [&](std::size_t s) {
    return when(share.latency && (*share.latency)[s] > Seconds{}, share.latency ? (*share.latency)[s] : Seconds{});
  };
  return object("name"_m = tenant.name, "isolation"_m = std::string{name_of(tenant.isolation)},
                "weight"_m = tenant.weight, "profile"_m = when(!share.profile.empty(), share.profile),
                "start"_m = when(!share.profile.empty(), share.start), "cap_bytes"_m = share.cap,
                "speed"_m = headroom::share(share.speed), "under_way"_m = headroom::share(share.under_way),
                "used"_m = headroom::share(share.used), "latency_p50_s"_m = tail(0), "latency_p95_s"_m = tail(1),
                "latency_p99_s"_m = tail(2), "latency_p999_s"_m = tail(3), "ttft_p95_s"_m = share.ttft_p95,
                "tpot_p95_s"_m = share.tpot_p95,
                "promises"_m = when(!share.promises.empty(), list(share.promises, promise_value)),
                "falls_behind"_m = share.falls_behind, "card_hours_per_day"_m = share.card_hours,
                "steps_per_day"_m = share.steps, "paid"_m = headroom::share(share.paid), "usd_per_s"_m = share.price);
}

Value way_value(const SharingPlan& plan, const SharingWay& way) {
  Value tenants = Value::empty_list();
  for (std::size_t i = 0; i < way.tenants.size(); ++i) {
    tenants.push(tenant_value(plan, way.tenants[i], i));
  }
  if (!way.possible) {
    return object("way"_m = std::string{name_of(way.sharing)}, "possible"_m = false, "holds"_m = false,
                  "why_not"_m = list(way.why_not, [](const std::string& why) { return why; }));
  }
  const bool cut = way.sharing == CardSharing::mig;
  return object("way"_m = std::string{name_of(way.sharing)}, "possible"_m = true, "holds"_m = way.good(),
                "why_not"_m = list(way.why_not, [](const std::string& why) { return why; }), "missed"_m = way.missed,
                "cards"_m = way.cards, "mean_speed"_m = share(way.mean_speed), "together"_m = way.together,
                "together_bound"_m = way.together_bound, "slowdown"_m = when(cut, share(way.slowdown.value_or(0.0))),
                "asked_bytes"_m = way.asked, "stranded_bytes"_m = way.stranded,
                "stranded_memory"_m = share(way.stranded_memory_share),
                "stranded_by_name_bytes"_m = when(cut, way.stranded_by_name), "used"_m = share(way.used),
                "stranded_gpu"_m = share(1.0 - way.used), "stranded_gpu_hours_per_day"_m = way.stranded_hours,
                "compute_slices"_m = when(cut, way.compute_slices), "memory_slices"_m = when(cut, way.memory_slices),
                "usd_per_s"_m = way.price, "tenants"_m = std::move(tenants));
}

}  // namespace

std::string sharing_text(const SharingPlan& plan, bool explained) {
  std::string text = plan.question.name + "\n" + verdict_text(plan) + "\n\n" + ways_table(plan) + reasons_text(plan);
  for (std::size_t i = 0; i < plan.ways.size(); ++i) {
    const SharingWay& way = plan.ways[i];
    if (way.possible && (explained || plan.taken == i)) {
      text += "\ntenants under " + shown_name(way.sharing) + "\n" + tenants_table(plan, way) + slices_text(way);
    }
  }
  std::vector<std::string> notes = plan.question.assumptions;
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  return text + assumed_text(notes);
}

Value sharing_document(const SharingPlan& plan) {
  const SharingQuestion& q = plan.question;
  return object(
      "schema"_m = "headroom.sharing/1", "name"_m = q.name, "gpu"_m = q.card.id,
      "verdict"_m = plan.feasible() ? "feasible" : "infeasible", "verdict_text"_m = verdict_text(plan),
      "taken"_m = plan.taken ? Value{std::string{name_of(plan.ways[*plan.taken].sharing)}} : Value{nullptr},
      "why"_m = plan.why, "capacity_bytes"_m = q.card.capacity().value,
      "plan"_m = plan.taken ? way_value(plan, plan.ways[*plan.taken]) : Value{},
      "ways"_m = list(plan.ways, [&](const SharingWay& way) { return way_value(plan, way); }),
      "assumptions"_m = when(!q.assumptions.empty(), list(q.assumptions, [](const std::string& each) { return each; })),
      "notes"_m = list(plan.notes, [](const std::string& each) { return each; }));
}

}  // namespace headroom
