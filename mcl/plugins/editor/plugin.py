"""Help for editors of skills: a language server."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "editor",
    __name__,
    needs=("pygls",),
    commands={"skill lsp": "mcl.plugins.editor.cli:register"},
)
