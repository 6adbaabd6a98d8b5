#!/usr/bin/env python3
"""JSON Schemas of what every verb prints with --json, in docs/schemas.

  tools/schemas.py DIR --write   from the objects in DIR (WEIR_JSON_SAMPLES=DIR tests/golden/run.py
                                 collects them), merged into the schemas that are there

A field is required where every object of its kind has it; the type is what was seen. Descriptions
and titles that a person wrote stay. The schemas are open, since fields may be added; the golden
tests fail on a field that has none, so a new field comes with its schema.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemas"
# Objects whose keys are names of things, not fields: counters, code points, reasons.
MAPS = {"tos", "opcodes", "drops", "counters", "facts", "deltas", "settings", "thresholds",
        "properties", "$defs", "ranges", "by_reason", "markings", "values", "by_fault", "faults_by"}
# Documents with a schema of their own: a JSON Schema, and facts (weir schema evidence).
FREE = {"json_schema", "nics", "switches", "gpus", "distances", "facts", "captures"}


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def is_map(name, keys):
    return name in MAPS or (bool(keys) and all(re.search(r"[.\d/]|^[A-Z]", key) for key in keys))


def inferred(values, name=""):
    types = {type_of(value) for value in values}
    # Numbers that were not measured are null, and a share may happen to be 0 or 1.
    if types & {"number", "integer"}:
        types = types - {"integer"} | {"number", "null"}
    if types == {"null"}:
        return {}
    schema = {"type": types.pop() if len(types) == 1 else sorted(types)}
    objects = [value for value in values if isinstance(value, dict)]
    if objects and name not in FREE:
        keys = sorted({key for value in objects for key in value})
        if is_map(name, keys):
            items = [item for value in objects for item in value.values()]
            schema["additionalProperties"] = inferred(items) if items else True
        else:
            schema["properties"] = {
                key: inferred([value[key] for value in objects if key in value], key)
                for key in keys}
            always = [key for key in keys if all(key in value for value in objects)]
            if always:
                schema["required"] = always
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        schema["items"] = inferred(items, name)
    return schema


def merged(old, new):
    """The wider of two schemas; words of the old one stay."""
    out = dict(new)
    for key in ("title", "description", "enum", "pattern"):
        if key in old:
            out[key] = old[key]
    if old.get("type") is None and "type" in old:
        return out
    types = set()
    for side in (old, new):
        listed = side.get("type", [])
        types |= {listed} if isinstance(listed, str) else set(listed)
    if types and ("type" in old) == ("type" in new):
        out["type"] = sorted(types) if len(types) > 1 else types.pop()
    if "properties" in old or "properties" in new:
        names = sorted(set(old.get("properties", {})) | set(new.get("properties", {})))
        out["properties"] = {
            name: merged(old.get("properties", {}).get(name, new.get("properties", {}).get(name)),
                         new.get("properties", {}).get(name, old.get("properties", {}).get(name)))
            for name in names}
        if "properties" in old and "properties" in new:
            both = set(old.get("required", [])) & set(new.get("required", []))
        else:
            both = set(old.get("required", [])) | set(new.get("required", []))
        out.pop("required", None)
        if both:
            out["required"] = sorted(both)
    for key in ("items", "additionalProperties"):
        if isinstance(old.get(key), dict) and isinstance(new.get(key), dict):
            out[key] = merged(old[key], new[key])
        elif isinstance(old.get(key), dict):
            out[key] = old[key]
    return out


def file_of(name):
    return FOLDER / (name.removeprefix("weir/").removesuffix("/1") + ".json")


def main():
    samples = {}
    for path in sorted(Path(sys.argv[1]).glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        samples.setdefault(value["schema"], []).append(value)
    for name, values in sorted(samples.items()):
        schema = inferred(values)
        path = file_of(name)
        if path.exists():
            schema = merged(json.loads(path.read_text(encoding="utf-8")), schema)
        schema["properties"]["schema"] = {"const": name}
        verb = name.removeprefix("weir/").removesuffix("/1").replace("-", " ")
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name,
                "title": schema.pop("title", f"What weir {verb} --json prints")}
        if "--write" in sys.argv:
            text = json.dumps({**head, **{k: v for k, v in schema.items() if k not in head}},
                              indent=1, ensure_ascii=False, sort_keys=False)
            path.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
