"""Alliance proxies: plain counts that may go with the working relationship; not a rating of it."""
