"""Attacks on the program with damaged files, run directories, command lines and kills; see ``attack.py``."""
