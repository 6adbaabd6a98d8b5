#include "serve/assets/assets.h"

#include <algorithm>
#include <array>

#include "serve/assets_data.h"

namespace weir::serve {
namespace {

constexpr std::string_view kScript = "text/javascript; charset=utf-8";
constexpr std::string_view kStyle = "text/css; charset=utf-8";

constexpr std::array<Asset, 8> kAssets = {{
    {"/", "text/html; charset=utf-8", web::kIndexHtml},
    {"/page.css", kStyle, web::kPageCss},
    {"/model.js", kScript, web::kModelJs},
    {"/map.js", kScript, web::kMapJs},
    {"/page.js", kScript, web::kPageJs},
    {"/uplot.js", kScript, web::kUplotJs},
    {"/uplot.css", kStyle, web::kUplotCss},
    {"/LICENSE.uplot", "text/plain; charset=utf-8", web::kUplotLicense},
}};

}  // namespace

const Asset* find_asset(std::string_view path) {
  const auto* const found = std::find_if(kAssets.begin(), kAssets.end(),
                                         [&](const Asset& asset) { return asset.path == path; });
  return found == kAssets.end() ? nullptr : found;
}

}  // namespace weir::serve
