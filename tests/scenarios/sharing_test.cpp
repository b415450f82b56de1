// SPDX-License-Identifier: Apache-2.0
// Tenants of one card: what is read and refused, which way is taken, what a night gives, who pays, and slices as a
// file.
#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/sharing/mig_parted.hpp>
#include <headroom/scenarios/sharing/sharing_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

const NetworkLibrary& networks() {
  static const NetworkLibrary library = NetworkLibrary::standard();
  return library;
}

std::string on(std::string_view gpu, std::string_view mode, const std::string& tenants) {
  return "schema = 1\nkind = \"sharing\"\n[hardware]\ngpu = \"" + std::string{gpu} + "\"\n[sharing]\nmode = \"" +
         std::string{mode} + "\"\nsimulated = 20000\n" + tenants;
}

SharingQuestion read(const std::string& text) {
  return read_sharing(parse_toml(text, "card.toml"), "card.toml", sources(), networks());
}

SharingPlan planned(const std::string& text) {
  return make_sharing_plan(read(text));
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const SharingWay& way_of(const SharingPlan& plan, CardSharing sharing) {
  return plan.ways[static_cast<std::size_t>(sharing)];
}

std::string tenant(std::string_view name, const std::string& keys) {
  return "[[tenant]]\nname = \"" + std::string{name} + "\"\n" + keys;
}

}  // namespace

TEST_CASE("sharing: hours of a day are read with their minutes, over midnight too") {
  const auto night = read_daily_hours("20:00-06:30");
  REQUIRE(night);
  CHECK(night->hours() == doctest::Approx(10.5));
  CHECK(night->holds(23 * 60));
  CHECK(night->holds(6 * 60 + 29));
  CHECK_FALSE(night->holds(6 * 60 + 30));
  CHECK_FALSE(night->holds(12 * 60));
  CHECK(read_daily_hours("00:00-24:00")->hours() == doctest::Approx(24.0));
  for (const char* const broken : {"", "20-06", "20:00", "25:00-06:00", "20:60-06:00", "06:00-06:00", "20:00-06:00 "}) {
    CAPTURE(broken);
    CHECK_FALSE(read_daily_hours(broken));
  }
}

TEST_CASE("sharing: every problem of a question is told at once, each where it stands") {
  const std::string said =
      refused(on("t4", "mig",
                 tenant("a", "busy = 1.5\nmemory = \"6 GB\"\nisolation = \"faults\"\n") +
                     tenant("a", "rate = \"3 req/s\"\nmemory = \"60 GB\"\nhours = \"20-06\"\ncolour = \"red\"\n") +
                     tenant("c", "busy = 0.5\nstep = \"1 s\"\nslo = { p95 = \"1 s\" }\n")));
  for (const char* const part :
       {"t4 has no slices of MIG", "a share of the time", "isolation", "two tenants are called 'a'",
        "missing key 'call'", "more than the", "no part of a day", "unknown key 'colour'", "kind = \"training\"",
        "missing key 'memory'", "nothing comes that times could be promised to"}) {
    CAPTURE(part);
    CHECK_MESSAGE(said.find(part) != std::string::npos, said);
  }
  CHECK(said.starts_with("card.toml:"));
}

TEST_CASE("sharing: what the stated way does not give is refused with the way out") {
  const std::string fault = "busy = 0.5\nmemory = \"10 GB\"\nisolation = \"fault\"\n";
  CHECK(refused(on("a100-sxm-80gb", "mps", tenant("a", fault))).find("mode = \"mig\"") != std::string::npos);
  CHECK(refused(on("a100-sxm-80gb", "mig", tenant("a", fault))).empty());
  CHECK(refused(
            on("a100-sxm-80gb", "time-slice", tenant("a", "busy = 0.5\nmemory = \"10 GB\"\nisolation = \"memory\"\n")))
            .find("apart in nothing") != std::string::npos);
  CHECK(refused(on("a100-sxm-80gb/1g.10gb", "any", tenant("a", "busy = 0.5\nmemory = \"1 GB\"\n")))
            .find("is a slice already") != std::string::npos);
  CHECK(refused(on("a100-sxm-80gb", "any", tenant("a", "workload = { kind = \"train\" }\n")))
            .find("kind serve or batch") != std::string::npos);
}

TEST_CASE("sharing: memory counts at the hours at which tenants run, for slices all day") {
  const std::string day_and_night = tenant("day", "busy = 0.5\nmemory = \"60 GB\"\nhours = \"06:00-20:00\"\n") +
                                    tenant("night", "busy = 0.5\nmemory = \"60 GB\"\nhours = \"20:00-06:00\"\n");
  const SharingPlan plan = planned(on("a100-sxm-80gb", "any", day_and_night));
  CHECK(way_of(plan, CardSharing::mps).possible);
  CHECK_FALSE(way_of(plan, CardSharing::mig).possible);
  CHECK(way_of(plan, CardSharing::none).cards == 1);  // one after the other
}

TEST_CASE("sharing: those who do not trust each other get slices, one team the way that keeps most of its speed") {
  const std::string busy = "busy = 0.3\nmemory = \"20 GB\"\n";
  const std::string apart = busy + "isolation = \"fault\"\n";
  const SharingPlan foes = planned(on("a100-sxm-80gb", "any", tenant("a", apart) + tenant("b", apart)));
  REQUIRE(foes.taken);
  CHECK(foes.ways[*foes.taken].sharing == CardSharing::mig);
  CHECK_FALSE(way_of(foes, CardSharing::mps).possible);
  const SharingPlan team = planned(on("a100-sxm-80gb", "any", tenant("a", busy) + tenant("b", busy)));
  REQUIRE(team.taken);
  CHECK(team.ways[*team.taken].sharing == CardSharing::mps);
  CHECK(team.ways[*team.taken].mean_speed == doctest::Approx(1.0 / 1.09));
  CHECK(way_of(team, CardSharing::none).cards == 2);
  // On a card without slices nobody keeps faults apart but a second card.
  const SharingPlan t4 = planned(on("t4", "any",
                                    tenant("a", "busy = 0.3\nmemory = \"4 GB\"\nisolation = \"fault\"\n") +
                                        tenant("b", "busy = 0.3\nmemory = \"4 GB\"\n")));
  REQUIRE(t4.taken);
  CHECK(t4.ways[*t4.taken].sharing == CardSharing::none);
}

TEST_CASE("sharing: a training by night gets the hours of the card that nobody else works in") {
  const std::string day =
      "busy = 1\nrate = \"20 req/s\"\ncall = \"10 ms\"\nmemory = \"10 GB\"\nhours = \"06:00-20:00\"\n";
  const std::string night =
      "kind = \"training\"\nbusy = 1\nstep = \"2 s\"\nmemory = \"20 GB\"\nhours = \"20:00-06:00\"\n";
  const SharingPlan plan = planned(on("a100-sxm-80gb", "mps", tenant("serve", day) + tenant("train", night)));
  const SharingWay& way = plan.ways[*plan.taken];
  CHECK(way.tenants[1].card_hours == doctest::Approx(10.0));
  CHECK(*way.tenants[1].steps == doctest::Approx(10.0 * 3600.0 / 2.0));
  // By day a fifth of 14 hours is work.
  CHECK(way.tenants[0].card_hours == doctest::Approx(2.8).epsilon(0.03));
  CHECK(way.stranded_hours == doctest::Approx(24.0 - 10.0 - 2.8).epsilon(0.02));
}

TEST_CASE("sharing: tenants pay for all cards together, more who take more and who weigh more") {
  const std::string text =
      on("a100-sxm-80gb", "mps",
         tenant("light", "busy = 0.2\nmemory = \"10 GB\"\n") + tenant("heavy", "busy = 0.6\nmemory = \"10 GB\"\n") +
             tenant("rich", "busy = 0.2\nmemory = \"10 GB\"\nweight = 3\n") +
             "[money]\nprice = \"2 $/h\"\ndate = \"2026-08\"\n");
  const SharingPlan plan = planned(text);
  for (const SharingWay& way : plan.ways) {
    if (!way.possible) {
      continue;
    }
    CAPTURE(name_of(way.sharing));
    double paid = 0.0;
    for (const TenantShare& share : way.tenants) {
      paid += share.price->raw();
    }
    CHECK(paid == doctest::Approx(way.price->raw()));
    CHECK(way.price->raw() == doctest::Approx(static_cast<double>(way.cards) * 2.0 / 3600.0));
  }
  const SharingWay& mps = way_of(plan, CardSharing::mps);
  CHECK(mps.tenants[1].paid > mps.tenants[0].paid);
  CHECK(mps.tenants[2].paid > mps.tenants[0].paid);
}

TEST_CASE("sharing: a promise that time slices miss and MPS keeps decides") {
  // Calls of 20 ms, a fifth of them on the card: in turn each waits for the others' hosts.
  const std::string keys =
      "busy = 0.2\nmemory = \"4 GB\"\nrate = \"20 req/s\"\ncall = \"20 ms\"\nslo = { p95 = \"60 ms\" }\n";
  const SharingPlan plan =
      planned(on("t4", "any", tenant("a", keys) + tenant("b", keys) + tenant("c", "busy = 0.2\nmemory = \"3 GB\"\n")));
  REQUIRE(plan.taken);
  CHECK(plan.ways[*plan.taken].sharing == CardSharing::mps);
  CHECK(way_of(plan, CardSharing::time_slice).missed > 0);
  CHECK(plan.feasible());
}

TEST_CASE("sharing: a network brings its calls, its rate and its promises, on the card and on slices") {
  const std::string vision =
      "[tenant.workload]\nkind = \"batch\"\nmodel = \"resnet50\"\n[tenant.workload.inference]\nprecision = \"fp16\"\n"
      "[tenant.workload.requests]\nrate = \"300 req/s\"\nslo = { p95 = \"30 ms\" }\n";
  const SharingPlan plan = planned(
      on("a100-sxm-80gb", "any", tenant("vision", vision) + tenant("other", "busy = 0.3\nmemory = \"10 GB\"\n")));
  REQUIRE(plan.taken);
  const SharingWay& alone = way_of(plan, CardSharing::none);
  const SharingWay& mps = way_of(plan, CardSharing::mps);
  const SharingWay& mig = way_of(plan, CardSharing::mig);
  REQUIRE((alone.possible && mps.possible && mig.possible));
  CHECK(alone.tenants[0].promises.size() == 1);
  CHECK((*alone.tenants[0].latency)[1] <= (*mps.tenants[0].latency)[1]);
  CHECK(mig.tenants[0].speed < 1.0);
  CHECK(mig.tenants[0].profile.find("g.") != std::string::npos);
}

TEST_CASE("sharing: an engine goes on at the speed that others leave it, its times over that speed") {
  const std::string chat =
      "memory = \"60 GB\"\n[tenant.workload]\nkind = \"serve\"\nmodel = \"llama3.1-8b\"\n"
      "[tenant.workload.traffic]\nrate = \"2 req/s\"\nrequests = 300\n[tenant.workload.traffic.prompt]\nmean = 500\n"
      "[tenant.workload.traffic.output]\nmean = 100\n[tenant.workload.slo]\nttft_p95 = \"2 s\"\n"
      "[tenant.workload.serving]\nweights = \"bf16\"\n[tenant.workload.strategy]\ntp = 1\n";
  const SharingPlan plan = planned(
      on("h100-sxm-80gb", "time-slice", tenant("chat", chat) + tenant("other", "busy = 1\nmemory = \"4 GB\"\n")));
  const SharingWay& alone = way_of(plan, CardSharing::none);
  const SharingWay& turns = way_of(plan, CardSharing::time_slice);
  REQUIRE((alone.possible && turns.possible));
  CHECK(turns.tenants[0].speed == doctest::Approx(0.5).epsilon(0.02));
  CHECK(*turns.tenants[0].tpot_p95 > 1.7 * *alone.tenants[0].tpot_p95);
  CHECK(alone.tenants[0].promises.size() == 1);
}

TEST_CASE("sharing: slices are written as the partition editor's file") {
  const MigLayout layout{"tenants", "all", {"1g.10gb", "2g.20gb", "1g.10gb"}};
  const std::vector<std::string> notes{"of two"};
  const std::string text = mig_parted(sources().catalog.device("a100-sxm-80gb"), {&layout, 1}, notes);
  CHECK(text.find("# of two\nversion: v1\nmig-configs:\n  tenants:\n    - devices: all\n      mig-enabled: true\n"
                  "      mig-devices:\n        \"1g.10gb\": 2\n        \"2g.20gb\": 1\n") != std::string::npos);
  const MigLayout off{"whole", "[0, 1]", {}};
  CHECK(mig_parted(sources().catalog.device("a100-sxm-80gb"), {&off, 1})
            .find("  whole:\n    - devices: [0, 1]\n      mig-enabled: false\n") != std::string::npos);
}
