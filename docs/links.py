#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the links of the built book, and completes those that leave it.

    docs/links.py BOOK

A page may link to a file of the tree, such as ../../policy/select.h. That file is copied into
BOOK/tree, and the link leads to the copy. Every other relative link must lead to a page of the
book, and its #fragment to an element there. Prints one line for each link that leads nowhere:
page, link, reason. Exit status 1 if there is one.
"""

import os
import pathlib
import re
import shutil
import sys
import urllib.parse
from html.parser import HTMLParser

DOCS = pathlib.Path(__file__).resolve().parent
TREE = DOCS.parent
# Made by mdbook of the other pages: their links are those of the pages.
REPEATED = {"print.html", "toc.html", "404.html"}
LINK = re.compile(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)(")')


class Page(HTMLParser):
    """The ids of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids = set()
        self.feed(text)

    def handle_starttag(self, _tag, attributes):
        self.ids.update(value for name, value in attributes if name == "id")


def is_elsewhere(link):
    return not link or urllib.parse.urlsplit(link).scheme != "" or link.startswith("//")


class Book:
    def __init__(self, root):
        self.root = root.resolve()
        self.pages = {}
        for path in sorted(self.root.rglob("*.html")):
            if path.name not in REPEATED and "tree" not in path.relative_to(self.root).parts[:1]:
                self.pages[path] = path.read_text(encoding="utf-8")
        self.ids = {path: Page(text).ids for path, text in self.pages.items()}
        self.bad = []

    def check(self):
        for page, text in self.pages.items():
            changed = LINK.sub(lambda match: match[1] + self.resolved(page, match[2]) + match[3], text)
            if changed != text:
                page.write_text(changed, encoding="utf-8")

    def resolved(self, page, link):
        """The link as it must stand in the book."""
        if is_elsewhere(link):
            return link
        parts = urllib.parse.urlsplit(link)
        path = urllib.parse.unquote(parts.path)
        target = page if not path else pathlib.Path(os.path.normpath(page.parent / path))
        if self.root not in [target, *target.parents] or not target.exists():
            return self.from_tree(page, link, path)
        fragment = urllib.parse.unquote(parts.fragment)
        if fragment and fragment not in self.ids.get(target, {fragment}):
            self.bad.append((page, link, "the page has no such heading"))
        return link

    def from_tree(self, page, link, path):
        """A link to a file or folder of the tree: to its copy."""
        written_in = DOCS / page.parent.relative_to(self.root)
        source = pathlib.Path(os.path.normpath(written_in / path))
        if source.suffix == ".html" and not source.exists():
            # mdbook takes every page of Markdown for one of its own.
            source = source.with_suffix(".md")
        if TREE not in source.parents or not source.exists():
            self.bad.append((page, link, "there is no such page and no such file"))
            return link
        copy = self.root / "tree" / source.relative_to(TREE)
        if source.is_dir():
            copy = listing(source, copy)
        else:
            copy.parent.mkdir(parents=True, exist_ok=True)
            # A browser shows text that has this ending, whatever it is.
            copy = copy.with_name(copy.name + ".txt")
            shutil.copyfile(source, copy)
        return os.path.relpath(copy, page.parent)


def listing(source, copy):
    """A page that lists the files of a folder, with copies of them."""
    copy.mkdir(parents=True, exist_ok=True)
    rows = []
    for file in sorted(source.iterdir()):
        if file.is_file():
            shutil.copyfile(file, copy / (file.name + ".txt"))
            rows.append(f'<li><a href="{file.name}.txt">{file.name}</a></li>')
    index = copy / "index.html"
    name = source.relative_to(TREE)
    index.write_text(f"<!doctype html><meta charset=utf-8><title>{name}</title><h1>{name}</h1><ul>{''.join(rows)}</ul>\n")
    return index


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "index.html").exists():
        sys.exit("usage: docs/links.py BOOK, the folder that mdbook wrote")
    book = Book(pathlib.Path(sys.argv[1]))
    book.check()
    for page, link, reason in book.bad:
        print(f"{page.relative_to(book.root)}: {link}: {reason}")
    print(f"{len(book.pages)} pages, {len(book.bad)} links that lead nowhere")
    sys.exit(1 if book.bad or len(book.pages) < 10 else 0)


if __name__ == "__main__":
    main()
