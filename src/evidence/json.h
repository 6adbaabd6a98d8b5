#pragma once
// Evidence as JSON, both ways.
//
//   schema, provenance{…}, host{…}, nics[]{device, port, netdev, link{…}, qos{…}, ecn{…}, …},
//   gpus[], distances[], switches[], gaps[], snapshots[]
//
// A fact is `{"value": …, "source": …}` or `{"missing": "permission", "source": …}`, and is left
// out where nobody looked. `weir schema evidence` prints every key with its meaning.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "evidence/evidence.h"

namespace weir::evidence {

[[nodiscard]] Json to_json(const Evidence&);

/// Writes to_json() of evidence without its snapshots, in one line. Buffers and queues, of which
/// the ports of a fabric have thousands alike, are made once while they stay the same.
class FactWriter {
 public:
  FactWriter();
  ~FactWriter();
  FactWriter(const FactWriter&) = delete;
  FactWriter& operator=(const FactWriter&) = delete;

  void append(const Evidence& evidence, std::string& out);

 private:
  class Kept;
  std::unique_ptr<Kept> kept_;
};

/// Reads what FactWriter wrote, without a document in memory. Values and lists that thousands of
/// NICs and ports have alike are parsed once.
class FactReader {
 public:
  FactReader();
  ~FactReader();
  FactReader(const FactReader&) = delete;
  FactReader& operator=(const FactReader&) = delete;

  /// nullopt for a text of another shape, or with an error: evidence_from_json() says which.
  [[nodiscard]] std::optional<Evidence> read(std::string_view text);

 private:
  class Kept;
  std::unique_ptr<Kept> kept_;
};

/// Unknown keys are ignored, because the format may grow. A value of another type, or out of its
/// range, is an error that names its JSON pointer: "/nics/0/qos/pfc/value/1: …".
[[nodiscard]] Result<Evidence> evidence_from_json(const Json&);

/// One switch alone, for who keeps it elsewhere.
[[nodiscard]] Json to_json(const Switch&);
[[nodiscard]] Result<Switch> switch_from_json(const JsonCursor&);

/// The members of the document but for the snapshots, as JSON Schemas; see schema.h for the whole.
[[nodiscard]] Json evidence_properties();

}  // namespace weir::evidence
