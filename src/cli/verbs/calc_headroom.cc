// weir calc headroom: the bytes that still arrive after XOFF, with every term shown, and beside
// them the cable term alone, which small published tables mistake for headroom.
#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/calc_json.h"
#include "ops/fabric/calc.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kHeadroomWidth = 100;

using model::HeadroomInput;
using model::HeadroomModelInfo;

// An MTU is in bytes wherever it is written, so a bare number is no riddle here.
Result<Bytes> parse_mtu(std::string_view text) {
  if (const auto bare = parse_u64(text)) {
    if (*bare <= 65'535) return Bytes::raw(static_cast<std::int64_t>(*bare));
  }
  return parse_bytes(text);
}

template <class T>
Status read_option(const Args& args, std::string_view name, Result<T> (*parse)(std::string_view),
                   T& target) {
  auto value = parse(args.value(name));
  if (!value) return value.error().within(fmt::format("--{}", name));
  target = *value;
  return {};
}

template <class T>
Status read_optional(const Args& args, std::string_view name, Result<T> (*parse)(std::string_view),
                     std::optional<T>& target) {
  if (!args.has(name)) return {};
  T value;
  WEIR_TRY_STATUS(read_option(args, name, parse, value));
  target = value;
  return {};
}

Result<int> parse_percent(std::string_view text) {
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  const auto value = parse_u64(digits);
  if (!value || *value > 100)
    return parse_error(fmt::format("expected a whole number from 0 to 100, found '{}'", text));
  return static_cast<int>(*value);
}

Result<HeadroomInput> gather_headroom(const Args& args) {
  HeadroomInput input;
  WEIR_TRY(chosen, model::parse_headroom_model(args.value("model")));
  input.model = chosen;
  WEIR_TRY_STATUS(read_option(args, "speed", parse_rate, input.speed));
  WEIR_TRY_STATUS(read_option(args, "cable", parse_length, input.cable));
  WEIR_TRY_STATUS(read_option(args, "mtu", parse_mtu, input.mtu));
  WEIR_TRY_STATUS(read_optional(args, "lossless-mtu", parse_mtu, input.lossless_mtu));
  WEIR_TRY_STATUS(read_option(args, "small-percent", parse_percent, input.small_percent));
  WEIR_TRY_STATUS(read_optional(args, "peer-response", parse_duration, input.peer_response));
  WEIR_TRY_STATUS(read_optional(args, "cell", parse_bytes, input.cell));
  input.peer = args.value("peer") == "switch" ? model::Peer::kSwitch : model::Peer::kNic;
  return input;
}

std::string headroom_bytes(Bytes bytes) {
  return with_thousands(bytes.raw());
}

std::string headroom_verdict(const ops::HeadroomAnswer& answer) {
  const HeadroomInput& input = answer.input;
  return fmt::format(
      "Headroom: {} B ({}) for each port and lossless priority, by {}: {}, {}, MTU {}.",
      headroom_bytes(answer.headroom.xoff), approximate(answer.headroom.xoff),
      model::info(input.model).name, to_text(input.speed), to_text(input.cable),
      to_text(input.mtu));
}

std::string terms_table(const ops::HeadroomAnswer& answer) {
  TextTable table({"term", "bytes", ""}, {Align::kLeft, Align::kRight, Align::kLeft});
  for (const model::Term& term : answer.headroom.terms)
    table.add_row({term.name, headroom_bytes(term.bytes), term.why});
  table.add_row({"total", headroom_bytes(answer.headroom.xoff), "XOFF to loss"});
  table.add_row({"", "", ""});
  table.add_row({"cable alone", headroom_bytes(answer.headroom.cable_only),
                 "2 x length x 5 ns per metre x speed: not headroom"});
  table.add_row({"floor", headroom_bytes(answer.headroom.hard_floor),
                 "2 frames and the cable: below it, loss at the first XOFF"});
  if (answer.headroom.xon) {
    table.add_row({"xon", headroom_bytes(*answer.headroom.xon),
                   "reserved below XOFF, for the buffer profile"});
  }
  if (answer.headroom.size)
    table.add_row(
        {"size", headroom_bytes(*answer.headroom.size), "of the buffer profile: xoff and xon"});
  return table.to_text(2, kHeadroomWidth);
}

std::string models_table(const ops::HeadroomAnswer& answer) {
  TextTable table({"model", "bytes", ""}, {Align::kLeft, Align::kRight, Align::kLeft});
  for (const ops::ComparedHeadroom& compared : answer.all) {
    const bool has_answer = compared.headroom.has_value();
    table.add_row(
        {std::string(compared.model->name),
         has_answer ? headroom_bytes(compared.headroom->xoff) : std::string("-"),
         std::string(has_answer ? compared.model->title : compared.headroom.error().what)});
  }
  return table.to_text(2, kHeadroomWidth);
}

// The published small tables, so that whoever knows them sees at once what they are.
std::string folklore_sentence(const ops::HeadroomAnswer& answer) {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::string speed;
  const auto end_column = [&] {
    if (!rows.empty()) columns.push_back(fmt::format("{}: {}", speed, join(rows, ", ")));
    rows.clear();
  };
  for (const model::HeadroomRow& row : model::cable_only_folklore()) {
    if (to_text(row.speed) != speed) end_column();
    speed = to_text(row.speed);
    rows.push_back(fmt::format("{} at {}", to_text(row.xoff), to_text(*row.cable)));
  }
  end_column();
  return wrap(
      fmt::format("The cable alone ({} B here) is about what small published tables hold ({}). "
                  "With that much headroom packets are lost whenever a pause is sent.",
                  headroom_bytes(answer.headroom.cable_only), join(columns, "; ")),
      79);
}

void print_headroom(const ops::HeadroomAnswer& answer, Context& context) {
  context.out << paint(context, Tone::kStrong, headroom_verdict(answer)) << '\n';
  if (context.quiet) return;
  context.out << '\n' << terms_table(answer) << '\n' << folklore_sentence(answer) << '\n';
  if (!answer.headroom.notes.empty()) context.out << "\nnotes:\n";
  for (const std::string& note : answer.headroom.notes)
    context.out << "  - " << hang(note, kHeadroomWidth - 4, 4) << '\n';
  if (!answer.all.empty()) context.out << "\nEvery model, same input:\n\n" << models_table(answer);
  const HeadroomModelInfo& info = model::info(answer.input.model);
  context.out << '\n'
              << wrap(fmt::format("Source of {}: {}.", info.name, info.source), kHeadroomWidth)
              << '\n';
}

ExitCode run_headroom(const Args& args, Context& context) {
  const Result<HeadroomInput> input = gather_headroom(args);
  if (!input) return usage_error(context, args.command(), input.error().what);
  const auto answer = ops::calc_headroom(*input, args.has("all-models"));
  if (!answer) return fail(context, args.command(), answer.error());
  if (context.json) {
    print_headroom_json(context, args.command(), *answer, headroom_verdict(*answer));
  } else {
    print_headroom(*answer, context);
  }
  return ExitCode::kOk;
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const HeadroomModelInfo& entry : model::headroom_models())
    names.push_back(entry.name);
  return names;
}

std::vector<Option> headroom_options() {
  return {{.name = "speed",
           .metavar = "RATE",
           .help = "speed of the port, such as 400G",
           .required = true},
          {.name = "cable",
           .metavar = "LENGTH",
           .help = "length of the cable, such as 30m",
           .required = true},
          {.name = "mtu",
           .metavar = "SIZE",
           .help = "largest frame of any class",
           .default_value = "9216B"},
          {.name = "lossless-mtu",
           .metavar = "SIZE",
           .help = "largest frame of a lossless class, if smaller"},
          {.name = "peer",
           .metavar = "PEER",
           .help = "device at the other end of the cable (model ieee)",
           .default_value = "nic",
           .choices = {"nic", "switch"}},
          {.name = "small-percent",
           .metavar = "N",
           .help = "share of 64 B packets (model spectrum)",
           .default_value = "50"},
          {.name = "model",
           .metavar = "MODEL",
           .help = "formula to use",
           .default_value = "ieee",
           .choices = model_names()},
          {.name = "all-models", .help = "compare all models in one table"},
          {.name = "peer-response",
           .metavar = "TIME",
           .help = "time the peer takes to stop (ieee, tagger)"},
          {.name = "cell", .metavar = "SIZE", .help = "cell size of the buffer (tagger)"}};
}

}  // namespace

Command calc_headroom_command() {
  return {
      .name = "calc headroom",
      .group = Group::kOperators,
      .summary = "PFC headroom of a port, every term shown",
      .description =
          "What still arrives after a port has sent a pause frame must fit its headroom, or a "
          "lossless "
          "class loses packets: the frames both ends had begun, the cable, the peer's response.",
      .options = headroom_options(),
      .examples = {{"weir calc headroom --speed 400G --cable 30m", "802.1Q sum, 9216 B frames"},
                   {"weir calc headroom --speed 400G --cable 30m --model spectrum4",
                    "as NVIDIA's code computes it"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_headroom,
  };
}

}  // namespace weir::cli
