"""How charts are drawn, on screen and into files. What they say is decided in app/charts."""
