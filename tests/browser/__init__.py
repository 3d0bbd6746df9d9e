"""Pages that inftop writes and serves, as a real Chromium shows them."""
