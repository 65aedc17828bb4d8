"""What happened: launches run, recorded, stored, analysed, timed. Nothing here draws, or knows Qt."""
