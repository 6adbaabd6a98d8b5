#include "ops/inspect/diagnose.h"

#include <deque>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/join.h"
#include "diagnose/paste/configs.h"
#include "diagnose/paste/pasted.h"
#include "diagnose/paste/told.h"
#include "ops/source/snapshot_file.h"
#include "readers/paste/merge.h"

namespace weir::ops {
namespace {

using Pieces = std::vector<evidence::Evidence>;

bool is_capture(std::string_view text) {
  for (const std::string_view magic :
       {std::string_view("\xd4\xc3\xb2\xa1", 4), std::string_view("\xa1\xb2\xc3\xd4", 4),
        std::string_view("\x4d\x3c\xb2\xa1", 4), std::string_view("\x0a\x0d\x0d\x0a", 4)})
    if (text.starts_with(magic)) return true;
  return false;
}

/// An error where there is no text: an empty file, a packet capture, binary data.
weir::Status check_text(const readers::PastedFile& file) {
  if (is_capture(file.text))
    return parse_error(fmt::format("{}: a packet capture; weir pcap reads it", file.name));
  if (file.text.find('\0') != std::string::npos)
    return parse_error(
        fmt::format("{}: binary data; expected JSON of weir or plain text", file.name));
  // Linear in the text, a second per megabyte: beyond this it is a log to be cut, not a paste.
  constexpr std::size_t kLargestText = std::size_t{16} << 20U;
  if (file.text.size() > kLargestText)
    return invalid_error(
        fmt::format("{}: expected at most {} MiB of text, found {}; cut it to the "
                    "time of the fault, or: tail -c 16M",
                    file.name, kLargestText >> 20U,
                    with_thousands(static_cast<std::int64_t>(file.text.size()))));
  if (trim(file.text).empty()) return parse_error(fmt::format("{}: no text in it", file.name));
  return {};
}

weir::Status read_files(const std::vector<std::string>& paths, Pieces& pieces, Diagnosed& out) {
  std::deque<std::string> kept;  // that the texts point to
  std::vector<readers::PastedFile> texts;
  for (const std::string& path : paths) {
    WEIR_TRY(text, read_file(path, kLargestResults));
    WEIR_TRY(document, read_document(text, path));
    if (document) {
      std::move(document->begin(), document->end(), std::back_inserter(pieces));
      continue;
    }
    kept.push_back(std::move(text));
    texts.push_back({path, kept.back()});
    WEIR_TRY_STATUS(check_text(texts.back()));
  }
  if (texts.empty()) return {};
  out.paste = readers::read_paste(texts);
  std::move(out.paste->evidence.begin(), out.paste->evidence.end(), std::back_inserter(pieces));
  Pieces configs = diagnose::pasted_configs(*out.paste);
  std::move(configs.begin(), configs.end(), std::back_inserter(pieces));
  return {};
}

/// The last load of a lab; its present state where files show the load.
Result<Pieces> read_source(const DiagnoseRequest& request, const HostSet& set, Diagnosed& out) {
  if (set.lab && request.files.empty()) return observe_last_load(set);
  Observation seen = observe(set);
  out.unseen = seen.unseen;
  return set.lab ? std::move(seen).all() : std::move(seen.hosts);
}

/// Counters of a lab are those of its last load, which may be older than its settings.
void say_what_changed(const DiagnoseRequest& request, const HostSet& set, Diagnosed& out) {
  if (!set.lab || !request.files.empty() || !set.lab->was_changed_since_last_run()) return;
  finding::Unknown stale;
  stale.check = "the lab as it is now";
  stale.reason = fmt::format("settings or faults were changed after load {}, which is judged here",
                             set.lab->last_run()->load);
  stale.how =
      fmt::format("weir verify --lab {} -- COMMAND, then diagnose again", request.source->lab);
  stale.is_required = false;
  out.judgement.unknown.push_back(std::move(stale));
}

void describe(const Pieces& evidence, Diagnosed& out) {
  for (const evidence::Evidence& piece : evidence) {
    const bool has_nics =
        !piece.nics.empty() || (!piece.snapshots.empty() && !piece.snapshots.back().nics.empty());
    out.hosts += has_nics ? 1 : 0;
    out.switches += piece.switches.size();
    out.has_counters = out.has_counters || !piece.snapshots.empty();
    out.is_simulated = out.is_simulated || piece.provenance.simulated;
  }
}

weir::Result<lab::Expectation> compare_load(const DiagnoseRequest& request,
                                            const diagnose::View& observed, const Fabric& fabric) {
  const auto told = [&](std::size_t done) {
    constexpr auto kAll = lab::Replicas::kCount;
    tell(request.progress, static_cast<double>(done) / static_cast<double>(kAll),
         fmt::format("{} of {}", done, kAll));
  };
  auto replicas =
      lab::Replicas::play(fabric.design, fabric.intent, *request.load, available_cores(), told);
  if (!replicas) return replicas.error().within("--workload");
  return replicas->compare(observed);
}

}  // namespace

Result<Diagnosed> diagnose_all(const DiagnoseRequest& request) {
  Diagnosed out;
  Pieces pieces;
  WEIR_TRY_STATUS(or_bad_input(read_files(request.files, pieces, out)));
  std::optional<Fabric> fabric;
  std::optional<HostSet> hosts;
  if (request.source) {
    WEIR_TRY(opened, open_hosts(*request.source));
    const HostSet& set = hosts.emplace(std::move(opened));
    WEIR_TRY(seen, read_source(request, set, out));
    std::move(seen.begin(), seen.end(), std::back_inserter(pieces));
    if (set.lab) fabric = Fabric{set.lab->design(), set.lab->intent()};
  }
  if (pieces.empty() && !out.paste)
    return bad_request("nothing to diagnose: name files, --root PATH or --lab DIR");
  if (!request.design.empty()) {
    WEIR_TRY(loaded, load_fabric(request.design));
    fabric = std::move(loaded);
  }
  if (request.load && !fabric)
    return bad_request("--workload is compared with the fabric as designed: name it with --design");
  const Pieces evidence = diagnose::join_windows(readers::merge_texts(std::move(pieces)));
  describe(evidence, out);
  const diagnose::Case subject{
      .evidence = evidence,
      .intent = fabric ? &fabric->intent : nullptr,
      .thresholds = request.thresholds,
      .told = out.paste ? diagnose::told_of_rdma(*out.paste) : diagnose::ToldOfRdma()};
  const diagnose::View view(subject);
  out.judgement = out.paste ? diagnose::diagnose_paste(*out.paste, view) : diagnose::diagnose(view);
  if (hosts) say_what_changed(request, *hosts, out);
  if (request.load) {
    WEIR_TRY(expectation, or_bad_input(compare_load(request, view, *fabric)));
    out.expectation = std::move(expectation);
  }
  out.questions = diagnose::five_questions(view);
  return out;
}

}  // namespace weir::ops
