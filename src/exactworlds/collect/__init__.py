"""Requests in, ledger out: asks a model and keeps the exact bytes of both sides. Never sees a target.

    requests ──> wire form (one small file a protocol) ──> transport (HTTP, in-process, a program) ──> ledger
    ledger ──> wire form reads the raw bytes ──> validation ──> one End a request

What a run amounts to is always computed from its ledger again; nothing is repaired on the way.
"""
