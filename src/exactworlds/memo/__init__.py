"""Memos: text that carries what is visible, nothing more, and reads back; and the cases that are drawn from a world.

`slots` writes and reads one value, `automaton` decides unique decoding and parses, `template` joins both, `streams`
draws exactly, `cases` draws states and labels, `certify` checks what a template promises.
"""
