"""Reports as single HTML pages: text, tables, pictures, sounds and curves in one file that needs nothing else.

Functions return pieces of HTML, unless they say otherwise.
"""
