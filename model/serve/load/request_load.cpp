// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/serve/load/request_load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>

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
  /// Consecutive ids.
  struct Ids {
    std::uint32_t first = 0, count = 0;
  };
  /// The ids of the group that a request is drawn into.
  Ids draw(std::int64_t prompt_tokens) {
    if (below_.empty() || !(random_.uniform() < shared_.share)) {
      return {};
    }
    const auto group = std::upper_bound(below_.begin(), below_.end() - 1, random_.uniform() * below_.back());
    const auto at = first_ + static_cast<std::uint32_t>((group - below_.begin()) * each_);
    return {at, static_cast<std::uint32_t>(std::min(each_, prompt_tokens / SharedPrefixes::id_tokens))};
  }
  /// Adds them.
  void add(std::int64_t prompt_tokens, PromptPrefixes& prefixes) {
    const Ids drawn = draw(prompt_tokens);
    for (std::uint32_t i = 0; i < drawn.count; ++i) {
      prefixes.ids.push_back(drawn.first + i);
    }
  }
  /// Adds the tokens that each id stands for.
  void add_tokens(PromptPrefixes& prefixes) const {
    for (std::uint32_t i = first_; i < end(); ++i) {
      const auto begin = static_cast<std::int32_t>((i - first_) % each_ * SharedPrefixes::id_tokens);
      prefixes.tokens.push_back({begin, begin + static_cast<std::int32_t>(SharedPrefixes::id_tokens)});
    }
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

/// The ids of a session's prompts and answers as far as its turns are planned, and where they come to lie in the lists
/// of the load. Turns that never join it have none: sessions of a thousand turns may have few in the load.
struct SessionIds {
  Groups::Ids shared;                       ///< of the group that its prompts begin with
  std::vector<PromptPrefixes::Tokens> own;  ///< of each of its own
  std::uint32_t list = 0;                   ///< start in the list of all ids
  std::uint32_t first_own = 0;              ///< its first id of its own
};

/// Adds the ids of all sessions to the prefixes, whose `first` and `answer` so far say which session, and which of its
/// own ids.
void put_ids(std::vector<SessionIds>& sessions, const std::vector<std::uint32_t>& numbers, PromptPrefixes& prefixes) {
  for (SessionIds& one : sessions) {
    one.list = static_cast<std::uint32_t>(prefixes.ids.size());
    one.first_own = static_cast<std::uint32_t>(prefixes.tokens.size());
    for (std::uint32_t i = 0; i < one.shared.count; ++i) {
      prefixes.ids.push_back(one.shared.first + i);
    }
    for (const PromptPrefixes::Tokens& tokens : one.own) {
      prefixes.ids.push_back(static_cast<std::uint32_t>(prefixes.tokens.size()));
      prefixes.tokens.push_back(tokens);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const SessionIds& one = sessions[numbers[i]];
    prefixes.first[i] = one.list;
    prefixes.answer[i] += prefixes.answer[i] == PromptPrefixes::none ? 0 : one.first_own;
  }
  prefixes.distinct = static_cast<std::uint32_t>(prefixes.tokens.size());
}

/// Before the next turn of a session.
struct Session {
  Picoseconds time{};                         ///< at which the turn is planned
  std::uint64_t number = 0;                   ///< of the session, in order of opening
  std::uint32_t before = SessionTurns::none;  ///< request of the last turn
  std::uint32_t ids = 0;                      ///< which of the load's SessionIds are its
  std::int64_t turn = 0;
  std::int64_t skips = 0;   ///< turns that were over before the load begins
  std::int64_t tokens = 0;  ///< asked and answered so far
  Picoseconds pause{};
  [[nodiscard]] bool operator>(const Session& other) const noexcept {
    return time != other.time ? time > other.time : number > other.number;
  }
};

/// Ids of all sessions of a load, and by request which session it is of.
struct IdsOfSessions {
  std::vector<SessionIds> sessions;
  std::vector<std::uint32_t> of;
};

/// The requests of one class, in the order in which they are planned.
class Stream {
 public:
  Stream(const TrafficClass& traffic,
         std::uint64_t seed,
         std::int32_t service_class,
         std::uint32_t first_group,
         IdsOfSessions* ids)
      : turns_{traffic.turns},
        in_sessions_{ids != nullptr},
        ids_{ids},
        think_{traffic.think},
        token_{traffic.token},
        service_class_{service_class},
        arrivals_{of_sessions(traffic), seed},
        tokens_{traffic, seed, 1},
        groups_{traffic.prefixes, seed, first_group},
        pauses_{seed, 5},
        opens_{arrivals_.next()} {}

  /// Scales the times at which sessions open so that the first `sessions` come in the time that their rate says. Of so
  /// few, each with many turns, chance would move the load by the root of turns over requests: 2 % of 20,000 requests
  /// in sessions of 8. A rate that changes over time is left alone.
  void keep_rate(double sessions, const TrafficClass& traffic) {
    const ArrivalProcess process = of_sessions(traffic);
    if (turns_ == 1 || std::isinf(process.rate.raw()) || process.curve.peak() != 1.0 || !(sessions >= 2.0)) {
      return;
    }
    const auto count = static_cast<std::int64_t>(sessions);
    Arrivals ahead = arrivals_;
    Picoseconds last = opens_;
    for (std::int64_t i = 1; i < count; ++i) {
      last = ahead.next();
    }
    if (last <= Picoseconds{0}) {
      return;  // gaps of a large variation may all round to nothing
    }
    // No further than chance moves the usual: of gaps with a large variation the one that is missing may be to come.
    scale_ = std::clamp(static_cast<double>(count) / process.rate.raw() / seconds_of(last), 0.5, 2.0);
    opens_ = scaled(opens_);
  }

  [[nodiscard]] const Groups& groups() const noexcept { return groups_; }
  [[nodiscard]] Picoseconds next() const noexcept {
    return open_.empty() ? opens_ : std::min(opens_, open_.top().time);
  }
  /// Adds the next request. A session that it opens is the `number`-th of all; the first `begun` of these had turns
  /// before, as many of them each number of turns.
  void add(RequestLoad& load, std::int64_t number, std::int64_t begun) {
    Session session;
    if (!open_.empty() && open_.top().time <= opens_) {
      session = open_.top();
      open_.pop();
    } else {
      session.time = opens_;
      session.skips = number < begun ? number * turns_ / begun : 0;
      session.number = opened_++;
      opens_ = scaled(arrivals_.next());
    }
    add_turn(session, load);
  }
  /// Adds all turns of the sessions that are open.
  void end(RequestLoad& load) {
    while (!open_.empty()) {
      const Session session = open_.top();
      open_.pop();
      add_turn(session, load);
    }
  }

 private:
  [[nodiscard]] Picoseconds scaled(Picoseconds time) const noexcept {
    return scale_ == 1.0 ? time : picoseconds(scale_ * seconds_of(time));
  }
  static ArrivalProcess of_sessions(const TrafficClass& traffic) {
    ArrivalProcess arrivals = traffic.arrivals;
    arrivals.rate = arrivals.rate / static_cast<double>(traffic.turns);
    return arrivals;
  }

  void add_turn(Session session, RequestLoad& load) {
    Request request = tokens_.next();
    // Prompt and answer together are no longer than that, so that the next prompt holds both.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    request.prompt_tokens = static_cast<std::int32_t>(std::min(session.tokens + request.prompt_tokens, most - 1));
    request.output_tokens =
        static_cast<std::int32_t>(std::min<std::int64_t>(request.output_tokens, most - request.prompt_tokens));
    request.arrival = session.time;
    request.service_class = service_class_;
    if (in_sessions_) {
      name(session, request);
    }
    const auto id = static_cast<std::uint32_t>(load.requests.size());
    const bool joins = session.turn >= session.skips;
    if (joins) {
      load.requests.push_back(request);
    }
    if (in_sessions_ && joins) {
      link(session, id, load);
    } else if (!in_sessions_ && load.prefixes.id_tokens > 0) {
      groups_.add(request.prompt_tokens, load.prefixes);
      load.prefixes.first.push_back(static_cast<std::uint32_t>(load.prefixes.ids.size()));
    }
    if (++session.turn < turns_) {
      session.before = joins ? id : SessionTurns::none;
      session.tokens = request.prompt_tokens + std::int64_t{request.output_tokens};
      session.pause = picoseconds(pauses_.exponential() * think_.raw());
      session.time = session.time + picoseconds(request.output_tokens * token_.raw()) + session.pause;
      open_.push(session);
    }
  }

  /// Gives a turn its ids: to every one but the last one for what it asks anew and one for its answer. The last token
  /// of an answer is never computed, so that its cache ends one before it.
  void name(Session& session, const Request& request) {
    if (session.turn == 0) {
      session.ids = static_cast<std::uint32_t>(ids_->sessions.size());
      ids_->sessions.push_back({groups_.draw(request.prompt_tokens), {}});
    }
    if (session.turn + 1 < turns_) {
      SessionIds& ids = ids_->sessions[session.ids];
      const std::int64_t begin = session.turn == 0 ? ids.shared.count * SharedPrefixes::id_tokens : session.tokens - 1;
      const std::int32_t end = request.prompt_tokens + (request.output_tokens - 1);
      ids.own.push_back({static_cast<std::int32_t>(begin), request.prompt_tokens});
      ids.own.push_back({request.prompt_tokens, end});
    }
  }

  void link(const Session& session, std::uint32_t id, RequestLoad& load) const {
    load.turns.previous.push_back(session.before);
    load.turns.next.push_back(SessionTurns::none);
    load.turns.pause.push_back(session.before == SessionTurns::none ? Picoseconds{0} : session.pause);
    if (session.before != SessionTurns::none) {
      load.turns.next[session.before] = id;
    }
    const auto before = static_cast<std::uint32_t>(2 * session.turn);
    const bool last = session.turn + 1 == turns_;
    ids_->of.push_back(session.ids);
    load.prefixes.first.push_back(0);
    load.prefixes.count.push_back(ids_->sessions[session.ids].shared.count + before + (last ? 0 : 1));
    load.prefixes.answer.push_back(last ? PromptPrefixes::none : before + 1);
  }

  std::int64_t turns_;
  bool in_sessions_;    ///< whether a class of the load has turns
  IdsOfSessions* ids_;  ///< of the load, if so
  Seconds think_, token_;
  std::int32_t service_class_;
  Arrivals arrivals_;
  Tokens tokens_;
  Groups groups_;
  RandomStream pauses_;
  Picoseconds opens_;   ///< time of the next session
  double scale_ = 1.0;  ///< of these times
  std::uint64_t opened_ = 0;
  std::priority_queue<Session, std::vector<Session>, std::greater<>> open_;
};

/// The requests of all classes.
class Streams {
 public:
  Streams(std::span<const TrafficClass> classes, std::uint64_t seed, RequestLoad& load) : load_{load} {
    turns_ = std::any_of(classes.begin(), classes.end(), [](const TrafficClass& c) { return c.turns > 1; });
    for (std::size_t i = 0; i < classes.size(); ++i) {
      streams_.emplace_back(classes[i], scatter(seed) + i, static_cast<std::int32_t>(i),
                            i > 0 ? streams_[i - 1].groups().end() : 0, turns_ ? &ids_ : nullptr);
    }
  }
  /// As Stream::keep_rate(), where `count` requests will be added.
  void keep_rates(std::span<const TrafficClass> classes, std::int64_t count) {
    double rate = 0.0;
    for (const TrafficClass& traffic : classes) {
      rate += traffic.arrivals.rate.raw();
    }
    if (!turns_ || std::isinf(rate)) {
      return;  // no shares of what comes at once
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const TrafficClass& traffic = classes[i];
      const double share = traffic.arrivals.rate.raw() / rate;
      streams_[i].keep_rate(share * static_cast<double>(count) / static_cast<double>(traffic.turns), traffic);
    }
  }
  /// Adds `count` requests; `whole`: session by session, and the last one to its end, the first `clients` of which were
  /// begun before, as many at each turn.
  void add(std::int64_t count, bool whole, std::int64_t clients = 0) {
    begin(count);
    std::int64_t sessions = 0;
    while (static_cast<std::int64_t>(load_.requests.size()) < count && !streams_.empty()) {
      Stream& next = *std::min_element(streams_.begin(), streams_.end(),
                                       [](const Stream& a, const Stream& b) { return a.next() < b.next(); });
      next.add(load_, sessions++, whole ? clients : 0);
      if (whole) {
        next.end(load_);
      }
    }
    if (turns_) {
      put_ids(ids_.sessions, ids_.of, load_.prefixes);
    }
  }

 private:
  void begin(std::int64_t count) {
    load_.requests.reserve(static_cast<std::size_t>(count));
    if (!turns_) {
      begin_prefixes(load_.prefixes, streams_.empty() ? 0 : streams_.back().groups().end(), count);
      return;
    }
    load_.prefixes.id_tokens = SharedPrefixes::id_tokens;
    for (const Stream& stream : streams_) {
      stream.groups().add_tokens(load_.prefixes);
    }
  }
  RequestLoad& load_;
  IdsOfSessions ids_;
  std::vector<Stream> streams_;
  bool turns_ = false;
};

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

void check_turns(std::vector<std::string>& found, const TrafficClass& traffic) {
  if (traffic.turns < 1 || traffic.turns > most_turns) {
    found.push_back("sessions of " + std::to_string(traffic.turns) + " turns; they have 1 to " +
                    std::to_string(most_turns));
  }
  if (!(traffic.think >= Seconds{} && traffic.think <= most_think)) {
    found.push_back("a pause of " + format(traffic.think) + " between turns; it is from 0 s to " + format(most_think));
  }
  if (traffic.turns > 1 && traffic.cached_share > 0.0) {
    found.emplace_back("a cached share of prompts beside turns, from which it follows what is cached; leave one out");
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
    check_turns(found, traffic);
  }
  return found;
}

void RequestLoad::keep(std::size_t count) {
  if (count >= requests.size()) {
    return;
  }
  requests.resize(count);
  prefixes = prefixes.of_first(count);
  if (!turns.empty()) {
    turns.previous.resize(count);
    turns.next.resize(count);
    turns.pause.resize(count);
    for (std::uint32_t& next : turns.next) {
      next = next < count ? next : SessionTurns::none;
    }
  }
}

double filling_of(const TrafficClass& traffic) noexcept {
  const Seconds session =
      static_cast<double>(traffic.turns - 1) * (traffic.think + traffic.output.mean * traffic.token);
  const bool at_once = std::isinf(traffic.arrivals.rate.raw());  // no session opens while another ends
  return traffic.turns > 1 && !at_once ? 0.5 * (traffic.arrivals.rate * session) : 0.0;
}

RequestLoad open_load(std::span<const TrafficClass> classes, std::int64_t count, std::uint64_t seed) {
  RequestLoad load;
  Streams streams{classes, seed, load};
  double filling = 0.0;
  for (const TrafficClass& traffic : classes) {
    filling += filling_of(traffic);
  }
  load.filling = static_cast<std::int64_t>(std::min(filling, static_cast<double>(most_filling)));
  streams.keep_rates(classes, count + load.filling);
  streams.add(count + load.filling, false);
  return load;
}

RequestLoad whole_sessions(std::span<const TrafficClass> classes,
                           std::int64_t count,
                           std::uint64_t seed,
                           std::int64_t clients) {
  RequestLoad load;
  Streams{classes, seed, load}.add(count, true, clients);
  for (Request& request : load.requests) {
    request.arrival = Picoseconds{0};
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
      groups.add(load.requests.back().prompt_tokens, load.prefixes);
      load.prefixes.first.push_back(static_cast<std::uint32_t>(load.prefixes.ids.size()));
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
