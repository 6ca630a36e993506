"""Tools: one folder a namespace, each a manifest beside its code; reachable only with the gate's Allow."""
