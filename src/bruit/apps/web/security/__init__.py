"""Security of the web application: CSRF, CSP, rate limits, timeouts, cookies, the steward's key."""
