"""What several views share; what one alone needs stays in its room, which no other imports."""
