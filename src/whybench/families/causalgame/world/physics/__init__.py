"""How drones fly, are detected and are lost."""
