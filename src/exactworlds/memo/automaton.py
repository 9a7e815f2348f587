"""The automaton of a template: it parses memos, and it decides whether any text has two readings.

Each item (a literal or a slot) is a small deterministic automaton over characters; the items are chained, and the only
choice is where one item ends and the next begins. Two readings of a text differ in some slot exactly if their
boundaries differ, so unique decoding is the unambiguity of the chain: two copies run over the same text, and a pair of
runs that parted and both end is a text with two readings. The search is breadth-first, so the first witness is a
shortest one, and no pair left means that there is none. What is not here: what the items mean (`memo.template`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

__all__ = ["LARGEST_SEARCH", "Chain", "Reading", "Stuck", "TooLarge"]

LARGEST_SEARCH = 2_000_000
"""The most pairs of states that the search for two readings visits before it gives up and refuses the template."""

Language = Iterable[str] | tuple[frozenset[str], ...]


class TooLarge(Exception):
    """The search for a text with two readings passed its bound."""


@frozen
class Reading:
    """One way to read a text: the text of each item."""

    items: tuple[str, ...]


@frozen
class Stuck:
    """Where a text stopped matching: how far it was read, and the items that were possible there."""

    position: int
    items: tuple[int, ...]


class Chain:
    """A chain of items. A state is a node; nodes of all items share one numbering."""

    def __init__(self, languages: Sequence[Language]) -> None:
        self._next: list[dict[str, int]] = []
        self._accepting: list[bool] = []
        self._item: list[int] = []
        self._roots: list[int] = []
        self._literals: list[str | None] = []
        for item, language in enumerate(languages):
            self._roots.append(self._node(item))
            if isinstance(language, tuple) and all(isinstance(place, frozenset) for place in language):
                self._literals.append(None)
                self._add_places(item, language)
                continue
            texts = [str(text) for text in language]
            self._literals.append(texts[0] if len(texts) == 1 else None)
            for text in texts:
                self._add_text(item, text)
        self._last = len(languages) - 1

    def readings(self, text: str, limit: int = 2) -> list[Reading] | Stuck:
        """Up to `limit` readings of a whole text, or where it stopped matching."""
        only = self._without_choice(text) if text else None
        if only is not None:
            return [only]
        layers: list[dict[int, list[int]]] = [{self._roots[0]: []}]
        for position, character in enumerate(text):
            layer: dict[int, list[int]] = {}
            for node in layers[-1]:
                for following in self._step(node, character):
                    layer.setdefault(following, []).append(node)
            if not layer:
                return self._stuck(position, layers[-1])
            layers.append(layer)
        ends = [node for node in layers[-1] if self._is_end(node)]
        if not ends or not text:
            return self._stuck(len(text), layers[-1])
        found: list[Reading] = []
        for end in ends:
            for path in self._paths(layers, end):
                found.append(self._reading(text, path))
                if len(found) == limit:
                    return found
        return found

    def _without_choice(self, text: str) -> Reading | None:
        """The one reading of a text along which no item's end was ever in doubt; None if there is doubt or no reading.

        Nearly every memo is read this way, at a few steps a character; `readings` decides the rest.
        """
        pieces: list[str] = []
        position, size = 0, len(text)
        following = self._next
        for item, root in enumerate(self._roots):
            literal = self._literals[item]
            start = position
            if literal is not None:
                if not text.startswith(literal, start):
                    return None
                position += len(literal)
                pieces.append(literal)
                continue
            after = following[self._roots[item + 1]] if item < self._last else {}
            node = root
            while position < size:
                character = text[position]
                if character not in following[node]:
                    break
                if self._accepting[node] and character in after:
                    return None
                node = following[node][character]
                position += 1
            if not self._accepting[node]:
                return None
            pieces.append(text[start:position])
        return Reading(tuple(pieces)) if position == size else None

    def ambiguity(self) -> str | None:
        """A shortest text with two readings, or None if there is none; `TooLarge` beyond the bound."""
        start = (self._roots[0], self._roots[0], False)
        came: dict[tuple[int, int, bool], tuple[tuple[int, int, bool], str] | None] = {start: None}
        waiting = deque([start])
        while waiting:
            pair = waiting.popleft()
            first, second, parted = pair
            if parted and self._is_end(first) and self._is_end(second):
                return _spelled(came, pair)
            for character, one, two in self._steps_together(first, second):
                following = (min(one, two), max(one, two), parted or one != two)
                if following not in came:
                    if len(came) >= LARGEST_SEARCH:
                        raise TooLarge(f"more than {LARGEST_SEARCH:,} pairs of states")
                    came[following] = (pair, character)
                    waiting.append(following)
        return None

    def _steps_together(self, first: int, second: int) -> Iterator[tuple[str, int, int]]:
        """Every pair of steps over the same character; from one state, each unordered pair once."""
        ours, theirs = self._moves(first), self._moves(second)
        for character in ours.keys() & theirs.keys() if first != second else ours.keys():
            for one in ours[character]:
                for two in theirs[character]:
                    yield character, one, two

    def _moves(self, node: int) -> dict[str, list[int]]:
        moves = {character: [following] for character, following in self._next[node].items()}
        if self._accepting[node] and self._item[node] < self._last:
            for character, following in self._next[self._roots[self._item[node] + 1]].items():
                moves.setdefault(character, []).append(following)
        return moves

    def _step(self, node: int, character: str) -> Iterator[int]:
        following = self._next[node].get(character)
        if following is not None:
            yield following
        if self._accepting[node] and self._item[node] < self._last:
            following = self._next[self._roots[self._item[node] + 1]].get(character)
            if following is not None:
                yield following

    def _is_end(self, node: int) -> bool:
        return self._accepting[node] and self._item[node] == self._last

    def _stuck(self, position: int, layer: Iterable[int]) -> Stuck:
        items = {self._item[node] for node in layer if self._next[node]}
        ends = {self._item[node] + 1 for node in layer if self._accepting[node] and self._item[node] < self._last}
        return Stuck(position, tuple(sorted(items | ends)))

    def _paths(self, layers: list[dict[int, list[int]]], end: int) -> Iterator[tuple[int, ...]]:
        """The paths of nodes to an end, one node a character, found backwards without recursion."""
        waiting: list[tuple[int, tuple[int, ...]]] = [(len(layers) - 1, (end,))]
        while waiting:
            depth, path = waiting.pop()
            if depth == 1:
                yield path
                continue
            waiting.extend((depth - 1, (before, *path)) for before in layers[depth][path[0]])

    def _reading(self, text: str, path: tuple[int, ...]) -> Reading:
        pieces = [""] * (self._last + 1)
        start = 0
        for position in range(1, len(path) + 1):
            if position == len(path) or self._item[path[position]] != self._item[path[start]]:
                pieces[self._item[path[start]]] = text[start:position]
                start = position
        return Reading(tuple(pieces))

    def _node(self, item: int) -> int:
        self._next.append({})
        self._accepting.append(False)
        self._item.append(item)
        return len(self._next) - 1

    def _add_text(self, item: int, text: str) -> None:
        if not text:
            raise ValueError("an item of a template cannot be empty")
        node = self._roots[item]
        for character in text:
            if character not in self._next[node]:
                self._next[node][character] = self._node(item)
            node = self._next[node][character]
        self._accepting[node] = True

    def _add_places(self, item: int, places: Sequence[frozenset[str]]) -> None:
        node = self._roots[item]
        for letters in places:
            following = self._node(item)
            self._next[node].update(dict.fromkeys(sorted(letters), following))
            node = following
        self._accepting[node] = True


def _spelled(
    came: dict[tuple[int, int, bool], tuple[tuple[int, int, bool], str] | None], pair: tuple[int, int, bool]
) -> str:
    letters: list[str] = []
    step = came[pair]
    while step is not None:
        letters.append(step[1])
        step = came[step[0]]
    return "".join(reversed(letters))
