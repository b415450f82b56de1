// SPDX-License-Identifier: Apache-2.0
// Jobs that failed: which, why, and where more often than elsewhere.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace headroom {
namespace {

struct StateWords {
  std::string_view state, says, cure;
};
/// Job states: Slurm, "sacct", JOB STATE CODES.
constexpr std::array failed_states{
    StateWords{
        "NODE_FAIL", "a node failed",
        "Take the node out (scontrol update NodeName=... State=DRAIN), look at its XID errors, and restart from the "
        "last checkpoint."},
    StateWords{
        "OUT_OF_MEMORY", "the host's memory ended",
        "Ask for more memory (--mem), or load fewer samples ahead; a GPU that runs out of memory fails as FAILED."},
    StateWords{"TIMEOUT", "the time limit ended it", "Ask for a longer limit, and write a checkpoint before it ends."},
    StateWords{"FAILED", "the program failed", "Read the program's last lines; the exit code says how it ended."},
    StateWords{"BOOT_FAIL", "the node did not start", "Have the node looked at."},
    StateWords{"DEADLINE", "the deadline passed", "Begin earlier, or ask for less."},
    StateWords{"PREEMPTED", "another job took its place",
               "Write checkpoints more often, or take a partition that is not preempted."},
};

const StateWords* failure_of(const AccountedJob& job) {
  const auto found = std::find_if(failed_states.begin(), failed_states.end(),
                                  [&](const StateWords& words) { return words.state == job.state; });
  return found == failed_states.end() ? nullptr : &*found;
}

/// "n[1-3,7],m2" as n1, n2, n3, n7, m2; leading zeros are kept.
std::vector<std::string> nodes_of(std::string_view list) {
  std::vector<std::string> nodes;
  constexpr std::size_t most_nodes = 65536;
  while (!list.empty() && nodes.size() < most_nodes) {
    std::size_t end = 0;
    for (int depth = 0; end < list.size() && (list[end] != ',' || depth > 0); ++end) {
      depth += list[end] == '[' ? 1 : list[end] == ']' ? -1 : 0;
    }
    const std::string_view item = list.substr(0, end);
    const std::size_t open = item.find('[');
    if (open == std::string_view::npos || item.back() != ']') {
      nodes.emplace_back(item);
    } else {
      const std::string front{item.substr(0, open)};
      std::string_view ranges = item.substr(open + 1, item.size() - open - 2);
      while (!ranges.empty() && nodes.size() < most_nodes) {
        const std::string_view range = ranges.substr(0, ranges.find(','));
        ranges.remove_prefix(std::min(range.size() + 1, ranges.size()));
        const std::size_t dash = std::min(range.find('-'), range.size());
        const auto number = [](std::string_view digits) {
          std::int64_t value = 0;
          for (const char c : digits) {
            value = c >= '0' && c <= '9' && value < 1'000'000 ? 10 * value + (c - '0') : value;
          }
          return value;
        };
        const std::int64_t first = number(range.substr(0, dash));
        const std::int64_t last = dash < range.size() ? number(range.substr(dash + 1)) : first;
        for (std::int64_t i = first; i <= last && nodes.size() < most_nodes; ++i) {
          std::string digits = std::to_string(i);
          digits.insert(0, dash > digits.size() ? dash - digits.size() : 0, '0');
          nodes.push_back(front + digits);
        }
      }
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return nodes;
}

struct NodeCount {
  std::int64_t jobs = 0, failures = 0;
};

/// The node on which more jobs fail than chance has it: at least three failures, twice the share of all jobs.
std::string suspect(const std::map<std::string, NodeCount>& nodes, double usual) {
  const std::pair<const std::string, NodeCount>* worst = nullptr;
  for (const auto& node : nodes) {
    const auto share = [](const NodeCount& count) { return real(count.failures) / real(count.jobs); };
    constexpr std::int64_t least_failures = 3;
    if (node.second.failures >= least_failures && share(node.second) >= 2.0 * usual &&
        (worst == nullptr || share(node.second) > share(worst->second))) {
      worst = &node;
    }
  }
  return worst == nullptr ? std::string{}
                          : worst->first + " (" + std::to_string(worst->second.failures) + " of its " +
                                counted(worst->second.jobs, "job") + ")";
}

}  // namespace

void add_jobs(const Signals& signals, RunReading& reading) {
  if (signals.jobs.empty()) {
    return;
  }
  struct StateSum {
    std::int64_t jobs = 0;
    Seconds elapsed{};
    std::vector<std::string> evidence;
  };
  std::map<std::string, StateSum> states;
  std::map<std::string, NodeCount> nodes;
  Seconds all{};
  std::int64_t jobs = 0;
  std::int64_t failures = 0;
  for (const AccountedJob& job : signals.jobs) {
    if (job.id.find('.') != std::string::npos) {
      continue;  // a step of a job, whose time the job has
    }
    const bool failed = failure_of(job) != nullptr;
    ++jobs;
    failures += failed ? 1 : 0;
    all += job.elapsed.value_or(Seconds{});
    StateSum& state = states[job.state];
    ++state.jobs;
    state.elapsed += job.elapsed.value_or(Seconds{});
    constexpr std::size_t most_lines = 4;
    if (state.evidence.size() < most_lines) {
      state.evidence.push_back(job.file + ":" + std::to_string(job.line) + ": job " + job.id + " " + job.state +
                               (job.exit_code.empty() ? "" : ", exit code " + job.exit_code) +
                               (job.nodes.empty() ? "" : ", on " + job.nodes));
    }
    for (const std::string& node : nodes_of(job.nodes)) {
      NodeCount& count = nodes[node];
      ++count.jobs;
      count.failures += failed ? 1 : 0;
    }
  }
  FindingTable table{"jobs",
                     "Jobs by their end",
                     {{"state", "<state"}, {"jobs", "jobs"}, {"elapsed_s", "time"}, {"share", "of all time"}},
                     {}};
  const double usual = jobs > 0 ? real(failures) / real(jobs) : 0.0;
  const std::string where = suspect(nodes, usual);
  for (const auto& [name, state] : states) {
    const double lost = all > Seconds{} ? state.elapsed / all : real(state.jobs) / real(jobs);
    table.rows.push_back({name, state.jobs, state.elapsed, lost});
    const auto words = std::find_if(failed_states.begin(), failed_states.end(),
                                    [&, &key = name](const StateWords& known) { return known.state == key; });
    if (words == failed_states.end() || lost < least_signal_share) {
      continue;
    }
    reading.causes.push_back({CauseKind::failed_jobs, lost, 1.0 - lost,
                              counted(state.jobs, "job") + " of " + std::to_string(jobs) + " ended as " + name + ": " +
                                  std::string{words->says} + ", and " + format(state.elapsed) + " of " + format(all) +
                                  " ran in vain." +
                                  (where.empty() ? std::string{} : " Most often it happens on " + where + "."),
                              std::string{words->cure}, state.evidence});
  }
  reading.tables.push_back(std::move(table));
}

}  // namespace headroom
