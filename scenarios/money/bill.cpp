// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/money/bill.hpp>

#include <cmath>

namespace headroom {
namespace {

template <class Price, class Q>
Interval<Dollars> times(Price price, const Interval<Q>& amount) {
  return {price * amount.low, price * amount.mid, price * amount.high};
}

Interval<Dollars> exactly(Dollars cost) noexcept {
  return {cost, cost, cost};
}

bool owned(const GpuPrice& price) noexcept {
  return !price.parts.empty();
}

/// "12 500 h of use (1.42 y without a pause)"
std::string use_text(Seconds use) {
  return format_count(std::round(use / hour)) + " h of use (" + format_number(use / common_year) +
         " y without a pause)";
}

/// Break-even of buying against renting: time of use that pays the capital back.
BreakEven of_buying(const OwnedHardware& hardware, const GpuPrice& rented) {
  const Seconds use = buying_breaks_even(hardware.terms, *rented.price);
  BreakEven even{use.raw(), "s", {}};
  if (!std::isfinite(use.raw())) {
    even.text = "buying never pays: power and upkeep alone cost what the rent does";
    return even;
  }
  const Seconds works = hardware.terms.utilisation * hardware.terms.lifetime;
  even.text = "buying pays after " + use_text(use) + " against " + format(*rented.price) +
              (use > works ? ", more than the " + format_count(std::round(works / hour)) + " h that it will work"
                           : std::string{});
  return even;
}

/// Break-even between markets. A reservation is paid in idle hours too; spot capacity is also paid for lost work.
std::optional<BreakEven> of_markets(const GpuPrice& ours, const GpuPrice& other) {
  const auto pair = [&](PaidAs a, PaidAs b) { return ours.market == a && other.market == b; };
  const auto share = [](const GpuPrice& less, const GpuPrice& more) {
    return reservation_breaks_even(*less.price, *more.price);
  };
  if (pair(PaidAs::on_demand, PaidAs::reserved) || pair(PaidAs::reserved, PaidAs::on_demand)) {
    const bool theirs = other.market == PaidAs::reserved;
    const double used = theirs ? share(other, ours) : share(ours, other);
    const std::string text = used < 1.0 ? "reserving pays when more than " + percent(used) + " of its hours are used"
                                        : std::string{"reserving costs more an hour: it never pays"};
    return BreakEven{used, "1", text};
  }
  if (pair(PaidAs::on_demand, PaidAs::spot) || pair(PaidAs::spot, PaidAs::on_demand)) {
    const bool theirs = other.market == PaidAs::spot;
    const double useful = theirs ? share(other, ours) : share(ours, other);
    const std::string text = useful < 1.0
                                 ? "spot pays while more than " + percent(useful) + " of its hours are useful work"
                                 : std::string{"spot costs more an hour: it never pays"};
    return BreakEven{useful, "1", text};
  }
  return std::nullopt;
}

std::optional<BreakEven> break_even(const Money& money, const GpuPrice& other) {
  if (owned(other)) {
    return of_buying(*money.owned, money);
  }
  if (owned(money)) {
    return of_buying(*money.owned, other);
  }
  return of_markets(money, other);
}

std::string dated_source(const Stated& stated) {
  const std::string unnamed = stated.date.empty() ? "stated on the command line, undated" : "scenario";
  return stated.source.empty() ? unnamed : stated.source;
}

void add_gpus(const Money& money, double gpus, const Interval<Seconds>& calendar, Bill& bill) {
  if (!owned(money)) {
    bill.items.push_back({"gpus", times(gpus * *money.price, calendar), money.source, money.date});
    return;
  }
  for (const PricePart& part : money.parts) {
    if (part.per_gpu > DollarsPerSecond{}) {
      const bool draws = part.part == CostPart::electricity;
      bill.items.push_back({"gpus: " + std::string{part.name()}, times(gpus * part.per_gpu, calendar),
                            (draws ? format(money.owned->terms.power) + " a GPU, " : std::string{}) + money.source,
                            money.date});
    }
  }
}

void add_bytes(const Money& money, const Interval<Seconds>& calendar, Bill& bill) {
  if (const auto& s = money.storage) {
    const Interval<Seconds> kept = s->kept ? Interval<Seconds>{*s->kept, *s->kept, *s->kept} : calendar;
    bill.items.push_back({"storage", times(s->size * s->price, kept), dated_source(s->stated) + ", " + format(s->price),
                          s->stated.date});
  }
  if (const auto& e = money.egress) {
    bill.items.push_back(
        {"egress", exactly(e->size * e->price), dated_source(e->stated) + ", " + format(e->price), e->stated.date});
  }
}

}  // namespace

Bill bill_of(const Money& money, double gpus, const Interval<Seconds>& calendar) {
  Bill bill;
  if (!money.price) {
    return bill;
  }
  const bool runs = calendar.mid > Seconds{};
  if (runs) {
    add_gpus(money, gpus, calendar, bill);
    add_bytes(money, calendar, bill);
    for (const BillItem& item : bill.items) {
      bill.total.low += item.cost.low;
      bill.total.mid += item.cost.mid;
      bill.total.high += item.cost.high;
    }
  }
  for (const GpuPrice& other : money.against) {
    Alternative alternative;
    alternative.price = other;
    if (runs) {
      alternative.cost = times(gpus * *other.price, calendar);
    }
    alternative.break_even = break_even(money, other);
    bill.alternatives.push_back(std::move(alternative));
  }
  return bill;
}

Bill serving_bill(const Money& money, const ServedLoad& load) {
  Bill bill = bill_of(money, load.gpus, {});
  if (!money.price || load.output_tokens_per_s <= 0.0) {
    return bill;
  }
  for (Alternative& alternative : bill.alternatives) {
    alternative.per_million = cost_per_million(load.gpus * *alternative.price.price, Hertz{load.output_tokens_per_s});
  }
  if (!money.api) {
    return bill;
  }
  const ApiPrice& api = *money.api;
  const Dollars request = 1e-6 * (load.isl * api.input + load.osl * api.output);
  const double tokens_per_s = load.osl * hosting_breaks_even(load.gpus * *money.price, request).raw();
  const double share = tokens_per_s / load.output_tokens_per_s;
  Alternative alternative;
  alternative.price.name = api.name;
  alternative.price.market = PaidAs::api;
  alternative.price.date = api.stated.date;
  alternative.price.source = dated_source(api.stated) + (api.stated.date.empty() ? "" : ", " + api.stated.date);
  alternative.per_million = 1e6 / load.osl * request;
  alternative.break_even =
      BreakEven{tokens_per_s, "tokens/s",
                share <= 1.0 ? "serving it oneself pays above " + format_number(tokens_per_s) + " output tokens/s, " +
                                   percent(share) + " of what the machine reaches"
                             : "the API is cheaper at any load: it would take " + format_number(tokens_per_s) +
                                   " output tokens/s, " + format_number(share) + " times what the machine reaches"};
  bill.alternatives.push_back(std::move(alternative));
  return bill;
}

}  // namespace headroom
