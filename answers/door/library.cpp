// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/library.hpp>

namespace headroom {

QuestionLibrary QuestionLibrary::standard() {
  return {Sources::standard(), NetworkLibrary::standard()};
}

}  // namespace headroom
