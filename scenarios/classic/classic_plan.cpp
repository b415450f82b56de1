// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>
#include <headroom/scenarios/classic/classic_times.hpp>
#include <headroom/scenarios/classic/media_times.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::classic {
namespace {

constexpr double least_size = 1e2, largest_size = 1e12;

Seconds gpu_total(const Question& q, const Algorithm& algorithm, const Numbers& law) {
  return total(gpu_times(q, algorithm, q.cards, law).parts);
}
Seconds cpu_total(const Question& q, const Algorithm& algorithm, const Numbers& law) {
  return total(cpu_times(q, algorithm, law).parts);
}

Interval<Seconds> interval_of(Seconds middle, double width) {
  return {1.0 / (1.0 + width) * middle, middle, (1.0 + width) * middle};
}

/// Sizes about `crossover` at which each middle lies within the other's interval: to the first at which it does not.
CloseSizes close_about(const Question& q, const Numbers& law, double crossover) {
  const auto close = [&](double size) {
    const Algorithm there = resized(q.algorithm, size);
    const Times gpu = gpu_times(q, there, q.cards, law), cpu = cpu_times(q, there, law);
    return close_calls(interval_of(total(gpu.parts), gpu.width), interval_of(total(cpu.parts), cpu.width));
  };
  constexpr double step = 1.05;
  const auto end = [&](double factor) -> std::optional<double> {
    double size = crossover;
    while (size >= least_size && size <= largest_size) {
      if (!close(factor * size)) {
        return size;
      }
      size *= factor;
    }
    return std::nullopt;
  };
  return {end(1.0 / step), end(step)};
}

/// The least size from which GPUs are the faster, where they are not at the least of all; nothing: no such size.
std::optional<double> crossover_of(const Question& q, const Numbers& law) {
  if (!has_cores(q.algorithm)) {
    return std::nullopt;
  }
  const auto gpus_win = [&](double size) {
    const Algorithm there = resized(q.algorithm, size);
    return gpu_total(q, there, law) < cpu_total(q, there, law);
  };
  if (gpus_win(least_size)) {
    return std::nullopt;
  }
  double low = least_size, high = least_size;
  while (high < largest_size && !gpus_win(high)) {
    low = high;
    high *= 2.0;
  }
  if (high >= largest_size) {
    return std::nullopt;
  }
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (gpus_win(middle) ? high : low) = middle;
  }
  return high;
}

void fill(Column& column, const Times& times) {
  column.parts = times.parts;
  column.time = interval_of(total(times.parts), times.width);
  column.rate = times.rate;
  if (times.items > 0.0) {
    column.rate = Hertz{times.items / column.time.mid.raw()};
  }
  column.exchange = times.exchange;
}

void pay(Column& column, const std::optional<DollarsPerSecond>& price) {
  column.energy = column.count * column.power * column.time.mid;
  if (price) {
    column.cost = column.count * *price * column.time.mid;
  }
}

void make_columns(Plan& plan, const Numbers& law) {
  const Question& q = plan.question;
  const Bytes all = memory_of(q, law, plan.memory);
  plan.gpu.machine = "gpu";
  plan.gpu.id = q.card.id;
  // Of a grouping each worker has its own.
  plan.gpu.count = std::max(q.cards, hosts_of(q));
  plan.gpu.power = q.card.power;
  plan.gpu.capacity = usable_memory * q.card.memory;
  plan.gpu.memory = gpu_part(q, all);
  plan.gpu.needed = std::max(1.0, std::ceil(all / *plan.gpu.capacity));
  plan.gpu.fits = plan.gpu.memory <= *plan.gpu.capacity;
  fill(plan.gpu, gpu_times(q, q.algorithm, q.cards, law));
  pay(plan.gpu, q.money.price);

  plan.gpu_wins = plan.gpu.fits;
  if (!has_cores(q.algorithm)) {
    return;
  }
  Column& cpu = plan.cpu.emplace();
  cpu.machine = "cpu";
  cpu.id = q.host.id;
  cpu.count = hosts_of(q);
  cpu.power = q.host.power;
  cpu.memory = 1.0 / cpu.count * all;
  cpu.capacity = q.host_memory;
  cpu.needed = q.host_memory ? std::max(1.0, std::ceil(all / *q.host_memory)) : 1.0;
  cpu.fits = !q.host_memory || cpu.memory <= *q.host_memory;
  fill(cpu, cpu_times(q, q.algorithm, law));
  pay(cpu, q.host.price);
  plan.gpu_wins = plan.gpu.fits && (!cpu.fits || plan.gpu.time.mid < cpu.time.mid);
  plan.too_close = plan.gpu.fits && cpu.fits && close_calls(plan.gpu.time, cpu.time);
}

void make_sweep(Plan& plan, const Numbers& law) {
  const Question& q = plan.question;
  for (const double size : sizes_of(q.algorithm, plan.size)) {
    const Algorithm there = resized(q.algorithm, size);
    Size& other = plan.sweep.emplace_back();
    other.size = size;
    other.gpu = gpu_total(q, there, law);
    if (has_cores(q.algorithm)) {
      other.cpu = cpu_total(q, there, law);
    }
    if (const auto* const vectors = std::get_if<VectorsAsked>(&there)) {
      // An index takes more GPUs as it grows, so that each scans no more of it than before.
      other.shards = layout_of(q, *vectors, q.cards, law).shards;
    }
  }
}

void make_units(Plan& plan) {
  const std::optional<UnitsAsked>& asked = plan.question.units;
  if (!asked) {
    return;
  }
  UnitsFigures figures;
  figures.unit_rate = asked->unit_rate.value_or(plan.gpu.rate.value_or(Hertz{1.0}));
  figures.units = std::ceil(asked->rate / figures.unit_rate);
  const Joules each = asked->energy.value_or(plan.gpu.count * plan.gpu.power / figures.unit_rate);
  constexpr double year = 365.0 * 24.0 * 3600.0;
  figures.energy = asked->rate.raw() * asked->years * year * each;
  figures.electricity = asked->electricity * figures.energy;
  if (asked->price) {
    figures.capital = figures.units * *asked->price;
    figures.total = *figures.capital + figures.electricity;
  }
  plan.units = figures;
  if (!asked->unit_rate && !plan.gpu.rate) {
    plan.notes.emplace_back("units: a question without a rate counts units of one a second; state units.unit_rate");
  }
}

void tell_work(Plan& plan) {
  const Question& q = plan.question;
  const Work work = work_of(q.algorithm);
  plan.algorithm = work.algorithm;
  plan.size_name = work.size_name;
  plan.size = work.size;
  plan.work = work.flops;
  plan.moved = work.bytes;
  plan.sources = work.sources;
  plan.notes.insert(plan.notes.end(), work.notes.begin(), work.notes.end());
}

}  // namespace

Plan make_plan(Question question) {
  const Numbers& law = numbers(question.sources->data);
  Plan plan;
  plan.question = std::move(question);
  open_cards(plan, law);
  tell_work(plan);
  make_columns(plan, law);
  plan.crossover = crossover_of(plan.question, law);
  if (plan.crossover) {
    plan.crossover_close = close_about(plan.question, law, *plan.crossover);
  }
  make_sweep(plan, law);
  add_figures(plan, law);
  make_units(plan);
  std::stable_sort(plan.cures.begin(), plan.cures.end(),
                   [](const Cure& a, const Cure& b) { return a.time_ratio < b.time_ratio; });
  plan.notes.emplace_back("energy is that of machines at their rated power while they work");
  return plan;
}

}  // namespace headroom::classic
