"""The figures of one probe, from its timeline and its response: times, speed, what is plausible, how exact; pure."""
