"""Protocols for repeated questions: permanent noise is memoised on the device, fresh noise added to each report."""
