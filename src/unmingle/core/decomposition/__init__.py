"""`decompose`: one matrix into a low-rank part and sparse outliers, with a certificate."""
