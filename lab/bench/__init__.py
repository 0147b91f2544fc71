"""Benchmarks: a folder for each comparison, `shared` for all of them, `matrices` for those that take matrices apart.

A comparison is a folder with two modules, and whatever else they need: `compare.py` has `run(quick)`, which gives the
figures as plain data; `report.py` has `section(figures)`, the lines of its section, `bars(figures)`, what the project
demands of them, and `PLACE`, where the section stands among the others. `SECTIONS` in `lab.registry` lists it.
"""
