"""Audits: attempts to break a suite with cheap guessers, leaks and wrong certificates.

`rule` decides; `limits` reads what a family declares; `plays` runs guessers and the exact agent on
unused seeds; `certificates` and `leaks` look for false claims and for the truth where an agent can
see it; `run` puts them together and can be resumed; `page` shows the result.
"""
