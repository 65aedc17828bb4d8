"""The parts below the toolbar: panes, inspector, transport; `control` decides which sessions they show."""
