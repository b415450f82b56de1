// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/event_times.hpp>
#include <headroom/model/serve/simulation/fleet_caches.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/front_queue.hpp>
#include <headroom/model/serve/simulation/replica_lanes.hpp>
#include <headroom/model/serve/simulation/request_router.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// A request on its way to an engine.
struct Arrival {
  Picoseconds time{};
  std::uint32_t id = 0;
  [[nodiscard]] bool operator>(const Arrival& other) const noexcept {
    return time != other.time ? time > other.time : id > other.id;
  }
};

using Transfers = std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>>;

Transfers room_for(std::size_t arrivals) {
  std::vector<Arrival> room;
  room.reserve(arrivals);
  return Transfers{std::greater<>{}, std::move(room)};
}

class Simulation {
 public:
  Simulation(const ServingFleet& fleet, const RequestLoad& load, SimulationRecord* record);
  FleetResult run();

 private:
  [[nodiscard]] bool disaggregated() const noexcept { return prefill_engines_ > 0; }
  void add_engines(const ReplicaPool& pool, EngineRole role);
  void add_caches();
  void add_fronts();
  void begin_record();
  void count_unanswered() noexcept;
  void record_queue(const RequestRouter& router, Picoseconds now) noexcept;
  [[nodiscard]] Picoseconds next_arrival() const noexcept;
  void complete(std::size_t engine, Picoseconds now);
  void answered(std::uint32_t id, Picoseconds now);
  [[gnu::noinline]] void end_turn(std::uint32_t id, Picoseconds now);
  [[gnu::noinline]] void take_turns_of_sessions(Picoseconds now);
  void send(std::uint32_t id, Picoseconds now);
  void skip_turns() noexcept;
  [[nodiscard]] std::size_t engine_before(std::uint32_t id, const RequestRouter& router) const noexcept;
  void hand_on(std::uint32_t id, std::size_t engine, Picoseconds now);
  void take_arrivals(Picoseconds now);
  bool admit(bool held, std::uint32_t id, Picoseconds now);
  void enter(std::uint32_t id, Picoseconds now);
  void route(RequestRouter& router, std::uint32_t id, Picoseconds now);
  void submit(std::size_t engine, std::uint32_t id, Picoseconds now);
  void place(std::size_t engine, std::uint32_t id, Picoseconds now);
  [[nodiscard]] std::optional<std::size_t> choose(RequestRouter& router, std::uint32_t id, Picoseconds now);
  void take_loads(Picoseconds now);
  void serve_queue(RequestRouter& router, Picoseconds now);
  void touch(std::size_t engine);
  [[nodiscard]] std::size_t device_of(std::size_t engine) const noexcept;
  void follow_cut(std::size_t engine, Picoseconds now);
  // Out of line, so that fleets of one model run at full speed.
  [[gnu::noinline]] void enter_device(std::uint32_t id, Picoseconds now);
  void ask_for_turn(std::size_t engine, Picoseconds now);
  [[gnu::noinline]] void take_turns(Picoseconds now);
  void take_turn(std::size_t device, Picoseconds now);

  const ServingFleet& fleet_;
  const RequestLoad& load_;
  SimulationRecord* record_;
  std::vector<Sequence> sequences_;
  FleetResult result_;
  std::size_t prefill_engines_ = 0, engines_of_a_prefill_replica_ = 1, engines_of_a_replica_ = 1;
  std::size_t models_ = 1;  ///< models that share a device, each with its own engine
  std::vector<SimulatedEngine> engines_;
  EventTimes events_;
  RequestRouter serve_, prefill_;
  std::size_t next_ = 0;           ///< open: index of the next request; closed: of the next to be sent
  FirstInFirstOut<Arrival> sent_;  ///< closed: requests on their way to the router, by time
  Transfers sends_;                ///< closed, with front ends: the same, which come in any order
  FrontQueues fronts_;
  const bool sessions_;  ///< whether requests wait for each other
  Transfers pauses_;     ///< open: turns on their way to the router; closed: turns that clients may send from then on
  FirstInFirstOut<std::uint32_t> ready_;  ///< closed: turns that a client may send
  std::int64_t idle_clients_ = 0;         ///< closed: clients without a request to send
  std::vector<std::uint32_t> home_;       ///< of sessions: by id, the engine that computed its prompt
  Transfers transfers_;
  std::optional<FleetCaches> caches_;   ///< set if requests have ids
  Transfers loads_;                     ///< requests whose prefix is being loaded, or whose text is being read
  std::vector<Picoseconds> link_free_;  ///< time from which each prefill replica's link is free
  Picoseconds transfer_per_token_{}, transfer_latency_{};
  std::vector<std::uint32_t> engine_of_;  ///< by id, for requests in loads_
  std::vector<std::size_t> touched_;
  std::vector<char> is_touched_;
  std::vector<Picoseconds> asked_;  ///< with several models: time since which an engine wants the device
};

Simulation::Simulation(const ServingFleet& fleet, const RequestLoad& load, SimulationRecord* record)
    : fleet_{fleet},
      load_{load},
      record_{record},
      prefill_engines_{fleet.prefill ? engines_in(*fleet.prefill) : 0},
      models_{1 + fleet.beside.size()},
      events_{prefill_engines_ + models_ * engines_in(fleet.pool)},
      serve_{fleet, prefill_engines_, models_ * engines_in(fleet.pool), load.requests.size(), models_},
      prefill_{fleet, 0, prefill_engines_, load.requests.size()},
      sessions_{!load.turns.empty()} {
  result_.requests.resize(load.requests.size());
  sequences_.reserve(load.requests.size());
  for (const Request& request : load.requests) {
    Sequence sequence;
    sequence.prompt = request.prompt_tokens;
    sequence.output = request.output_tokens;
    sequence.prefix = request.cached_tokens;
    sequences_.push_back(sequence);
  }
  const std::size_t count = prefill_engines_ + models_ * engines_in(fleet.pool);
  engines_.reserve(count);
  is_touched_.assign(count, 0);
  touched_.reserve(count);
  engines_of_a_replica_ = models_ * static_cast<std::size_t>(fleet.pool.lanes);
  if (fleet.prefill) {
    engines_of_a_prefill_replica_ = static_cast<std::size_t>(fleet.prefill->lanes);
    add_engines(*fleet.prefill, EngineRole::prefill);
    transfers_ = room_for(load.requests.size());
    link_free_.assign(static_cast<std::size_t>(fleet.prefill->replicas), Picoseconds{0});
    transfer_latency_ = picoseconds(fleet.transfer.latency.raw());
    if (fleet.transfer.bytes_per_token.raw() > 0.0) {
      transfer_per_token_ = picoseconds((fleet.transfer.bytes_per_token / fleet.transfer.rate).raw());
    }
  }
  add_engines(fleet.pool, disaggregated() ? EngineRole::decode : EngineRole::both);
  add_caches();
  add_fronts();
  begin_record();
}

void Simulation::add_engines(const ReplicaPool& pool, EngineRole role) {
  const EngineSettings settings = lane_of(pool);
  for (std::int64_t i = 0; i < pool.replicas * pool.lanes; ++i) {
    engines_.emplace_back(*pool.tables, settings, role, sequences_, result_.requests);
    if (role == EngineRole::both) {
      for (const BesideModel& other : fleet_.beside) {
        engines_.emplace_back(*other.tables, other.engine, role, sequences_, result_.requests);
      }
    }
  }
  asked_.assign(models_ > 1 ? engines_.size() : 0, Picoseconds{0});
}

void Simulation::add_caches() {
  if (load_.prefixes.empty()) {
    return;
  }
  result_.hits.resize(load_.requests.size());
  engine_of_.resize(load_.requests.size());
  loads_ = room_for(load_.requests.size());
  caches_.emplace(fleet_, load_, result_.hits);
  for (std::size_t i = 0; i < caches_->engines(); ++i) {
    engines_[i].cache_in(&caches_->of(i));
  }
}

void Simulation::add_fronts() {
  if (fleet_.prefill) {
    fronts_.add(*fleet_.prefill);
  }
  ReplicaPool pool = fleet_.pool;
  pool.lanes *= static_cast<std::int64_t>(models_);  // models that share a device share its front end
  fronts_.add(pool);
  if (!fronts_.any()) {
    return;
  }
  engine_of_.resize(load_.requests.size());
  loads_ = room_for(load_.requests.size());
  sends_ = room_for(load_.concurrency > 0 ? load_.requests.size() : 0);
}

void Simulation::begin_record() {
  if (record_ == nullptr) {
    return;
  }
  std::vector<SimulationRecord::Engine> engines;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const bool prefill = i < prefill_engines_;
    const std::size_t in_pool = prefill ? i : i - prefill_engines_;
    const std::size_t lanes = prefill ? engines_of_a_prefill_replica_ : engines_of_a_replica_;
    engines.push_back(
        {prefill, static_cast<std::int64_t>(in_pool / lanes), static_cast<std::int64_t>(in_pool % lanes), models_ > 1});
    engines_[i].record_in(record_, static_cast<std::int32_t>(i));
  }
  record_->begin(std::move(engines), load_.requests.size());
}

void Simulation::record_queue(const RequestRouter& router, Picoseconds now) noexcept {
  if (record_ != nullptr) {
    record_->waits(&router == &serve_ ? SimulationRecord::shared_queue : SimulationRecord::shared_prefill_queue,
                   static_cast<std::int64_t>(router.queue.size()), now);
  }
}

Picoseconds Simulation::next_arrival() const noexcept {
  Picoseconds next = never;
  if (load_.concurrency > 0) {
    next = sent_.empty() ? never : sent_.front().time;
    next = sends_.empty() ? next : std::min(next, sends_.top().time);
  } else if (next_ < load_.requests.size()) {
    next = load_.requests[next_].arrival + fleet_.front_end;
  }
  if (sessions_ && !pauses_.empty()) {
    next = std::min(next, pauses_.top().time);
  }
  next = loads_.empty() ? next : std::min(next, loads_.top().time);
  return transfers_.empty() ? next : std::min(next, transfers_.top().time);
}

FleetResult Simulation::run() {
  if (sessions_) {
    pauses_ = room_for(load_.requests.size());
    ready_.reserve(load_.requests.size());
    home_.resize(load_.requests.size());
    skip_turns();
  }
  if (load_.concurrency > 0) {
    sent_.reserve(load_.requests.size());
    const std::size_t clients = std::min(static_cast<std::size_t>(load_.concurrency), load_.requests.size());
    for (std::size_t client = 0; client < clients && next_ < load_.requests.size(); ++client) {
      send(static_cast<std::uint32_t>(next_++), Picoseconds{0});
      skip_turns();
    }
  }
  for (;;) {
    const Picoseconds now = std::min(next_arrival(), events_.least());
    if (now == never) {
      count_unanswered();
      break;
    }
    if (now > fleet_.horizon) {
      break;
    }
    result_.end = now;
    // Order at one time: ends, then arrivals, then starts, so that an iteration sees everything known at its start.
    while (events_.least() == now) {
      complete(events_.first(), now);
    }
    if (!prefill_.queue.empty()) {
      serve_queue(prefill_, now);
    }
    if (!serve_.queue.empty()) {
      serve_queue(serve_, now);
    }
    take_arrivals(now);
    if (models_ > 1) {
      take_turns(now);
    }
    for (const std::size_t engine : touched_) {
      engines_[engine].start(now);
      events_.set(engine, engines_[engine].next_event());
      is_touched_[engine] = 0;
    }
    touched_.clear();
  }
  if (record_ != nullptr) {
    record_->end(result_.end);
  }
  const std::span<const SimulatedEngine> engines{engines_};
  result_.prefill = counters_of(engines.first(prefill_engines_));
  result_.pool = counters_of(engines.subspan(prefill_engines_));
  for (std::size_t model = 0; model < models_ && models_ > 1; ++model) {
    result_.models.push_back(counters_of(engines.subspan(model), models_));
  }
  return std::move(result_);
}

/// Called after the last event.
void Simulation::count_unanswered() noexcept {
  for (const RequestTimes& times : result_.requests) {
    const bool sent = (load_.concurrency == 0 && !sessions_) || times.arrival != never;
    result_.unanswered += sent && !times.refused && times.finished == never ? 1 : 0;
  }
}

void Simulation::touch(std::size_t engine) {
  if (is_touched_[engine] == 0) {
    is_touched_[engine] = 1;
    touched_.push_back(engine);
  }
}

void Simulation::complete(std::size_t engine, Picoseconds now) {
  engines_[engine].complete();
  events_.set(engine, never);
  touch(engine);
  if (models_ > 1) {
    asked_[engine] = now;
  }
  if (fronts_.any()) {
    fronts_.pass(engine, engines_[engine], now, result_.requests);
  }
  for (const std::uint32_t id : engines_[engine].done()) {
    const Picoseconds finished = result_.requests[id].finished;
    if (finished == never) {
      hand_on(id, engine, now);
    } else {
      answered(id, finished);
    }
  }
}

void Simulation::answered(std::uint32_t id, Picoseconds now) {
  if (sessions_) {
    end_turn(id, now);
  } else if (load_.concurrency > 0 && next_ < load_.requests.size()) {
    send(static_cast<std::uint32_t>(next_++), now + load_.think);
  }
}

/// A client of a closed load sends a request at `time`, without front ends no earlier than those that were sent before.
void Simulation::send(std::uint32_t id, Picoseconds time) {
  result_.requests[id].arrival = time;
  if (fronts_.any()) {
    sends_.push({time + fleet_.front_end, id});
  } else {
    sent_.push({time + fleet_.front_end, id});
  }
}

/// Leaves out the requests that wait for others.
void Simulation::skip_turns() noexcept {
  while (sessions_ && next_ < load_.requests.size() && load_.turns.previous[next_] != SessionTurns::none) {
    ++next_;
  }
}

/// The answer to a turn is out: its session pauses, and a client of a closed load takes the turn that is ready for
/// longest, else opens a session.
void Simulation::end_turn(std::uint32_t id, Picoseconds now) {
  const std::uint32_t next = load_.turns.next[id];
  const bool open = load_.concurrency == 0;
  if (next != SessionTurns::none) {
    const Picoseconds arrival = now + load_.turns.pause[next];
    if (open) {
      result_.requests[next].arrival = arrival;
    }
    pauses_.push({open ? arrival + fleet_.front_end : arrival, next});
  }
  if (open) {
    return;
  }
  if (!ready_.empty()) {
    send(ready_.front(), now + load_.think);
    ready_.pop();
  } else if (next_ < load_.requests.size()) {
    send(static_cast<std::uint32_t>(next_++), now + load_.think);
    skip_turns();
  } else {
    ++idle_clients_;
  }
}

void Simulation::take_turns_of_sessions(Picoseconds now) {
  while (!pauses_.empty() && pauses_.top().time == now) {
    const std::uint32_t id = pauses_.top().id;
    pauses_.pop();
    if (load_.concurrency == 0) {
      enter(id, now);
    } else if (idle_clients_ > 0) {
      --idle_clients_;
      send(id, now + load_.think);
    } else {
      ready_.push(id);
    }
  }
}

/// The engine of a router that computed the prompt of the turn before; the number of all engines where none did.
std::size_t Simulation::engine_before(std::uint32_t id, const RequestRouter& router) const noexcept {
  const std::uint32_t before = sessions_ ? load_.turns.previous[id] : SessionTurns::none;
  const bool computes = !disaggregated() || &router == &prefill_;
  return before != SessionTurns::none && computes && !result_.requests[before].refused ? home_[before]
                                                                                       : engines_.size();
}

void Simulation::hand_on(std::uint32_t id, std::size_t engine, Picoseconds now) {
  Picoseconds& link = link_free_[engine / engines_of_a_prefill_replica_];
  link = std::max(link, now) + transfer_per_token_ * sequences_[id].prompt;
  transfers_.push({link + transfer_latency_, id});
  if (record_ != nullptr) {
    record_->enters(id, SimulationRecord::nowhere, RequestPhase::transfer, now);
  }
}

void Simulation::take_arrivals(Picoseconds now) {
  if (sessions_) {
    take_turns_of_sessions(now);
  }
  if (load_.concurrency > 0) {
    while (!sent_.empty() && sent_.front().time == now) {
      const std::uint32_t id = sent_.front().id;
      sent_.pop();
      enter(id, now);
    }
    while (!sends_.empty() && sends_.top().time == now) {
      const std::uint32_t id = sends_.top().id;
      sends_.pop();
      enter(id, now);
    }
  } else {
    while (next_ < load_.requests.size() && load_.requests[next_].arrival + fleet_.front_end == now) {
      result_.requests[next_].arrival = load_.requests[next_].arrival;
      enter(static_cast<std::uint32_t>(next_++), now);
      skip_turns();
    }
  }
  while (!transfers_.empty() && transfers_.top().time == now) {
    const std::uint32_t id = transfers_.top().id;
    transfers_.pop();
    if (record_ != nullptr) {
      record_->enters(id, SimulationRecord::nowhere, RequestPhase::decode_queue, now);
    }
    route(serve_, id, now);
  }
  if (!loads_.empty()) {
    take_loads(now);
  }
}

void Simulation::take_loads(Picoseconds now) {
  while (!loads_.empty() && loads_.top().time == now) {
    const std::uint32_t id = loads_.top().id;
    loads_.pop();
    engines_[engine_of_[id]].expect(-1);
    place(engine_of_[id], id, now);
  }
}

/// Whether a request is let in: one that no engine could hold is refused at once.
bool Simulation::admit(bool held, std::uint32_t id, Picoseconds now) {
  if (!held) {
    result_.requests[id].refused = true;
    answered(id, now);
  } else if (record_ != nullptr) {
    record_->arrived(id, result_.requests[id].arrival);
  }
  return held;
}

void Simulation::enter(std::uint32_t id, Picoseconds now) {
  if (models_ > 1) {
    enter_device(id, now);
    return;
  }
  const Request& request = load_.requests[id];
  const bool held = engines_.back().holds(request) && (!disaggregated() || engines_.front().holds(request));
  if (admit(held, id, now)) {
    route(disaggregated() ? prefill_ : serve_, id, now);
  }
}

void Simulation::route(RequestRouter& router, std::uint32_t id, Picoseconds now) {
  const std::optional<std::size_t> engine = router.queue.empty() ? choose(router, id, now) : std::nullopt;
  if (engine) {
    submit(*engine, id, now);
  } else {
    router.queue.push(id);
    record_queue(router, now);
  }
}

void Simulation::serve_queue(RequestRouter& router, Picoseconds now) {
  while (!router.queue.empty()) {
    const std::optional<std::size_t> engine = router.choose(engines_);
    if (!engine) {
      return;
    }
    submit(*engine, router.queue.front(), now);
    router.queue.pop();
    record_queue(router, now);
  }
}

std::optional<std::size_t> Simulation::choose(RequestRouter& router, std::uint32_t id, Picoseconds now) {
  const bool computes_prompts = !disaggregated() || &router == &prefill_;
  if (fleet_.routing == RequestRouting::prefix && caches_ && computes_prompts) {
    return caches_->choose(engines_, id, now);
  }
  const std::size_t before =
      fleet_.routing == RequestRouting::shared_queue ? engines_.size() : engine_before(id, router);
  return before < engines_.size() ? std::optional{before} : router.choose(engines_);
}

void Simulation::submit(std::size_t engine, std::uint32_t id, Picoseconds now) {
  Picoseconds ready = now;
  if (caches_ && engine < caches_->engines()) {
    ready = std::max(ready, caches_->load(engines_[engine], engine, id, now));
  }
  if (fronts_.any() && (engine < prefill_engines_ || !disaggregated())) {
    ready = std::max(ready, fronts_.takes(engine, engines_, sequences_[id].prompt, now));
  }
  if (ready > now || fronts_.any()) {  // behind front ends in the order in which they pass, also at one time
    engine_of_[id] = static_cast<std::uint32_t>(engine);
    engines_[engine].expect(1);
    loads_.push({ready, id});
    return;
  }
  place(engine, id, now);
}

void Simulation::place(std::size_t engine, std::uint32_t id, Picoseconds now) {
  const bool prefill = engine < prefill_engines_;
  if (sessions_ && (prefill || !disaggregated())) {
    home_[id] = static_cast<std::uint32_t>(engine);
  }
  result_.requests[id].replica = static_cast<std::int32_t>(
      prefill ? engine / engines_of_a_prefill_replica_ : (engine - prefill_engines_) / engines_of_a_replica_);
  if (record_ != nullptr) {
    record_->placed(id, static_cast<std::int32_t>(engine));
  }
  engines_[engine].submit(id, now);
  touch(engine);
}

/// Routes a request to the engine of its model on the selected device.
void Simulation::enter_device(std::uint32_t id, Picoseconds now) {
  const Request& request = load_.requests[id];
  const std::size_t model = fleet_.model_of_class[static_cast<std::size_t>(request.service_class)];
  if (!admit(engines_[model].holds(request), id, now)) {
    return;
  }
  const std::size_t engine = serve_.choose_device(engines_) + model;
  ask_for_turn(engine, now);
  submit(engine, id, now);
}

/// The first engine of the device that an engine runs on. Models that share devices have no prefill pool.
std::size_t Simulation::device_of(std::size_t engine) const noexcept {
  return engine - engine % models_;
}

/// Updates the next event of an engine whose iterations may have been cut. One whose iteration ends now wants the
/// device from now on.
void Simulation::follow_cut(std::size_t engine, Picoseconds now) {
  if (events_.of(engine) != never) {
    events_.set(engine, engines_[engine].next_event());
    asked_[engine] = now;  // not compared until it has run
  }
}

/// An engine without work gets its first request; its device's running engine may finish one iteration.
void Simulation::ask_for_turn(std::size_t engine, Picoseconds now) {
  if (engines_[engine].outstanding() > 0) {
    return;
  }
  asked_[engine] = now;
  const std::size_t device = device_of(engine);
  for (std::size_t other = device; other < device + models_; ++other) {
    engines_[other].give_way(now);
    follow_cut(other, now);
  }
}

/// Selects the next engine on every device that had an event.
void Simulation::take_turns(Picoseconds now) {
  for (const std::size_t engine : touched_) {
    follow_cut(engine, now);
    is_touched_[engine] = 0;
  }
  for (const std::size_t engine : touched_) {
    take_turn(device_of(engine), now);
  }
  touched_.clear();
}

/// The engine with work that has waited longest runs: for one iteration, or until the next event if no other has work.
void Simulation::take_turn(std::size_t device, Picoseconds now) {
  std::size_t next = device;
  std::size_t with_work = 0;
  for (std::size_t engine = device; engine < device + models_; ++engine) {
    if (engines_[engine].iterates()) {
      return;
    }
    if (engines_[engine].outstanding() > 0) {
      next = with_work++ == 0 || asked_[engine] < asked_[next] ? engine : next;
    }
  }
  if (with_work == 0) {
    return;
  }
  engines_[next].start(now);
  if (with_work > 1) {
    engines_[next].only_one();
  }
  events_.set(next, engines_[next].next_event());
}

}  // namespace

FleetResult simulate(const ServingFleet& fleet, const RequestLoad& load, SimulationRecord* record) {
  return Simulation{fleet, load, record}.run();
}

}  // namespace headroom
