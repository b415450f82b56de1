// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/wire/failure.hpp>
#include <headroom/answers/wire/form.hpp>
#include <headroom/answers/wire/lists.hpp>
#include <headroom/answers/wire/openapi.hpp>
#include <headroom/answers/wire/questions.hpp>
#include <headroom/answers/wire/request.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace headroom {
namespace {

constexpr std::array routes{
    WireRoute{WireVerb::plan, "plan", "/api/v1/plan", "", true, "what a workload needs: memory, time, money",
              "plan search fleet box mixed_training mixed_fleet batch classic cluster post-training sharing"},
    WireRoute{WireVerb::explain, "explain", "/api/v1/explain", "", true, "the same, term by term with its formulas",
              "plan search batch classic cluster post-training"},
    WireRoute{WireVerb::search, "search", "/api/v1/search", "", true, "the best plan of the axes that [search] frees",
              "search fleet box batch"},
    WireRoute{WireVerb::simulate, "simulate", "/api/v1/simulate", "", true,
              "requests as they come, on a fleet as it is", "simulate"},
    WireRoute{WireVerb::scale, "scale", "/api/v1/scale", "", true, "a training plan at a series of GPU counts",
              "scale speedup"},
    WireRoute{WireVerb::compare, "compare", "/api/v1/compare", "", true, "plans side by side",
              "compare compare_fleets"},
    WireRoute{WireVerb::import_config, "import", "/api/v1/import", "", true,
              "a Hugging Face config.json as a table that describes the model", "import"},
    WireRoute{WireVerb::catalog, "catalog", "/api/v1/catalog", "kind", false,
              "known hardware, prices, models, engines and software", "catalog"},
    WireRoute{WireVerb::keys, "keys", "/api/v1/keys", "", false, "every key of a scenario", "keys"},
    WireRoute{WireVerb::schema, "schema", "/api/v1/schema", "name", false,
              "JSON Schema of a scenario or of an answer; the list of answers", "schemas"},
    WireRoute{WireVerb::openapi, "openapi", "/api/v1/openapi.json", "", false, "this interface as OpenAPI 3.1", ""},
    WireRoute{WireVerb::health, "health", "/api/v1/health", "", false, "whether it answers, and its version", "health"},
};

constexpr int usage_exit = 2;  // of the command line, for input that cannot be used

WireReply refused(int status, const Value& document) {
  return {status, json_content, json_text(document), false, status < 500};
}

WireReply refused(
    int status, FailureCode code, std::span<const Diagnostic> problems, std::size_t untold, const MemberOf& member_of) {
  return refused(status, failure_document(usage_exit, code, problems, untold, member_of));
}

WireReply refused(int status, FailureCode code, std::string message) {
  return refused(status, failure_document(usage_exit, code, std::move(message)));
}

/// Where problems of a text without a tree stand: in the root.
std::string no_member(const Diagnostic& /*problem*/) {
  return {};
}

WireReply answered(const QuestionLibrary& library, WireVerb verb, const ConfigValue& tree, const WireLimits& limits) {
  switch (verb) {
    case WireVerb::import_config: return wire_import(tree);
    case WireVerb::catalog: return wire_catalog(library, tree);
    case WireVerb::keys: return wire_keys(tree);
    case WireVerb::schema: return wire_schema(tree);
    case WireVerb::openapi: return {200, json_content, openapi_document(), true, true};
    case WireVerb::health: return wire_health(tree);
    default: return wire_answer(library, verb, tree, limits);
  }
}

}  // namespace

std::span<const WireRoute> wire_routes() noexcept {
  return routes;
}

const WireRoute* find_wire_route(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(routes.begin(), routes.end(), [&](const WireRoute& route) { return route.name == name; });
  return found == routes.end() ? nullptr : found;
}

WireReply wire_refusal(int status, const std::string& message) {
  const bool limit = status == 503 || status == 413 || status == 408 || status == 431;
  return refused(status,
                 status == 500 ? FailureCode::internal
                 : limit       ? FailureCode::limit
                               : FailureCode::usage,
                 message);
}

WireReply wire_reply(const QuestionLibrary& library,
                     WireVerb verb,
                     std::string_view request,
                     const WireLimits& limits) {
  std::optional<ConfigValue> tree;
  const MemberOf member_of = [&](const Diagnostic& problem) {
    return tree ? WirePlaces{*tree}.member_of(problem) : no_member(problem);
  };
  try {
    tree = wire_tree(request, limits);
    return answered(library, verb, *tree, limits);
  } catch (const WireLimitError& error) {
    return refused(413, FailureCode::limit, error.what());
  } catch (const WireFormError& error) {
    return refused(400, FailureCode::usage, error.diagnostics(), error.untold(), no_member);
  } catch (const ConfigError& error) {
    return refused(422, FailureCode::input, error.diagnostics(), error.untold(), member_of);
  } catch (const std::bad_alloc&) {
    return refused(503, FailureCode::limit, "the answer takes more memory than there is; ask a smaller question");
  } catch (const std::system_error& error) {
    return refused(503, FailureCode::limit, std::string{"the system refuses what this takes: "} + error.what());
  } catch (const std::exception& error) {
    return refused(500, FailureCode::internal,
                   std::string{"this is a defect of Headroom, please report it with the question: "} + error.what());
  }
}

WireReply wire_reply(const QuestionLibrary& library,
                     std::string_view verb,
                     std::string_view request,
                     const WireLimits& limits) {
  if (const WireRoute* const route = find_wire_route(verb)) {
    return wire_reply(library, route->verb, request, limits);
  }
  std::vector<std::string_view> names;
  std::string all;
  for (const WireRoute& route : routes) {
    names.push_back(route.name);
    all += (all.empty() ? "" : ", ") + std::string{route.name};
  }
  return refused(404, FailureCode::usage, quoted(verb) + " is none of " + all + suggestion(verb, names));
}

}  // namespace headroom
