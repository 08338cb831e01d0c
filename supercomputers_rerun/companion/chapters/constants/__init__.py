"""Constants of a machine, which no report asks for and the models of the book need."""
