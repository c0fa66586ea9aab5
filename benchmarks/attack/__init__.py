"""Attacks with damaged files, run directories, command lines and kills; see ``__main__.py``."""
