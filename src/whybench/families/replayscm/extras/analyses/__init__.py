"""The analyses of the ReplaySCM paper (arXiv 2605.08197) as pure functions over scored attempts.

| question | module | tables of the paper |
|---|---|---|
| where do submissions stop being executable? | `funnel` | C.1 |
| what does hiding structure cost on the same hidden SCM? | `disclosure` | D.1, Figure 1 |
| does stronger evidence help? | `support` | E.1, F.7, F.10 |
| does a fit of the training worlds carry over? | `retention` | C.4, F.3 |
| what does disambiguation bring? | `cohorts` | F.1, F.3 to F.5 |
| how is residual ambiguity related to success? | `ambiguity` | F.6 |
| which exact fits are not the gold SCM? | `alternatives` | F.11 to F.14 |
| can a system edit what it could not find? | `editing` | G.1, G.4, G.5 |
| roots first, mechanisms second | `roots` | G.6 to G.8 |

Every function takes any iterable of `attempt.Attempt` and returns rows, with systems and pools in
order of first appearance. `attempt.pooled` gives the table of all systems together. A conditional
rate is a `conditional.Conditional`, which follows the paper's rule of suppression.

There is one difference from the paper. Invalid submissions count as zero in all world rates, as the
paper's text says; its tables leave them out, except in the CEx pools. The leave-model-out rows
(Tables 3A, G.2) need the logs themselves: see `extras.protocol`.
"""
