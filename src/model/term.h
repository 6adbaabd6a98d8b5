#pragma once
// A sum shown with its parts. Calculators print every term; the parts always add up to the total.
#include <string>
#include <vector>

#include "units/quantity.h"

namespace weir::model {

struct Term {
  std::string name;
  Bytes bytes;      // may be negative: what is taken away
  std::string why;  // what it stands for and where the number comes from
};

/// Adds parts that are not whole bytes. Each term is rounded so that the sum so far is rounded up,
/// hence the terms add up exactly and no error gathers.
class TermSum {
 public:
  void add(std::string name, double bytes, std::string why);
  /// Adds what lacks to `total`, if anything.
  void close(Bytes total, std::string name, std::string why);
  [[nodiscard]] Bytes total() const { return total_; }
  /// REQUIRES: not called before.
  [[nodiscard]] std::vector<Term> take() { return std::move(terms_); }

 private:
  std::vector<Term> terms_;
  double exact_ = 0;
  Bytes total_;
};

}  // namespace weir::model
