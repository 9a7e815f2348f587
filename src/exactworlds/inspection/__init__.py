"""The same requests through Inspect AI's providers, scored with our metrics (extra `inspect`).

    inspect eval exactworlds/exact --model openai/gpt-6 -T task=TASK

What is not here: our own collector (`collect`), which needs no Inspect, and pages (`report`).
"""
