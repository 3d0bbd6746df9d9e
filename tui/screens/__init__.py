"""What the pages' screens are made from: keys that work now, a period of time, a list to pick from."""
