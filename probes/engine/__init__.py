"""The engine: probes endpoints on a schedule, stores their samples and passes them to listeners; runs races."""
