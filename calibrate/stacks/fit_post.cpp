// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_post.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/post_training/software.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 5> number_keys{"rollout", "train", "logprob", "fixed", "swap"};
constexpr std::array<std::string_view, 3> path_keys{"share", "start", "each"};

/// What somebody would expect who has seen no row: a phase takes half as long again as its engine or its training
/// stack, and some seconds go beside the phases. Ways of sending: buckets that all ranks send fill a link, what passes
/// tensor by tensor half of it and in pieces a third; one thread, one socket and one store move a gigabyte a second;
/// what is on the GPU, and sockets that stay open, begin at once, what waits for other processes after a second.
constexpr double expected_stretch = 1.5, stretch_width = 0.5;
constexpr double expected_seconds = 5.0, seconds_width = 1.0;
constexpr double share_width = 0.8, start_width = 1.0, each_width = 1.5;
constexpr std::array<SyncPath, weight_sync_names.size()> expected_paths{{
    {1.0, Seconds{0.1}, {}},             // local
    {0.5, Seconds{1.0}, Seconds{1e-3}},  // broadcast
    {0.3, Seconds{1.0}, {}},             // sharded
    {1.0, Seconds{1.0}, {}},             // delta, GB/s
    {1.0, Seconds{1.0}, {}},             // host
    {1.0, Seconds{0.1}, {}},             // gloo, GB/s
    {1.0, Seconds{1.0}, {}},             // storage, GB/s
    {1.0, Seconds{1.0}, {}},             // gathered
}};
constexpr double software_width = 0.35;  // of a software's numbers around the population's, before it is estimated

double& number_at(PostTrainNumbers& numbers, std::size_t key) noexcept {
  switch (key) {
    case 0: return numbers.rollout;
    case 1: return numbers.train;
    default: return numbers.logprob;
  }
}

void set_number(PostTrainNumbers& numbers, std::size_t key, double value) {
  if (key < 3) {
    number_at(numbers, key) = value;
  } else {
    (key == 3 ? numbers.fixed : numbers.swap) = Seconds{value};
  }
}

double number_of(const PostTrainNumbers& numbers, std::size_t key) {
  PostTrainNumbers copy = numbers;
  return key < 3 ? number_at(copy, key) : (key == 3 ? numbers.fixed : numbers.swap).raw();
}

/// The way by which a configuration's weights travel, as `sync_time` takes it.
WeightSync way_of(const PostTrainCase& known) {
  const PostTrainQuestion& q = *known.question;
  const WeightSync way = known.way ? known.way->sync : *q.sync;
  const bool hosts = known.way ? known.way->flow.placement != PostTrainPlacement::colocated || q.gpus > q.per_node
                               : q.gpus > q.per_node || (*q.placement != PostTrainPlacement::colocated && q.gpus == 0);
  return way_between(way, hosts);
}

class Problem {
 public:
  Problem(const std::vector<FittedPostTrainRun>& runs, const ModelData& data) {
    const PostTrainSoftware& any = *find_post_train_software(data, "any");
    start_.population = any.numbers;
    start_.paths = expected_paths;  // of ways that no row takes
    for (std::size_t key = 0; key < number_keys.size(); ++key) {
      const bool time = key >= 3;
      add({PostTrainOwner::population, "", std::string{number_keys[key]}, number_of(any.numbers, key),
           time ? expected_seconds : expected_stretch, time ? 0.01 : 0.1, time ? 200.0 : 15.0,
           time ? seconds_width : stretch_width, -1});
    }
    std::set<std::string> softwares;
    std::set<WeightSync> ways;
    for (const FittedPostTrainRun& run : runs) {
      if (run.known->way) {
        softwares.insert(run.software);
      }
      if (run.figure == PostTrainFigure::sync) {
        ways.insert(way_of(*run.known));
      }
    }
    for (const std::string& id : softwares) {
      if (id == "any") {
        continue;
      }
      const PostTrainNumbers& numbers = find_post_train_software(data, id)->numbers;
      for (std::size_t key = 0; key < number_keys.size(); ++key) {
        const PostTrainKnob& parent = knobs_[key];
        add({PostTrainOwner::software, id, std::string{number_keys[key]}, number_of(numbers, key), parent.centre,
             parent.low, parent.high, software_width, static_cast<std::ptrdiff_t>(key)});
      }
    }
    for (const WeightSync way : ways) {
      const SyncPath& path = any.paths[static_cast<std::size_t>(way)];
      const SyncPath& expected = expected_paths[static_cast<std::size_t>(way)];
      const std::string id{weight_sync_names[static_cast<std::size_t>(way)]};
      const double most = is_own_rate(way) ? 20.0 : 1.0;  // no link gives more than it has
      add({PostTrainOwner::way, id, "share", path.share, expected.share, 1e-3, most, share_width, -1});
      add({PostTrainOwner::way, id, "start", path.start.raw(), expected.start.raw(), 1e-2, 60.0, start_width, -1});
      if (expected.each > Seconds{}) {
        add({PostTrainOwner::way, id, "each", path.each.raw(), expected.each.raw(), 1e-6, 0.1, each_width, -1});
      }
    }
  }

  [[nodiscard]] const std::vector<PostTrainKnob>& knobs() const noexcept { return knobs_; }

  [[nodiscard]] std::vector<FitCoordinate> coordinates() const {
    std::vector<FitCoordinate> all;
    for (const PostTrainKnob& k : knobs_) {
      FitCoordinate c;
      c.low = std::log(k.low);
      c.high = std::log(k.high);
      c.start = std::clamp(std::log(std::max(1e-9, k.value)), c.low, c.high);
      c.centre = std::log(k.centre);
      c.width = k.width;
      c.parent = k.parent;
      c.group = k.owner == PostTrainOwner::software ? k.parent : -1;
      all.push_back(c);
    }
    return all;
  }

  [[nodiscard]] PostTrainPoint at(std::span<const double> point) const {
    PostTrainPoint all = start_;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const PostTrainKnob& k = knobs_[i];
      const double value = std::exp(point[i]);
      if (k.owner == PostTrainOwner::way) {
        const auto* const way = std::find(weight_sync_names.begin(), weight_sync_names.end(), k.id);
        SyncPath& path = all.paths[static_cast<std::size_t>(way - weight_sync_names.begin())];
        if (k.key == path_keys[0]) {
          path.share = value;
        } else {
          (k.key == path_keys[1] ? path.start : path.each) = Seconds{value};
        }
        continue;
      }
      const auto* const key = std::find(number_keys.begin(), number_keys.end(), k.key);
      set_number(k.owner == PostTrainOwner::population ? all.population : all.of[k.id],
                 static_cast<std::size_t>(key - number_keys.begin()), value);
    }
    return all;
  }

  /// Knobs that a run's error depends on.
  [[nodiscard]] std::vector<std::size_t> behind(const FittedPostTrainRun& run) const {
    std::vector<std::size_t> all;
    const bool whole = run.figure == PostTrainFigure::step && !run.beside;
    // What is wrong with a whole step may be anything: of the way that its weights travel it says nothing.
    const bool sends = run.figure == PostTrainFigure::sync;
    const std::string_view way = sends ? weight_sync_names[static_cast<std::size_t>(way_of(*run.known))] : "";
    const bool alone = run.known->way && run.known->way->engine_tp == 0;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const PostTrainKnob& k = knobs_[i];
      if (k.owner == PostTrainOwner::way) {
        if (sends && k.id == way) {
          all.push_back(i);
        }
        continue;
      }
      if (!run.known->way || k.id != (has(run.software) ? run.software : std::string{}) ||
          (k.owner == PostTrainOwner::population) == has(run.software)) {
        continue;
      }
      const bool moves = alone        ? k.key == "train"
                         : run.beside ? k.key == "fixed" || k.key == "swap" || k.key == "logprob"
                         : whole      ? true
                         : run.figure == PostTrainFigure::rollout ? k.key == "rollout"
                         : run.figure == PostTrainFigure::train   ? k.key == "train" || k.key == "logprob"
                         : run.figure == PostTrainFigure::passes  ? k.key == "logprob"
                                                                  : k.key == "swap";
      if (moves) {
        all.push_back(i);
      }
    }
    return all;
  }

 private:
  void add(PostTrainKnob knob) { knobs_.push_back(std::move(knob)); }
  [[nodiscard]] bool has(std::string_view software) const {
    return std::any_of(knobs_.begin(), knobs_.end(),
                       [&](const PostTrainKnob& k) { return k.owner == PostTrainOwner::software && k.id == software; });
  }

  std::vector<PostTrainKnob> knobs_;
  PostTrainPoint start_;
};

/// Id of its policy, or the size of what is sent.
std::string model_of(const FittedPostTrainRun& run) {
  const PostTrainQuestion& q = *run.known->question;
  return q.model.empty() ? std::to_string(std::llround(q.parameters)) : q.model;
}

double error_of(const FittedPostTrainRun& run, const PostTrainNumbers& numbers, std::span<const SyncPath> paths) {
  const double value = post_train_value(*run.known, numbers, paths, run.row->metric).value_or(0.0);
  if (run.figure == PostTrainFigure::idle) {
    return value - run.row->measured;
  }
  const bool rate = run.row->metric == "tokens_per_s_per_gpu" || run.row->metric == "samples_per_s";
  const double log = std::log(std::max(1e-12, value) / run.row->measured);
  return rate ? -log : log;
}

double error_of(const FittedPostTrainRun& run, const PostTrainPoint& point) {
  return error_of(run, point.numbers_of(run.software), point.paths);
}

bool is_fitted(const FittedPostTrainRun& run) noexcept {
  return run.figure != PostTrainFigure::idle;
}

void gather(std::span<const RunFile> files, const PostTrainFitOptions& options, PostTrainFit& fit) {
  for (const RunFile& file : files) {
    if (file.form != RowForm::post_training) {
      continue;
    }
    for (const RunRow& row : file.rows) {
      if (row.doubted || row.measured <= 0.0) {
        continue;
      }
      ++fit.asked;
      const PostTrainCase& known = fit.model->priced(file, row);
      if (!known.question) {
        continue;
      }
      const PostTrainSoftware& software = known.question->software;
      if (!post_train_value(known, software.numbers, software.paths, row.metric)) {
        continue;
      }
      ++fit.answered;
      FittedPostTrainRun run;
      run.row = &row;
      run.known = &known;
      run.software = software.id;
      const std::optional<PostTrainFigure> figure = figure_of(row.metric);
      run.figure = figure.value_or(PostTrainFigure::step);
      run.beside = !figure;
      // Of asynchronous runs they hold the wait for samples.
      if (run.beside && known.question->order == PostTrainOrder::asynchronous) {
        continue;
      }
      run.left_out = std::numeric_limits<double>::quiet_NaN();
      run.before = error_of(run, software.numbers, software.paths);
      fit.runs.push_back(run);
    }
  }
  std::map<std::array<std::string, 3>, double> sizes;
  const auto key = [](const FittedPostTrainRun& run) {
    return std::array<std::string, 3>{run.row->source, model_of(run), run.row->metric};
  };
  for (const FittedPostTrainRun& run : fit.runs) {
    sizes[key(run)] += 1.0;
  }
  for (FittedPostTrainRun& run : fit.runs) {
    const double noise = options.noise * options.noise, doubt = run.known->question->length_doubt;
    run.weight = std::pow(sizes[key(run)], -0.35) * noise / (noise + doubt * doubt);
  }
}

struct Solved {
  std::vector<PostTrainKnob> knobs;
  HierarchicalResult result;
  PostTrainPoint point;
};

Solved solve(const std::vector<FittedPostTrainRun>& runs, const ModelData& data, const PostTrainFitOptions& options) {
  std::vector<FittedPostTrainRun> fitted;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(fitted), is_fitted);
  const Problem problem{fitted, data};
  std::map<std::string, std::size_t> families;
  std::vector<FitSample> samples;
  for (const FittedPostTrainRun& run : fitted) {
    const std::string family = run.row->source + "/" + model_of(run);
    samples.push_back({run.weight, families.try_emplace(family, families.size()).first->second, problem.behind(run)});
  }
  HierarchicalOptions how;
  how.scale = options.scale;
  how.noise = options.noise;
  how.variance_rounds = 6;
  const SampleErrors errors = [&](std::span<const double> point, std::span<const std::size_t> which,
                                  std::span<double> out, std::size_t) {
    const PostTrainPoint all = problem.at(point);
    for (std::size_t i = 0; i < which.size(); ++i) {
      out[i] = error_of(fitted[which[i]], all);
    }
  };
  HierarchicalFit solver{problem.coordinates(), samples, errors, how};
  Solved solved{problem.knobs(), solver.fit(), {}};
  solved.point = problem.at(solved.result.point);
  return solved;
}

}  // namespace

std::string PostTrainKnob::name() const {
  return owner == PostTrainOwner::population ? "any." + key
                                             : (owner == PostTrainOwner::way ? "sync." : "") + id + "." + key;
}

bool PostTrainKnob::is_time() const noexcept {
  return key == "fixed" || key == "swap" || key == "start" || key == "each";
}

const PostTrainNumbers& PostTrainPoint::numbers_of(std::string_view software) const {
  const auto found = of.find(software);
  return found == of.end() ? population : found->second;
}

PostTrainFit fit_post_training(std::span<const RunFile> files,
                               const Sources& sources,
                               const PostTrainFitOptions& options,
                               const std::function<void(std::string_view)>& progress) {
  const auto silent = [](std::string_view /*what*/) {};
  const std::function<void(std::string_view)> tell = progress ? progress : silent;
  PostTrainFit fit;
  fit.model = std::make_shared<PostTrainRowModel>(sources);
  gather(files, options, fit);
  if (fit.runs.empty()) {
    throw ConfigError{"no row of these files is a step of post-training that the model answers"};
  }
  tell("fitting " + std::to_string(fit.runs.size()) + " rows");
  Solved whole = solve(fit.runs, sources.data, options);
  fit.knobs = std::move(whole.knobs);
  fit.result = std::move(whole.result);
  for (const double x : fit.result.point) {
    fit.values.push_back(std::exp(x));
  }
  std::set<std::string> publications;
  for (FittedPostTrainRun& run : fit.runs) {
    run.fitted = error_of(run, whole.point);
    publications.insert(run.row->source);
  }
  for (const std::string& source : publications) {
    std::vector<FittedPostTrainRun> others;
    std::set<std::string> left;
    for (const FittedPostTrainRun& run : fit.runs) {
      if (run.row->source != source) {
        others.push_back(run);
        if (run.known->way) {
          left.insert(run.software);
        }
      }
    }
    if (!options.leave_out || others.empty()) {
      continue;
    }
    tell("without " + source);
    const PostTrainPoint rest = solve(others, sources.data, options).point;
    for (FittedPostTrainRun& run : fit.runs) {
      if (run.row->source == source) {
        run.left_out = error_of(run, rest);
        run.others_left = left.contains(run.software);
      }
    }
  }
  return fit;
}

double left_out_width(const PostTrainFit& fit,
                      PostTrainFigure figure,
                      const std::function<bool(const FittedPostTrainRun&)>& of,
                      std::size_t least) {
  constexpr double held = 0.8;
  std::vector<double> sizes;
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.figure == figure && !run.beside && std::isfinite(run.left_out) && of(run)) {
      sizes.push_back(std::abs(run.left_out));
    }
  }
  // Of n errors that are alike the next one lies within the k-th with probability k / (n + 1).
  const auto rank = static_cast<std::size_t>(std::ceil(held * static_cast<double>(sizes.size() + 1) - 1e-9));
  if (sizes.size() < least || rank > sizes.size() || rank == 0) {
    return 0.0;
  }
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rank - 1), sizes.end());
  const double size = sizes[rank - 1];
  return figure == PostTrainFigure::idle ? size : std::expm1(size);
}

std::size_t left_out_sources(const PostTrainFit& fit,
                             PostTrainFigure figure,
                             const std::function<bool(const FittedPostTrainRun&)>& of) {
  std::set<std::string> sources;
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.figure == figure && !run.beside && std::isfinite(run.left_out) && of(run)) {
      sources.insert(run.row->source);
    }
  }
  return sources.size();
}

namespace {

/// Of the rows that count; where they are of fewer than three publications, what the width of whole steps does to an
/// idle share: a step longer by w beside the same training waits w / (1 + w) of itself more.
double told_width(const PostTrainFit& fit,
                  PostTrainFigure figure,
                  const std::function<bool(const FittedPostTrainRun&)>& of) {
  constexpr std::size_t enough = 3;
  const bool few = left_out_sources(fit, figure, of) < enough;
  if (figure == PostTrainFigure::idle && few) {
    const double step = left_out_width(fit, PostTrainFigure::step, of);
    return step / (1.0 + step);
  }
  return left_out_width(fit, figure, of);
}

}  // namespace

double width_of(const PostTrainFit& fit, PostTrainFigure figure, std::string_view software) {
  constexpr std::size_t least = 12;
  const double own = left_out_width(
      fit, figure, [&](const FittedPostTrainRun& run) { return run.software == software && run.others_left; }, least);
  return own > 0.0 ? own : told_width(fit, figure, [](const FittedPostTrainRun&) { return true; });
}

double left_out_coverage(const PostTrainFit& fit, PostTrainFigure figure) {
  double inside = 0.0, all = 0.0;
  for (const FittedPostTrainRun& run : fit.runs) {
    if (run.figure != figure || run.beside || !std::isfinite(run.left_out)) {
      continue;
    }
    const double width =
        told_width(fit, figure, [&](const FittedPostTrainRun& other) { return other.row->source != run.row->source; });
    const double size = figure == PostTrainFigure::idle ? std::abs(run.left_out) : std::expm1(std::abs(run.left_out));
    all += 1.0;
    inside += size <= width ? 1.0 : 0.0;
  }
  return all > 0.0 ? inside / all : 0.0;
}

}  // namespace headroom
