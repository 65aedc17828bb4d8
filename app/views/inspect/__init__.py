"""The tabs that explain in words: findings, a thread, the lesson; pictures of memory are other views'."""
