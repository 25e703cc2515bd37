"""The analyses of the ReCITE paper (section 4.3, appendices B to G, K, O) as pure functions.

| question | module | tables of the paper |
|---|---|---|
| do judges agree? | `judges` | 7, 8 |
| does a judge favour its own family? | `bias` | 9 |
| does the ranking of systems hold under other scores? | `ranks` | appendix D; 3, 4, 10, 11 |
| which labels does a judge give to an answer's edges? | `labels` | 23 |
| does the score depend on the graph's shape? | `shape` | 13, 14, 15 |
| does it depend on size, explicitness or reasoning? | `sizes` | 5, 19; Figures 2, 9, 10, 15 |
| were documents seen in training? | `cutoff` | appendix B |
| does the score depend on the topic of a text? | `clusters` | 18 |
| how far apart are two sets of texts? | `discrepancy` | appendix F |

Scores come as mappings from an instance to a number; None and NaN mean unscored and are left out,
never counted as zero. Every result is a frozen value that prints as a row of a Markdown table, and
`table.table` joins rows. Sparse data give NaN, shown as a dash, and never raise an error.
"""
