"""From scores to what a person reads: tables, charts, one HTML page, a Markdown summary, figure files.

    scores.json ──> scored (what was read)  ──> tables, charts (what is shown, as plain values)
    tables, charts ──> page (HTML with inline SVG) | markdown | images (matplotlib)

Nothing is computed here that decides anything: numbers come from `scores.json` and are only rounded and drawn.
"""
