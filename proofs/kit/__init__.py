"""What the proofs share: statements about the package's own formulas, proved or refuted, never left undecided.

`reals`      statements over the reals: the formulas run on symbols and fork at every comparison (z3)
`algebra`    identities, tangents and sign certificates of expressions that the formulas build (sympy)
`enclosures` the formulas on intervals with certified ends, for logarithms and roots (mpmath)
`contracts`  contracts of integer and text functions, decided over all paths (crosshair)
"""
