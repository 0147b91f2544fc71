"""What follows a stream: sums of encoded samples, the dictionary that is best for them, noise level, and tracker."""
