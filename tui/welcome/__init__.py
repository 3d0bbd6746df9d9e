"""The welcome screen: a first start with nothing configured and no key found, and the ways on from there."""
