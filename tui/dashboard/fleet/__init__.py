"""The list of endpoints: a row of figures and graphs each, one line high or several."""
