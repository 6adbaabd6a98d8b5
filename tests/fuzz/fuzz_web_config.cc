// The file that says who may scrape, and the header that a client sends.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "serve/http/server.h"
#include "serve/http/web_config.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT
  (void)weir::serve::parse_web_config(text, "web.yml", "/etc");
  (void)weir::serve::parse_listen_address(text);
  // Without users no hash is computed: a bcrypt for each input would be all that is fuzzed.
  static weir::serve::PasswordCheck nobody(weir::serve::Users{});
  if (size < 2 || data[0] != 'B' || data[1] != 'a') return 0;
  (void)nobody.admits(text);
  return 0;
}
