#include "vocab/codec.h"

namespace weir::vocab {

Json whole_number_schema() {
  return {{"type", "integer"}, {"minimum", 0}};
}

Json whole_number_schema(unsigned largest) {
  return {{"type", "integer"}, {"minimum", 0}, {"maximum", largest}};
}

Json list_schema(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Json list_schema(Json items, std::size_t length) {
  return {
      {"type", "array"}, {"items", std::move(items)}, {"minItems", length}, {"maxItems", length}};
}

}  // namespace weir::vocab
