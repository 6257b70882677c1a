# SPDX-License-Identifier: Apache-2.0
"""Every text of a Python file, and the call in which it stands; {} stands for what is not known here."""

import ast

from texts_of_c import Text


def _name(node):
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _docstrings(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return {id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr)}


def _joined(node):
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)


def _walk(node, calls, skipped):
    if isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str):
        if id(node) not in skipped:
            yield Text(node.lineno, _joined(node), calls, True)
        if isinstance(node, ast.Constant):
            return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant):
            continue
        # What stands in a statement, a formatted value or an index begins anew.
        begins = isinstance(node, (ast.stmt, ast.JoinedStr, ast.Subscript))
        inner = (_name(node), *calls) if isinstance(node, ast.Call) else () if begins else calls
        yield from _walk(child, inner, skipped)


def texts_of_python(source):
    tree = ast.parse(source)
    return _walk(tree, (), _docstrings(tree))
