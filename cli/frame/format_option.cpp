// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/format.hpp>
#include <headroom/cli/frame/format_option.hpp>

namespace headroom::cli {

const DocumentFormat* document_format(const Arguments& arguments) {
  return find_document_format(arguments.one("--format"));
}

std::string written(
    const GivenAnswer& answer, const Arguments& arguments, unsigned threads, bool explained, const std::string& file) {
  if (const DocumentFormat* const format = document_format(arguments)) {
    return format->print(document_of(answer));
  }
  const std::string format = arguments.one("--format");
  return format == "html"  ? to_html(answer, threads)
         : format == "csv" ? to_csv(answer)
                           : to_text(answer, explained, file);
}

}  // namespace headroom::cli
