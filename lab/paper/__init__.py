"""The experiments of the paper, and those that grew from it: a folder for each subject, with data, run and page.

The module of an experiment has `run`, which writes figures and a page and returns the figures, and `tables`, which
gives them in short; `lab.registry` names it.
"""
