"""The simulator: a server on loopback that streams like the real providers, errs like them, and knows the truth.

Read in this order: `distribution` (numbers drawn), `prose` (what is said), `behaviour` (what a model is like),
`course` (one answer planned in time), `tongues` (that plan as acts of a `script`, one module for each wire format),
`fault` (the same acts spoiled), `socket_fault` and `troubles`, `player` (acts performed on a transport), `websocket`
(the framing of the other transport), `connection`, `server`, and `demo` with the models of ``inftop demo``.
"""
