"""What several views share. A view never imports another's room; what two need comes here."""
