// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/web/page_files.hpp>
#include <headroom/core/embedded.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace headroom::embedded {
[[nodiscard]] EmbeddedIndex embedded_web() noexcept;  // NOLINT(misc-use-internal-linkage)
}  // namespace headroom::embedded

namespace headroom::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> content_types{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

std::string_view type_of(std::string_view name) {
  const auto* const found = std::find_if(content_types.begin(), content_types.end(),
                                         [&](const auto& known) { return name.ends_with(known.first); });
  return found == content_types.end() ? std::string_view{"application/octet-stream"} : found->second;
}

/// The page says in its head where questions go; nothing: to the module in the browser.
constexpr std::string_view to_module = "<meta name=\"headroom-api\" content=\"\">";
constexpr std::string_view to_server = "<meta name=\"headroom-api\" content=\"/api/v1\">";

constexpr std::string_view no_page =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Headroom</title></head>\n"
    "<body><h1>Headroom</h1>\n<p>This build has no page. Programs ask at <code>/api/v1</code>; "
    "<a href=\"/api/v1/openapi.json\">OpenAPI</a> tells how.</p></body></html>\n";

std::vector<PageFile> all_files() {
  std::vector<PageFile> files;
  for (const EmbeddedFile& file : embedded::embedded_web().files) {
    const std::string_view name = file.name.substr(file.name.rfind('/') + 1);
    std::string text{file.text};
    if (const std::size_t at = text.find(to_module); name == "index.html" && at != std::string::npos) {
      text.replace(at, to_module.size(), to_server);
    }
    if (name == "index.html") {
      files.push_back({"/", type_of(name), text});
    }
    files.push_back({"/" + std::string{name}, type_of(name), std::move(text)});
  }
  if (files.empty()) {
    files.push_back({"/", content_types.front().second, std::string{no_page}});
  }
  return files;
}

}  // namespace

const PageFile* find_page_file(std::string_view path) {
  static const std::vector<PageFile> files = all_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const PageFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace headroom::cli
