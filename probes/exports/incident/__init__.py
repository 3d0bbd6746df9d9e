"""An incident as a record, and the pack of evidence of it: a report, its data and a picture in one zip."""
