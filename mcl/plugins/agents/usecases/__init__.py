"""Acts on the work of coding agents: what people sign, and what agents check out."""
