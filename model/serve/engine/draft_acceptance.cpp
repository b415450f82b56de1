// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/draft_acceptance.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

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
  struct Model {
    std::string name;
    std::vector<double> accepted;
  };
  std::vector<Model> models;
  std::vector<double> own;
  std::string own_names;
  for (const AcceptedDrafts& table : tables) {
    if (table.method != method) {
      continue;
    }
    auto found = std::find_if(models.begin(), models.end(), [&](const Model& one) { return one.name == table.model; });
    if (found == models.end()) {
      models.push_back({table.model, {}});
      found = std::prev(models.end());
      if (!table.preset.empty() && table.preset == preset) {
        own_names += (own_names.empty() ? "" : ", ") + table.model;
      }
    }
    found->accepted.push_back(table.acceptance(draft));
    if (!table.preset.empty() && table.preset == preset) {
      own.push_back(found->accepted.back());
    }
  }
  if (models.size() < 2) {
    return std::nullopt;
  }
  std::vector<double> means;
  std::string names;
  for (const Model& model : models) {
    means.push_back(mean_of(model.accepted));
    names += (names.empty() ? "" : ", ") + model.name;
  }
  AssumedAcceptance assumed;
  assumed.own = !own.empty();
  assumed.mid = mean_of(assumed.own ? own : means);
  assumed.count = static_cast<std::int64_t>(assumed.own ? own.size() : means.size());
  assumed.of = assumed.own ? own_names : names;
  // One table of a model says nothing of its other tasks: models differ as much.
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
