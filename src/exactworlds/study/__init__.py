"""The papers' analyses: reports joined with exact targets, and what the papers' tables say of them.

What stands where, by P2's numbering (figures of `cohort.score_cohort` are named NAME/figure):

| table | what it shows | here |
|---|---|---|
| 2, 21, 22 | relation residuals and pass rates | `event_choice`, `complement`, …, `frechet`, and each with `-pass` |
| 3, 23 | canonical loss, regret, deferral, action changes, by cost | `canonical-…@COST`, `action-…@COST` |
| 4, 28 | binary policies | `binary-loss:POLICY@COST`, references `oracle/…`, `defer/loss` |
| 5, 6, 24 | contrasts on paired-valid roots | `LEFT - RIGHT/figure` |
| 8, 9, 20 | TV, Brier score, log loss, expected and realised | `tv`, `brier`, `log-loss`, `realised-…` |
| 16, 25 | support by stratum | `CohortScores.support`, `Figure.empty_strata` |
| 17 | signed complement sums | `post_hoc.complement_table` |
| 18, 19, 32 | validity, availability, reasons | `cohort.slots` |
| 30 | signs of Mean − Random over costs | `post_hoc.sweep_signs` |
| 31 | selective use at half coverage | `post_hoc.selective_table` |
| Section 5.2 | the operational criterion | `CohortScores.criteria` |
| Section 7.1 | the share of error that disagreement explains | `disagreement-share` |
| Appendix J | calibration of the top class | `post_hoc.calibration_table` |
| Appendices P, S | reject-cost and Murphy curves | `post_hoc.reject_curves`, `post_hoc.murphy_curves` |

Table 29 is a theorem (claim D.regions); the tables that only describe the papers' own collections are not here.
"""
