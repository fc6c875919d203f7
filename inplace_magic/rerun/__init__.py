"""Running a program again, on copies of what it starts from: what it runs, what it left, what it cost."""
