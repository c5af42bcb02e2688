"""The compiled engine: ids and rows in `columns`, ids to labels in `join`, ranks, metrics, and threads."""
