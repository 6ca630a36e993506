"""The bundled model: data -> tokenizer -> model -> GGUF -> evaluation -> card. Not shipped."""
