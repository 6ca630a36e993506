"""The journal: rows, records, the Merkle tree over them, proofs, and checking it all again."""
