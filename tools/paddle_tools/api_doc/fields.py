# SPDX-License-Identifier: Apache-2.0
"""The fields of custom resource definitions, flat: one per path, with type and description."""
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paddle_tools.checks import plain_yaml

# Kubernetes' own types, whose fields are in Kubernetes' reference.
FOREIGN = {"template": "PodTemplateSpec", "nodeAffinity": "NodeAffinity",
           "tolerations": "Toleration"}
# Bounds that only say how wide a number is.
WIDEST = {"2147483647", "9007199254740991", "-2147483647", "-9007199254740991"}
OF_LISTS = ("minItems", "maxItems")
OF_VALUES = ("enum", "minimum", "maximum", "minLength", "maxLength", "format")

Schema = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """`bounds` has the keys of the schema that limit the value."""
    path: str
    kind: str
    is_list: bool
    required: bool
    description: str
    bounds: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    name: str
    version: str
    short_names: list[str]
    fields: list[Field]
    rules: list[tuple[str, str]]  # (path, message) of what the API server refuses


def kinds(text: str) -> list[Kind]:
    found = []
    for each in plain_yaml.documents(text):
        spec = each["spec"]
        (version,) = spec["versions"]
        schema = version["schema"]["openAPIV3Schema"]
        fields = [one for one in _walk(schema, "") if one.path.startswith(("spec.", "status."))]
        found.append(Kind(spec["names"]["kind"], f"{spec['group']}/{version['name']}",
                          spec["names"].get("shortNames", []), fields,
                          list(dict.fromkeys(_rules(schema, "")))))
    return found


def _own(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The properties that are fields: a schema may name one without saying anything about it."""
    for name, one in schema.get("properties", {}).items():
        if isinstance(one, dict):
            yield name, one


def _walk(schema: Schema, prefix: str) -> Iterator[Field]:
    required = schema.get("required", [])
    for name, one in _own(schema):
        path = f"{prefix}{name}"
        items = one.get("items") if one.get("type") == "array" else None
        foreign = FOREIGN.get(name)
        inner = items if isinstance(items, dict) else one
        yield Field(path, foreign or str(inner.get("type", "object")), items is not None,
                    name in required, one.get("description", ""), _bounds(one, inner))
        if not foreign:
            yield from _walk(inner, path + ("[]." if items is not None else "."))


def _bounds(one: Schema, inner: Schema) -> dict[str, Any]:
    found: dict[str, Any] = {key: one[key] for key in OF_LISTS if key in one}
    found.update({key: inner[key] for key in OF_VALUES if key in inner})
    return {key: value for key, value in found.items() if str(value) not in WIDEST}


def _rules(schema: Schema, prefix: str) -> Iterator[tuple[str, str]]:
    for rule in schema.get("x-kubernetes-validations", []):
        yield prefix.rstrip("."), rule["message"]
    for name, one in _own(schema):
        if name in FOREIGN:
            continue
        yield from _rules(one, f"{prefix}{name}.")
        if isinstance(one.get("items"), dict):
            yield from _rules(one["items"], f"{prefix}{name}[].")
