"""Race: two to four models on one prompt, started together, heat by heat; and whether the faster one was lucky."""
