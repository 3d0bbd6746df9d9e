"""Engine: endpoints probed on a schedule, their samples stored and told to whoever listens."""
