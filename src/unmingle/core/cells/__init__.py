"""Single cells of a matrix: what a low-rank part expects of them without its penalty, and which of them stand out."""
