"""What the screen knows of alerts: judgements, what is usual, and when incidents were."""
