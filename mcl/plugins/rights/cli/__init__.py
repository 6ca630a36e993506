"""`mcl grant`, `mcl policy`, `mcl gate`, `mcl key`, `mcl agent`, and a word on a tool."""
