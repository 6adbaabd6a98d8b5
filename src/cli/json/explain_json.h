#pragma once
// The models of `explain` and `tos` for programs.
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "finding/symptom_rows.h"
#include "ops/fabric/tos.h"
#include "ops/inspect/explain.h"

namespace weir::cli {

void print_tos_json(Context&, const Command&, const std::vector<ops::TosReading>& readings,
                    std::string_view verdict);

void print_table_json(Context&, const Command&, const ops::TableTopic&);
/// `finding`, `counter`, `knob` hold what has the name; the others are left out.
void print_meaning_json(Context&, const Command&, const std::string& name, const ops::Meaning&);
/// `related` holds findings worth reading for a symptom in words.
void print_related_json(Context&, const Command&, const std::string& words,
                        const std::vector<finding::Related>& related);
/// `symptoms` holds the rows of the table of symptoms that a description fits.
void print_symptoms_json(Context&, const Command&, const std::string& words,
                         const std::vector<const finding::SymptomRow*>& rows);
void print_topics_json(Context&, const Command&);

}  // namespace weir::cli
