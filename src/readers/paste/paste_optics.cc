// Light and FEC at ports: diagnostics of optics as Junos, NX-OS, EOS and SONiC print them, and
// counters of code words that could not be repaired. A level alone is judged against the
// thresholds beside it, a count only where it is seen to grow.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {

namespace {

/// Below it there is no light at all: the other end is off, or nothing is plugged in there.
constexpr double kDarkDbm = -30;

/// "-16.78" of "0.021 mW / -16.78 dBm" and of "-16.78dBm"; no light is minus infinity.
std::optional<double> dbm_in(std::string_view text) {
  const std::size_t unit = text.find("dBm");
  if (unit == std::string_view::npos) return std::nullopt;
  std::string_view before = trim(text.substr(0, unit));
  if (before.ends_with("Inf") || before.ends_with("inf"))
    return -std::numeric_limits<double>::infinity();
  const std::size_t begin = before.find_last_of(" /\t");
  return leading_decimal(begin == std::string_view::npos ? before : before.substr(begin + 1));
}

/// What an output says of one port.
struct PortLight {
  std::vector<double> received;  // dBm, lane by lane
  std::optional<double> lowest;  // the module's own limit
  const PasteLine* weakest = nullptr;
  std::string weakest_lane;          // "lane 2"; empty where the text numbers none
  const PasteLine* alarm = nullptr;  // of the receiver
  std::string alarm_lane;
  const PasteLine* warning = nullptr;  // of the receiver
  const PasteLine* trouble = nullptr;  // of anything else
};

bool is_on(std::string_view value) {
  return value == "On" || value == "ON" || value == "True" || value == "true";
}
bool is_switch_word(std::string_view value) {
  return is_on(value) || value == "Off" || value == "OFF" || value == "False" || value == "false";
}

/// "lane 0" of "Lane 0", "channel 2" of "Channel 2 receiver …".
std::string lane_named(std::string_view text) {
  const auto words = words_of(text);
  const bool is_number =
      words.size() > 1 && words[1].find_first_not_of("0123456789:") == std::string_view::npos;
  return is_number
             ? lower_case(words[0]) + " " + std::string(words[1].substr(0, words[1].find(':')))
             : std::string();
}

/// "lane 1" of "rx1power", as modules with four or eight receivers are shown.
std::string lane_in_key(std::string_view key) {
  const bool is_one = key.size() > 7 && key.starts_with("rx") && key.ends_with("power");
  const std::string_view digits = is_one ? key.substr(2, key.size() - 7) : std::string_view();
  const bool is_number =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? "lane " + std::string(digits) : std::string();
}

class OpticsReader {
 public:
  OpticsReader(const PasteAt& at, PasteSink& out)
      : at_(at), out_(out), port_(port_of_command(at.mark)) {
    if (port_.empty()) port_ = at.mark.device;
  }

  /// Whether the line is of an optic, and takes it then.
  bool take(std::size_t n) {
    const std::string_view text = at_.line(n);
    const PasteLine& line = at_.lines[n];
    return take_port(text) || take_row(text, line) || take_threshold_row(n) ||
           take_pair(text, line);
  }

  void finish() {
    flush();
    out_.device = port_;
  }

 private:
  // "Physical interface: et-0/0/31", "Ethernet0: SFP EEPROM detected", "Ethernet1/29"
  bool take_port(std::string_view text) {
    constexpr std::string_view kJunos = "Physical interface: ";
    std::string_view name;
    if (text.starts_with(kJunos)) {
      name = trim(text.substr(kJunos.size()));
      name = name.substr(0, name.find(','));
    } else if (const std::size_t colon = text.find(": SFP EEPROM");
               colon != std::string_view::npos) {
      name = text.substr(0, colon);
    } else if (is_switch_port(text)) {
      name = text;
    }
    if (name.empty() || !is_switch_port(name)) return false;
    flush();
    port_ = name;
    return true;
  }

  // NX-OS: "Rx Power   -17.69 dBm --   5.99 dBm  -14.55 dBm …": two signs are an alarm.
  bool take_row(std::string_view text, const PasteLine& line) {
    const auto words = words_of(text);
    const bool is_power = words.size() >= 4 && words[1] == "Power" &&
                          (words[0] == "Rx" || words[0] == "Tx") && words[3] == "dBm";
    if (!is_power) return false;
    const auto level = leading_decimal(words[2]);
    const bool is_alarm = words.size() > 4 && (words[4] == "--" || words[4] == "++");
    if (words[0] == "Rx") {
      if (level) note_received(*level, line);
      if (is_alarm) light_.alarm = &line;
    } else if (is_alarm) {
      light_.trouble = &line;
    }
    return true;
  }

  // EOS: value, high alarm, high warning, low alarm, low warning, below a heading with "Rx Power".
  bool take_threshold_row(std::size_t n) {
    const std::string_view text = at_.line(n);
    if (text.find("High Alarm") != std::string_view::npos &&
        text.find("Low Alarm") != std::string_view::npos) {
      has_thresholds_ = true;
      is_received_ = text.find("Rx Power") != std::string_view::npos;
      return true;
    }
    if (!has_thresholds_) return false;
    if (text.find("Threshold") != std::string_view::npos || text.starts_with("Port ")) {
      is_received_ = is_received_ || text.find("Rx Power") != std::string_view::npos;
      return true;
    }
    auto words = words_of(text);
    // Signs behind the value that is out of its range: "-13.21 --".
    const bool is_alarm = std::find(words.begin(), words.end(), "--") != words.end();
    std::erase_if(words, [](std::string_view word) {
      return word.find_first_not_of("+-") == std::string_view::npos;
    });
    constexpr std::size_t kCells = 5;
    if (words.size() < kCells + 1 || !is_switch_port(words[0])) return false;
    std::vector<double> cells;
    for (std::size_t i = words.size() - kCells; i < words.size(); ++i)
      if (const auto value = leading_decimal(words[i])) cells.push_back(*value);
    if (cells.size() != kCells || !is_received_) return cells.size() == kCells;
    if (port_ != words[0]) {
      flush();
      port_ = words[0];
    }
    light_.lowest = cells[3];
    if (is_alarm) light_.alarm = &at_.lines[n];
    note_received(cells[0], at_.lines[n]);
    return true;
  }

  // "Laser receiver power low alarm : On", "RX1Power: -17.1dBm", "RxPowerLowAlarm: -11.9dBm"
  bool take_pair(std::string_view text, const PasteLine& line) {
    if (text.starts_with("Lane ") || text.starts_with("Channel ")) {
      lane_ = lane_named(text);
      return true;
    }
    const auto pair = key_value(text);
    if (!pair) return false;
    const std::string key = lower_case(pair->key);
    const bool is_alarm = key.ends_with("alarm") || key.ends_with("warning");
    const bool is_receiver = key.find("receive") != std::string::npos || key.starts_with("rx");
    if (is_alarm && is_switch_word(pair->value)) {
      if (!is_on(pair->value)) return true;
      // A warning is the same limit a little earlier.
      const PasteLine*& place = !is_receiver             ? light_.trouble
                                : key.ends_with("alarm") ? light_.alarm
                                                         : light_.warning;
      if (place == nullptr) place = &line;
      if (place == &line && &place == &light_.alarm) light_.alarm_lane = lane_;
      return true;
    }
    const auto level = dbm_in(pair->value);
    if (!level || !is_receiver) return true;
    if (key.find("lowalarm") != std::string::npos || key.find("low alarm") != std::string::npos) {
      light_.lowest = *level;
    } else if (key.ends_with("power")) {
      const std::string lane = lane_in_key(key);
      note_received(*level, line, lane.empty() ? lane_ : lane);
    }
    return true;
  }

  void note_received(double level, const PasteLine& line, std::string lane = {}) {
    const bool is_weakest =
        light_.received.empty() ||
        level < *std::min_element(light_.received.begin(), light_.received.end());
    light_.received.push_back(level);
    if (!is_weakest) return;
    light_.weakest = &line;
    light_.weakest_lane = std::move(lane);
  }

  void flush() {
    const auto& received = light_.received;
    const bool is_dark =
        !received.empty() && *std::max_element(received.begin(), received.end()) < kDarkDbm;
    const bool is_below = light_.lowest && !received.empty() &&
                          *std::min_element(received.begin(), received.end()) < *light_.lowest;
    if (is_dark && (is_below || light_.alarm != nullptr)) {
      out_.switch_event(EventKind::kNoLight, port_, *light_.weakest);
    } else if (light_.alarm != nullptr) {
      out_.switch_event(EventKind::kSignal, port_, *light_.alarm, light_.alarm_lane);
    } else if (is_below) {
      out_.switch_event(EventKind::kSignal, port_, *light_.weakest, light_.weakest_lane);
    }
    if (light_.trouble == nullptr && light_.alarm == nullptr && !is_below)
      light_.trouble = light_.warning;
    if (light_.trouble != nullptr && !is_dark)
      out_.switch_event(EventKind::kModule, port_, *light_.trouble);
    light_ = {};
    lane_.clear();
  }

  const PasteAt& at_;
  PasteSink& out_;
  std::string port_;
  std::string lane_;  // below whose heading the lines are
  PortLight light_;
  bool has_thresholds_ = false;
  bool is_received_ = false;
};

/// The command asks for optics: all below it is of them.
bool asks_for_optics(const Mark& mark) {
  return mark.has_word("optics") || mark.has_word("transceiver") || mark.has_word("sfputil");
}

bool begins_light(const PasteAt& at) {
  const std::string_view text = at.line(0);
  if (text.empty()) return false;
  if (asks_for_optics(at.mark)) return true;
  const auto words = words_of(text);
  if (words.size() >= 4 && words[1] == "Power" && (words[0] == "Rx" || words[0] == "Tx") &&
      words[3] == "dBm")
    return true;
  if (text.find(": SFP EEPROM detected") != std::string_view::npos) return true;
  const auto pair = key_value(text);
  return pair && is_switch_word(pair->value) && pair->key.starts_with("Laser ") &&
         (pair->key.ends_with("alarm") || pair->key.ends_with("warning"));
}

std::size_t read_light(const PasteAt& at, PasteSink& out) {
  OpticsReader reader(at, out);
  const bool is_whole = asks_for_optics(at.mark);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const bool is_filling = text.empty() || is_rule(text);
    if (!is_filling && !reader.take(taken) && !is_whole) break;
  }
  reader.finish();
  return taken;
}

// ---- code words that could not be repaired, frames with a wrong checksum ----

/// The first number behind the words of a line; nullopt where there is none.
std::optional<std::uint64_t> first_count(std::string_view text) {
  for (std::string_view word : words_of(text)) {
    while (word.ends_with(',') || word.ends_with(':'))
      word.remove_suffix(1);
    if (const auto value = parse_count(word)) return value;
  }
  return std::nullopt;
}

/// "FEC Uncorrected Errors  55120", "uncorrectable_blocks: 3", "CRC/Align errors  412  0".
std::optional<std::string> error_counter(std::string_view text) {
  const std::string lower = lower_case(text);
  const bool is_fec =
      (lower.find("uncorrected") != std::string::npos ||
       lower.find("uncorrectable") != std::string::npos) &&
      (lower.find("fec") != std::string::npos || lower.find("codeword") != std::string::npos ||
       lower.find("block") != std::string::npos);
  const bool is_crc = lower.starts_with("crc/align errors");
  if ((!is_fec && !is_crc) || !first_count(text)) return std::nullopt;
  const std::size_t digits = lower.find_first_of("0123456789");
  std::string name(trim(std::string_view(lower).substr(0, digits)));
  constexpr std::size_t kLongest = 48;  // a counter's name; what is longer is a sentence
  return name.size() <= kLongest ? std::optional(name) : std::nullopt;
}

std::string port_asked_for(const Mark& mark) {
  const std::string port = port_of_command(mark);
  return port.empty() ? mark.device : port;
}

bool is_fec_table(std::string_view text) {
  return text.starts_with("IFACE") && text.find("FEC_UNCORR") != std::string_view::npos;
}

/// "Ethernet0  U  1,204  3  0" below "IFACE STATE FEC_CORR FEC_UNCORR FEC_SYMBOL_ERR".
std::size_t read_fec_table(const PasteAt& at, PasteSink& out) {
  const auto headings = words_of(at.line(0));
  const auto column = static_cast<std::size_t>(
      std::find(headings.begin(), headings.end(), "FEC_UNCORR") - headings.begin());
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (is_rule(text) && !text.empty()) continue;
    const auto words = words_of(text);
    if (words.size() != headings.size() || !is_switch_port(words[0])) break;
    const auto value = column < words.size() ? parse_count(words[column]) : std::nullopt;
    if (value && out.has_grown(words[0], "FEC_UNCORR", *value))
      out.switch_event(EventKind::kSignal, words[0], at.lines[taken]);
  }
  return taken;
}

bool begins_errors(const PasteAt& at) {
  return is_fec_table(at.line(0)) ||
         (!at.mark.words.empty() && error_counter(at.line(0)).has_value() &&
          !port_asked_for(at.mark).empty());
}

std::size_t read_errors_of_port(const PasteAt& at, PasteSink& out) {
  if (is_fec_table(at.line(0))) return read_fec_table(at, out);
  const std::string port = port_asked_for(at.mark);
  const std::string name = *error_counter(at.line(0));
  const auto value = first_count(at.line(0)).value_or(0);
  // A rate is of now; a sum since an unknown time says nothing until it is seen to grow.
  const bool is_rate = name.find(" rate") != std::string::npos && value > 0;
  if (is_rate || out.has_grown(port, name, value)) {
    if (at.mark.is_switch) {
      out.switch_event(EventKind::kSignal, port, at.lines[0]);
    } else {
      out.event(EventKind::kSignal, port, at.lines[0]);
    }
  }
  out.device = port;
  return 1;
}

}  // namespace

bool begins_optics(const PasteAt& at) {
  return begins_errors(at) || begins_light(at);
}

std::size_t read_optics(const PasteAt& at, PasteSink& out) {
  return begins_errors(at) ? read_errors_of_port(at, out) : read_light(at, out);
}

}  // namespace weir::readers
