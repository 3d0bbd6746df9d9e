"""The page of incidents: their list, and the time line of one; they are acknowledged, silenced and noted here."""
