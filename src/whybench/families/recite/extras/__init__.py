"""What ReCITE adds to the engines that play it."""
