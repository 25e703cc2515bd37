"""The protocol of the paper on logs: alternatives and counterexamples from models' answers."""
