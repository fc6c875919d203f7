"""Who asks for the answer to an unwatched failure, where the error stands, and what is at hand there."""
