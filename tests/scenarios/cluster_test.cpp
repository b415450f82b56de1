// SPDX-License-Identifier: Apache-2.0
// A cluster of unlike pools: what its document asks, each scenario asked once for a pool, what jobs take and miss, and
// the files of the programs that run clusters.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::pools;
using headroom::test::sources;

namespace {

/// What a scenario takes by the SKU that it is asked of: a stand-in for the plans of other tests.
struct Told {
  std::map<std::string, JobCost> by_gpu;
  bool ends = true;
  int read = 0;
  int answered = 0;
  std::vector<std::string> prices;
};

class ToldQuestion : public JobQuestion {
 public:
  ToldQuestion(Told& told, std::string gpu) : told_{told}, gpu_{std::move(gpu)} {}
  [[nodiscard]] bool ends() const override { return told_.ends; }
  [[nodiscard]] JobCost cost() const override {
    ++told_.answered;
    return told_.by_gpu.at(gpu_);
  }

 private:
  Told& told_;
  std::string gpu_;
};

QuestionReader reader_of(Told& told) {
  return [&told](const ConfigValue& document, const std::string& /*file*/) {
    ++told.read;
    const ConfigValue* const money = document.find("money");
    told.prices.push_back(money != nullptr ? money->find("price")->text : "");
    return std::make_shared<const ToldQuestion>(told, document.find("hardware")->find("gpu")->text);
  };
}

ClusterQuestion question_of(const std::string& text, Told& told, const std::string& file = "cluster.toml") {
  return read_cluster(parse_toml(text, file), file, sources(), reader_of(told));
}
ClusterPlan plan_of(const std::string& text) {
  Told none;
  return plan_cluster(question_of(text, none), 1);
}

constexpr const char* two_pools = R"(
schema = 1
kind = "cluster"
[[pool]]
name = "a100"
gpu = "a100-sxm-80gb"
nodes = 1
price = "2 $/h"
date = "2026-08"
[[pool]]
name = "t4"
gpu = "t4"
nodes = 2
gpus_per_node = 4
price = "0.5 $/h"
date = "2026-08"
)";

JobCost cost_of(std::int64_t gpus, double hours) {
  JobCost cost;
  cost.gpus = gpus;
  cost.time = Seconds{hours * hour.raw()};
  return cost;
}
JobCost nowhere(const std::string& why) {
  JobCost cost;
  cost.why = why;
  return cost;
}

}  // namespace

TEST_CASE("a cluster asks each scenario once for a pool, at the pool's price, whatever the count of its jobs") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "headroom-cluster-test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "train.toml"}
      << "schema = 1\nkind = \"train\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 4\n";
  Told told;
  told.by_gpu["a100-sxm-80gb"] = cost_of(4, 2.0);
  told.by_gpu["t4"] = nowhere("it does not fit");
  const std::string text = std::string{two_pools} + R"(
[[job]]
name = "tune"
scenario = "train.toml"
count = 50
[[job]]
name = "again"
scenario = "train.toml"
)";
  ClusterQuestion question = question_of(text, told, (folder / "cluster.toml").string());
  CHECK(told.read == 2);
  CHECK(told.prices == std::vector<std::string>{"2 $/h", "0.5 $/h"});
  const ClusterPlan plan = plan_cluster(std::move(question), 1);
  CHECK(told.answered == 2);
  CHECK(plan.jobs.size() == 51);
  REQUIRE(plan.priced[0].choices.size() == 1);
  CHECK(plan.priced[0].choices[0].gpus == 4);
  CHECK(plan.priced[0].dropped == std::vector<std::string>{"pool t4: it does not fit"});
  // 51 jobs of 4 GPUs for 2 h, two at a time on 8: 26 rounds.
  CHECK(plan.schedule.makespan.raw() == doctest::Approx(52.0 * hour.raw()));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a job without a list of pools likes the cheapest best, one with [[job.on]] the order of its owner") {
  const ClusterPlan plan = plan_of(std::string{two_pools} + R"(
[[job]]
name = "free"
gpus = 2
time = "1 h"
[[job]]
name = "told"
[[job.on]]
pool = "a100"
gpus = 1
time = "1 h"
[[job.on]]
pool = "t4"
gpus = 2
time = "1 h"
)");
  CHECK(plan.question.pools[plan.priced[0].choices[0].pool].pool.name == "t4");
  CHECK(plan.question.pools[plan.priced[1].choices[0].pool].pool.name == "a100");
  CHECK(plan.priced[1].choices[1].gpus == 2);
}

TEST_CASE("jobs of equal count wait for their own, others for all") {
  const ClusterPlan plan = plan_of(std::string{two_pools} + R"(
[[job]]
name = "prepare"
count = 3
gpus = 1
time = "1 h"
[[job]]
name = "train"
count = 3
gpus = 1
time = "1 h"
after = ["prepare"]
[[job]]
name = "judge"
gpus = 1
time = "1 h"
after = ["train"]
)");
  REQUIRE(plan.jobs.size() == 7);
  CHECK(plan.jobs[4].after == std::vector<std::size_t>{1});
  CHECK(plan.jobs[6].after == std::vector<std::size_t>{3, 4, 5});
  CHECK(plan.schedule.runs[6].ready.raw() == doctest::Approx(2.0 * hour.raw()));
}

TEST_CASE("a miss says what alone would have been too late") {
  const ClusterPlan plan = plan_of(std::string{two_pools} + R"(
[policy]
order = "fifo"
[[job]]
name = "whole"
pools = ["a100"]
gpus = 8
time = "3 h"
deadline = "2 h"
[[job]]
name = "second"
pools = ["a100"]
gpus = 8
time = "1 h"
deadline = "2 h"
[[job]]
name = "third"
pools = ["t4"]
gpus = 1
time = "1 h"
after = ["whole"]
deadline = "3 h"
)");
  CHECK(plan.late == 3);
  CHECK_FALSE(plan.feasible());
  CHECK(plan.outcomes[0].why.find("even without a wait") != std::string::npos);
  CHECK(plan.outcomes[1].why.find("it waited 3.00 h for 8 GPUs of a100") != std::string::npos);
  CHECK(plan.outcomes[2].why.find("the jobs that it waits for end at 3.00 h") != std::string::npos);
}

TEST_CASE("own pools cost from start to end, rented ones as they are held, tenants and jobs what they hold") {
  const ClusterPlan plan = plan_of(R"(
schema = 1
kind = "cluster"
[[pool]]
name = "own"
gpu = "a100-sxm-80gb"
nodes = 1
price = "2 $/h"
date = "2026-08"
[[pool]]
name = "burst"
gpu = "h100-sxm-80gb"
nodes = 1
price = "4 $/h"
date = "2026-08"
rented = true
[[job]]
name = "half"
pools = ["own"]
gpus = 4
time = "10 h"
[[job]]
name = "away"
pools = ["burst"]
gpus = 2
time = "5 h"
)");
  // 8 x 10 h x 2 $ and 2 x 5 h x 4 $; half of the eight were held.
  CHECK(plan.schedule.cost.raw() == doctest::Approx(160.0 + 40.0));
  CHECK(plan.outcomes[0].cost.raw() == doctest::Approx(80.0));
  CHECK(plan.outcomes[1].cost.raw() == doctest::Approx(40.0));
  CHECK(plan.tenant_cost[0].raw() == doctest::Approx(120.0));
  CHECK(plan.idle_cost.raw() == doctest::Approx(80.0));
  CHECK(plan.spill.rented_jobs == 1);
  CHECK(plan.spill.rented_cost.raw() == doctest::Approx(40.0));
}

TEST_CASE("a job that waits for one that runs nowhere does not run either") {
  Told told;
  told.by_gpu["a100-sxm-80gb"] = nowhere("it does not fit");
  told.by_gpu["t4"] = nowhere("it does not fit");
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "headroom-cluster-nowhere.toml";
  std::ofstream{file} << "schema = 1\nkind = \"train\"\n[hardware]\ngpu = \"t4\"\n";
  const ClusterPlan plan = plan_cluster(question_of(std::string{two_pools} + R"(
[[job]]
name = "tune"
scenario = ")" + file.string() + R"("
[[job]]
name = "judge"
gpus = 1
time = "1 h"
after = ["tune"]
[[job]]
name = "other"
gpus = 1
time = "1 h"
)",
                                                    told),
                                        1);
  std::filesystem::remove(file);
  CHECK(plan.refused == 2);
  CHECK(plan.outcomes[1].why.find("waits for job tune, which runs nowhere") != std::string::npos);
  CHECK(plan.outcomes[2].done == 1);
}

TEST_CASE("quotas of Kueue are whole GPUs in proportion to the weights, and all of a pool are given away") {
  Told none;
  const ClusterQuestion question = question_of(std::string{two_pools} + R"(
[[tenant]]
name = "Research & Co"
weight = 2
[[tenant]]
name = "product"
weight = 1
quota = {a100 = 6}
[[job]]
name = "urgent"
gpus = 1
time = "1 h"
priority = 7
)",
                                               none);
  // 8 GPUs at 2 to 1: 5.33 and 2.67, of which the second has the larger rest.
  CHECK(nominal_gpus(question, 0) == std::vector<std::int64_t>{5, 3});
  const std::string text = kueue_text(question);
  for (const char* const part :
       {"kind: ResourceFlavor\nmetadata:\n  name: a100\n", "  name: research-co\n",
        "      - name: \"nvidia.com/gpu\"\n        nominalQuota: 3\n        borrowingLimit: 3\n",
        "  fairSharing:\n    weight: \"2\"\n", "kind: LocalQueue\nmetadata:\n  name: product\n  namespace: product\n",
        "kind: WorkloadPriorityClass\nmetadata:\n  name: priority-7\nvalue: 7\n"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, "\nnot in\n", text);
  }
}

TEST_CASE("Slurm's accounts have shares, quotas in GPUs and credit in minutes, and QOS may stop what is lower") {
  Told none;
  const ClusterQuestion question = question_of(std::string{two_pools} + R"(
[[tenant]]
name = "research"
weight = 2
credit = "1000 GPU-h"
[[tenant]]
name = "product"
quota = {a100 = 6}
[[job]]
name = "night"
gpus = 1
time = "1 h"
priority = -3
preemptible = true
[[job]]
name = "urgent"
gpus = 1
time = "1 h"
priority = 7
)",
                                               none);
  const std::string text = slurm_qos_text(question);
  for (const char* const part : {"sacctmgr -i modify account research set Fairshare=2 GrpTRESMins=billing=60000 ",
                                 "sacctmgr -i modify account product set Fairshare=1 GrpTRES=gres/gpu:a100=6 ",
                                 "sacctmgr -i modify qos p10 set Priority=10 Preempt=p0-preemptible",
                                 "# PriorityDecayHalfLife=0\n", "# NodeName=t4-[1-2] Gres=gpu:t4:4 "}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, "\nnot in\n", text);
  }
}

TEST_CASE("pools of slices are entries of the partition editor, and a cluster without any has none") {
  Told none;
  const std::string text = slices_text(question_of(R"(
schema = 1
kind = "cluster"
[[pool]]
name = "small"
gpu = "a100-sxm-80gb/1g.10gb"
nodes = 1
[[job]]
name = "light"
gpus = 1
time = "1 h"
)",
                                                   none),
                                       sources());
  CHECK(text.find("  small:\n    - devices: all\n      mig-enabled: true\n") != std::string::npos);
  CHECK(text.find("\"1g.10gb\": 7\n") != std::string::npos);  // NVIDIA MIG user guide: seven of an A100
  CHECK_THROWS_AS(static_cast<void>(slices_text(question_of(std::string{two_pools} + R"(
[[job]]
name = "light"
gpus = 1
time = "1 h"
)",
                                                            none),
                                                sources())),
                  ConfigError);
}

TEST_CASE("names of queues are lower case with single dashes") {
  CHECK(plain_name("A100 (big)") == "a100-big");
  CHECK(plain_name("--") == "x");
}
