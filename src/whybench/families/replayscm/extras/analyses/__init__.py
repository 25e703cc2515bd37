"""The analyses of the ReplaySCM paper (arXiv 2605.08197) as pure functions over scored attempts.

| question | module | tables of the paper |
|---|---|---|
| where do submissions stop being executable? | `funnel` | C.1 |
| what does hiding structure cost on the same latent SCM? | `disclosure` | D.1, Figure 1 |
| does stronger evidence help? | `support` | E.1, F.7, F.10 |
| does a fit of the training worlds carry over? | `retention` | C.4, F.3 |
| how does residual ambiguity go with success? | `ambiguity` | F.6 |
| which exact fits are not the gold SCM? | `alternatives` | F.11 to F.14 |
| can a system edit what it could not find? | `editing` | G.1, G.4, G.5 |
| roots first, mechanisms second | `roots` | G.6 to G.8 |

Every function takes any iterable of `attempt.Attempt` and gives rows, systems and pools in order of
first appearance; `attempt.pooled` turns any of them into the table of all systems together. A
conditional rate is a `conditional.Conditional`, which knows the paper's rule of suppression.

Two differences from the paper. Invalid submissions count as zero in world rates everywhere, as the
paper's text says (its tables leave them out, except in the CEx pools). And its leave-model-out rows
(Tables 3A, G.2) do not apply: they set aside alternatives mined from the answers of the model under
evaluation, and our reference SCMs and alternatives come from no model.
"""
