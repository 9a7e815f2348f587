"""Contracts: four-cell worlds, their events, the requests about them, and what equivalent requests must agree on.

A contract ties a report to its information, its event, its output mapping and the relations that it must satisfy. Here
are worlds and exact posteriors (`cells`, `second_path`, `admission`), events (`events`), draws (`generators`,
`cohorts`), requests and their texts (`requests`, `rendering`), the way back from option keys to events (`alignment`),
and which roots a relation is about (`relations`). What is not here: residuals and losses of reports, and files.
"""
