// SPDX-License-Identifier: Apache-2.0
// The files of the page (web/page), as they are served: what is asked goes to this server, not to a module.
#pragma once

#include <string>
#include <string_view>

namespace headroom::cli {

struct PageFile {
  std::string path;  ///< "/app.js"; of index.html "/"
  std::string_view content_type;
  std::string text;
};

/// nullptr: the page has no such file. Without the page's sources there is one that says how to ask without it.
[[nodiscard]] const PageFile* find_page_file(std::string_view path);

}  // namespace headroom::cli
