"""What CausaLab adds to the engines that play it."""
