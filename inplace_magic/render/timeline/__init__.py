"""Memory over time, drawn as lanes and as a chart.

It may know the ledger of ``analysis/memory``. It sums up nothing itself, and does not know the page around it.
"""
