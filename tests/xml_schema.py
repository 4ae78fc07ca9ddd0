"""Checks XML against the part of XML Schema that `Project.xsd` uses: sequences, choices, attributes, simple types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

_XSD = "{http://www.w3.org/2001/XMLSchema}"
_BUILT_IN = {
    "xsd:string": r"(?s:.*)",
    "xsd:integer": r"[+-]?\d+",
    "xsd:decimal": r"[+-]?\d+(\.\d+)?",
    "xsd:boolean": r"true|false|0|1",
    "xsd:date": r"\d{4}-\d\d-\d\d",
    "xsd:dateTime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?",
}


class Schema:
    """A schema, read from its file."""

    def __init__(self, path: Path) -> None:
        root = ElementTree.parse(path).getroot()
        self.space = f"{{{root.get('targetNamespace')}}}"
        self.complex = {one.get("name"): one for one in root.findall(f"{_XSD}complexType")}
        self.simple = {one.get("name"): self._pattern(one) for one in root.findall(f"{_XSD}simpleType")} | _BUILT_IN
        self.top = {one.get("name"): one.get("type") for one in root.findall(f"{_XSD}element")}

    def errors(self, root: Element) -> list[str]:
        """Return what is wrong with a document; nothing where it is valid."""
        name = root.tag.removeprefix(self.space)
        return list(self._errors(root, self.top[name])) if name in self.top else [f"{name} is no root"]

    @staticmethod
    def _pattern(simple: Element) -> str:
        (restriction,) = simple
        return "|".join(
            f"(?:{one.get('value') if one.tag == f'{_XSD}pattern' else re.escape(one.get('value', ''))})"
            for one in restriction
        )

    def _errors(self, element: Element, of_type: str | None) -> Iterator[str]:
        name = element.tag.removeprefix(self.space)
        if of_type in self.simple:
            if len(element) or not re.fullmatch(self.simple[of_type], element.text or ""):
                yield f"{name} is no {of_type}"
            return
        kind = self.complex[of_type]
        yield from self._of_attributes(element, name, kind)
        if (element.text or "").strip() or any((one.tail or "").strip() for one in element):
            yield f"{name} holds text"
        order = "".join(f"<{one.tag.removeprefix(self.space)}>" for one in element)
        if not re.fullmatch("".join(map(self._model, kind)), order):
            yield f"{name} holds {order}, in this order"
        types = {f"{self.space}{one.get('name')}": one.get("type") for one in kind.iter(f"{_XSD}element")}
        for one in element:
            yield from self._errors(one, types[one.tag]) if one.tag in types else ()

    def _of_attributes(self, element: Element, name: str, kind: Element) -> Iterator[str]:
        known = {one.get("name", ""): one for one in kind.findall(f"{_XSD}attribute")}
        yield from (f"{name} has an attribute {one}" for one in element.keys() - known.keys())
        for key, one in known.items():
            value = element.get(key)
            if value is None and one.get("use") == "required":
                yield f"{name} lacks {key}"
            if value is not None and not re.fullmatch(self.simple[one.get("type")], value):
                yield f"{key} of {name} is no {one.get('type')}"

    def _model(self, one: Element) -> str:
        """Return the elements that a type may hold, as a pattern over their names."""
        between = {f"{_XSD}sequence": "", f"{_XSD}choice": "|"}
        if one.tag == f"{_XSD}element":
            inside = f"<{one.get('name')}>"
        elif one.tag in between:
            inside = between[one.tag].join(map(self._model, one))
        else:
            return ""
        most = {"unbounded": ""}.get(one.get("maxOccurs", "1"), one.get("maxOccurs", "1"))
        return f"(?:{inside}){{{one.get('minOccurs', '1')},{most}}}"
