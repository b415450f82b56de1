// SPDX-License-Identifier: Apache-2.0
// The pages of `--format html` in a real browser: drawn from a file, whole on a phone and on paper, light and dark, in
// words and numbers what the JSON says.
#include <headroom/answers/page/page.hpp>
#include <headroom/core/quantity.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include "../read_value.hpp"
#include "browser.hpp"
#include <algorithm>
#include <array>
#include <memory>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

/// One browser for all tests: it takes a second to start.
Browser& browser() {
  static const auto one = std::make_unique<Browser>(HEADROOM_CHROMIUM);
  return *one;
}

std::string check(const std::string& call) {
  static const std::string checks = read_text(fs::path{HEADROOM_SOURCE_DIR} / "tests/browser/report_checks.js");
  browser().evaluate(checks);
  return browser().evaluate("reportChecks." + call);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

struct Page {
  std::string_view name;
  std::string_view arguments;  ///< empty: of whole_search.json, which has every part that a plan may have
  std::string_view charts;     ///< that must be drawn, in the page's order
};

constexpr std::array pages{
    Page{"train", "plan scenarios/train/llama3-70b-512xh100.toml",
         "memory waterfall roofline scaling-rate scaling-share accuracy"},
    Page{"search",
         "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 64 --seq-len 8192 --global-batch 512 --tokens 1e12 --price "
         "'2.99 $/h' --search any",
         "memory waterfall roofline scaling-rate scaling-share accuracy"},
    Page{"network", "plan scenarios/train/perception-2b-64xa100.toml", "memory waterfall accuracy"},
    Page{"serve", "plan scenarios/serve/llama3-70b.toml", "memory roofline"},
    Page{"refused", "plan scenarios/train/llama3-70b-512xh100.toml --set hardware.gpus=1", ""},
    Page{"memory", "plan scenarios/train/llama3-70b-512xh100.toml --only memory", "memory"},
    Page{"explained", "explain scenarios/train/llama2-7b-8xa100.toml",
         "memory waterfall roofline scaling-rate scaling-share accuracy"},
    Page{"compare",
         "compare scenarios/train/llama3-70b-512xh100.toml scenarios/train/llama3-70b-256xh200.toml "
         "--set-each money.prices=nebius-2026-08",
         "comparison"},
    Page{"owned", "plan scenarios/train/llama3-70b-owned.toml",
         "memory waterfall roofline scaling-rate scaling-share bill accuracy"},
    Page{"fails", "plan scenarios/train/llama3-405b-54-days.toml --prices lambda-2026-08",
         "memory waterfall roofline calendar accuracy"},
    Page{"scale", "scale scenarios/train/llama3-70b-512xh100.toml", "scaling-rate scaling-share"},
    Page{"fit", "fit samples --base h200-sxm-141gb",
         "fit-times fit-errors fit-times fit-errors fit-times fit-errors fit-times fit-errors fit-times fit-errors"},
    Page{"fleet", "plan scenarios/serve/llama3-70b-fleet.toml --set traffic.requests=2000",
         "promises tails load-times load-shares memory"},
    Page{"ways",
         "plan --model llama3-8b --gpu h100-sxm-80gb --isl 1000 --osl 200 --rate '10 req/s' --set traffic.requests=500 "
         "--set 'slo.ttft_p95=1 s' --set 'slo.tpot_p95=8 ms' --price '2.99 $/h' --search 'kv_cache=[\"bf16\",\"fp8\"]'",
         "fleet-ttft fleet-tpot promises tails load-times load-shares memory"},
    Page{"day", "plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000",
         "promises tails load-times load-shares day memory"},
    Page{"unserved", "plan scenarios/serve/llama3-70b-fleet.toml --set traffic.requests=300 --set 'slo.tpot_p95=4 ms'",
         ""},
    Page{"simulation", "simulate scenarios/serve/llama3-70b-traffic.toml --requests 2000",
         "promises tails batch memory"},
    Page{"classes",
         "simulate scenarios/serve/llama3-70b-traffic.toml --set 'traffic={requests=2000, class=[{name=\"chat\", "
         "rate=\"8 req/s\", prompt={mean=1500}, output={mean=250}, slo={ttft_p95=\"1 s\"}}, {name=\"batch\", "
         "rate=\"2 req/s\", prompt={mean=4000}, output={mean=500}, slo={e2e_p99=\"60 s\"}}]}'",
         "promises tails tails tails batch memory"},
    Page{"overload", "simulate scenarios/serve/llama3-70b-traffic.toml --requests 2000 --rate 200",
         "promises tails batch memory"},
    Page{"whole", "", "pareto memory waterfall bill calendar accuracy"},
};

/// A document of JSON with the units that the names of its numbers end in, as an answer has them.
Value with_units(const ConfigValue& read, std::string_view name) {
  if (read.kind == ConfigValue::Kind::array) {
    return list(read.items, [&](const ConfigValue& item) { return with_units(item, name); });
  }
  if (read.kind == ConfigValue::Kind::table) {
    // An interval and parts by name have the unit of their own name.
    const bool named = name == "shares" || name.ends_with("_s") || name.ends_with("_bytes") || name.ends_with("usd");
    Value object = headroom::object();
    for (const ConfigEntry& entry : read.entries) {
      object.add({entry.key, with_units(entry.value, named ? name : std::string_view{entry.key})});
    }
    return object;
  }
  const bool number = read.kind == ConfigValue::Kind::number || read.kind == ConfigValue::Kind::integer;
  const double value = read.kind == ConfigValue::Kind::integer ? static_cast<double>(read.integer) : read.number;
  const auto is = [&](std::string_view unit) {
    return number && (name == unit || name.ends_with("_" + std::string{unit}));
  };
  if (is("s")) {
    return Seconds{value};
  }
  if (is("usd")) {
    return Dollars{value};
  }
  if (is("bytes")) {
    return Bytes{value};
  }
  return number && name == "shares" ? Value{value, Hint::percent} : value_of(read);
}

std::string whole_page() {
  const std::string search = read_text(fs::path{HEADROOM_SOURCE_DIR} / "tests/browser/whole_search.json");
  return report::page({{{"search", with_units(parse_json(search, "test"), "")},
                        {"accuracy", object("class"_m = "dense", "classes"_m = Value::empty_list())}},
                       {}});
}

/// A fit's own page, of a node that does not exist: products in bf16 and collectives.
void write_fit(const Page& page, const std::string& file, const fs::path& scratch) {
  const Run samples = run_headroom("calibrate -o samples --simulate '" HEADROOM_SOURCE_DIR
                                   "/scenarios/calibrate/node.toml' --quick --only gemm --dtype bf16 --only nccl",
                                   scratch);
  REQUIRE_MESSAGE(samples.code == 0, samples.err);
  const Run run = run_headroom(std::string{page.arguments} + " --html '" + file + "'", scratch);
  REQUIRE_MESSAGE(run.code == 0, run.err);
}

/// The pages as files, written once.
const fs::path& folder() {
  static const ScratchFolder scratch;
  static const bool written = [] {
    for (const Page& page : pages) {
      const std::string file = (scratch.path() / (std::string{page.name} + ".html")).string();
      if (page.arguments.empty()) {
        std::ofstream{file} << whole_page();
        continue;
      }
      if (page.name == std::string_view{"fit"}) {
        write_fit(page, file, scratch.path());
        continue;
      }
      const Run run = run_headroom(std::string{page.arguments} + " --format html -o '" + file + "'");
      REQUIRE_MESSAGE((run.code == 0 || run.code == 1), page.name, ": ", run.err);
    }
    return true;
  }();
  REQUIRE(written);
  return scratch.path();
}

fs::path file_of(const Page& page) {
  return folder() / (std::string{page.name} + ".html");
}

const Page& named(std::string_view name) {
  const auto found = std::find_if(pages.begin(), pages.end(), [&](const Page& page) { return page.name == name; });
  REQUIRE(found != pages.end());
  return *found;
}

constexpr View phone{390, 844, true, false, false};
constexpr View desk{1280, 900, false, false, false};
constexpr View night{1280, 900, false, true, false};
constexpr View phone_at_night{390, 844, true, true, false};
constexpr View paper{718, 1000, false, true, true};  // A4 less its margins; the reader's desk is dark

}  // namespace

TEST_CASE("pages open from a file without a complaint and without a request") {
  for (const Page& page : pages) {
    CAPTURE(page.name);
    for (const View& view : {phone, desk, night, phone_at_night, paper}) {
      CAPTURE(view.width);
      CAPTURE(view.dark);
      CAPTURE(view.print);
      browser().open(file_of(page), view);
      CHECK(check("overflow()") == "");
      CHECK(check("charts()") == "");
      CHECK(check("contrast()") == "");
      CHECK(joined(browser().complaints()) == "");
      CHECK(joined(browser().requests()) == "");
    }
  }
}

TEST_CASE("every figure of a page is the JSON's and reads as it") {
  for (const Page& page : pages) {
    CAPTURE(page.name);
    browser().open(file_of(page), desk);
    CHECK(check("figures()") == "");
    CHECK(check("cells()") == "");
    CHECK(check("hover()") == "");
    CHECK(check("links()") == "");
    CHECK(check("duplicates()") == "");
  }
}

TEST_CASE("pages draw what their documents hold") {
  for (const Page& page : pages) {
    CAPTURE(page.name);
    browser().open(file_of(page), desk);
    const std::string drawn = check("drawn()");
    if (page.name == std::string_view{"search"}) {
      CHECK(drawn.starts_with("pareto "));  // two goals or more: a front
      CHECK(drawn.ends_with(page.charts));
    } else {
      CHECK(drawn == page.charts);
    }
  }
}

TEST_CASE("hovering says which plan, which op, how much") {
  browser().open(file_of(pages[0]), desk);
  // The step's own bar is the last of the waterfall: the largest term comes first, 8.51 s of 17.7 s in the README.
  CHECK(check("hoverOf('waterfall', 0)") == "gemm | 8.51 s");
  CHECK(check("hoverOf('memory', 0)") == "weights | 4.23 GiB");
  const std::string op = check("hoverOf('roofline', 2)");
  for (const std::string part : {"forward", "FLOP per byte", "bound by", "of the roof"}) {
    CHECK_MESSAGE(op.find(part) != std::string::npos, op);
  }
  browser().open(file_of(pages.back()), desk);
  CHECK(check("hoverOf('bill', 0)") == "GPUs | 14.8 M$ | 11.4 M$ to 19.2 M$");
  CHECK(check("hoverOf('calendar', 0)") == "useful | 90.0 %");
  CHECK(check("hoverOf('pareto', 2)") ==
        "2048 x some-gpu | tp 8, pp 4, dp 64, ZeRO 1, micro-batch 1, | recompute none, sequence parallel | whole run: "
        "120 days | cost: 19.0 M$");
  browser().open(file_of(named("fleet")), desk);
  // What the figures are is that of the JSON members, which another case compares.
  const std::string promise = check("hoverOf('promises', 0)");
  CHECK_MESSAGE(promise.starts_with("ttft_p95 | "), promise);
  CHECK_MESSAGE(promise.find(" ms to ") != std::string::npos, promise);
  const std::string answer = check("hoverOf('tails', 2)");
  CHECK_MESSAGE(answer.starts_with("whole answer, p50 | "), answer);
  CHECK_MESSAGE(answer.ends_with(" s"), answer);
  browser().open(file_of(pages[1]), desk);
  const std::string taken = check("hoverOf('pareto', 0)");
  for (const std::string part : {"64 x h100-sxm-80gb", "tp ", "micro-batch", "recompute"}) {
    CHECK_MESSAGE(taken.find(part) != std::string::npos, taken);
  }
}

TEST_CASE("ways are sorted by a click on a column, the other way by a second one, by the figures and not their text") {
  browser().open(file_of(named("ways")), desk);
  REQUIRE(check("column(1)") != "");  // GPUs
  CHECK(check("sorted(1)").starts_with("up"));
  CHECK(check("sorted(1)") == "down");
  CHECK(check("sorted(5)") == "up");  // times: 961 ms comes before 1.2 s
}

TEST_CASE("a page is drawn within a second") {
  for (const Page& page : pages) {
    CAPTURE(page.name);
    browser().open(file_of(page), desk);
    // Of the page's own work: by the clock it is another's as well where the machine is busy.
    const double worked = browser().working_seconds();
    MESSAGE(page.name, ": charts drawn after ", check("drawnAfter()"), " ms, ", 1e3 * worked, " ms of work in all");
    CHECK(worked > 0.001);
    CHECK(worked < 1.0);
  }
}

TEST_CASE("dark follows the reader's, paper is light, and nothing stays folded on it") {
  browser().open(file_of(pages[0]), desk);
  const std::string light = check("ground()");
  CHECK(check("closed()") != "0");
  browser().open(file_of(pages[0]), night);
  CHECK(check("ground()") != light);
  browser().open(file_of(pages[0]), paper);
  CHECK(check("closed()") == "0");
  CHECK(browser().evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") ==
        "#ffffff");
  CHECK(browser().evaluate("String(Chart.defaults.color)") == "#5a6572");  // the light page's --muted
  CHECK(browser().pdf().starts_with("JVBERi0"));                           // "%PDF-" in base64
}
