"""Work in repositories, asked for in a closed contract: one flat JSON object, fifteen intents."""
