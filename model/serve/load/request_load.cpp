// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/request_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headroom {
namespace {

/// Draws the tokens of one class's requests, one after another.
class Tokens {
 public:
  Tokens(const TrafficClass& traffic, std::uint64_t seed, std::uint64_t number)
      : traffic_{&traffic}, random_{seed, 2 * number} {}

  [[nodiscard]] Request next() noexcept {
    Request request;
    if (traffic_->lengths.empty()) {
      request.prompt_tokens = draw(traffic_->prompt, random_);
      request.output_tokens = draw(traffic_->output, random_);
    } else {
      const auto size = static_cast<std::int64_t>(traffic_->lengths.size());
      request = traffic_->lengths[static_cast<std::size_t>(random_.below(size))];
      request.arrival = Picoseconds{0};
    }
    if (traffic_->cached_share > 0.0) {
      request.cached_tokens = static_cast<std::int32_t>(traffic_->cached_share * request.prompt_tokens);
    }
    return request;
  }

 private:
  const TrafficClass* traffic_;
  RandomStream random_;
};

/// Draws the group of each request of a class. Ids of a class follow those of the previous class, group by group.
class Groups {
 public:
  Groups(const SharedPrefixes& shared, std::uint64_t seed, std::uint32_t first)
      : shared_{shared}, each_{shared.tokens / SharedPrefixes::id_tokens}, first_{first}, random_{seed, 3} {
    double sum = 0.0;
    for (std::int64_t k = 1; k <= shared.groups; ++k) {
      sum += std::pow(static_cast<double>(k), -shared.zipf);
      below_.push_back(sum);
    }
  }
  [[nodiscard]] std::uint32_t end() const noexcept {
    return first_ + static_cast<std::uint32_t>(shared_.groups * each_);
  }
  void add(const Request& request, PromptPrefixes& prefixes) {
    if (!below_.empty() && random_.uniform() < shared_.share) {
      const auto group = std::upper_bound(below_.begin(), below_.end() - 1, random_.uniform() * below_.back());
      const auto at = first_ + static_cast<std::uint32_t>((group - below_.begin()) * each_);
      const std::int64_t count = std::min(each_, request.prompt_tokens / SharedPrefixes::id_tokens);
      for (std::int64_t i = 0; i < count; ++i) {
        prefixes.ids.push_back(at + static_cast<std::uint32_t>(i));
      }
    }
    prefixes.first.push_back(static_cast<std::uint32_t>(prefixes.ids.size()));
  }

 private:
  SharedPrefixes shared_;
  std::int64_t each_;  ///< ids per group
  std::uint32_t first_;
  std::vector<double> below_;  ///< cumulative weights of the groups
  RandomStream random_;
};

/// Reserves space for the ids of the requests if a class has any.
void begin_prefixes(PromptPrefixes& prefixes, std::uint32_t distinct, std::int64_t count) {
  if (distinct > 0) {
    prefixes.id_tokens = SharedPrefixes::id_tokens;
    prefixes.distinct = distinct;
    prefixes.first.reserve(static_cast<std::size_t>(count) + 1);
    prefixes.first.push_back(0);
  }
}

void check(std::vector<std::string>& found, const SharedPrefixes& shared) {
  if (shared.groups == 0) {
    return;
  }
  constexpr std::int64_t most = std::int64_t{1} << 26;
  if (shared.groups < 0 || shared.tokens < SharedPrefixes::id_tokens ||
      shared.tokens / SharedPrefixes::id_tokens > most / shared.groups) {
    found.push_back(std::to_string(shared.groups) + " groups of prompts with " + std::to_string(shared.tokens) +
                    " tokens in common: they are at least 1 of " + std::to_string(SharedPrefixes::id_tokens) +
                    " tokens, and 4e9 tokens together at most");
  }
  if (!(shared.share >= 0.0 && shared.share <= 1.0) || !(shared.zipf >= 0.0 && shared.zipf <= 10.0)) {
    found.push_back("prefixes of a share of " + std::to_string(shared.share) + " of the requests, zipf " +
                    std::to_string(shared.zipf) + "; they must be from 0 to 1 and from 0 to 10");
  }
}

}  // namespace

std::vector<std::string> problems(std::span<const TrafficClass> classes) {
  std::vector<std::string> found;
  const auto take = [&](std::vector<std::string> more) { found.insert(found.end(), more.begin(), more.end()); };
  for (const TrafficClass& traffic : classes) {
    take(problems(traffic.arrivals));
    if (classes.size() > 1 && std::isinf(traffic.arrivals.rate.raw())) {
      found.emplace_back(
          "a class that sends all at once beside others: which come first is open; give each class a rate");
    }
    if (traffic.lengths.empty()) {
      take(problems(traffic.prompt, "prompt"));
      take(problems(traffic.output, "output"));
    }
    if (!(traffic.cached_share >= 0.0 && traffic.cached_share <= 1.0)) {
      found.push_back("a cached share of " + std::to_string(traffic.cached_share) + "; it must be from 0 to 1");
    }
    check(found, traffic.prefixes);
  }
  return found;
}

RequestLoad open_load(std::span<const TrafficClass> classes, std::int64_t count, std::uint64_t seed) {
  RequestLoad load;
  load.requests.reserve(static_cast<std::size_t>(count));
  std::vector<Arrivals> arrivals;
  std::vector<Tokens> tokens;
  std::vector<Groups> groups;
  std::vector<Picoseconds> next;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    arrivals.emplace_back(classes[i].arrivals, scatter(seed) + i);
    tokens.emplace_back(classes[i], scatter(seed) + i, 1);
    groups.emplace_back(classes[i].prefixes, scatter(seed) + i, i > 0 ? groups[i - 1].end() : 0);
    next.push_back(arrivals.back().next());
  }
  const bool share = !groups.empty() && groups.back().end() > 0;
  begin_prefixes(load.prefixes, groups.empty() ? 0 : groups.back().end(), count);
  while (static_cast<std::int64_t>(load.requests.size()) < count && !next.empty()) {
    const auto of = static_cast<std::size_t>(std::min_element(next.begin(), next.end()) - next.begin());
    Request request = tokens[of].next();
    request.arrival = next[of];
    request.service_class = static_cast<std::int32_t>(of);
    load.requests.push_back(request);
    if (share) {
      groups[of].add(request, load.prefixes);
    }
    next[of] = arrivals[of].next();
  }
  return load;
}

RequestLoad closed_load(const TrafficClass& traffic, std::int64_t concurrency, std::int64_t count, std::uint64_t seed) {
  RequestLoad load;
  load.concurrency = concurrency;
  load.requests.reserve(static_cast<std::size_t>(count));
  Tokens tokens{traffic, scatter(seed), 1};
  Groups groups{traffic.prefixes, scatter(seed), 0};
  begin_prefixes(load.prefixes, groups.end(), count);
  for (std::int64_t i = 0; i < count; ++i) {
    load.requests.push_back(tokens.next());
    if (groups.end() > 0) {
      groups.add(load.requests.back(), load.prefixes);
    }
  }
  return load;
}

Hertz rate_of(std::span<const Request> trace) noexcept {
  if (trace.size() < 2 || trace.back().arrival <= trace.front().arrival) {
    return Hertz{std::numeric_limits<double>::infinity()};
  }
  return Hertz{static_cast<double>(trace.size() - 1) / seconds_of(trace.back().arrival - trace.front().arrival)};
}

RequestLoad trace_load(std::span<const Request> trace, Hertz rate, std::int64_t times) {
  RequestLoad load;
  load.requests.reserve(trace.size() * static_cast<std::size_t>(std::max<std::int64_t>(times, 0)));
  if (trace.empty()) {
    return load;
  }
  const double measured = rate_of(trace).raw();
  const double scale = std::isinf(measured) ? 0.0 : measured / rate.raw();
  const double mean_gap = 1.0 / rate.raw();
  const double length = seconds_of(trace.back().arrival - trace.front().arrival) * scale + mean_gap;
  for (std::int64_t copy = 0; copy < times; ++copy) {
    for (const Request& request : trace) {
      load.requests.push_back(request);
      load.requests.back().arrival =
          picoseconds(static_cast<double>(copy) * length + seconds_of(request.arrival - trace.front().arrival) * scale);
    }
  }
  return load;
}

}  // namespace headroom
