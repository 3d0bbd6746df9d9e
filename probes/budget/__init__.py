"""Budget: what may be spent in a day, what each probe counts for, and the most an endpoint can use; pure."""
