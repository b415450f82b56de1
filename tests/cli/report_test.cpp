// SPDX-License-Identifier: Apache-2.0
// The page of `--format html` as a file: the very JSON inside it, every figure one of its members, nothing from
// outside. What a browser makes of it: tests/browser.
#include <headroom/answers/markup/html.hpp>
#include <headroom/answers/markup/place.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

using namespace headroom;
using namespace headroom::test;

namespace {

struct Asked {
  std::string_view arguments, document;
  int code = 0;
};

constexpr std::array questions{
    Asked{"plan scenarios/train/llama3-70b-512xh100.toml", "plan"},
    Asked{"explain scenarios/train/llama2-7b-8xa100.toml", "plan"},
    Asked{"plan scenarios/train/llama3-8b-beside-the-plan.toml", "plan"},
    Asked{"plan scenarios/train/perception-2b-64xa100.toml", "plan"},
    Asked{"plan scenarios/train/llama3-70b-512xh100.toml --only memory", "plan"},
    Asked{"plan scenarios/train/llama3-70b-512xh100.toml --set hardware.gpus=1", "plan", 1},
    Asked{"plan scenarios/serve/llama3-70b.toml", "plan"},
    Asked{"plan --model llama3-8b --gpu h100-sxm-80gb --gpus 16 --seq-len 8192 --global-batch 64 --search any",
          "search"},
    Asked{"scale scenarios/train/llama3-70b-512xh100.toml", "scaling"},
    Asked{"compare scenarios/train/llama3-70b-512xh100.toml scenarios/train/llama3-70b-256xh200.toml", "comparison"},
    Asked{"plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000", "fleet"},
    Asked{
        "plan --model llama3-8b --gpu h100-sxm-80gb --isl 1000 --osl 200 --rate '10 req/s' --set traffic.requests=300 "
        "--set 'slo.ttft_p95=1 s' --price '2.99 $/h'",
        "fleet"},
    Asked{"plan scenarios/serve/llama3-70b-fleet.toml --set traffic.requests=300 --set 'slo.tpot_p95=4 ms'", "fleet",
          1},
    Asked{"simulate scenarios/serve/llama3-70b-traffic.toml --requests 1000", "simulation"},
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The text between two marks, from `at` on, which is moved behind the second; empty where there is none.
std::string between(const std::string& text, std::string_view open, std::string_view close, std::size_t& at) {
  const std::size_t start = text.find(open, at);
  if (start == std::string::npos) {
    at = std::string::npos;
    return {};
  }
  const std::size_t end = text.find(close, start + open.size());
  at = end + close.size();
  return text.substr(start + open.size(), end - start - open.size());
}

/// The documents of a page by name, as the JSON that they were.
std::map<std::string, std::string> documents_of(const std::string& page) {
  std::map<std::string, std::string> documents;
  std::size_t at = 0;
  for (;;) {
    const std::string name = between(page, "<script type=\"application/json\" data-document=\"", "\">", at);
    if (name.empty()) {
      return documents;
    }
    std::size_t start = at - 2;
    documents[name] = replaced(between(page, "\">", "</script>", start), "\\u003c", "<");
    at = start;
  }
}

/// The page without its scripts.
std::string markup_of(const std::string& page) {
  std::string markup;
  std::size_t at = 0;
  while (at < page.size()) {
    const std::size_t open = std::min(page.find("<script", at), page.size());
    markup += page.substr(at, open - at);
    const std::size_t close = page.find("</script>", open);
    at = close == std::string::npos ? page.size() : close + 9;
  }
  return markup;
}

/// The number that "plan#/step_time_s/mid" names.
double number_at(const std::map<std::string, ConfigValue>& roots, const std::string& pointer) {
  const std::size_t hash = pointer.find('#');
  const auto found = roots.find(pointer.substr(0, hash));
  REQUIRE_MESSAGE(found != roots.end(), pointer);
  const ConfigValue* value = &found->second;
  std::istringstream path{pointer.substr(hash + 1)};
  std::string token;
  std::getline(path, token, '/');
  while (std::getline(path, token, '/')) {
    token = replaced(replaced(token, "~1", "/"), "~0", "~");
    value = value->kind == ConfigValue::Kind::array ? &value->items.at(std::stoul(token)) : value->find(token);
    REQUIRE_MESSAGE(value != nullptr, pointer);
  }
  return value->kind == ConfigValue::Kind::integer ? static_cast<double>(value->integer) : value->number;
}

}  // namespace

TEST_CASE("a page holds the very JSON of --format json, and every figure is one of its members") {
  for (const Asked& asked : questions) {
    CAPTURE(asked.arguments);
    const Run html = run_headroom(std::string{asked.arguments} + " --format html");
    const Run json = run_headroom(std::string{asked.arguments} + " --format json");
    CHECK(html.code == asked.code);
    const auto documents = documents_of(html.out);
    REQUIRE(documents.count(std::string{asked.document}) == 1);
    CHECK((documents.at(std::string{asked.document}) == json.out));
    std::map<std::string, ConfigValue> roots;
    for (const auto& [name, text] : documents) {
      roots[name] = parse_json(text, name);
    }
    std::size_t figures = 0;
    for (std::size_t at = 0;;) {
      const std::string value = between(html.out, "<data value=\"", "\"", at);
      if (at == std::string::npos) {
        break;
      }
      const std::string of = between(html.out, " data-of=\"", "\"", at);
      const bool ratio = html.out.compare(at, 12, " data-over=\"") == 0;
      const double whole = ratio ? number_at(roots, between(html.out, " data-over=\"", "\"", at)) : 1.0;
      CHECK_MESSAGE(std::stod(value) == number_at(roots, of) / whole, of);
      ++figures;
    }
    CHECK(figures >= (asked.code == 0 ? 10 : 1));
  }
}

TEST_CASE("a page needs nothing but itself, and is small") {
  for (const Asked& asked : questions) {
    CAPTURE(asked.arguments);
    const std::string page = run_headroom(std::string{asked.arguments} + " --format html").out;
    CHECK(page.size() < 1500000);
    CHECK(page.find("default-src 'none'") != std::string::npos);
    const std::string markup = markup_of(page);
    for (const std::string_view outside :
         {"src=", "<link", "<img", "<iframe", "url(", "@import", "href=\"h", "http-equiv=\"refresh"}) {
      CHECK_MESSAGE(markup.find(outside) == std::string::npos, outside);
    }
    CHECK(page.find("Permission is hereby granted") != std::string::npos);  // the library's licence goes with it
    CHECK(page.ends_with("</html>\n"));
  }
}

TEST_CASE("the same question gives the same page, whatever the number of threads") {
  const std::string search =
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 16 --seq-len 8192 --global-batch 64 --search any --format "
      "html";
  CHECK((run_headroom(search + " --threads 1").out == run_headroom(search + " --threads 3").out));
}

TEST_CASE("a page leads with the answer in words and numbers, before any script") {
  const std::string page = run_headroom("plan scenarios/train/llama3-70b-512xh100.toml --format html").out;
  const std::string head = markup_of(page.substr(0, page.find("<section id=\"memory\"")));
  for (const std::string_view part : {"<h1>Llama 3 70B on 512 H100</h1>", ">Fits: up to <", ">40.7 GiB</data>",
                                      ">44.5 GiB</data>", ">79.2 GiB</data>"}) {
    CHECK_MESSAGE(head.find(part) != std::string::npos, part);
  }
  // The step, the run and its price are those of the text: "  step  17.3 s  (15.5 s to 19.4 s)".
  const std::string text = run_headroom("plan scenarios/train/llama3-70b-512xh100.toml").out;
  for (const std::string label : {"\n  step ", "\n  15.0 T tokens ", "\n  cost "}) {
    const std::size_t at = text.find(label);
    REQUIRE(at != std::string::npos);
    const std::size_t from = text.find_first_not_of(' ', at + label.size());
    const std::string middle = text.substr(from, text.find("  (", from) - from);
    CHECK_MESSAGE(head.find(">" + middle + "</data>") != std::string::npos, middle);
  }
}

TEST_CASE("no other number of GPUs is drawn beside a step that the series would not have") {
  const std::string page =
      run_headroom("plan scenarios/train/llama3-70b-512xh100.toml --without bubble --format html").out;
  CHECK(documents_of(page).count("scaling") == 0);
  CHECK(page.find("the plan is priced with terms left out") != std::string::npos);
}

TEST_CASE("text of a question cannot close the page's elements") {
  const ScratchFolder scratch;
  const std::string file = (scratch.path() / "x.toml").string();
  std::string scenario =
      read_text(std::filesystem::path{HEADROOM_SOURCE_DIR} / "scenarios/train/llama3-70b-512xh100.toml");
  scenario = replaced(scenario, "Llama 3 70B on 512 H100", "</script><b>&amp; \\\"x\\\"");
  std::ofstream{file} << scenario;
  const Run html = run_headroom("plan '" + file + "' --format html");
  const Run json = run_headroom("plan '" + file + "' --format json");
  REQUIRE(html.code == 0);
  CHECK((documents_of(html.out).at("plan") == json.out));
  CHECK(markup_of(html.out).find("<b>") == std::string::npos);
  CHECK(html.out.find("&lt;/script&gt;&lt;b&gt;&amp;amp; &quot;x&quot;") != std::string::npos);
}

TEST_CASE("the roofline's document holds what its rows follow from") {
  const Run run = run_headroom("roofline llama3.1-8b --gpu h100-sxm-80gb --phase forward --format json");
  REQUIRE(run.code == 0);
  const ConfigValue root = parse_json(run.out, "stdout");
  const auto number = [](const ConfigValue& object, std::string_view key) {
    const ConfigValue* value = object.find(key);
    REQUIRE_MESSAGE(value != nullptr, key);
    return value->kind == ConfigValue::Kind::integer ? static_cast<double>(value->integer) : value->number;
  };
  const double peak = number(root, "peak_flop_per_s");
  const double bandwidth = number(root, "bandwidth_bytes_per_s");
  CHECK(peak == doctest::Approx(989.4e12).epsilon(1e-3));      // NVIDIA H100 datasheet, SXM, dense bf16
  CHECK(bandwidth == doctest::Approx(3.35e12).epsilon(1e-2));  // the same
  CHECK(number(root, "ridge_flop_per_byte") == doctest::Approx(peak / bandwidth));
  std::size_t products = 0;
  for (const ConfigValue& row : root.find("rows")->items) {
    const double flop = number(row, "flop");
    const double moved = number(row, "moved_bytes");
    const double time = number(row, "time_s");
    if (flop > 0.0) {
      CHECK(number(row, "flop_per_byte") == doctest::Approx(flop / moved));
      CHECK(number(row, "flop_per_s") == doctest::Approx(flop / time));
      CHECK(number(row, "of_roof") == doctest::Approx(flop / time / std::min(peak, flop / moved * bandwidth)));
      ++products;
    } else {
      CHECK(row.find("flop_per_s") == nullptr);
      CHECK(number(row, "of_roof") == doctest::Approx(moved / time / bandwidth));
    }
  }
  CHECK(products >= 6);  // qkv, attention, its output, gate and up, down, the head
}

TEST_CASE("an object that an answer gains is on its page without a word of code, with the unit that its values have") {
  const Value answer = object("name"_m = "x", "verdict"_m = "good", "all"_m = object("a"_m = 1),
                              "echo"_m = object("waits_s"_m = Seconds{0.25}, "seen_share"_m = share(0.5)));
  const std::string page = report::page({{{"simulation", answer}}, {}});
  CHECK(page.find("<h3>echo</h3>") != std::string::npos);
  CHECK(page.find("<data value=\"0.25\" data-of=\"simulation#/echo/waits_s\">250 ms</data>") != std::string::npos);
  CHECK(page.find("<data value=\"0.5\" data-of=\"simulation#/echo/seen_share\">50.0 %</data>") != std::string::npos);
  CHECK(page.find("simulation#/all/a") == std::string::npos);  // which has a part of its own
}

TEST_CASE("a promise has the same words on the page of a fleet and of a simulation, from the same members") {
  struct Judged {
    double limit;
    bool kept, kept_at_slow_end;
    std::string_view said;
  };
  const Interval<Seconds> reached{Seconds{0.5}, Seconds{1.0}, Seconds{1.5}};
  for (const auto& [limit, kept, kept_at_slow_end, said] :
       {Judged{2.0, true, true, "kept"}, Judged{1.2, true, false, "kept, may be missed"},
        Judged{0.7, false, false, "missed, may be kept"}, Judged{0.2, false, false, "missed"}}) {
    const std::array promises{row("class"_m = "all", "promise"_m = "ttft_p95", "limit_s"_m = Seconds{limit},
                                  "reached_s"_m = reached, "kept"_m = kept, "kept_at_slow_end"_m = kept_at_slow_end)};
    const Value answer =
        object("name"_m = "x", "all"_m = object("requests"_m = 9, "ttft_s"_m = object("p95"_m = Seconds{1.0})),
               "promises"_m = list(promises, [](const Value& one) { return one; }));
    for (const char* document : {"fleet", "simulation"}) {
      CAPTURE(document);
      CAPTURE(said);
      const std::string page = report::page({{{document, answer}}, {}});
      CHECK(page.find("<td>" + std::string{said} + "</td>") != std::string::npos);
    }
  }
}

TEST_CASE("places name their members as RFC 6901 does, and what is absent is nothing") {
  using namespace headroom::report;
  Value numbers = Value::empty_list();
  numbers.push(1);
  numbers.push(Seconds{2.5});
  numbers.push(nullptr);
  const Document document{"d", object("a/b"_m = object("~"_m = numbers), "t"_m = "x < y")};
  const Place root{document};
  const Place second = root["a/b"]["~"][1];
  CHECK(second.pointer() == "d#/a~1b/~0/1");
  CHECK(figure(second) == "<data value=\"2.5\" data-of=\"d#/a~1b/~0/1\">2.50 s</data>");
  CHECK(share(second, root["a/b"]["~"][0]) ==
        "<data value=\"2.5\" data-of=\"d#/a~1b/~0/1\" data-over=\"d#/a~1b/~0/0\">250 %</data>");
  CHECK(figure(root["t"]) == "x &lt; y");
  CHECK(!root["a/b"]["~"][2].there());
  CHECK(!root["a/b"]["~"][3]["deeper"].there());
  CHECK(figure(root["no"]["such"]).empty());
  CHECK(label_of("gpu_power_w") == "GPU power");
  CHECK(label_of("host_power_w_per_gpu") == "host power per GPU");
  CHECK(label_of("output_tokens_per_s") == "output tokens per s");
  CHECK(label_of("j_per_million_tokens") == "energy per million tokens");
  CHECK(label_of("storage_needed_bytes_per_s") == "storage needed");
}
