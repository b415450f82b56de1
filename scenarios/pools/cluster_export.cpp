// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/sharing/mig_parted.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom::pools {

std::string plain_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital) {
      text += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (text.ends_with('-')) {
    text.pop_back();
  }
  return text.empty() ? "x" : text;
}

std::vector<std::int64_t> nominal_gpus(const ClusterQuestion& question, std::size_t pool) {
  const std::vector<scheduler::Tenant>& tenants = question.tenants;
  const double gpus = real(question.pools[pool].pool.gpus());
  double weight = 0.0;
  for (const scheduler::Tenant& tenant : tenants) {
    weight += tenant.weight;
  }
  struct Part {
    std::size_t tenant;
    double rest;
  };
  std::vector<std::int64_t> nominal;
  std::vector<Part> parts;
  std::int64_t given = 0;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    const double exact = gpus * tenants[t].weight / weight;
    nominal.push_back(static_cast<std::int64_t>(std::floor(exact)));
    parts.push_back({t, exact - std::floor(exact)});
    given += nominal.back();
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.rest > b.rest; });
  for (std::size_t i = 0; i < parts.size() && given < question.pools[pool].pool.gpus(); ++i, ++given) {
    ++nominal[parts[i].tenant];
  }
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    if (!tenants[t].quota.empty()) {
      nominal[t] = std::min(nominal[t], tenants[t].quota[pool]);
    }
  }
  return nominal;
}

std::string slices_text(const ClusterQuestion& question, const Sources& sources) {
  std::vector<MigLayout> layouts;
  std::vector<std::string> notes;
  std::vector<std::string> cards;
  for (const AskedPool& asked : question.pools) {
    if (!asked.slice || !asked.slice->mig) {
      continue;
    }
    MigLayout layout;
    layout.name = plain_name(asked.pool.name);
    layout.profiles.assign(static_cast<std::size_t>(asked.slice->per_card), asked.slice->profile);
    const std::int64_t cards_of_node = asked.pool.gpus_per_node / std::max<std::int64_t>(1, asked.slice->per_card);
    notes.push_back(layout.name + ": " + counted(asked.pool.nodes, "node") + " of " +
                    counted(std::max<std::int64_t>(1, cards_of_node), "card") + " " + asked.slice->card + ", " +
                    counted(asked.slice->per_card, "slice") + " each");
    layouts.push_back(std::move(layout));
    if (std::find(cards.begin(), cards.end(), asked.slice->card) == cards.end()) {
      cards.push_back(asked.slice->card);
    }
  }
  if (layouts.empty()) {
    throw ConfigError{
        "no pool is of slices, which the partition editor cuts: name a pool's gpu CARD/PROFILE, such as "
        "\"a100-sxm-80gb/1g.10gb\""};
  }
  return mig_parted(sources.catalog.device(cards.front()), layouts, notes);
}

}  // namespace headroom::pools
