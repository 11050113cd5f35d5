"""Files to model: YAML, ${ENV}, named nodes. The only room that knows YAML."""
