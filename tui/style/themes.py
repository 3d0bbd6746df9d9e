"""Themes: inftop's own dark and light, beside Textual's; accents that all common kinds of colour vision distinguish.

Good is a blue-green and bad a vermilion (Okabe and Ito's), never a pure green against a pure red. All text reaches a
contrast of 4.5 : 1 on its ground (a test computes it).
"""

from typing import Final

from textual.theme import Theme

DARK: Final = Theme(
    name="inftop-dark",
    dark=True,
    primary="#56b4e9",
    secondary="#8fa8c8",
    accent="#e6b450",
    success="#2fc79a",
    warning="#f0b03c",
    error="#ff7a4d",
    foreground="#d6dbe3",
    background="#0f1318",
    surface="#151a21",
    panel="#1d242d",
    variables={
        "text-muted": "#97a3b3",
        "text-disabled": "#8492a2",
        "border": "#3a4553",
        "border-blurred": "#2a333e",
        "block-cursor-background": "#26405a",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "none",
        "footer-key-foreground": "#56b4e9",
        "scrollbar": "#2f3945",
        "scrollbar-background": "#12171d",
    },
)

LIGHT: Final = Theme(
    name="inftop-light",
    dark=False,
    primary="#0067a5",
    secondary="#4a6078",
    accent="#8a5a00",
    success="#00705a",
    warning="#8a5a00",
    error="#b23a00",
    foreground="#1d2530",
    background="#fbfaf7",
    surface="#f4f2ed",
    panel="#e9e6df",
    variables={
        "text-muted": "#55616f",
        "text-disabled": "#5a6572",
        "border": "#b9bfc7",
        "border-blurred": "#d3d6da",
        "block-cursor-background": "#cfe3f3",
        "block-cursor-foreground": "#10161d",
        "block-cursor-text-style": "none",
        "footer-key-foreground": "#0067a5",
        "scrollbar": "#c4c8cd",
        "scrollbar-background": "#efece6",
    },
)

THEMES: Final = (DARK, LIGHT)
