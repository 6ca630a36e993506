"""Help for editors: what a language server answers, from text and position; `server` puts it on the wire."""
