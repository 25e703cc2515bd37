"""What outlives a request: sessions, attempts and receipts, and scores made of them."""
