"""What makes a curriculum: columns of difficulty, filters on them, and levels."""
