"""The tabs beside the pictures that explain: findings, a thread, the lesson."""
