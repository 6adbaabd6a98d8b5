#pragma once
// weir serve --json.
#include <string>

#include "cli/frame/command.h"

namespace weir::cli {

void print_serving_json(Context&, const Command&, const std::string& verdict,
                        const std::string& url);
void print_textfile_json(Context&, const Command&, const std::string& verdict,
                         const std::string& file);

}  // namespace weir::cli
