"""What the store keeps of alerts: judgements, incidents with their events, silences, and messages that wait."""
