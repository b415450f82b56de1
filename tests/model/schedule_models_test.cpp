// SPDX-License-Identifier: Apache-2.0
// What must hold of every schedule that is registered: its file is all that a new one adds.
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "schedule_shapes.hpp"
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;

namespace {

/// Passes in the ratios of transformer layers; a pair is shorter than its parts in turn.
constexpr std::array stages{
    StageCosts{Seconds{1.0}, Seconds{1.0}, Seconds{1.0}, Seconds{0.05}, Seconds{0.04}, Seconds{2.7}},
    StageCosts{Seconds{1.0}, Seconds{1.8}, Seconds{0.6}, Seconds{0.1}, Seconds{0.0}, Seconds{3.0}},
};

/// Pipelines of up to 9 stages, fewer and more micro-batches than stages, the chunks that the schedule lets choose.
std::vector<PipelineShape> shapes_of(Schedule schedule) {
  std::vector<PipelineShape> all;
  for (std::int32_t p = 1; p <= 9; ++p) {
    for (const std::int32_t m : {1, 2, 3, 5, 8, 13, 20}) {
      all.push_back(test::allowed({schedule, p, 1, m}));
    }
    for (const std::int32_t chunks : {2, 3, 5}) {
      if (model_of(schedule).takes_chunks()) {
        all.push_back({schedule, p, chunks, 2 * p});
      }
    }
  }
  return all;
}

template <class Check>
void for_every_pipeline(Check check) {
  for (const ScheduleRow& row : schedule_rows) {
    for (const PipelineShape& shape : shapes_of(row.schedule)) {
      CAPTURE(row.name);
      CAPTURE(shape.stages);
      CAPTURE(shape.chunks);
      CAPTURE(shape.micro_batches);
      REQUIRE(broken_rule(shape) == ScheduleRule::none);
      check(*row.model, shape);
    }
  }
}

double in_flight(const ScheduleModel& model, const PipelineShape& shape, std::int32_t stage) {
  return model.in_flight({static_cast<double>(shape.stages), static_cast<double>(shape.chunks),
                          static_cast<double>(stage), static_cast<double>(shape.micro_batches)});
}

std::string text_of(const std::string& page) {
  std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/docs/" + page};
  REQUIRE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("Every schedule says all that is asked of it") {
  std::set<std::string_view> names;
  for (const ScheduleRow& row : schedule_rows) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    const ScheduleModel& m = *row.model;
    CHECK(&m == &model_of(row.schedule));
    CHECK(m.name == row.name);
    CHECK(!m.title.empty());
    CHECK(!m.in_flight_source.empty());
    CHECK(m.in_flight_source_chunked.empty() != m.takes_chunks());
    REQUIRE((m.order != nullptr && m.closed_form != nullptr && m.in_flight != nullptr));
    // What the placement means for memory and bounds.
    CHECK((m.placement != StagePlacement::folded || (m.chunks > 0 && m.chunks % 2 == 0)));
    CHECK((m.placement != StagePlacement::two_way || m.chunks == 1));
    CHECK((!m.waits_for_stages || m.placement == StagePlacement::looped));
    CHECK((m.rules.stages_multiple >= 1 && m.rules.micro_batches_multiple >= 1 && m.rules.micro_batches_a_stage >= 0));
    for (const Schedule other : m.instead) {
      CHECK(other != row.schedule);
      CHECK(model_of(other).rules.stages_multiple == 1);
    }
  }
  const ScheduleModel& usual = model_of(usual_schedule);
  CHECK((usual.rules.stages_multiple == 1 && usual.rules.micro_batches_multiple == 1 &&
         usual.rules.micro_batches_a_stage == 0));
}

TEST_CASE("The manual has every schedule, as a value and in the tables of orders and times") {
  const std::string keys = text_of("scenario-format.md");
  const std::string model = text_of("train-model.md");
  for (const ScheduleRow& row : schedule_rows) {
    CAPTURE(row.name);
    const std::string word = "`" + std::string{row.name} + "`";
    CHECK(keys.find(word) != std::string::npos);
    const std::size_t orders = model.find("## Schedules");
    REQUIRE(orders != std::string::npos);
    const std::size_t times = model.find("**Closed forms**", orders);
    REQUIRE(times != std::string::npos);
    CHECK(model.substr(orders, times - orders).find(word) != std::string::npos);
    CHECK(model.find(word, times) != std::string::npos);
  }
}

TEST_CASE("Every schedule's rules refuse the next number") {
  for (const ScheduleRow& row : schedule_rows) {
    CAPTURE(row.name);
    const OrderRules& rules = row.model->rules;
    const PipelineShape shape = test::allowed({row.schedule, 4, 1, 1});
    CHECK(broken_rule(shape) == ScheduleRule::none);
    PipelineShape other = shape;
    ++other.stages;
    CHECK((broken_rule(other) == ScheduleRule::stages_multiple) == (rules.stages_multiple > 1));
    other = shape;
    ++other.micro_batches;
    CHECK((broken_rule(other) == ScheduleRule::micro_batches_multiple) == (rules.micro_batches_multiple > 1));
    other = shape;
    other.micro_batches -= rules.micro_batches_multiple;
    if (other.micro_batches >= 1) {
      CHECK(broken_rule(other) == ScheduleRule::micro_batches_a_stage);
    }
    other = shape;
    ++other.chunks;
    CHECK((broken_rule(other) == ScheduleRule::chunks_fixed) == !row.model->takes_chunks());
  }
}

TEST_CASE("Every schedule runs each pass of its micro-batches once, where its stages stand, of the kinds it says") {
  for_every_pipeline([](const ScheduleModel& model, const PipelineShape& shape) {
    const std::vector<std::vector<Pass>> order = pass_order(shape);
    REQUIRE(order.size() == static_cast<std::size_t>(shape.stages));
    std::map<std::pair<std::int32_t, std::int32_t>, std::array<int, 3>> runs;  // forward, input's and weights' gradient
    bool split = false;
    bool pairs = false;
    for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
      for (const Pass& pass : order[static_cast<std::size_t>(stage)]) {
        CHECK(stage_of(shape, pass.position, pass.micro_batch) == stage);
        std::array<int, 3>& here = runs[{pass.position, pass.micro_batch}];
        const bool pair = pass.kind == PassKind::pair;
        here[0] += pass.kind == PassKind::forward || pair ? 1 : 0;
        here[1] += pass.kind == PassKind::backward || pass.kind == PassKind::backward_input ? 1 : 0;
        here[2] += pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight ? 1 : 0;
        if (pair) {
          CHECK(stage_of(shape, shape.mirrored(pass.position), pass.backward_micro_batch) == stage);
          std::array<int, 3>& other = runs[{shape.mirrored(pass.position), pass.backward_micro_batch}];
          ++other[1];
          ++other[2];
        }
        split = split || pass.kind == PassKind::backward_weight;
        pairs = pairs || pair;
      }
    }
    CHECK(split == model.splits_backward);
    CHECK(pairs == model.overlaps_passes);
    CHECK(runs.size() == static_cast<std::size_t>(shape.positions()) * static_cast<std::size_t>(shape.micro_batches));
    for (const auto& [where, counts] : runs) {
      CHECK(counts == std::array{1, 1, 1});
    }
  });
}

TEST_CASE("Every schedule's closed form is its simulation within 2 %, exactly where its bound says so") {
  for_every_pipeline([](const ScheduleModel& model, const PipelineShape& shape) {
    for (const StageCosts& stage : stages) {
      const double exact = simulate_schedule(shape, {&stage, 1}).total.raw();
      const double closed = pipeline_time(shape, stage).raw();
      const bool same = (model.high != nullptr && shape.chunks == 1) || shape.stages == 1;
      CHECK(closed == test::near(exact, same ? 1e-9 : 0.02));
    }
  });
}

TEST_CASE("Every schedule's uneven stages simulate between its bounds") {
  for_every_pipeline([](const ScheduleModel&, const PipelineShape& shape) {
    std::vector<StageCosts> costs;
    for (std::int32_t i = 0; i < shape.positions(); ++i) {
      StageCosts c = stages[0];
      c.forward *= 1.0 + 0.1 * (i % 3);
      c.backward_weight *= 1.0 - 0.2 * (i % 2);
      costs.push_back(c);
    }
    costs.back().forward *= 1.5;  // a head
    const double exact = simulate_schedule(shape, costs).total.raw();
    const TimeBounds bounds = pipeline_bounds(shape, costs);
    CHECK(bounds.low.raw() <= exact * (1.0 + 1e-12));
    CHECK(exact <= bounds.high.raw() * (1.0 + 1e-12));
  });
}

TEST_CASE("A schedule that waits for its stages has a bubble of their sum beyond the slowest, by chunks") {
  for_every_pipeline([](const ScheduleModel& model, const PipelineShape& shape) {
    if (model.waits_for_stages) {
      StageCosts stage = stages[0];
      stage.send_forward = stage.send_backward = Seconds{};
      const double slowest = shape.chunks * stage.compute().raw();
      const double bubble = (shape.stages * slowest - slowest) / shape.chunks;
      CHECK(pipeline_time(shape, stage).raw() == test::near(shape.micro_batches * slowest + bubble));
    }
  });
}

TEST_CASE("Every schedule keeps the micro-batches that it says, and those that the search takes for the least") {
  for_every_pipeline([](const ScheduleModel& model, const PipelineShape& shape) {
    const SimulatedStep step = simulate_schedule(shape, {stages.data(), 1});
    Strategy s;
    s.schedule = shape.schedule;
    s.pp = static_cast<std::uint16_t>(shape.stages);
    s.vpp = static_cast<std::uint16_t>(model.takes_chunks() ? shape.chunks : 1);
    double fullest = 0.0;
    double sum = 0.0;
    double least = 0.0;
    for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
      const double kept = in_flight(model, shape, stage);
      CHECK(kept == micro_batches_in_flight(s, stage, shape.micro_batches));
      CHECK(step.stages[static_cast<std::size_t>(stage)].in_flight <= kept + 1e-9);
      CHECK((stage == 0 || kept <= in_flight(model, shape, stage - 1)));
      fullest = std::max(fullest, step.stages[static_cast<std::size_t>(stage)].in_flight);
      sum += kept;
      least += std::min(shape.micro_batches, shape.stages - stage);
    }
    CHECK(fullest == test::near(in_flight(model, shape, 0)));
    CHECK(in_flight(model, shape, 0) >= std::min(shape.micro_batches, shape.stages) - 1e-9);
    CHECK(sum >= least - 1e-9);
  });
}
