"""From records to what a person reads: ``document.py`` chooses words and blocks, one module a format prints them.

Records know nothing of this package. Formats know `blocks` and `escape` and not each other, but for the terminal, which
colours the layout of plain text. They only print: none computes, none raises.
"""
