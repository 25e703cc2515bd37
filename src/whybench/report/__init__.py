"""What an evaluation showed: frames of logs, tables, figures, one page; comparison and planning."""
