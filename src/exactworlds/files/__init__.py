"""Task folders: what a model may see, and apart from it what it is scored against.

    TASK/task.json  requests.jsonl  README.md           all that a model, or whoever queries one, may see
    TASK/targets/targets.jsonl  origin.json             exact answers, seed and digests; never handed to a collector

This layer alone reads and writes them. JSON is strict: no NaN, no Infinity, no duplicate keys.
"""
