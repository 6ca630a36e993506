"""llama.cpp, through its C interface: weights, contexts, tokens, and a grammar that holds what is written."""
