"""The release gate: may this repository be released as it is? The rules and weights are data (rules.toml)."""
