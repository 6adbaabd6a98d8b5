#include "vocab/setting_json.h"

#include "vocab/codec.h"

namespace weir::vocab {
namespace {

std::string_view key_of(Setting setting) {
  return kSettingNames.at(static_cast<std::size_t>(setting)).key;
}

struct PartWriter {
  Json out = Json::object();
  template <class T>
  void operator()(std::string_view key, const T& part) {
    out[std::string(key)] = Codec<T>::write(part);
  }
};

/// Stops at the first error; every part must be there.
struct PartReader {
  const JsonCursor& place;
  std::optional<Error> error = {};
  template <class T>
  void operator()(std::string_view key, T& part) {
    if (error) return;
    // A null part is a part (an optional one), so the key counts, not what it holds.
    const auto found = place.value().find(std::string(key));
    if (found == place.value().end()) {
      error = place.wrong("a member " + std::string(key));
      return;
    }
    Result<T> read = Codec<T>::read(place.member(key, *found));
    if (!read) {
      error = read.error();
    } else {
      part = std::move(*read);
    }
  }
};

template <class T>
Result<SettingValue> read_as(const JsonCursor& place) {
  T value;
  PartReader reader{place};
  value.visit(reader);
  if (reader.error) return *reader.error;
  return SettingValue(std::move(value));
}

/// Tries one type of the variant after the other.
template <std::size_t kAt = 0>
Result<SettingValue> read_type(std::string_view name, const JsonCursor& name_place,
                               const JsonCursor& place) {
  if constexpr (kAt == std::variant_size_v<SettingValue>) {
    return name_place.wrong("a setting that this Weir knows");
  } else {
    using T = std::variant_alternative_t<kAt, SettingValue>;
    if (key_of(T::kSetting) == name) return read_as<T>(place);
    return read_type<kAt + 1>(name, name_place, place);
  }
}

}  // namespace

Json to_json(const SettingValue& value) {
  return std::visit(
      [](auto copy) {
        PartWriter writer;
        writer.out["set"] = key_of(copy.kSetting);
        copy.visit(writer);
        return writer.out;
      },
      value);
}

Result<SettingValue> setting_from(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_object());
  WEIR_TRY(name_place, place.member("set"));
  WEIR_TRY(name, name_place.text());
  return read_type(name, name_place, place);
}

}  // namespace weir::vocab
