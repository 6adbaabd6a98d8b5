// weir tos: both readings of a number, and which one to type.
#include "ops/fabric/tos.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/explain_json.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::cli {
namespace {

struct TosAnswer {
  ops::TosRequest request;
  std::vector<ops::TosReading> readings;
};

std::string hex(TosByte tos) {
  return fmt::format("0x{:02x}", tos.value());
}

std::string with_name(Dscp dscp) {
  const std::string_view name = dscp_name(dscp);
  return name.empty() ? to_text(dscp) : fmt::format("{} ({})", dscp.value(), name);
}

// The first line: what to type, in words. The last DSCP reading is the one with ECN bits.
std::string tos_verdict(const TosAnswer& answer) {
  if (!answer.request.number)
    return "A TOS byte is the DSCP times 4 plus the ECN bits: 0 not-ect, 1 ect1, 2 ect0, 3 ce.";
  const ops::TosNumber& typed = *answer.request.number;
  const ops::TosReading* as_dscp = nullptr;
  const ops::TosReading* as_tos = nullptr;
  for (const ops::TosReading& reading : answer.readings)
    (reading.as == ops::ReadAs::kDscp ? as_dscp : as_tos) = &reading;
  std::string text;
  if (as_dscp != nullptr) {
    const Dscp dscp = dscp_of(as_dscp->tos);
    const std::string_view name = dscp_name(dscp);
    text = typed.is_name ? fmt::format("{} is DSCP {}", typed.text, dscp.value())
                         : fmt::format("{} as a DSCP{}", typed.text,
                                       name.empty() ? "" : fmt::format(" ({})", name));
    // CE is for switches to set, so only ECT(0), what RoCE sends, is advised to be typed.
    text += answer.request.ecn
                ? fmt::format(" with {}: the TOS byte is {} ({}).", to_text(*answer.request.ecn),
                              as_dscp->tos.value(), hex(as_dscp->tos))
                : fmt::format(": type {} ({}) where a TOS byte or traffic class is asked.",
                              as_dscp->tos.value(), hex(as_dscp->tos));
  }
  if (as_tos != nullptr) {
    const Dscp dscp = dscp_of(as_tos->tos);
    text += as_dscp != nullptr
                ? fmt::format(" Typed as a TOS byte, {} means DSCP {}.", typed.text, to_text(dscp))
                : fmt::format("{} as a TOS byte: DSCP {}, {}.", typed.text, with_name(dscp),
                              ops::ecn_words(ecn_of(as_tos->tos)));
  }
  return text;
}

std::string readings_table(const std::vector<ops::TosReading>& readings) {
  TextTable table(
      {"read as", "DSCP", "name", "ECN", "TOS byte", "hex"},
      {Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft});
  for (const ops::TosReading& reading : readings) {
    const Dscp dscp = dscp_of(reading.tos);
    const std::string_view name = dscp_name(dscp);
    table.add_row({reading.as == ops::ReadAs::kDscp ? "DSCP" : "TOS byte", to_text(dscp),
                   std::string(name.empty() ? "-" : name),
                   std::string(to_text(ecn_of(reading.tos))), to_text(reading.tos),
                   hex(reading.tos)});
  }
  return table.to_text(2);
}

std::string full_table(std::optional<Ecn> only) {
  std::vector<std::string> header = {"DSCP", "name"};
  std::vector<Align> align = {Align::kRight, Align::kLeft};
  for (const Ecn ecn : ops::kAllEcn) {
    if (only && only != ecn) continue;
    header.emplace_back(to_text(ecn));
    header.emplace_back("hex");
    align.insert(align.end(), {Align::kRight, Align::kLeft});
  }
  TextTable table(header, align);
  for (unsigned value = 0; value < Dscp::kLimit; ++value) {
    const Dscp dscp = Dscp::of(value);
    const std::string_view name = dscp_name(dscp);
    std::vector<std::string> row = {to_text(dscp), std::string(name.empty() ? "-" : name)};
    for (const Ecn ecn : ops::kAllEcn) {
      if (only && only != ecn) continue;
      row.push_back(to_text(tos_byte(dscp, ecn)));
      row.push_back(hex(tos_byte(dscp, ecn)));
    }
    table.add_row(std::move(row));
  }
  return table.to_text(2);
}

void print_tos(const TosAnswer& answer, bool with_table, Context& context) {
  context.out << paint(context, Tone::kStrong, tos_verdict(answer)) << '\n';
  if (context.quiet) return;
  if (answer.request.number) context.out << '\n' << readings_table(answer.readings);
  if (with_table) {
    context.out << '\n' << full_table(answer.request.ecn);
  } else {
    context.out << "\nA TOS byte (IPv4 TOS, IPv6 traffic class, traffic_class of an RDMA device, "
                   "NCCL_IB_TC)\nis the DSCP times 4 plus the ECN bits. More: weir explain "
                   "dscp.tos_confusion\n";
  }
}

Result<ops::TosRequest> tos_request(const Args& args) {
  ops::TosRequest request;
  if (const auto text = args.get("N")) {
    WEIR_TRY(number, ops::parse_tos_number(*text));
    request.number = number;
  }
  if (const auto as = args.get("as"))
    request.as = *as == "dscp" ? ops::ReadAs::kDscp : ops::ReadAs::kTos;
  for (const Ecn ecn : ops::kAllEcn)
    if (args.get("ecn") == std::string(to_text(ecn))) request.ecn = ecn;
  if (!request.number && !args.has("table"))
    return invalid_error("N is missing: a DSCP, a TOS byte or a name such as AF31");
  return request;
}

ExitCode run_tos(const Args& args, Context& context) {
  const auto request = tos_request(args);
  if (!request) return usage_error(context, args.command(), request.error().what);
  const auto readings = ops::tos_readings(*request);
  if (!readings) return fail(context, args.command(), readings.error());
  const TosAnswer answer{*request, *readings};
  if (context.json) {
    print_tos_json(context, args.command(), answer.readings, tos_verdict(answer));
  } else {
    print_tos(answer, args.has("table"), context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command tos_command() {
  return {
      .name = "tos",
      .group = Group::kOperators,
      .summary = "both readings of a number: as a DSCP and as a TOS byte",
      .description =
          "A DSCP has 6 bits; a TOS byte holds the DSCP and, below it, 2 ECN bits. Tools ask for "
          "one or the other and take any number: 26 typed where a TOS byte belongs marks DSCP 6, "
          "and the traffic silently leaves its lossless class. This verb shows what to type.",
      .arguments = {{.name = "N",
                     .help = "a number (26, 0x6a) or the name of a code point (AF31, CS3, EF)"}},
      .options = {{.name = "ecn",
                   .metavar = "ECN",
                   .help =
                       "ECN bits to put below the DSCP; without it both plain and ect0 are shown",
                   .choices = {"not-ect", "ect0", "ect1", "ce"}},
                  {.name = "as",
                   .metavar = "READING",
                   .help = "only this reading of N",
                   .choices = {"dscp", "tos"}},
                  {.name = "table", .help = "all 64 DSCPs with their TOS bytes"}},
      .examples = {{"weir tos 26", "as a DSCP: 104, or 106 with ECT(0); as a TOS byte: DSCP 6"},
                   {"weir tos 0x6a", "what is on the wire: DSCP 26, ECT(0)"},
                   {"weir tos AF31 --ecn ce", "the byte after a switch has marked the packet"},
                   {"weir tos --table", "the whole table"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_tos,
  };
}

}  // namespace weir::cli
