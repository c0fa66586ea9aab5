"""The experiments of Bonis and Oudot, one module each: `run` computes and draws, `text` tells the outcome."""
