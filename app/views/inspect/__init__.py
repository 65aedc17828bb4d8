"""The tabs with texts: findings, thread, explanation and output."""
