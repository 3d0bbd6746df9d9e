"""Transport: connections opened step by step, through proxies and TLS, and one request and its response over them."""
