// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/scheduler/dispatcher.hpp>

#include <algorithm>
#include <utility>

namespace headroom::scheduler {

Dispatcher::Dispatcher(ClusterState& state, const Policy& policy, std::vector<std::size_t> ranks)
    : state_{state},
      policy_{policy},
      ranks_{std::move(ranks)},
      place_(ranks_.size()),
      limits_(state.question().pools.size()),
      holders_(state.question().pools.size(), none),
      quota_holds_(state.question().tenants.size() * state.question().pools.size()),
      uses_(ranks_.size()),
      targets_(ranks_.size()) {
  const ClusterQuestion& question = state_.question();
  one_line_ = policy_.order != Order::fair && std::all_of(question.tenants.begin(), question.tenants.end(),
                                                          [](const Tenant& tenant) { return tenant.quota.empty(); });
  lines_.resize(one_line_ ? 1 : question.tenants.size());
  const std::size_t pools = question.pools.size();
  for (std::size_t pool = 0; pool < pools; ++pool) {
    outlooks_.emplace_back(state_, pool);
  }
  std::vector<std::size_t> order(ranks_.size());
  for (std::size_t job = 0; job < ranks_.size(); ++job) {
    order[ranks_[job]] = job;
    weighs_ = weighs_ || question.jobs[job].choices.size() > 1;
    for (std::size_t c = 0; c < question.jobs[job].choices.size(); ++c) {
      any_spill_ = any_spill_ || spills(question.pools, question.jobs[job], c);
    }
  }
  for (const std::size_t job : order) {
    std::vector<std::size_t>& line = line_of(job).job_at;
    place_[job] = line.size();
    line.push_back(job);
  }
  for (Line& line : lines_) {
    line.own = WaitingLine{line.job_at.size(), pools};
    if (any_spill_) {
      line.spill = WaitingLine{line.job_at.size(), pools};
    }
  }
  if (weighs_) {
    backlog_.assign(pools, RankSums{ranks_.size()});
  }
}

std::vector<Dispatcher::Use> Dispatcher::uses_of(std::size_t job) const {
  const Job& asked = state_.question().jobs[job];
  std::vector<Use> uses(asked.choices.size(), Use::never);
  bool some_own = false;
  for (std::size_t c = 0; c < uses.size(); ++c) {
    if (state_.progress(job).allowed[c]) {
      uses[c] = spills(state_.question().pools, asked, c) ? Use::spill : Use::own;
      some_own = some_own || uses[c] == Use::own;
    }
  }
  if (!some_own) {  // nothing to spill from
    std::replace(uses.begin(), uses.end(), Use::spill, Use::own);
  }
  return uses;
}

Dispatcher::Line& Dispatcher::line_of(std::size_t job) noexcept {
  return lines_[one_line_ ? 0 : state_.question().jobs[job].tenant];
}

void Dispatcher::stand_for_own(std::size_t job, std::size_t only) {
  const Job& asked = state_.question().jobs[job];
  std::vector<PoolWant> wants(limits_.size());
  for (std::size_t c = 0; c < asked.choices.size(); ++c) {
    if (uses_[job][c] == Use::own && (only == none || asked.choices[c].pool == only)) {
      PoolWant& want = wants[asked.choices[c].pool];
      want = {std::min(want.gpus, asked.choices[c].gpus), std::min(want.time, state_.time_on(job, c).raw())};
    }
  }
  line_of(job).own.enter(place_[job], wants);
}

void Dispatcher::stand_for_spill(std::size_t job, bool at_all) {
  if (!any_spill_) {
    return;
  }
  const Job& asked = state_.question().jobs[job];
  std::vector<PoolWant> wants(limits_.size());
  bool some = false;
  for (std::size_t c = 0; c < asked.choices.size() && at_all; ++c) {
    if (uses_[job][c] == Use::spill) {
      PoolWant& want = wants[asked.choices[c].pool];
      want = {std::min(want.gpus, asked.choices[c].gpus), std::min(want.time, state_.time_on(job, c).raw())};
      some = true;
    }
  }
  if (some) {
    line_of(job).spill.enter(place_[job], wants);
  } else {
    line_of(job).spill.leave(place_[job]);
  }
}

void Dispatcher::ask_again_halfway(std::size_t job, Seconds now, Seconds until) {
  again_.push({now + std::max(until - now, Seconds{}) * 0.5, job});
}

void Dispatcher::enter(std::size_t job) {
  const Job& asked = state_.question().jobs[job];
  if (uses_[job].empty()) {
    uses_[job] = uses_of(job);
  }
  std::size_t fastest = none;
  for (std::size_t c = 0; c < asked.choices.size(); ++c) {
    if (uses_[job][c] == Use::own && (fastest == none || state_.time_on(job, c) < state_.time_on(job, fastest))) {
      fastest = c;
    }
  }
  stand_for_own(job, none);
  stand_for_spill(job, true);
  state_.progress(job).stage = Stage::waiting;
  ++waiting_;
  ++waiting_priorities_[asked.priority];
  set_target(job, fastest);
}

void Dispatcher::set_target(std::size_t job, std::size_t choice) {
  if (!weighs_) {
    return;
  }
  clear_target(job);
  const Choice& on = state_.question().jobs[job].choices[choice];
  targets_[job] = {on.pool, real(on.gpus) * state_.time_on(job, choice).raw()};
  backlog_[on.pool].add(ranks_[job], targets_[job].area);
}

void Dispatcher::clear_target(std::size_t job) {
  if (weighs_ && targets_[job].area > 0.0) {
    backlog_[targets_[job].pool].add(ranks_[job], -targets_[job].area);
    targets_[job].area = 0.0;
  }
}

void Dispatcher::leave(std::size_t job) {
  Line& line = line_of(job);
  line.own.leave(place_[job]);
  if (any_spill_) {
    line.spill.leave(place_[job]);
  }
  clear_target(job);
  --waiting_;
  const auto priority = waiting_priorities_.find(state_.question().jobs[job].priority);
  if (--priority->second == 0) {
    waiting_priorities_.erase(priority);
  }
}

void Dispatcher::refresh_limit(std::size_t pool, Seconds now) {
  limits_[pool] = outlooks_[pool].limit(now);
  if (spilling_) {  // nothing more is reserved, so that only what can start is asked
    limits_[pool].gpus = std::min(limits_[pool].gpus, state_.room(pool).largest());
  }
}

std::vector<std::size_t> Dispatcher::take_started() {
  return std::exchange(started_, {});
}

std::vector<std::size_t> Dispatcher::take_stopped() {
  return std::exchange(stopped_jobs_, {});
}

Dispatcher::QuotaHold& Dispatcher::quota_hold(std::size_t tenant, std::size_t pool) {
  return quota_holds_[tenant * outlooks_.size() + pool];
}

bool Dispatcher::quota_lets(std::size_t tenant, const Choice& choice, Seconds end) {
  if (choice.gpus > state_.quota_left(tenant, choice.pool)) {
    return false;
  }
  const QuotaHold& hold = quota_hold(tenant, choice.pool);
  return !hold.active || (!hold.closed && (end <= hold.shadow || choice.gpus <= hold.extra));
}

Seconds Dispatcher::quota_shadow(std::size_t tenant, const Choice& choice, std::int64_t& extra) const {
  std::int64_t left = state_.quota_left(tenant, choice.pool);
  Seconds shadow{};
  for (const ClusterState::Running& each : state_.running(choice.pool)) {
    if (state_.question().jobs[each.job].tenant != tenant) {
      continue;
    }
    if (left >= choice.gpus && shadow < each.planned_end) {
      break;
    }
    left += state_.choice(each.job).gpus;
    shadow = each.planned_end;
  }
  extra = left - choice.gpus;
  return shadow;
}

Seconds Dispatcher::wait_until(std::size_t job, const Choice& choice, Seconds now) {
  const Seconds ahead{backlog_[choice.pool].before(ranks_[job]) / real(state_.question().pools[choice.pool].gpus())};
  Seconds at = std::max(now, outlooks_[choice.pool].free_again(choice.gpus, now));
  const std::size_t tenant = state_.question().jobs[job].tenant;
  if (choice.gpus > state_.quota_left(tenant, choice.pool)) {
    std::int64_t extra = 0;
    at = std::max(at, quota_shadow(tenant, choice, extra));
  }
  return at + std::max(ahead, Seconds{});
}

Dispatcher::Way Dispatcher::way(std::size_t job, std::size_t choice, Seconds now) {
  const Job& asked = state_.question().jobs[job];
  const Choice& on = asked.choices[choice];
  const Pool& pool = state_.question().pools[on.pool];
  const Seconds time = state_.time_on(job, choice);
  Way way{choice, now + time, real(on.gpus) * time * pool.price, false};
  way.now = quota_lets(asked.tenant, on, way.end) && outlooks_[on.pool].may_start(on.gpus, way.end);
  if (!way.now && weighs_) {
    way.end = wait_until(job, on, now) + time;
  }
  return way;
}

void Dispatcher::start(std::size_t job, std::size_t choice, std::vector<NodePart> parts, Seconds now) {
  leave(job);
  state_.start(job, choice, std::move(parts), now);
  const Job& asked = state_.question().jobs[job];
  const std::size_t pool = asked.choices[choice].pool;
  const Seconds end = state_.progress(job).planned_end;
  outlooks_[pool].started(state_.progress(job).parts, end);
  refresh_limit(pool, now);
  QuotaHold& hold = quota_hold(asked.tenant, pool);
  if (hold.active && end > hold.shadow) {
    hold.extra -= asked.choices[choice].gpus;
  }
  started_.push_back(job);
}

bool Dispatcher::stop_others_for(std::size_t job, std::size_t choice, Seconds now) {
  const Job& asked = state_.question().jobs[job];
  const Choice& on = asked.choices[choice];
  PoolOutlook& outlook = outlooks_[on.pool];
  const Seconds end = now + state_.time_on(job, choice);
  if (outlook.closed() || !quota_lets(asked.tenant, on, end)) {
    return false;
  }
  std::vector<std::size_t> victims;
  std::int64_t free = state_.room(on.pool).free();
  for (const ClusterState::Running& each : state_.running(on.pool)) {
    const Job& other = state_.question().jobs[each.job];
    if (other.preemptible && other.priority < asked.priority && state_.run(each.job).stops < policy_.most_stops) {
      victims.push_back(each.job);
      free += state_.choice(each.job).gpus;
    }
  }
  if (victims.empty() || free < on.gpus || !outlook.ends_before_reserved(end)) {
    return false;
  }
  // The least priority first, then who began last, who has the least to lose.
  std::sort(victims.begin(), victims.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t pa = state_.question().jobs[a].priority, pb = state_.question().jobs[b].priority;
    if (pa != pb) {
      return pa < pb;
    }
    const Seconds begun_a = state_.progress(a).from, begun_b = state_.progress(b).from;
    return begun_a != begun_b ? begun_a > begun_b : a > b;
  });
  NodeRoom room = state_.room(on.pool);
  std::size_t needed = 0;
  while (needed < victims.size() && !room.fits(on.gpus)) {
    for (const NodePart& part : state_.progress(victims[needed]).parts) {
      room.give(part);
    }
    ++needed;
  }
  if (!room.fits(on.gpus)) {
    return false;
  }
  // Of those, whoever lies where it does not help goes on.
  std::vector<std::size_t> stopped;
  for (std::size_t i = needed; i-- > 0;) {
    for (const NodePart& part : state_.progress(victims[i]).parts) {
      room.take(part);
    }
    if (!room.fits(on.gpus)) {
      for (const NodePart& part : state_.progress(victims[i]).parts) {
        room.give(part);
      }
      stopped.push_back(victims[i]);
    }
  }
  for (const std::size_t victim : stopped) {
    const std::vector<NodePart> parts = state_.progress(victim).parts;
    state_.stop(victim, now);
    outlook.stopped(parts);
    enter(victim);
    stopped_jobs_.push_back(victim);
  }
  std::vector<NodePart> parts;
  room.place(on.gpus, parts);
  start(job, choice, std::move(parts), now);
  stopped_ = true;
  return true;
}

void Dispatcher::block(std::size_t job, std::size_t choice) {
  const Job& asked = state_.question().jobs[job];
  const Choice& on = asked.choices[choice];
  set_target(job, choice);
  const auto hold_quota = [&](const Choice& blocked, bool closed) {
    QuotaHold& hold = quota_hold(asked.tenant, blocked.pool);
    if (!hold.active) {
      hold = {true, closed, {}, 0};
      hold.shadow = quota_shadow(asked.tenant, blocked, hold.extra);
      used_quota_holds_.push_back(asked.tenant * outlooks_.size() + blocked.pool);
    }
  };
  if (policy_.order == Order::fifo) {
    for (std::size_t c = 0; c < asked.choices.size(); ++c) {
      if (uses_[job][c] != Use::own) {
        continue;
      }
      const std::size_t pool = asked.choices[c].pool;
      if (asked.choices[c].gpus > state_.quota_left(asked.tenant, pool)) {
        hold_quota(asked.choices[c], true);
      } else {
        outlooks_[pool].close();
      }
    }
  } else if (on.gpus > state_.quota_left(asked.tenant, on.pool)) {
    hold_quota(on, false);
  } else if (!outlooks_[on.pool].reserved()) {
    outlooks_[on.pool].reserve(on.gpus);
    holders_[on.pool] = job;
  }
}

void Dispatcher::visit(std::size_t job, Seconds now) {
  const Job& asked = state_.question().jobs[job];
  Way best;
  bool found = false;
  bool could_start = false;
  std::vector<std::size_t> later;
  for (std::size_t c = 0; c < asked.choices.size(); ++c) {
    if (uses_[job][c] != Use::own) {
      continue;
    }
    const Way each = way(job, c, now);
    if (!each.now) {
      later.push_back(c);
    }
    could_start = could_start || each.now;
    // First come, first served knows of no better time than now.
    const bool better = policy_.order == Order::fifo && each.now != best.now ? each.now : each.better_than(best);
    if (!found || better) {
      best = each;
      found = true;
    }
  }
  if (asked.deadline && best.end > *asked.deadline) {
    for (std::size_t c = 0; c < asked.choices.size(); ++c) {
      if (uses_[job][c] == Use::spill) {
        const Way each = way(job, c, now);
        if (each.now && each.end <= *asked.deadline && (best.end > *asked.deadline || each.better_than(best))) {
          best = each;
        }
      }
    }
  }
  if (!best.now && policy_.preempt) {
    std::stable_sort(later.begin(), later.end(),
                     [&](std::size_t a, std::size_t b) { return state_.time_on(job, a) < state_.time_on(job, b); });
    for (const std::size_t c : later) {
      if (stop_others_for(job, c, now)) {
        return;
      }
    }
  }
  if (!best.now) {
    block(job, best.choice);
    if (could_start) {
      stand_for_own(job, asked.choices[best.choice].pool);
      ask_again_halfway(job, now, best.end - state_.time_on(job, best.choice));
    }
    for (const Choice& each : asked.choices) {  // what was reserved, closed or looked into
      refresh_limit(each.pool, now);
    }
    return;
  }
  const Choice& on = asked.choices[best.choice];
  start(job, best.choice, outlooks_[on.pool].place(on.gpus, best.end), now);
}

void Dispatcher::visit_spill(std::size_t job, Seconds now) {
  const Job& asked = state_.question().jobs[job];
  Way best;
  bool found = false, waits = false;
  Seconds own_end{}, own_start{};
  for (std::size_t c = 0; c < asked.choices.size(); ++c) {
    if (uses_[job][c] == Use::never) {
      continue;
    }
    const Way each = way(job, c, now);
    if (uses_[job][c] == Use::own) {
      if (each.now) {
        return;
      }
      if (!waits || each.end < own_end) {
        own_end = each.end;
        own_start = each.end - state_.time_on(job, c);
      }
      waits = true;
    } else if (each.now && (!found || each.better_than(best))) {
      best = each;
      found = true;
    }
  }
  if (found && best.end < own_end) {
    const Choice& on = asked.choices[best.choice];
    start(job, best.choice, outlooks_[on.pool].place(on.gpus, best.end), now);
  } else if (found) {
    stand_for_spill(job, false);
    ask_again_halfway(job, now, own_start);
  }
}

bool Dispatcher::next_turn(std::size_t index, bool spilling, Turn& turn, std::size_t& place) {
  const Line& line = lines_[index];
  const WaitingLine& waiting = spilling ? line.spill : line.own;
  if (waiting.empty()) {
    return false;
  }
  if (one_line_ || state_.question().tenants[index].quota.empty()) {
    place = waiting.next(line.cursor, limits_);
  } else {
    own_limits_ = limits_;
    for (std::size_t pool = 0; pool < limits_.size(); ++pool) {
      if (quota_hold(index, pool).active) {
        own_limits_[pool].gpus = std::min(limits_[pool].gpus, state_.quota_left(index, pool));
      }
    }
    place = waiting.next(line.cursor, own_limits_);
  }
  if (place == waiting.places()) {
    return false;
  }
  const std::size_t job = line.job_at[place];
  turn = {state_.question().jobs[job].priority, policy_.order == Order::fair ? state_.weighted_share(index) : 0.0,
          ranks_[job], index};
  return true;
}

void Dispatcher::round(bool spilling, Seconds now) {
  const auto after = [](const Turn& a, const Turn& b) { return a.after(b); };
  Turn turn;
  std::size_t place = 0;
  turns_.clear();
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    lines_[line].cursor = 0;
    if (next_turn(line, spilling, turn, place)) {
      turns_.push_back(turn);
    }
  }
  std::make_heap(turns_.begin(), turns_.end(), after);
  while (!turns_.empty()) {
    std::pop_heap(turns_.begin(), turns_.end(), after);
    const Turn top = turns_.back();
    turns_.pop_back();
    // What was free, or held, when the turn was made may be no more.
    if (!next_turn(top.line, spilling, turn, place)) {
      continue;
    }
    if (!turn.after(top)) {
      Line& line = lines_[top.line];
      line.cursor = place + 1;
      if (spilling) {
        visit_spill(line.job_at[place], now);
      } else if (std::find(asked_.begin(), asked_.end(), line.job_at[place]) == asked_.end()) {
        visit(line.job_at[place], now);
      }
      if (stopped_) {
        return;
      }
      if (!next_turn(top.line, spilling, turn, place)) {
        continue;
      }
    }
    turns_.push_back(turn);
    std::push_heap(turns_.begin(), turns_.end(), after);
  }
}

void Dispatcher::begin_pass(Seconds now) {
  for (std::size_t pool = 0; pool < outlooks_.size(); ++pool) {
    outlooks_[pool].begin_pass();
    refresh_limit(pool, now);
  }
  for (const std::size_t hold : used_quota_holds_) {
    quota_holds_[hold].active = false;
  }
  used_quota_holds_.clear();
  stopped_ = false;
}

std::int64_t Dispatcher::least_gang(std::size_t job, std::size_t pool) const {
  std::int64_t least = PoolLimit::any;
  const Job& asked = state_.question().jobs[job];
  for (std::size_t c = 0; c < asked.choices.size(); ++c) {
    if (uses_[job][c] == Use::own && asked.choices[c].pool == pool) {
      least = std::min(least, asked.choices[c].gpus);
    }
  }
  return least;
}

void Dispatcher::ask_holders(Seconds now) {
  asked_.clear();
  const std::vector<std::size_t> before = std::exchange(holders_, std::vector<std::size_t>(holders_.size(), none));
  if (policy_.order != Order::fair) {
    return;
  }
  for (std::size_t pool = 0; pool < before.size(); ++pool) {
    const std::size_t job = before[pool];
    if (job == none || stopped_ || state_.progress(job).stage != Stage::waiting ||
        state_.question().jobs[job].priority != waiting_priorities_.rbegin()->first ||
        std::find(asked_.begin(), asked_.end(), job) != asked_.end()) {
      continue;
    }
    const std::int64_t gpus = least_gang(job, pool);
    if (std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return line.own.least(pool).gpus < gpus; })) {
      asked_.push_back(job);
      visit(job, now);
    }
  }
}

void Dispatcher::pass(Seconds now) {
  if (waiting_ == 0) {
    return;
  }
  for (; !again_.empty() && again_.top().at <= now; again_.pop()) {
    if (state_.progress(again_.top().job).stage == Stage::waiting) {
      stand_for_own(again_.top().job, none);
      stand_for_spill(again_.top().job, true);
    }
  }
  // Who was stopped waits, and left room beside the one for which it was stopped: all are asked again.
  do {
    begin_pass(now);
    ask_holders(now);
    if (!stopped_) {
      round(false, now);
    }
  } while (stopped_);
  if (any_spill_) {
    spilling_ = true;
    for (std::size_t pool = 0; pool < outlooks_.size(); ++pool) {
      refresh_limit(pool, now);
    }
    round(true, now);
    spilling_ = false;
  }
}

}  // namespace headroom::scheduler
