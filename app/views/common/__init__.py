"""Code that several views share; code for one view stays in its own folder, which no other view imports."""
