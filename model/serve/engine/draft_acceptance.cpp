// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/draft_acceptance.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace headroom {
namespace {

/// An acceptance is never sure: no published one is outside.
constexpr double least_acceptance = 0.01;
constexpr double most_acceptance = 0.99;

/// What a tenth of Student's t with so many degrees of freedom lies above, to 2 % from two on and 12 % short with one
/// (Abramowitz and Stegun 1964, 26.7.5).
double student_tenth(double freedom) {
  constexpr double z = 1.2816;
  return z + (z * z * z + z) / (4.0 * freedom) +
         (5.0 * std::pow(z, 5.0) + 16.0 * z * z * z + 3.0 * z) / (96.0 * freedom * freedom);
}

double mean_of(const std::vector<double>& all) {
  double sum = 0.0;
  for (const double one : all) {
    sum += one;
  }
  return sum / static_cast<double>(all.size());
}

/// How far a further one may lie from `mean`; precondition: two or more.
double half_width(const std::vector<double>& all, double mean) {
  double squares = 0.0;
  for (const double one : all) {
    squares += (one - mean) * (one - mean);
  }
  const auto n = static_cast<double>(all.size());
  return student_tenth(n - 1.0) * std::sqrt(squares / (n - 1.0) * (1.0 + 1.0 / n));
}

std::vector<double> read_tokens(ConfigTable& table, std::string_view key) {
  std::vector<double> numbers;
  if (const ConfigValue* const value = table.value(key)) {
    for (const ConfigValue& item : value->items) {
      numbers.push_back(item.kind == ConfigValue::Kind::integer ? static_cast<double>(item.integer) : item.number);
    }
  }
  return numbers;
}

}  // namespace

double acceptance_of(double tokens, std::int64_t draft) {
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (Speculation{draft, middle, 0}.tokens_per_step() < tokens ? low : high) = middle;
  }
  return low;
}

double AcceptedDrafts::acceptance(std::int64_t draft) const {
  auto place = std::upper_bound(drafts.begin(), drafts.end(), draft);
  place = place == drafts.begin() ? place : std::prev(place);
  return acceptance_of(tokens[static_cast<std::size_t>(place - drafts.begin())], *place);
}

std::optional<AssumedAcceptance> PublishedDrafts::assumed(std::string_view preset,
                                                          std::string_view method,
                                                          std::int64_t draft) const {
  struct Group {
    std::string name;
    std::vector<double> accepted;
  };
  const auto group = [](std::vector<Group>& groups, const std::string& name) -> std::pair<Group&, bool> {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.name == name; });
    return found != groups.end() ? std::pair<Group&, bool>{*found, false}
                                 : std::pair<Group&, bool>{groups.emplace_back(Group{name, {}}), true};
  };
  std::vector<Group> models;
  std::vector<Group> own_tasks;
  std::string own_names;
  for (const AcceptedDrafts& table : tables) {
    if (table.method != method) {
      continue;
    }
    const bool own = !table.preset.empty() && table.preset == preset;
    const auto [model, fresh] = group(models, table.model);
    model.accepted.push_back(table.acceptance(draft));
    if (own) {
      own_names += fresh ? (own_names.empty() ? "" : ", ") + table.model : "";
      group(own_tasks, table.model + "/" + table.task).first.accepted.push_back(model.accepted.back());
    }
  }
  if (models.size() < 2) {
    return std::nullopt;
  }
  std::string names;
  for (const Group& model : models) {
    names += (names.empty() ? "" : ", ") + model.name;
  }
  const auto means_of = [](const std::vector<Group>& groups) {
    std::vector<double> means;
    for (const Group& one : groups) {
      means.push_back(mean_of(one.accepted));
    }
    return means;
  };
  const std::vector<double> means = means_of(models);
  const std::vector<double> own = means_of(own_tasks);
  AssumedAcceptance assumed;
  assumed.own = !own.empty();
  assumed.mid = mean_of(assumed.own ? own : means);
  assumed.count = static_cast<std::int64_t>(assumed.own ? own.size() : means.size());
  assumed.of = assumed.own ? own_names : names;
  // One task of a model, in however many modes, says nothing of its others: models differ as much.
  const double half = own.size() > 1 ? half_width(own, assumed.mid) : half_width(means, mean_of(means));
  assumed.low = std::max(assumed.mid - half, least_acceptance);
  assumed.high = std::min(assumed.mid + half, most_acceptance);
  return assumed;
}

PublishedDrafts read_published_drafts(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  PublishedDrafts all;
  for (ConfigTable& table : root.tables("accepted")) {
    AcceptedDrafts one;
    one.model = table.text("model");
    one.preset = table.maybe_text("preset").value_or("");
    one.method = table.text("method");
    one.task = table.text("task");
    static_cast<void>(table.maybe_text("mode"));
    one.drafts = table.integers("drafts");
    one.tokens = read_tokens(table, "tokens");
    static_cast<void>(table.text("source"));
    bool sound = !one.drafts.empty() && one.drafts.size() == one.tokens.size();
    for (std::size_t i = 0; sound && i < one.drafts.size(); ++i) {
      sound = one.drafts[i] >= 1 && (i == 0 || one.drafts[i] > one.drafts[i - 1]) && one.tokens[i] > 1.0 &&
              one.tokens[i] < static_cast<double>(one.drafts[i] + 1);
    }
    if (!sound) {
      table.problem(
          "tokens",
          "takes a number for each of 'drafts', which ascend: more than 1 token a step and fewer than the drafts "
          "and the model's own, for an acceptance lies between 0 and 1");
    } else {
      all.tables.push_back(std::move(one));
    }
    table.finish();
  }
  root.finish();
  return all;
}

const PublishedDrafts& published_drafts(const ModelData& data) {
  return step_numbers(data, "draft-acceptance", read_published_drafts);
}

}  // namespace headroom
