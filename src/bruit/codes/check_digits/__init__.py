"""Check digits of card, company, social-security and bank account numbers."""
