#pragma once
// weir serve --json and weir top --json.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "finding/finding.h"
#include "ops/watch/rates.h"

namespace weir::cli {

void print_serving_json(Context&, const Command&, const std::string& verdict,
                        const std::string& url, const std::string& page);
void print_textfile_json(Context&, const Command&, const std::string& verdict,
                         const std::string& file);
/// `judgement` may be nullptr: nothing was judged.
void print_top_json(Context&, const Command&, const std::vector<ops::RailRates>& rows,
                    const finding::Judgement* judgement, bool is_simulated);

}  // namespace weir::cli
