"""Just enough of JSON Schema (draft 2020-12) to check what weir prints against docs/schemas.

Knows: type, enum, const, pattern, minimum, properties, required, additionalProperties, items. A
keyword that it does not know is an error, so that no schema says more than is checked.
"""

import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "title", "description", "type", "enum", "const", "pattern", "minimum",
         "properties", "required", "additionalProperties", "items"}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def mistakes(value, schema, place="$"):
    """Sentences on what is wrong with `value`; none where it fits. An object whose properties are
    listed may have no others: readers accept new fields, we describe them."""
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{place}: the schema has {sorted(unknown)}, which is not checked"]
    found = []
    types = schema.get("type")
    if types is not None:
        names = [types] if isinstance(types, str) else types
        if not any(has_type(value, name) for name in names):
            return [f"{place}: expected {' or '.join(names)}, found {type(value).__name__}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: expected {schema['const']!r}, found {value!r}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{place}: {value!r} does not match {schema['pattern']}")
    if "minimum" in schema and has_type(value, "number") and value < schema["minimum"]:
        found.append(f"{place}: {value} is below {schema['minimum']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                found.append(f"{place}: {name} is missing")
        others = schema.get("additionalProperties", "properties" not in schema)
        for name, item in value.items():
            if name in properties:
                found += mistakes(item, properties[name], f"{place}.{name}")
            elif others is False:
                found.append(f"{place}: {name} is not in the schema")
            elif isinstance(others, dict):
                found += mistakes(item, others, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += mistakes(item, schema["items"], f"{place}[{index}]")
    return found
