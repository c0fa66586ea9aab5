"""Attacks on the program with damaged files, run directories, command lines and kills; see ``__main__.py``."""
