"""tools/schemas.py widens what it has seen, and the check of the golden tests can fail."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests" / "golden"))
import json_schema  # noqa: E402
import schemas  # noqa: E402


class SchemasTest(unittest.TestCase):
    def test_what_was_seen_fits(self):
        seen = [{"schema": "weir/x/1", "hosts": [{"name": "gpu01", "share": 1}], "why": None},
                {"schema": "weir/x/1", "hosts": [], "why": "text"}]
        schema = schemas.inferred(seen)
        for value in seen:
            self.assertEqual(json_schema.mistakes(value, schema), [])
        self.assertEqual(schema["required"], ["hosts", "schema", "why"])

    def test_what_was_not_seen_does_not(self):
        schema = schemas.inferred([{"name": "gpu01", "drops": {"no_route": 3}}])
        self.assertTrue(json_schema.mistakes({"name": 1, "drops": {}}, schema))
        self.assertTrue(json_schema.mistakes({"drops": {}}, schema))
        self.assertTrue(json_schema.mistakes({"name": "a", "drops": {}, "new": 1}, schema))
        self.assertTrue(json_schema.mistakes({"name": "a", "drops": {"ttl": "x"}}, schema))
        self.assertEqual(json_schema.mistakes({"name": "a", "drops": {"ttl": 0.5}}, schema), [])

    def test_merging_widens_and_keeps_words(self):
        old = schemas.inferred([{"a": 1, "b": "x"}])
        old["properties"]["a"]["description"] = "how many"
        new = schemas.merged(old, schemas.inferred([{"a": 2, "c": True}]))
        self.assertEqual(new["properties"]["a"]["description"], "how many")
        self.assertEqual(new["required"], ["a"])
        for value in ({"a": 1, "b": "x"}, {"a": 2, "c": True}):
            self.assertEqual(json_schema.mistakes(value, new), [])

    def test_a_keyword_that_is_not_checked_is_an_error(self):
        self.assertTrue(json_schema.mistakes(1, {"maximum": 3}))


if __name__ == "__main__":
    unittest.main()
