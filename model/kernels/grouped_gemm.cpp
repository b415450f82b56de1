// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/model/kernels/grouped_gemm.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

// Parameters that the measured layers do not constrain stay near GEMM's. passes, expert and routing: medians over the
// measured engines and SKUs.
constexpr std::array<CurveParameter, moe_parameter_count> parameter_table{{
    {"compute", CurveUnit::share, 0.7, 0.0, 0.02, 1.0},
    {"bandwidth", CurveUnit::share, 0.85, 0.3, 0.05, 1.0},
    {"launch", CurveUnit::seconds, 20e-6, 0.0, 1e-6, 1e-3},
    {"chain", CurveUnit::seconds, 1.5e-9, 0.4, 5e-11, 5e-8},
    {"fill", CurveUnit::share, 200.0, 0.4, 1.0, 5000.0},
    {"l2_rate", CurveUnit::share, 6.0, 0.5, 1.0, 50.0},
    {"passes", CurveUnit::share, 1.5, 0.7, 0.05, 50.0},
    {"expert", CurveUnit::seconds, 3e-8, 1.0, 1e-11, 5e-6},
    {"routing", CurveUnit::seconds, 3e-12, 1.0, 1e-14, 1e-9},
    {"residency", CurveUnit::share, 0.6, 0.5, 0.01, 3.0},
    {"residency_gain", CurveUnit::share, 4.0, 0.5, 1.0, 20.0},
}};

/// The wave weight of GEMM's prior, because layers of many experts do not constrain it.
constexpr double wave = 0.25;

/// Inverse normal distribution for 0.5 <= p < 1 in closed form (Abramowitz and Stegun 1964, 26.2.23): within 4.5e-4 of
/// core's normal_quantile(), whose bisection is too slow here and whose digits the fitted curves do not have.
double rough_normal_quantile(double p) noexcept {
  const double t = std::sqrt(-2.0 * std::log(1.0 - p));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/// The larger of a rank's mean load and the gamma quantile of the hottest of `ranks`.
double hottest(double mean, double variance, double ranks) noexcept {
  if (ranks <= 1.0 || variance <= 0.0) {
    return mean;
  }
  const double z = rough_normal_quantile((ranks - 0.375) / (ranks + 0.25));
  const double kappa = mean * mean / variance;
  const double root = 1.0 - 1.0 / (9.0 * kappa) + z / (3.0 * std::sqrt(kappa));
  return mean * std::max(1.0, root * root * root);
}

void add(ExpertLoad& load, double rows, double experts) noexcept {
  load.classes[load.count++] = {rows, experts};
  load.rows += rows * experts;
  load.active += std::min(1.0, rows) * experts;
}

/// Expert loads that follow a power law, as classes of rows and shares of the experts.
struct Law {
  std::array<double, ExpertLoad::most_classes> rows{};
  std::array<double, ExpertLoad::most_classes> share{};
};

/// Scales all rows to the mean `mean` with an upper bound `cap`; what exceeds the cap goes to the other classes.
void scale_to(Law& law, double mean, double cap) noexcept {
  // Each round caps at least one more class or ends; a few rounds reach the mean to within a thousandth.
  for (int round = 0; round < 8; ++round) {
    double capped = 0.0;
    double open = 0.0;
    for (std::size_t i = 0; i < law.rows.size(); ++i) {
      (law.rows[i] < cap ? open : capped) += law.share[i] * law.rows[i];
    }
    if (open <= 0.0) {
      return;
    }
    const double factor = std::max(0.0, mean - capped) / open;
    for (double& rows : law.rows) {
      rows = rows < cap ? std::min(cap, rows * factor) : cap;
    }
  }
}

/// Points evenly spaced in the logarithm, weighted by x^(1 - alpha), which the moments of a heavy tail need.
Law power_law(const MoeShape& s, double alpha) noexcept {
  const bool many = s.tokens * s.topk > s.experts;
  const double low = many ? 1.0 : 0.01;
  const double high = many ? std::max(1.01, 0.8 * s.tokens) : 2.0;
  const auto classes = static_cast<double>(ExpertLoad::most_classes);
  const double step = std::log(high / low) / classes;
  Law law;
  double sum = 0.0;
  for (std::size_t i = 0; i < law.rows.size(); ++i) {
    const double at = (static_cast<double>(i) + 0.5) * step;
    law.rows[i] = low * std::exp(at);
    law.share[i] = std::exp((1.0 - alpha) * at);
    sum += law.share[i];
  }
  for (double& share : law.share) {
    share /= sum;
  }
  return law;
}

ExpertLoad power_law_load(const MoeShape& s, double alpha) noexcept {
  Law law = power_law(s, alpha);
  const double mean = s.tokens * s.topk / s.experts;
  scale_to(law, mean, s.tokens);
  double variance = 0.0;
  for (std::size_t i = 0; i < law.rows.size(); ++i) {
    variance += law.share[i] * (law.rows[i] - mean) * (law.rows[i] - mean);
  }
  const double held = s.held();
  const double most = std::min(held * law.rows.back(), s.tokens * s.topk);
  const double wanted = std::max(1.0, std::min(most, hottest(held * mean, held * variance, s.ep)));
  scale_to(law, wanted / held, s.tokens);
  ExpertLoad load;
  for (std::size_t i = 0; i < law.rows.size(); ++i) {
    add(load, law.rows[i], held * law.share[i]);
  }
  return load;
}

/// Traffic of permute (reads 16 bit, writes the format), unpermute (reads 16-bit rows, writes 16-bit tokens) and, if
/// the second product's operand is quantised too, of its activations.
double pass_bytes(const MoeShape& s, const ExpertLoad& load, const GemmFormat& f, double inter) noexcept {
  const double permute = load.rows * s.hidden * (2.0 + f.activation_bytes);
  const double unpermute = (load.rows + s.tokens) * s.hidden * 2.0;
  return permute + unpermute + (f.quantises ? load.rows * inter * (2.0 + f.activation_bytes) : 0.0);
}

}  // namespace

std::optional<MoeRouting> parse_routing(std::string_view text) noexcept {
  if (text == "balanced") {
    return MoeRouting{Routing::balanced, 0.0};
  }
  if (text == "uniform") {
    return MoeRouting{Routing::uniform, 0.0};
  }
  constexpr std::string_view law = "power_law_";
  if (text.substr(0, law.size()) != law) {
    return std::nullopt;
  }
  const std::optional<double> alpha = whole_real(text.substr(law.size()));
  if (!alpha || !(*alpha > 0.0) || !std::isfinite(*alpha)) {
    return std::nullopt;
  }
  return MoeRouting{Routing::power_law, *alpha};
}

double ExpertLoad::tiles(double height) const noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Class& c = classes[i];
    if (c.rows < 1.0) {
      sum += c.experts * c.rows;
      continue;
    }
    // The mean lies between two whole numbers of rows: a share of the experts has one row more.
    const double whole = std::floor(c.rows);
    const double more = c.rows - whole;
    sum += c.experts * ((1.0 - more) * round_up(whole / height) + more * round_up((whole + 1.0) / height));
  }
  return sum;
}

ExpertLoad expert_load(const MoeShape& s, const MoeRouting& routing) noexcept {
  if (routing.kind == Routing::power_law) {
    return power_law_load(s, routing.alpha);
  }
  const double rows = std::max(1.0, s.tokens * s.topk / s.ep);
  double active = std::min(s.held(), rows);
  if (routing.kind == Routing::uniform) {
    // An expert is idle if every token chooses others.
    active = std::max(1.0, s.held() * (1.0 - std::pow(1.0 - std::min(1.0, s.topk / s.experts), s.tokens)));
    active = std::min(active, rows);
  }
  ExpertLoad load;
  add(load, rows / active, active);
  return load;
}

const std::array<CurveParameter, moe_parameter_count>& moe_parameters() noexcept {
  return parameter_table;
}

MoeModel::MoeModel(const MoeCurve& curve,
                   const KernelDevice& device,
                   const GemmFormat& format,
                   Residency residency) noexcept
    : curve_{curve},
      format_{format},
      units_{device.units},
      byte_time_{1.0 / (value(MoeParameter::bandwidth) * device.bandwidth.raw())},
      chain4_{fourth(value(MoeParameter::chain) * format.weight_bytes / 2.0)},
      resident_{residency == Residency::benchmark ? value(MoeParameter::residency) * device.l2.raw() : 0.0} {
  const double flop_time = 1.0 / (value(MoeParameter::compute) * device.peak.raw());
  const double l2_time = 1.0 / (value(MoeParameter::l2_rate) * device.bandwidth.raw());
  for (std::size_t i = 0; i < tile_menu.size(); ++i) {
    const double m = tile_menu[i][0];
    const double n = tile_menu[i][1];
    tiles_[i].inverse_n = 1.0 / n;
    tiles_[i].compute4 = fourth(2.0 * m * n * units_ * flop_time);
    tiles_[i].l2 = (m * format.activation_bytes + n * format.weight_bytes) * l2_time;
    tiles_[i].height = static_cast<std::size_t>(std::find(heights.begin(), heights.end(), m) - heights.begin());
  }
}

double MoeModel::product(const Product& p, const Grid& tiles) const noexcept {
  double least4 = HUGE_VAL;
  for (const Tile& tile : tiles_) {
    const double ctas = tiles[tile.height] * round_up(p.n * tile.inverse_n);
    const double busy = fourth(std::min(ctas, units_) * tile.l2);
    least4 = std::min(least4, fourth(turns(ctas / units_, wave)) * (tile.compute4 + busy));
  }
  // Memory traffic does not depend on the tile, so the fastest loop gives the fastest product.
  const double loop = fourth_root(least4 + chain4_) * (p.k + value(MoeParameter::fill));
  return norm3(loop, p.memory);
}

Seconds MoeModel::time(const MoeShape& shape, const ExpertLoad& load) const noexcept {
  return explain(shape, load).total;
}

MoeTime MoeModel::explain(const MoeShape& s, const ExpertLoad& load) const noexcept {
  const double inter = s.inter / s.tp;
  const double columns = (s.gated ? 2.0 : 1.0) * inter;
  const double up_weights = load.active * columns * s.hidden * format_.weight_bytes;
  const double down_weights = load.active * s.hidden * inter * format_.weight_bytes;
  const double up_rows = load.rows * (s.hidden * format_.activation_bytes + columns * format_.output_bytes);
  const double down_rows = load.rows * (inter * format_.activation_bytes + s.hidden * format_.output_bytes);
  MoeTime t;
  double byte_time = byte_time_;
  if (resident_ > 0.0) {
    const double tokens_twice = 2.0 * s.tokens * s.hidden * 2.0;
    const double share = (up_weights + down_weights + up_rows + load.rows * s.hidden * 2.0 + tokens_twice) / resident_;
    t.hit = std::exp(-share * share);
    byte_time *= 1.0 - t.hit + t.hit / value(MoeParameter::residency_gain);
  }
  Grid grid{};
  for (std::size_t i = 0; i < heights.size(); ++i) {
    grid[i] = load.tiles(heights[i]);
  }
  t.weights = Bytes{up_weights + down_weights};
  t.launch = Seconds{value(MoeParameter::launch)};
  t.up = Seconds{product({columns, s.hidden, (up_weights + up_rows) * byte_time}, grid)};
  t.down = Seconds{product({s.hidden, inter, (down_weights + down_rows) * byte_time}, grid)};
  t.passes = Seconds{value(MoeParameter::passes) * pass_bytes(s, load, format_, inter) * byte_time};
  t.experts = Seconds{value(MoeParameter::expert) * load.active};
  t.routing = Seconds{value(MoeParameter::routing) * s.tokens * s.experts};
  t.total = t.launch + t.up + t.down + t.passes + t.experts + t.routing;
  return t;
}

}  // namespace headroom
