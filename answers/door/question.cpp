// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/question.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t before_own = 2;  // one plan and a search

/// Of the kinds in their order, the first that is asked; their number where none is.
template <class... Kind>
std::size_t own_kind(KindList<Kind...> /*kinds*/, const ConfigValue& document, const QuestionLibrary& library) {
  std::size_t at = 0;
  static_cast<void>(((Kind::asks(document, library) || (++at, false)) || ...));
  return at;
}
template <class... Kind>
constexpr std::size_t size_of(KindList<Kind...> /*kinds*/) {
  return sizeof...(Kind);
}

template <class... Kind>
AskedQuestion read_own(KindList<Kind...> /*kinds*/,
                       std::size_t which,
                       ConfigValue& document,
                       const std::string& file,
                       const QuestionLibrary& library) {
  std::optional<AskedQuestion> question;
  std::size_t at = 0;
  static_cast<void>(
      ((at++ == which && (question.emplace(Kind::read(std::move(document), file, library)), true)) || ...));
  return *std::move(question);
}

}  // namespace

DocumentKind kind_of(const ConfigValue& document, const QuestionLibrary& library) {
  const std::size_t own = own_kind(OwnKinds{}, document, library);
  if (own < size_of(OwnKinds{})) {
    return static_cast<DocumentKind>(before_own + own);
  }
  return asks_for_search(document) ? DocumentKind::search : DocumentKind::one_plan;
}

AskedQuestion read_question(ConfigValue document, const std::string& file, const QuestionLibrary& library) {
  switch (const DocumentKind kind = kind_of(document, library)) {
    case DocumentKind::one_plan: return asked::OnePlan{read_scenario(document, file, library.sources)};
    case DocumentKind::search: return asked::BestPlan{read_search(document, file, library.sources)};
    default: return read_own(OwnKinds{}, static_cast<std::size_t>(kind) - before_own, document, file, library);
  }
}

}  // namespace headroom
