// SPDX-License-Identifier: Apache-2.0
// Members of what `headroom gate` answers.
#include <headroom/answers/schema/answer_schema.hpp>

#include <array>

namespace headroom::answers {
namespace {

using T = MemberType;
using M = AnswerMember;

constexpr std::array run_gate{
    M{"schema", T::text, "name and version of this schema"},
    M{"verdict", T::text, "same, faster, slower or inconclusive"},
    M{"verdict_text", T::text, "the verdict as a sentence"},
    M{"threshold", T::number, "slow-down that counts as one, as a share"},
    M{"confidence", T::number, "level of the intervals"},
    M{"power", T::number, "chance with which least_shown and runs_needed show a slow-down"},
    M{"slower", T::number, "metrics that are slower"},
    M{"inconclusive", T::number, "metrics that the runs do not judge"},
    M{"baseline", T::object, "what was compared against"},
    M{"baseline/file", T::text, "files"},
    M{"baseline/form", T::text, "form that they were read as"},
    M{"candidate", T::object, "what was compared"},
    M{"candidate/file", T::text, "files"},
    M{"candidate/form", T::text, "form that they were read as"},
    M{"metrics", T::objects, "metrics of both, the worst first"},
    M{"metrics/of", T::text, "benchmark, command or cells of a row; empty: the files have one"},
    M{"metrics/metric", T::text, "name in the files"},
    M{"metrics/unit", T::text, "unit of its numbers; empty: the name says, or nobody"},
    M{"metrics/better", T::text, "lower or higher"},
    M{"metrics/baseline", T::object, "the baseline's values"},
    M{"metrics/baseline/n", T::number, "how many"},
    M{"metrics/baseline/mean", T::number, "mean, in the file's unit"},
    M{"metrics/baseline/median", T::number, "median"},
    M{"metrics/baseline/deviation", T::number, "1.4826 median absolute deviations, of a summary its deviation"},
    M{"metrics/baseline/outliers", T::number, "values beyond five deviations"},
    M{"metrics/candidate", T::object, "the candidate's values", "metrics/baseline"},
    M{"metrics/change", T::number, "change of the metric, as a share; positive: more"},
    M{"metrics/low", T::number, "lower end of the change's interval"},
    M{"metrics/high", T::number, "upper end"},
    M{"metrics/median_change", T::number, "change between medians"},
    M{"metrics/p", T::number, "that one not slower than the threshold shows this, corrected after Holm"},
    M{"metrics/least_shown", T::number, "smallest slow-down that these runs call slower with the power, as a share"},
    M{"metrics/runs_needed", T::number, "runs of each side that tell no change from the threshold"},
    M{"metrics/tested", T::boolean, "whether both sides have two values or more"},
    M{"metrics/verdict", T::text, "same, faster, slower or inconclusive"},
    M{"passed_over", T::texts, "metrics whose names do not say what is better"},
    M{"only_baseline", T::texts, "metrics that the candidate lacks"},
    M{"only_candidate", T::texts, "metrics that the baseline lacks"},
    M{"notes", T::texts, "remarks"},
};

constexpr std::array pipelines{
    M{"schema", T::text, "name and version of this schema"},
    M{"verdict_text", T::text, "which is better in time and per dollar at equal quality, or that quality differs"},
    M{"quality", T::text, "measure of the quality"},
    M{"tolerance", T::number, "qualities within it are equal"},
    M{"equal_quality", T::boolean, "whether they are"},
    M{"quality_difference", T::number, "of the second less that of the first"},
    M{"time_ratio", T::number, "whole time of the second over the first"},
    M{"cost_ratio", T::number, "its money over the first's"},
    M{"energy_ratio", T::number, "its energy over the first's"},
    M{"training_ratio", T::number, "the same of the time of training alone"},
    M{"training_cost_ratio", T::number, "and of its money"},
    M{"pipelines", T::objects, "both"},
    M{"pipelines/name", T::text, "name"},
    M{"pipelines/preparation_s", T::number, "time that preparing data takes"},
    M{"pipelines/copies_s", T::number, "time of copies to the device and back"},
    M{"pipelines/training_s", T::number, "time of training"},
    M{"pipelines/evaluation_s", T::number, "time of checking the model"},
    M{"pipelines/time_s", T::number, "all of them"},
    M{"pipelines/quality", T::number, "in the measure"},
    M{"pipelines/cost_usd", T::number, "money of the whole time"},
    M{"pipelines/energy_j", T::number, "energy of the whole time"},
    M{"left_out", T::texts, "what a comparison of training alone would have left out"},
};

}  // namespace

std::span<const AnswerMember> compare_pipelines_members() noexcept {
  return pipelines;
}

std::span<const AnswerMember> run_gate_members() noexcept {
  return run_gate;
}

}  // namespace headroom::answers
