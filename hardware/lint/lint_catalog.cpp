// SPDX-License-Identifier: Apache-2.0
// Lints a whole catalog: every entry, entries that cannot be read, and spellings that two entries claim.
#include <headroom/hardware/lint/lint.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace headroom {
namespace {

/// A problem that already the reader refuses is a finding of the check that it violates.
struct ReadingProblem {
  std::string_view words;
  std::string_view check;
};
constexpr std::array reading_problems{
    ReadingProblem{"source", "sourced"},
    ReadingProblem{"it must be above zero", "positive"},
    ReadingProblem{"it must be at least", "positive"},
    ReadingProblem{"not a finite number", "positive"},
};

std::string_view check_of(const Diagnostic& problem) {
  for (const ReadingProblem& row : reading_problems) {
    if (problem.message.find(row.words) != std::string::npos) {
      return row.check;
    }
  }
  return "readable";
}

/// A claim on a spelling. Embedded entries have precedence over the user's, and ids over aliases.
struct Claim {
  bool by_user;
  bool by_alias;
  std::string id;
  std::string file;
  std::string alias;
  bool operator<(const Claim& other) const {
    return std::tie(by_user, by_alias, id) < std::tie(other.by_user, other.by_alias, other.id);
  }
};
using Claims = std::map<std::string, std::vector<Claim>>;  // by normalised spelling

void report_clashes(Claims& claims, std::vector<LintFinding>& findings) {
  for (auto& [spelling, claimants] : claims) {
    std::sort(claimants.begin(), claimants.end());
    const Claim& owner = claimants.front();
    for (const Claim& claim : claimants) {
      if (claim.id != owner.id) {
        const std::string message = quoted(claim.alias) + " means " + quoted(owner.id) + " already";
        findings.push_back({"references", {claim.file, {}, message}, {}});
      }
    }
  }
}

template <class Read, class Lint>
void lint_kind(
    const Catalog& catalog, const std::string& folder, Read read, Lint lint, std::vector<LintFinding>& findings) {
  Claims claims;
  for (const std::string& id : catalog.store().ids(folder)) {
    try {
      const auto& entry = read(id);
      const std::vector<LintFinding> own = lint(entry);
      findings.insert(findings.end(), own.begin(), own.end());
      const bool by_user = entry.file != folder + "/" + id + ".toml";
      claims[id].push_back({by_user, false, id, entry.file, id});
      for (const std::string& alias : entry.aliases) {
        claims[normalised(alias)].push_back({by_user, true, id, entry.file, alias});
      }
    } catch (const ConfigError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        findings.push_back({std::string{check_of(problem)}, problem, {}});
      }
    }
  }
  report_clashes(claims, findings);
}

}  // namespace

std::vector<LintFinding> lint_catalog(const Catalog& catalog) {
  std::vector<LintFinding> findings;
  const auto device = [&](const std::string& id) -> const Device& { return catalog.device(id); };
  const auto node = [&](const std::string& id) -> const Node& { return catalog.node(id); };
  const auto cluster = [&](const std::string& id) -> const Cluster& { return catalog.cluster(id); };
  const auto prices = [&](const std::string& id) -> const PriceList& { return catalog.prices(id); };
  const auto architecture = [&](const std::string& id) -> const UnitLimits& { return catalog.architecture(id); };
  lint_kind(catalog, "gpus", device, lint_device, findings);
  lint_kind(
      catalog, "architectures", architecture, [&](const UnitLimits& u) { return lint_architecture(u, catalog); },
      findings);
  lint_kind(
      catalog, "nodes", node, [&](const Node& n) { return lint_node(n, catalog); }, findings);
  lint_kind(
      catalog, "clusters", cluster, [&](const Cluster& c) { return lint_cluster(c, catalog); }, findings);
  lint_kind(
      catalog, "prices", prices, [&](const PriceList& p) { return lint_prices(p, catalog); }, findings);
  return findings;
}

}  // namespace headroom
