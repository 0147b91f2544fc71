"""Estimators that follow scikit-learn's conventions; the mathematics is elsewhere."""
