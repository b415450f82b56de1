// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/cli/web/http.hpp>
#include <headroom/core/diagnostic.hpp>

#include <dlfcn.h>

namespace headroom::cli {
namespace {

constexpr std::string_view how_to_get =
    "; it comes with the package headroom-web, or with a build where libcpp-httplib-dev is installed (see docs/web.md)";

}  // namespace

std::unique_ptr<HttpServer> open_http_server(const HttpLimits& limits, HttpAnswers answers) {
  const std::optional<std::string> named = library_of("HEADROOM_WEB_LIBRARY");
  const std::optional<std::string> path = named ? named : beside_program("libheadroom_web.so");
  if (!path) {
    throw ConfigError{"HTTP is spoken by libheadroom_web.so, which is not beside this program" +
                      std::string{how_to_get}};
  }
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw ConfigError{"the library that speaks HTTP cannot be opened: " +
                      std::string{why == nullptr ? path->c_str() : why} + std::string{how_to_get}};
  }
  // POSIX guarantees this conversion.
  const auto entry =
      reinterpret_cast<web_library::Entry>(dlsym(library, web_library::entry_name));  // NOLINT(*-reinterpret-cast)
  if (entry == nullptr) {
    throw ConfigError{*path + " speaks no HTTP: it has no symbol " + web_library::entry_name};
  }
  std::uint32_t own = 0;
  HttpServer* const server = entry(web_library::abi_version, &own, limits, std::move(answers));
  if (server == nullptr) {
    throw ConfigError{*path + " speaks version " + std::to_string(own) + " of its interface, this headroom " +
                      std::to_string(web_library::abi_version) + "; build and install both together"};
  }
  return std::unique_ptr<HttpServer>{server};
}

}  // namespace headroom::cli
