"""The endpoint page: one endpoint over any period: charts, distributions, errors, its week, its samples."""
