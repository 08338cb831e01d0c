"""What peer modules share and none of them is: compiling C, keeping a run."""
