// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/robust_fit.hpp>
#include <headroom/calibrate/stacks/fit_classic.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>
#include <utility>

namespace headroom {
namespace {

using classic::MediaNumbers;
using classic::Numbers;

/// What a fit tries.
struct Tried {
  Numbers numbers;
  MediaNumbers media;
};
struct Knob {
  std::string name;
  std::function<double(Tried)> read;
  std::function<void(Tried&, double)> write;
};
struct Law {
  std::string name;
  std::function<bool(const RunFile&, const RunRow&)> answers;
  std::vector<Knob> knobs;
};

std::string cell_of(const RunFile& file, const RunRow& row, std::string_view column) {
  return cell(file, row, column).value_or("");
}

/// A knob of a member that `member` finds: a plain number or a quantity.
template <class Member>
Knob knob_of(std::string name, Member member) {
  const auto raw = [](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
      return value;
    } else {
      return value.raw();
    }
  };
  return {std::move(name), [=](Tried tried) { return raw(member(tried)); },
          [=](Tried& tried, double value) {
            auto& at = member(tried);
            at = std::decay_t<decltype(at)>{value};
          }};
}

template <class Each>
Each& library_of(std::vector<Each>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const Each& each) { return each.package == name; });
}

bool times_trees(const RunFile& file, const RunRow& row, const std::string& library, bool cores) {
  const std::string config = cell_of(file, row, "config");
  return cell_of(file, row, "workload") == "gbdt_train" && row.metric == "train_time_s" &&
         (config.starts_with(library) || (library == "h2o" && config.starts_with("h2o"))) &&
         config.find("dataset=") == std::string::npos &&
         (cell_of(file, row, "hardware").find("CPU") != std::string::npos) == cores;
}

void add_trees(std::vector<Law>& laws) {
  const auto gpu = [&](const std::string& library, std::initializer_list<std::string_view> names) {
    Law& law = laws.emplace_back();
    law.name = "trees." + library + ".gpu";
    law.answers = [=](const RunFile& file, const RunRow& row) { return times_trees(file, row, library, false); };
    for (const std::string_view name : names) {
      law.knobs.push_back(knob_of(std::string{name}, [=](Tried& tried) -> Seconds& {
        classic::GpuTrees& trees = library_of(tried.numbers.gpu_trees, library);
        return name == "level"      ? trees.level
               : name == "node"     ? trees.node
               : name == "update"   ? trees.update
               : name == "quantise" ? trees.quantise
                                    : trees.host_serial;
      }));
    }
  };
  gpu("xgboost", {"level", "node", "update"});
  gpu("catboost", {"level", "update", "quantise"});
  gpu("lightgbm", {"level", "host_serial"});
  laws.back().knobs.push_back(
      knob_of("host_bytes", [](Tried& t) -> Bytes& { return library_of(t.numbers.gpu_trees, "lightgbm").host_bytes; }));
  gpu("h2o", {"level", "node", "update"});
  const auto cpu = [&](const std::string& library, std::initializer_list<std::string_view> names) {
    Law& law = laws.emplace_back();
    law.name = "trees." + library + ".cpu";
    law.answers = [=](const RunFile& file, const RunRow& row) { return times_trees(file, row, library, true); };
    const auto of = [=](Tried& tried) -> classic::CpuTrees& { return library_of(tried.numbers.cpu_trees, library); };
    for (const std::string_view name : names) {
      law.knobs.push_back(name == "serial"  ? knob_of("serial", [=](Tried& t) -> double& { return of(t).serial; })
                          : name == "early" ? knob_of("early", [=](Tried& t) -> double& { return of(t).early; })
                                            : knob_of(std::string{name}, [=](Tried& t) -> Seconds& {
                                                classic::CpuTrees& trees = of(t);
                                                return name == "update"    ? trees.update
                                                       : name == "level"   ? trees.level
                                                       : name == "barrier" ? trees.barrier
                                                       : name == "across"  ? trees.across
                                                                           : trees.far;
                                              }));
    }
  };
  cpu("xgboost", {"update", "level", "serial", "across", "far", "early"});
  cpu("lightgbm", {"update", "level", "serial", "barrier", "across"});
  cpu("catboost", {"update", "level", "serial", "barrier"});
  cpu("h2o", {"level", "far"});
}

void add_recommenders(std::vector<Law>& laws) {
  const auto knob = [](const char* name, auto member) {
    return knob_of(
        name, [=](Tried & t) -> auto& { return t.numbers.recommender.*member; });
  };
  using R = Numbers::Recommender;
  laws.push_back({"recommender.train",
                  [](const RunFile& file, const RunRow& row) {
                    return cell_of(file, row, "workload") == "dlrm_train" &&
                           (row.metric == "samples_per_s" || row.metric == "time_to_train_s");
                  },
                  {knob("efficiency", &R::efficiency), knob("gather", &R::gather), knob("exchange", &R::exchange),
                   knob("step", &R::step)}});
  laws.push_back({"recommender.serve",
                  [](const RunFile& file, const RunRow& row) {
                    return cell_of(file, row, "workload") == "dlrm_infer" &&
                           cell_of(file, row, "config").find("HPS") != std::string::npos;
                  },
                  {knob("serve_request", &R::serve_request), knob("serve_card", &R::serve_card),
                   knob("serve_efficiency", &R::serve_efficiency), knob("serve_key", &R::serve_key),
                   knob("serve_tail", &R::serve_tail)}});
}

void add_kmeans(std::vector<Law>& laws) {
  const auto knob = [](const char* name, auto member) {
    return knob_of(
        name, [=](Tried & t) -> auto& { return t.numbers.kmeans.*member; });
  };
  using K = Numbers::KMeans;
  laws.push_back({"kmeans",
                  [](const RunFile& file, const RunRow& row) {
                    return cell_of(file, row, "workload") == "kmeans" && row.metric == "train_time_s";
                  },
                  {knob("efficiency", &K::efficiency), knob("early_efficiency", &K::early_efficiency),
                   knob("host", &K::host), knob("centroid", &K::centroid)}});
}

void add_media(std::vector<Law>& laws, const MediaNumbers& media) {
  const auto of_workload = [](std::string_view workload) {
    return [=](const RunFile& file, const RunRow& row) { return cell_of(file, row, "workload") == workload; };
  };
  Law video{"video", {}, {}};
  video.answers = [](const RunFile& file, const RunRow& row) {
    return cell_of(file, row, "workload") == "video_enhance" && row.metric != "device_memory_mb";
  };
  video.knobs.push_back(knob_of("intensity", [](Tried& t) -> double& { return t.media.video.intensity; }));
  for (std::size_t i = 0; i < media.video.effects.size(); ++i) {
    video.knobs.push_back(knob_of(media.video.effects[i].name + ".bytes",
                                  [=](Tried& t) -> Bytes& { return t.media.video.effects[i].bytes; }));
  }
  laws.push_back(std::move(video));
  using S = MediaNumbers::Simulator;
  Law simulator{"simulator", of_workload("rl_sim"), {}};
  const auto of_simulator = [](const char* name, auto member) {
    return knob_of(name, [=](Tried& t) -> Seconds& { return t.media.simulator.*member; });
  };
  simulator.knobs = {of_simulator("substep", &S::substep), of_simulator("camera", &S::camera),
                     of_simulator("sample", &S::sample), of_simulator("learn", &S::learn),
                     of_simulator("exchange", &S::exchange)};
  for (std::size_t i = 0; i < media.simulator.tasks.size(); ++i) {
    if (media.simulator.tasks[i].contact > Seconds{}) {
      simulator.knobs.push_back(knob_of(media.simulator.tasks[i].name + ".contact",
                                        [=](Tried& t) -> Seconds& { return t.media.simulator.tasks[i].contact; }));
    }
  }
  laws.push_back(std::move(simulator));
  laws.push_back({"policy",
                  of_workload("vla_infer"),
                  {knob_of("efficiency", [](Tried& t) -> double& { return t.media.policy.efficiency; }),
                   knob_of("step", [](Tried& t) -> Seconds& { return t.media.policy.step; })}});
}

struct Row {
  const RunFile* file = nullptr;
  const RunRow* row = nullptr;
  std::string machine;
};

class LawFit {
 public:
  LawFit(const Law& law, std::vector<Row> rows, const Sources& sources, const Tried& start)
      : law_{law}, rows_{std::move(rows)}, sources_{sources}, start_{start} {}

  ClassicLawFit run(bool leave_out) {
    ClassicLawFit fit;
    fit.law = law_.name;
    const std::vector<double> whole = fitted(rows_);
    for (std::size_t i = 0; i < law_.knobs.size(); ++i) {
      fit.numbers.push_back({law_.knobs[i].name, law_.knobs[i].read(start_), whole[i]});
    }
    fit.before = fit_errors(logs(start_, rows_));
    fit.fitted = fit_errors(logs(at(whole), rows_));
    std::set<std::string> machines;
    for (const Row& row : rows_) {
      machines.insert(row.machine);
    }
    fit.machines = machines.size();
    if (!leave_out || machines.size() < 2) {
      return fit;
    }
    std::vector<double> left;
    for (const std::string& machine : machines) {
      std::vector<Row> kept, out;
      for (const Row& row : rows_) {
        (row.machine == machine ? out : kept).push_back(row);
      }
      const std::vector<double> theirs = logs(at(fitted(kept)), out);
      left.insert(left.end(), theirs.begin(), theirs.end());
    }
    fit.left_out = fit_errors(left);
    std::vector<double> sizes;
    for (const double log : left) {
      sizes.push_back(std::abs(log));
    }
    fit.width = std::expm1(quantile(sizes, 0.8));
    return fit;
  }

 private:
  [[nodiscard]] Tried at(std::span<const double> values) const {
    Tried tried = start_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      law_.knobs[i].write(tried, values[i]);
    }
    return tried;
  }
  /// ln(predicted / measured) of each row.
  [[nodiscard]] std::vector<double> logs(const Tried& tried, const std::vector<Row>& rows) const {
    const ClassicLaws laws{sources_.catalog, sources_.data, tried.numbers, tried.media, false};
    std::vector<double> all;
    for (const Row& row : rows) {
      const double predicted = predict_classic(laws, *row.file, *row.row).predicted;
      all.push_back(std::log(std::max(1e-30, predicted) / row.row->measured));
    }
    return all;
  }
  [[nodiscard]] std::vector<double> fitted(const std::vector<Row>& rows) const {
    constexpr double far = 1e6;
    std::vector<FitParameter> parameters;
    for (const Knob& knob : law_.knobs) {
      const double value = knob.read(start_);
      const bool share = knob.name.ends_with("efficiency") || knob.name == "serial" || knob.name == "exchange";
      // Shares end at 1; what no row tells stays where it is.
      const double high = share && value < 1.0 && value > 1e-2 ? 1.0 : value * far;
      parameters.push_back({knob.name, value, 0.0, value / far, high, false});
    }
    FitOptions how;
    how.scale = 0.15;
    const FitResult result = robust_fit(
        parameters, rows.size(),
        [&](std::span<const double> values, std::span<double> errors) {
          const std::vector<double> all = logs(at(values), rows);
          std::copy(all.begin(), all.end(), errors.begin());
        },
        {}, how);
    std::vector<double> values;
    for (const FittedParameter& parameter : result.parameters) {
      values.push_back(parameter.value);
    }
    return values;
  }
  const Law& law_;
  std::vector<Row> rows_;
  const Sources& sources_;
  const Tried& start_;
};

}  // namespace

std::vector<ClassicLawFit> fit_classic(std::span<const RunFile> files,
                                       const Sources& sources,
                                       bool leave_out,
                                       const std::function<void(std::string_view)>& progress) {
  const Tried start{classic::numbers(sources.data), classic::media_numbers(sources.data)};
  std::vector<Law> laws;
  add_trees(laws);
  add_kmeans(laws);
  add_recommenders(laws);
  add_media(laws, start.media);
  const ClassicLaws as_written{sources.catalog, sources.data, start.numbers, start.media, false};
  std::vector<ClassicLawFit> fits;
  for (const Law& law : laws) {
    std::vector<Row> rows;
    for (const RunFile& file : files) {
      for (const RunRow& row : file.rows) {
        if (file.form == RowForm::other && row.measured > 0.0 && classic_row(file, row) && law.answers(file, row) &&
            predict_classic(as_written, file, row).status == RowStatus::ok) {
          rows.push_back({&file, &row, classic_machine(sources.data, file, row)});
        }
      }
    }
    if (rows.empty()) {
      continue;
    }
    if (progress) {
      progress("fitting " + law.name + " on " + std::to_string(rows.size()) + " rows");
    }
    fits.push_back(LawFit{law, std::move(rows), sources, start}.run(leave_out));
  }
  if (fits.empty()) {
    throw ConfigError{"no row of these files is of classic machine learning, video, a simulator or a policy"};
  }
  return fits;
}

}  // namespace headroom
