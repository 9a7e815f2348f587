"""The papers' analyses: reports joined with exact targets, and what the papers' tables say of them."""
