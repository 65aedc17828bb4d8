"""What is wrong with a launch, one file a kind; all_findings.py calls them. How they are shown is for app."""
