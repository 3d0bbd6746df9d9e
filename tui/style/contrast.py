"""The contrast of two colours, and how much of it a thing that is drawn needs; pure."""

from typing import Final

from textual.color import Color

LEAST_CONTRAST: Final = 3.0
"""No line comes nearer to the ground than this (WCAG 2's ratio), selected or not."""


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, 1 to 21, by WCAG 2 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in color.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
