"""Gates as the engine runs them: rounds of probes of the endpoints in turn, within the caps, until they are decided."""
